# SPDX-License-Identifier: MIT
#
# test_dlpack.py: NumPy's own DLPack capsules become tensors without a copy and are gathered.
"""DLPack with a real producer."""
import ctypes as c

import numpy as np
import pytest

import libgather_ctypes as g
import numpy_call

pointer_of = c.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = c.c_void_p, [c.py_object, c.c_char_p]


def from_capsule(array: np.ndarray, versioned: bool) -> g.Tensor:
    """The tensor of an array's capsule; the capsule lives as long as it does."""
    tensor, strides, error = g.Tensor(), (c.c_int64 * g.MAX_RANK)(), g.Error()
    if versioned:
        capsule = array.__dlpack__(max_version=(1, 1))
        source = g.DlVersioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
        status = g.lib.gather_tensor_from_dlpack_versioned(source, strides, tensor, error)
    else:
        capsule = array.__dlpack__()
        source = g.DlManaged.from_address(pointer_of(capsule, b"dltensor")).tensor
        status = g.lib.gather_tensor_from_dlpack(source, strides, tensor, error)
    assert status == g.OK, error.message
    tensor.keep = [capsule, strides, array]
    return tensor


ARRAYS = {
    "plain": np.arange(24, dtype=np.float32).reshape(4, 6),
    "transposed": np.arange(24, dtype=np.int16).reshape(6, 4).T,
    "sliced": np.arange(96, dtype=np.uint64).reshape(8, 12)[::2, 1::2],
    "reversed": np.arange(24, dtype=np.complex128).reshape(4, 6)[::-1, ::-1],
    "broadcast": np.broadcast_to(np.arange(6, dtype=np.float64), (4, 6)),
    "bool": np.arange(24).reshape(4, 6) % 3 == 0,
    "half": np.arange(24, dtype=np.float16).reshape(4, 6),
}


@pytest.mark.parametrize("versioned", [False, True], ids=["unversioned", "versioned"])
@pytest.mark.parametrize("name", ARRAYS)
def test_numpy_capsules(name, versioned):
    array = ARRAYS[name]
    if not array.flags.writeable and not versioned:  # the old protocol cannot say read-only, and NumPy refuses
        with pytest.raises(BufferError):
            array.__dlpack__()
        return
    tensor = from_capsule(array, versioned)
    assert tuple(tensor.shape[: tensor.rank]) == array.shape
    assert tensor.data == array.ctypes.data
    assert bool(tensor.flags & g.READ_ONLY) == (versioned and not array.flags.writeable)
    indices = np.array([3, 0, -2], dtype=np.int32)
    out = np.zeros((3, 6), dtype=array.dtype)
    row = numpy_call.find("Gather", "onnx-13")
    by = from_capsule(indices, versioned)
    assert g.lib.gather_apply(row, tensor, by, numpy_call.describe(out), None, None) == g.OK
    assert out.tobytes() == np.take(array, indices, axis=0).tobytes()


def test_a_read_only_array_is_no_output():
    array = np.zeros((3, 6), dtype=np.float32)
    array.flags.writeable = False
    target, error = from_capsule(array, True), g.Error()
    data, indices = np.ones((4, 6), dtype=np.float32), np.array([0, 1, 2])
    row = numpy_call.find("Gather", "onnx-13")
    status = g.lib.gather_apply(row, numpy_call.describe(data), numpy_call.describe(indices), target, None, error)
    assert g.STATUSES[status] == "usage" and error.input == b"output"
    assert not array.any()
