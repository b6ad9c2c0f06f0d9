# SPDX-License-Identifier: MIT
#
# test_jax_header.py: plugin/jax/jax_xla.h against the header of the installed jaxlib: every offset, size and number.
"""The declarations of XLA's interface."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from jax_support import jax, needs_jax  # noqa: F401

SOURCE = Path(__file__).parents[2] / "plugin/jax"
# Our struct: XLA's, and our fields: XLA's. A struct that is shorter than XLA's has the mark "...".
STRUCTS = {
    ("xla_extension", "XLA_FFI_Extension_Base", ""): "size:struct_size type:type next:next",
    ("xla_version", "XLA_FFI_Api_Version", ""): "size:struct_size extensions:extension_start major:major_version minor:minor_version",
    ("xla_metadata", "XLA_FFI_Metadata", "..."): "size:struct_size version:api_version traits:traits",
    ("xla_metadata_extension", "XLA_FFI_Metadata_Extension", ""): "base:extension_base metadata:metadata",
    ("xla_api", "XLA_FFI_Api", "..."): "size:struct_size extensions:extension_start version:api_version internal:internal_api "
    "functions:XLA_FFI_Error_Create functions[XLA_ERROR_DESTROY]:XLA_FFI_Error_Destroy functions[XLA_SCHEDULE]:XLA_FFI_ThreadPool_Schedule "
    "functions[XLA_NUM_THREADS]:XLA_FFI_ThreadPool_NumThreads",
    ("xla_error_create", "XLA_FFI_Error_Create_Args", ""): "size:struct_size extensions:extension_start message:message code:errc",
    ("xla_error_destroy", "XLA_FFI_Error_Destroy_Args", ""): "size:struct_size extensions:extension_start error:error",
    ("xla_schedule", "XLA_FFI_ThreadPool_Schedule_Args", ""): "size:struct_size extensions:extension_start context:ctx task:task data:data",
    ("xla_num_threads", "XLA_FFI_ThreadPool_NumThreads_Args", ""): "size:struct_size extensions:extension_start context:ctx threads:num_threads",
    ("xla_buffer", "XLA_FFI_Buffer", ""): "size:struct_size extensions:extension_start type:dtype data:data rank:rank lengths:dims",
    ("xla_buffers", "XLA_FFI_Args", ""): "size:struct_size extensions:extension_start count:size kinds:types items:args",
    ("xla_buffers", "XLA_FFI_Rets", ""): "size:struct_size extensions:extension_start count:size kinds:types items:rets",
    ("xla_span", "XLA_FFI_ByteSpan", ""): "text:ptr bytes:len",
    ("xla_scalar", "XLA_FFI_Scalar", ""): "type:dtype value:value",
    ("xla_array", "XLA_FFI_Array", ""): "type:dtype len:size items:data",
    ("xla_attributes", "XLA_FFI_Attrs", ""): "size:struct_size extensions:extension_start count:size kinds:types names:names items:attrs",
    ("xla_frame", "XLA_FFI_CallFrame", "..."): "size:struct_size extensions:extension_start api:api context:ctx stage:stage arguments:args "
    "results:rets attributes:attrs",
}
NUMBERS = {
    "XLA_MAJOR": "XLA_FFI_API_MAJOR", "XLA_STAGE_EXECUTE": "XLA_FFI_ExecutionStage_EXECUTE", "XLA_EXTENSION_METADATA": "XLA_FFI_Extension_Metadata",
    "XLA_BUFFER": "XLA_FFI_ArgType_BUFFER", "XLA_BUFFER + 0": "XLA_FFI_RetType_BUFFER", "XLA_ATTRIBUTE_ARRAY": "XLA_FFI_AttrType_ARRAY",
    "XLA_ATTRIBUTE_SCALAR": "XLA_FFI_AttrType_SCALAR", "XLA_INVALID_ARGUMENT": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
    "XLA_RESOURCE_EXHAUSTED": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED", "XLA_OUT_OF_RANGE": "XLA_FFI_Error_Code_OUT_OF_RANGE",
    "XLA_UNIMPLEMENTED": "XLA_FFI_Error_Code_UNIMPLEMENTED"}  # fmt: skip


def size_of(field: str, struct: str) -> str:
    return f"sizeof((({struct} *)0)->{field})"


def program(structs=STRUCTS, numbers=NUMBERS) -> str:
    """A file that compiles if both headers agree."""
    header = Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h"
    text = header.read_text()
    lines = [f'#include "{header}"', '#include "jax_xla.h"', '#define SAME(a, b) _Static_assert((a) == (b), #a " is " #b)']
    for (ours, theirs, longer), fields in structs.items():
        lines += [f"_Static_assert(sizeof({ours}) {'<=' if longer else '=='} sizeof({theirs}), \"{ours}\");"]
        for pair in fields.split():
            own, other = pair.split(":")
            lines += [f"SAME(offsetof({ours}, {own}), offsetof({theirs}, {other}));"]
            lines += [] if own == "functions" else [f"SAME({size_of(own, ours)}, {size_of(other, theirs)});"]
    lines += [f"SAME({own}, {other});" for own, other in numbers.items()]
    types = [line.split("(")[1].split(",")[0] for line in (SOURCE / "jax_xla.h").read_text().splitlines() if line.startswith("  X(")]
    assert len(types) > 25
    known = [name for name in types if f"XLA_FFI_DataType_{name} " in text]
    assert len(known) >= 15, "jaxlib's header has none of the types"
    lines += [f"SAME(XLA_{name}, XLA_FFI_DataType_{name});" for name in known]
    return "\n".join(lines) + "\n"


def compiles(text: str, folder: Path) -> subprocess.CompletedProcess:
    (folder / "same.c").write_text(text)
    compiler = os.environ.get("GATHER_CC", "cc")
    return subprocess.run([compiler, "-std=c11", "-fsyntax-only", f"-I{SOURCE}", "same.c"], cwd=folder, capture_output=True, text=True)


def test_the_header(tmp_path):
    run = compiles(program(), tmp_path)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("fault", [
    ("functions[XLA_SCHEDULE]:XLA_FFI_ThreadPool_Schedule", "functions[XLA_SCHEDULE]:XLA_FFI_ThreadPool_NumThreads"), ("SAME(XLA_F16,", "SAME(1 + XLA_F16,"),
    ("offsetof(xla_frame, results)", "offsetof(xla_frame, arguments)")])  # fmt: skip
def test_a_difference_is_found(tmp_path, fault):
    text = program({key: fields.replace(*fault) for key, fields in STRUCTS.items()}).replace(*fault)
    assert text != program() and compiles(text, tmp_path).returncode != 0
