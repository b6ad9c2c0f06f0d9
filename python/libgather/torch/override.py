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

from libgather import _plugins

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
    """The library with the kernels, with PyTorch found."""
    path = _plugins.library("torch")
    library = ctypes.CDLL(path)
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


def _kernels(number: int) -> list[str]:
    """The kernels that an operator replaces: "index_select", "index_select.out"."""
    names: list[str] = []
    while (name := _native().gather_torch_override_kernel(number, len(names))) is not None:
        names.append(name.decode())
    return names


def _refuse_others(number: int) -> None:
    """An error if somebody else has replaced one of the kernels: what libgather does not handle goes to PyTorch's own, not to theirs."""
    for name in _kernels(number):
        table = torch._C._dispatch_dump_table(f"aten::{name}")
        line = next((line for line in table.splitlines() if line.startswith("CPU: ")), "")
        if line and not _PYTORCHS.match(line):
            raise RuntimeError(f"another library has replaced aten::{name} for the CPU ({line.removeprefix('CPU: ')})")


def _turn_on(name: str) -> None:
    native, number = _native(), _numbers()[name]
    if not native.gather_torch_override_is_registered(number):
        _refuse_others(number)
        if native.gather_torch_override_register(number) != 0:
            raise RuntimeError(f"PyTorch refused libgather's kernels for {name}")
    native.gather_torch_override_switch(number, 1)


def _turn_off(name: str) -> None:
    native, number = _native(), _numbers()[name]
    native.gather_torch_override_switch(number, 0)
    # PyTorch's dispatcher must not lose a kernel while another thread may be on its way into it.
    if threading.active_count() == 1:
        native.gather_torch_override_unregister(number)


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
    """What override() returns: a context manager, or installed for good. It may be used again, and nested."""

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
        """Turns it on until remove(). Once more does nothing."""
        with _lock:
            if not self._installed:
                _begin(self.operators)
                self._installed = True
        return self

    def remove(self) -> None:
        """Undoes install(). Without one it does nothing."""
        with _lock:
            if self._installed:
                self._installed = False
                _end(self.operators)

    @property
    def counts(self) -> dict[str, OverrideCount]:
        """How often each of its operators was called while on, since the process began; by all scopes together."""
        count, numbers = _native().gather_torch_override_count, _numbers()
        return {name: OverrideCount(count(numbers[name], 0), count(numbers[name], 1)) for name in self.operators}

    def __repr__(self) -> str:
        state = "on" if all(_uses.get(name, 0) for name in self.operators) else "off"
        return f"<libgather.torch.override {', '.join(self.operators)}: {state}>"


def override(*operators: str) -> Override:
    """Runs PyTorch's own operators on libgather, for tensors in the CPU's memory: nn.Embedding, index_select, gather, x[ids] and what
    else calls them.

    Parameters
    ----------
    operators : 'embedding', 'index_select', 'gather', 'index', 'take'
        Which; default: all of them. The kernels of out= belong to them ('index': x[ids] only). take_along_dim is 'gather'.

    Returns
    -------
    Override
        Nothing is on yet: use it as a context manager, or call its install().

    Results, gradients and rules are PyTorch's: an index that PyTorch refuses is refused, with PyTorch's error, in which the position, the
    value and the valid range stand in addition. Arguments that libgather does not handle go to PyTorch's own kernel.

    Threads: it is on for the whole process. Threads that call the operators meanwhile get one or the other kernel, which give the same
    result. At the end of the last scope PyTorch's dispatcher is as it was; if other Python threads are alive then, the kernels
    stay registered and pass each call on, until a scope ends while none is alive.

    Raises
    ------
    ValueError
        No such operator.
    FileNotFoundError, RuntimeError
        On entering: this build has no plug-in for PyTorch; a PyTorch before 2.11; another library has replaced the same kernel.
    """
    known = ("embedding", "index_select", "gather", "index", "take")
    for name in operators:
        if name not in known:
            raise ValueError(f"override() takes {', '.join(known)}, not {name!r}")
    return Override(tuple(dict.fromkeys(operators)) or known)
