# SPDX-License-Identifier: MIT
"""Headers changed at random: what NumPy reads is read, with the same shape and size, and what it refuses is refused."""
import io
import random
import re

import numpy as np
import pytest
from gather_files import GatherError, opened_bytes
from test_npy_malformed import WRONG
from test_npy_read import GOOD_HEADERS, with_header

HEADERS = GOOD_HEADERS + [header for header, _ in WRONG]
PIECES = list("{}[]()'\",:#\\ \n0123456789LxabdefiOSUVMm<>|=-+_.") + ["True", "False", "'a'", "'<i4'", "('b', '<i2')", "(2,)", "[s]"]
# NumPy refuses lengths beyond memory where there are no elements, the long double of other machines, and fields of one name;
# nothing speaks against moving their bytes.
ONLY_NUMPY_REFUSES = ("too big", "maximum supported dimension", "valid dtype descriptor: '", "more than once", "already used")


def change(header: str, chance: random.Random) -> str:
    for _ in range(chance.choice([1, 1, 1, 2])):
        at = chance.randrange(len(header) + 1)
        kept = at + chance.choice([0, 0, 1, 1, 2])
        header = header[:at] + chance.choice(PIECES + [""]) + header[kept:]
    return header


def by_numpy(content: bytes) -> tuple | str:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
        return array.shape, array.dtype.itemsize
    except Exception as error:  # noqa: BLE001 - NumPy raises many kinds
        return str(error)


def by_gather(content: bytes) -> tuple | str:
    try:
        with opened_bytes(content) as t:
            return t.shape, t.tensor.item_bytes
    except GatherError as error:
        return error.message


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(10))
def test_what_is_read_is_what_numpy_reads(seed) -> None:
    chance = random.Random(seed)
    both = 0
    for _ in range(1500):
        header = change(chance.choice(HEADERS), chance)
        content = with_header(header, bytes(4096))
        answer = by_gather(content)
        if isinstance(answer, tuple):
            numpy_says = by_numpy(content)
            if isinstance(numpy_says, tuple):
                assert numpy_says == answer, header
                both += 1
            else:
                assert any(words in numpy_says for words in ONLY_NUMPY_REFUSES), (header, numpy_says)
    assert both >= 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("header", [header for header in GOOD_HEADERS if "#" not in header])
def test_blanks_anywhere(header) -> None:
    chance = random.Random(header)
    tokens = re.findall(r"""u?'(?:[^'\\]|\\.)*'|"[^"]*"|[A-Za-z]+|[+-]?[0-9][0-9_xL]*|[^ \n\t]""", header)
    for _ in range(20):
        spread = "{" + "".join(chance.choice(["", " ", "\n", "\t ", " # } '\n"]) + token for token in tokens[1:])
        content = with_header(spread, bytes(4096))
        assert by_gather(content) == by_numpy(content), spread
