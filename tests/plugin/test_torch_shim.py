# SPDX-License-Identifier: MIT
#
# test_torch_shim.py: the plug-in's own declarations of PyTorch's C interface (plugin/torch/torch_shim.def) against the headers of the PyTorch that
# is installed, and against its library.
"""Own declarations against PyTorch's headers."""
from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.skip import needs, skip_test

try:
    import torch
except ImportError:
    torch = None

ROOT = Path(os.environ.get("GATHER_SOURCE", Path(__file__).parents[2]))
DEF = ROOT / "plugin/torch/torch_shim.def"
ROWS = re.findall(r"^GATHER_SHIM\((\w+), (\w+), \((.*)\)\)", DEF.read_text(), re.MULTILINE)

# Ours in a namespace of its own, theirs outside; two types agree if both are pointers (handles are void * here), or the same number.
PROGRAM = r"""
#define TORCH_TARGET_VERSION 0x020b000000000000
#include <torch/csrc/stable/c/shim.h>
#include <type_traits>
namespace ours {
extern "C++" {
#define GATHER_SHIM(returns, name, arguments) returns name arguments;
#include "torch_shim.def"
#undef GATHER_SHIM
}
}
template <typename A, typename B>
constexpr bool same = std::is_same_v<A, B> || (std::is_pointer_v<A> && std::is_pointer_v<B>) ||
                      (std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) == sizeof(B) && std::is_signed_v<A> == std::is_signed_v<B>);
template <typename A, typename B> constexpr bool agree = false;
template <typename A, typename... As, typename B, typename... Bs>
constexpr bool agree<A (*)(As...), B (*)(Bs...)> = [] {
  if constexpr (sizeof...(As) == sizeof...(Bs)) return same<A, B> && (same<As, Bs> && ...);
  else return false;
}();
#define GATHER_SHIM(returns, name, arguments) static_assert(agree<decltype(&ours::name), decltype(&::name)>, #name);
#include "torch_shim.def"
static_assert(sizeof(StableIValue) == sizeof(uint64_t));
"""
needs_torch = needs("torch", torch)


def compile_(text: str, folder: Path) -> subprocess.CompletedProcess:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        skip_test("c++", "comparing declarations needs a C++ compiler")
    (folder / "t.cpp").write_text(text)
    include = Path(torch.__file__).parent / "include"
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", f"-I{folder}", f"-I{DEF.parent}", "t.cpp"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_declarations(tmp_path):
    """Every row has the arguments and the result that PyTorch's header says, in the version that the plug-in asks for."""
    assert len(ROWS) > 40
    done = compile_(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr[:3000]


@pytest.mark.parametrize("name, row", [
    ("aoti_torch_get_dim", "GATHER_SHIM(int32_t, aoti_torch_get_dim, (void *tensor, int64_t rank))"),
    ("torch_library_impl", "GATHER_SHIM(int32_t, torch_library_impl, (void *library, const char *name))"),
    ("aoti_torch_check", "GATHER_SHIM(int32_t, aoti_torch_check, (bool fine, const char *function, const char *file, uint32_t line, const char *message))"),
])
def test_wrong_declarations_are_found(tmp_path, name, row):
    text = re.sub(rf"^GATHER_SHIM\(\w+, {name}, .*$", row, DEF.read_text(), flags=re.MULTILINE)
    (tmp_path / "torch_shim.def").write_text(text)
    done = compile_(PROGRAM, tmp_path)
    assert done.returncode != 0 and f"{name}" in done.stderr


def test_library_has_them():
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib/libtorch_cpu.so"))
    assert [name for _, name, _ in ROWS if not hasattr(library, name)] == []


def test_needs_nothing_else():
    """The plug-in's undefined names are the C library's, libtorch_cpu's that the table lists, and operator delete: none of Python's."""
    from libgather.torch import library_path
    from libgather.torch import loading

    if loading.failure():
        skip_test("torch operators", loading.failure())
    nm = shutil.which("nm")
    if not nm:
        skip_test("nm", "binutils is not installed")
    lines = subprocess.run([nm, "-D", "--undefined-only", library_path()], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {line.split()[-1] for line in lines}
    torchs = {name for name in names if "torch" in name}
    assert torchs <= {name for _, name, _ in ROWS}
    assert not [name for name in names if name.startswith(("Py", "_Py"))]
    assert [name for name in names if name.startswith("_Z") and "@" not in name] == ["_ZdlPv"]
