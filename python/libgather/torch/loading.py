# SPDX-License-Identifier: MIT
#
# loading.py: loads the operators of libgather_torch.so into PyTorch, and turns their errors into libgather's.
"""The library of PyTorch operators: loading it, and its errors."""

from __future__ import annotations

import ctypes

import torch

from libgather._plugins import library
from libgather.errors import make

__all__ = ["failure", "library_path", "load", "translate"]

OLDEST = (2, 11)
_MAX_RANK = 64


class _State:
    """The loaded library, or why it is not loaded."""

    library: ctypes.CDLL | None = None
    failure: str | None = "not loaded yet"


def library_path() -> str:
    """The path of libgather_torch.so, for torch.ops.load_library() and for C++ programs that run exported models.

    Raises
    ------
    FileNotFoundError
        This build of libgather has no plug-in for PyTorch.
    """
    return library("torch")


def _version() -> tuple[int, int]:
    major, minor = torch.__version__.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def load() -> bool:
    """Loads the operators, so that torch.ops.libgather has them. False if that is impossible: failure() says why."""
    if _State.library is not None:
        return True
    if _version() < OLDEST:
        _State.failure = f"libgather's operators need PyTorch {OLDEST[0]}.{OLDEST[1]} or newer; this is {torch.__version__}"
        return False
    try:
        path = library_path()
        torch.ops.load_library(path)
        loaded = ctypes.CDLL(path)
    except OSError as error:  # FileNotFoundError among them
        _State.failure = str(error)
        return False
    loaded.gather_torch_failure.restype = ctypes.c_char_p
    reason = loaded.gather_torch_failure()
    if reason is not None:
        _State.failure = reason.decode()
        return False
    loaded.gather_torch_last_error.restype = ctypes.c_bool
    _State.library, _State.failure = loaded, None
    return True


def failure() -> str | None:
    """Why the operators are not loaded; None if they are."""
    return _State.failure


def translate(error: RuntimeError) -> Exception:
    """libgather's exception for the last error of an operator in this thread, if `error` is that one; else `error`."""
    if _State.library is None:
        return error
    numbers = (ctypes.c_int64 * 10)()
    position = (ctypes.c_int64 * _MAX_RANK)()
    texts = (ctypes.c_char_p * 5)()
    if not _State.library.gather_torch_last_error(numbers, position, texts):
        return error
    message, status, op, rules, wrong = (None if text is None else text.decode("utf-8", "replace") for text in texts)
    if not message or not status or not str(error).startswith(message):
        return error
    code, offset, row, axis, rank, value, low, high, unsigned, bad_count = numbers
    index = None
    if status == "index_out_of_range":
        index = (tuple(position[:rank]), value % 2**64 if unsigned else value, low, high, axis, bad_count)
    return make(status, code, message, op, rules, wrong, index, None, offset, row)
