# SPDX-License-Identifier: MIT
"""What Doxygen and the pages make of the headers' comments."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

import c_comments  # noqa: E402
import declarations  # noqa: E402
import header_filter  # noqa: E402

HEADERS = sorted((ROOT / "include/gather").glob("*.h"))
WRITER = c_comments.Writer({"gather_apply": "func", "GATHER_USAGE": "enumerator"}, {"tree.h"})


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_no_line_moves(header: Path):
    text = header.read_text(encoding="utf-8")
    made = header_filter.filtered(text)
    assert made.count("\n") == text.count("\n")
    for number, (before, after) in enumerate(zip(text.splitlines(), made.splitlines()), 1):
        assert not before.startswith("GATHER_API") or after.startswith(before.split("/*")[0].rstrip()), number


def test_a_comment_above_and_one_behind():
    made = header_filter.documented("/* Above. */\nint one(void);\n/* Free. */\n\nint two; /* Behind. */\n")
    assert made == "/** \\verbatim Above. \\endverbatim */\nint one(void);\n/* Free. */\n\nint two; /**< \\verbatim Behind. \\endverbatim */\n"


def test_a_table_becomes_enumerators_with_numbers():
    made = header_filter.filtered((ROOT / "include/gather/gather.h").read_text(encoding="utf-8"))
    for name, number in declarations.rows("gather/status.def").items():
        assert f"GATHER_{name} = {number}, /**<" in made
    assert "GATHER_FAMILY_TREE = 4, /**< \\verbatim \"GatherTree\"" in made


def test_names_become_links():
    said = WRITER.inline("as gather_apply; see tree.h, `len`, fresh_output and 2*x; GATHER_USAGE (a<b)")
    assert said == "as :c:func:`gather_apply`; see :doc:`tree.h <tree>`, ``len``, ``fresh_output`` and 2\\*x; :c:enumerator:`GATHER_USAGE` (a\\<b)"


def test_arguments_returns_and_terms():
    made = WRITER.block(" First.\n * data: any rank,\n *     any type.\n * Returns GATHER_USAGE.\n *\n *   Errors   One\n *            two.\n *   Threads  Any.", ("data",))
    assert [line for line in made if line] == ["First.", "* ``data``: any rank, any type.", "Returns :c:enumerator:`GATHER_USAGE`.", "Errors", "   One two.",
                                               "Threads", "   Any."]


def test_the_declarations_are_found_without_doxygen():
    names = declarations.declared(ROOT / "include/gather/gather.h")
    assert {"gather_apply", "gather_error", "gather_plan", "GATHER_MAX_RANK", "GATHER_ON_BAD_CLAMP", "GATHER_RUN_INIT", "GATHER_TENSOR_SHARED"} <= set(names)
    assert names["GATHER_TYPE_NF4"] == "30" and "GATHER_TYPE" not in names and "GATHER_API" not in names
    functions = {name for header in declarations.ROOT.glob("include/gather/*.h") for name in declarations.declared(header)}
    functions |= set(declarations.declared(declarations.ROOT / "mpi/include/gather/mpi.h"))
    assert declarations.exported() <= functions
