# SPDX-License-Identifier: MIT
#
# errors.py: the exceptions. Each is a subclass of the built-in one that a NumPy user would catch, and has fields with what its
# message says.
"""The errors of libgather, with fields for programs."""
from __future__ import annotations

from typing import Any, NoReturn

from numpy.exceptions import AxisError

FIELDS = (
    *("status", "code", "op", "rules", "input", "position", "value", "low", "high", "axis", "bad_count"),
    *("item", "file", "offset", "row", "node", "rank", "errno", "first_position"),
)


class GatherError(Exception):
    """Any failure of libgather.

    Attributes
    ----------
    message : str
        One sentence.
    status, code : str, int
        The C library's status ("index_out_of_range", 5), whose meaning never changes.
    op, rules : str or None
        The operator ("take", "Gather") and its document ("onnx-13").
    input : str or None
        The invalid argument: "data", "indices", "axis", "output".
    position : tuple of int or None
        Coordinates in indices of the first index out of range, in row-major order. With unique=True ("index_repeated"):
        of the first index that selects the same place as an earlier one.
    first_position : tuple of int or None
        For "index_repeated": the coordinates of that earlier one.
    value, low, high, axis, bad_count : int or None
        Its value, the valid range (inclusive), the non-negative axis, and the number of indices out of range.
    item : int or None
        For index(): the item of the key, counted from 0. position is then in the shape that the key's arrays broadcast
        to.
    file, offset : str or None, int or None
        The file, and the position of the error in it, in bytes.
    row : int or None
        The row of a table in a file that cannot be read.
    node : str or None
        The node of a model that failed in a run.
    errno : int or None
        The system's error number, as in OSError: errno.ENOSPC, errno.EACCES.
    rank : int or None
        For tables over several processes: the process that failed. The error is raised in all of them.
    """

    status: str | None = None
    code: int | None = None
    op: str | None = None
    rules: str | None = None
    input: str | None = None
    position: tuple[int, ...] | None = None
    value: int | None = None
    low: int | None = None
    high: int | None = None
    axis: int | None = None
    bad_count: int | None = None
    item: int | None = None
    file: str | None = None
    offset: int | None = None
    row: int | None = None
    node: str | None = None
    rank: int | None = None
    errno: int | None = None
    first_position: tuple[int, ...] | None = None

    def __init__(self, message: str = "", **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        for name, value in fields.items():
            if name not in FIELDS:
                raise TypeError(f"no such field: {name}")
            setattr(self, name, value)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple:
        return _rebuild, (type(self), self.message, {name: getattr(self, name) for name in FIELDS})


def _rebuild(kind: type[GatherError], message: str, fields: dict[str, Any]) -> GatherError:
    return kind(message, **fields)


class GatherIndexError(GatherError, IndexError):
    """An index is out of range, or repeated if that is an error."""


class GatherAxisError(GatherError, AxisError):
    """The axis is out of range: a ValueError and an IndexError, like NumPy's."""


class GatherValueError(GatherError, ValueError):
    """Shapes, ranks, batch_dims or other arguments do not fit each other."""


class GatherKeyError(GatherError, IndexError):
    """A key of index() does not fit the array: NumPy's IndexError."""


class GatherTypeError(GatherError, TypeError):
    """A dtype cannot be used, or two do not fit each other."""


class GatherNotSupportedError(GatherError, NotImplementedError):
    """Understood, but not supported."""


class GatherMemoryError(GatherError, MemoryError):
    """Out of memory."""


class GatherCancelledError(GatherError):
    """A job was cancelled before its end."""


class GatherNameError(GatherError, LookupError):
    """No such name."""


class GatherFileError(GatherError, OSError):
    """A file cannot be read or written."""


class GatherFileNotFoundError(GatherFileError, FileNotFoundError):
    """No such file."""


class GatherFileFormatError(GatherFileError, ValueError):
    """A file is malformed."""


_CLASSES: dict[str, type[GatherError]] = {
    "shape_mismatch": GatherValueError,
    "rank_mismatch": GatherValueError,
    "axis_out_of_range": GatherAxisError,
    "batch_dims_out_of_range": GatherValueError,
    "index_out_of_range": GatherIndexError,
    "type_unsupported": GatherTypeError,
    "type_mismatch": GatherTypeError,
    "overflow": GatherValueError,
    "out_of_memory": GatherMemoryError,
    "unsupported": GatherNotSupportedError,
    "usage": GatherValueError,
    "file_not_found": GatherFileNotFoundError,
    "file_exists": GatherFileError,
    "file_malformed": GatherFileFormatError,
    "io_error": GatherFileError,
    "name_not_found": GatherNameError,
    "mismatch": GatherValueError,
    "cancelled": GatherCancelledError,
    "index_repeated": GatherIndexError,
}


def refuse(status: str, message: str, wrong: str | None = None) -> NoReturn:
    """Raises the exception of that status. wrong: the invalid argument."""
    from libgather import _core  # which imports this module

    _core._fail(status, wrong, message)
    raise AssertionError("unreachable")


def make_key(status: str, code: int, message: str) -> GatherKeyError:
    """The exception about a key of index(); the extension calls this."""
    return GatherKeyError(message, status=status, code=code, op="index", input="indices")


def make(
    status: str,
    code: int,
    message: str | None,
    op: str | None,
    rules: str | None,
    wrong: str | None,
    index: tuple | None,
    file: str | None,
    offset: int,
    row: int = -1,
    number: int = 0,
) -> GatherError:
    """The exception for a status of the C library; the extension calls this."""
    fields: dict[str, Any] = {"status": status, "code": code, "op": op, "rules": rules, "input": wrong, "file": file}
    fields.update(offset=offset if offset >= 0 else None, row=row if row >= 0 else None, errno=number or None)
    if index is not None:
        fields.update(zip(("position", "value", "low", "high", "axis", "bad_count", "first_position"), index))
    return _CLASSES.get(status, GatherError)(message or "", **fields)
