# SPDX-License-Identifier: MIT
#
# override.py: libgather's kernels in place of PyTorch's own for the CPU, for models that cannot be changed. The kernels and the calls to
# PyTorch are in plugin/torch/torch_override*.cpp; here is when they are on.
"""PyTorch's own operators on libgather."""

from __future__ import annotations

import ctypes
import re
import threading
from dataclasses import dataclass
from functools import cache

import torch

from libgather.torch import loading
from libgather.torch.override_index import IndexKernel

__all__ = ["Override", "OverrideCount", "override"]

_lock = threading.RLock()
_uses: dict[str, int] = {}  # how many scopes have each operator on
_PYTORCHS = re.compile(r"^CPU: registered at .*Register(CPU|CompositeExplicitAutograd|Schema)[_0-9]*\.cpp:", re.MULTILINE)


@dataclass(frozen=True)
class OverrideCount:
    """Calls of an operator while its override was on.

    Attributes
    ----------
    taken : int
        Calls that libgather answered.
    passed : int
        Calls that PyTorch's own kernel answered: other forms of arguments, and errors.
    """

    taken: int
    passed: int


@cache
def _native() -> ctypes.CDLL:
    """The library with the kernels, connected to PyTorch."""
    if not loading.load():
        raise RuntimeError(f"libgather.torch.override() cannot be used: {loading.failure()}")
    library = ctypes.CDLL(path := loading.library_path())
    try:
        load = library.gather_torch_override_load
    except AttributeError:
        raise RuntimeError(f"{path} was built without override(): its build had no C++ compiler") from None
    load.restype = ctypes.c_char_p
    for name in ("name", "kernel"):
        getattr(library, f"gather_torch_override_{name}").restype = ctypes.c_char_p
    library.gather_torch_override_count.restype = ctypes.c_uint64
    why = load().decode()
    if why:
        raise RuntimeError(f"libgather.torch.override() cannot be used with PyTorch {torch.__version__}: {why}")
    return library


@cache
def _numbers() -> dict[str, int]:
    """The operators' numbers by their names."""
    native = _native()
    return {native.gather_torch_override_name(i).decode(): i for i in range(native.gather_torch_override_operators())}


def _kernels(operator: str) -> list[str]:
    """The kernels that an operator replaces: "index_select", "index_select.out"."""
    if operator == _INDEX.operator:
        return [_INDEX.kernel]
    number, names = _numbers()[operator], list[str]()
    while (name := _native().gather_torch_override_kernel(number, len(names))) is not None:
        names.append(name.decode())
    return names


def _refuse_others(operator: str) -> None:
    """Raises if another library has replaced a kernel: calls that libgather does not handle would go to PyTorch's, not to that one."""
    for name in _kernels(operator):
        table = torch._C._dispatch_dump_table(f"aten::{name}")
        line = next((line for line in table.splitlines() if line.startswith("CPU: ")), "")
        if line and not _PYTORCHS.match(line):
            raise RuntimeError(f"another library has replaced aten::{name} for the CPU ({line.removeprefix('CPU: ')})")


class _Native:
    """An operator whose kernels are in the library."""

    def __init__(self, operator: str) -> None:
        self._operator = operator

    @property
    def _number(self) -> int:
        return _numbers()[self._operator]

    def is_registered(self) -> bool:
        return bool(_native().gather_torch_override_is_registered(self._number))

    def register(self) -> None:
        if _native().gather_torch_override_register(self._number) != 0:
            raise RuntimeError(f"PyTorch refused libgather's kernels for {self._operator}")

    def unregister(self) -> None:
        _native().gather_torch_override_unregister(self._number)

    def switch(self, on: bool) -> None:
        _native().gather_torch_override_switch(self._number, on)

    def counts(self) -> tuple[int, int]:
        count = _native().gather_torch_override_count
        return count(self._number, 0), count(self._number, 1)


_INDEX = IndexKernel()
_KNOWN = {name: _Native(name) for name in ("embedding", "index_select", "gather", "take")} | {_INDEX.operator: _INDEX}
_DEFAULT = ("embedding", "index_select", "gather", "take")


def _turn_on(name: str) -> None:
    kernel = _KNOWN[name]
    if not kernel.is_registered():
        _native()
        _refuse_others(name)
        kernel.register()
    kernel.switch(True)


def _turn_off(name: str) -> None:
    _KNOWN[name].switch(False)
    # PyTorch's dispatcher must not lose a kernel while another thread may be on its way into it.
    if threading.active_count() == 1:
        _KNOWN[name].unregister()


def _begin(names: tuple[str, ...]) -> None:
    with _lock:
        begun = []
        try:
            for name in names:
                if _uses.get(name, 0) == 0:
                    _turn_on(name)
                _uses[name] = _uses.get(name, 0) + 1
                begun.append(name)
        except BaseException:
            _end(tuple(begun))
            raise


def _end(names: tuple[str, ...]) -> None:
    with _lock:
        for name in names:
            _uses[name] -= 1
            if _uses[name] == 0:
                _turn_off(name)


class Override:
    """The result of override(): use it as a context manager, or install it for good. It may be reused and nested."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.operators = names
        self._entered = 0
        self._installed = False

    def __enter__(self) -> Override:
        _begin(self.operators)
        self._entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._entered -= 1
        _end(self.operators)

    def install(self) -> Override:
        """Turns it on until remove(). A second call does nothing."""
        with _lock:
            if not self._installed:
                _begin(self.operators)
                self._installed = True
        return self

    def remove(self) -> None:
        """Undoes install(). Does nothing if it is not installed."""
        with _lock:
            if self._installed:
                self._installed = False
                _end(self.operators)

    @property
    def counts(self) -> dict[str, OverrideCount]:
        """Calls of each of its operators while on, since the process began, in all scopes together."""
        _native()
        return {name: OverrideCount(*_KNOWN[name].counts()) for name in self.operators}

    def __repr__(self) -> str:
        state = "on" if all(_uses.get(name, 0) for name in self.operators) else "off"
        return f"<libgather.torch.override {', '.join(self.operators)}: {state}>"


def override(*operators: str) -> Override:
    """Runs PyTorch's own operators on libgather, for CPU tensors.

    These are nn.Embedding, index_select, gather, take, and whatever calls them.

    Parameters
    ----------
    operators : 'embedding', 'index_select', 'gather', 'index', 'take'
        Which; default: all but 'index'. Each includes its variant with out=. take_along_dim is 'gather'. 'index' is x[ids] with one
        tensor of ids. Its kernel is in Python, and costs each call of x[...] with tensors some microseconds.

    Returns
    -------
    Override
        Nothing is on yet: use it as a context manager, or call its install().

    Results, gradients and rules are PyTorch's. For an index that PyTorch refuses, PyTorch's error is raised, with the position, the
    value and the valid range added. Arguments that libgather does not handle go to PyTorch's own kernel.

    It is on for the whole process. Threads that call the operators during a switch get either kernel, with the same result. The end
    of the last scope restores PyTorch's dispatcher. If other Python threads are alive then, the kernels stay registered and pass each
    call on, until a scope ends while none is alive.

    Raises
    ------
    ValueError
        No such operator.
    FileNotFoundError, RuntimeError
        On entering: this build has no plug-in for PyTorch; a PyTorch before 2.11; another library has replaced the same kernel.
    """
    for name in operators:
        if name not in _KNOWN:
            raise ValueError(f"override() takes {', '.join(_KNOWN)}, not {name!r}")
    return Override(tuple(dict.fromkeys(operators)) or _DEFAULT)
