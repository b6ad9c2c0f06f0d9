# SPDX-License-Identifier: MIT
"""Files of many tensors: opening them, and each tensor's elements by its name."""
from __future__ import annotations

import ctypes as c
from contextlib import contextmanager
from typing import Iterator

import numpy as np
import pytest
from gather_files import LIB, FileTensor, GatherError, P, check, handle
from support.structs import Error

LIB.gather_file_len.restype, LIB.gather_file_len.argtypes = c.c_int64, [P]
LIB.gather_file_find.restype = c.c_int
LIB.gather_file_find.argtypes = [P, c.c_char_p, c.POINTER(c.POINTER(FileTensor)), c.POINTER(Error)]


class Many:
    """An open file."""

    def __init__(self, file: P) -> None:
        self.file = file
        self.format = LIB.gather_file_format(file).decode()
        self.all = [LIB.gather_file_at(file, i).contents for i in range(LIB.gather_file_len(file))]
        self.names = [tensor.name.decode() for tensor in self.all]

    def find(self, name: str) -> FileTensor:
        found, error = c.POINTER(FileTensor)(), Error()
        check(LIB.gather_file_find(self.file, name.encode(), c.byref(found), c.byref(error)), error)
        return found.contents

    def complaints(self) -> dict[str, str]:
        """Of each tensor that cannot be read: why."""
        named = {name: tensor.complaint for name, tensor in zip(self.names, self.all)}
        return {name: str(complaint) for name, complaint in named.items() if complaint}


@contextmanager
def opened(source) -> Iterator[Many]:
    """A path, or bytes in memory."""
    with handle(source) as file:
        yield Many(file)


def failure(source) -> GatherError:
    with pytest.raises(GatherError) as caught, opened(source):
        pass
    assert caught.value.offset <= (len(source) if isinstance(source, bytes) else 1 << 62)
    return caught.value


def complaint(source, name: str) -> GatherError:
    """Why a tensor of a file that opens cannot be read."""
    with opened(source) as file:
        found = file.find(name).complaint
    assert found is not None
    return found


def assert_within(file: Many, size: int) -> None:
    """No tensor reaches out of the file."""
    for tensor in file.all:
        if tensor.complaint is None and tensor.bytes:
            assert 0 <= tensor.offset and tensor.offset + tensor.bytes <= size


def outcome(source: bytes) -> list[str] | str:
    """The names in a file, each beside what its elements are or why they cannot be had; or the status that opening gives."""
    try:
        with opened(source) as file:
            assert_within(file, len(source))
            rows = []
            for name, tensor in zip(file.names, file.all):
                bad = tensor.complaint
                data = b"" if bad or not tensor.bytes else c.string_at(tensor.tensor.data, tensor.bytes)
                rows.append(f"{name} {tensor.shape} {bad.status if bad else data.hex()}")
            return rows
    except GatherError as error:
        assert error.message and error.offset <= len(source)
        assert error.status in ("file_malformed", "unsupported")
        return error.status


def array(tensor: FileTensor, dtype) -> np.ndarray:
    assert tensor.complaint is None
    return tensor.array(np.dtype(dtype))
