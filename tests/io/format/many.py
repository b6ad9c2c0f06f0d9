# SPDX-License-Identifier: MIT
"""Files of many tensors, some of which cannot be read: what .npz and Arrow files are asked."""
import numpy as np
import pytest
from gather_files import FileTensor, GatherError, content
from tensor_files import Opened, opened


def complaints(file: Opened) -> dict[str, str]:
    """Of each tensor that cannot be read: why."""
    named = {name: tensor.complaint for name, tensor in zip(file.names, file.all, strict=True)}
    return {name: str(found) for name, found in named.items() if found}


def failure(source) -> GatherError:
    with pytest.raises(GatherError) as caught, opened(source):
        pass
    assert caught.value.offset <= (len(source) if isinstance(source, bytes) else 1 << 62)
    return caught.value


def complaint(source, name: str) -> GatherError:
    """Why a tensor of a file that opens cannot be read."""
    with opened(source) as file:
        found = file[name].complaint
    assert found is not None
    return found


def assert_within(file: Opened, size: int) -> None:
    """No tensor reaches out of the file."""
    for tensor in file.all:
        if tensor.complaint is None and tensor.bytes:
            assert 0 <= tensor.offset and tensor.offset + tensor.bytes <= size


def outcome(source: bytes) -> list[str] | str:
    """Each tensor's name and what its elements are or why they cannot be had; or the status that opening gives."""
    try:
        with opened(source) as file:
            assert_within(file, len(source))
            rows = []
            for name, tensor in zip(file.names, file.all):
                bad = tensor.complaint
                data = b"" if bad else content(tensor)
                rows.append(f"{name} {tensor.shape} {bad.status if bad else data.hex()}")
            return rows
    except GatherError as error:
        assert error.message and error.offset <= len(source)
        assert error.status in ("file_malformed", "unsupported")
        return error.status


def array(tensor: FileTensor, dtype) -> np.ndarray:
    assert tensor.complaint is None
    return tensor.array(np.dtype(dtype))
