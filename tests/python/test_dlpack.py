# SPDX-License-Identifier: MIT
#
# test_dlpack.py: tensors through DLPack, from a library of our own (capsules.py): what is read, what is refused, and that every
# tensor is given back once, also after an error.
"""DLPack."""
from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest

import libgather
from capsules import COPIED, PADDED, READ_ONLY, Old, Producer, name_of
from libgather import gather_elements, take
from support.refusal import refuses

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)
BOTH = pytest.mark.parametrize("kind", [Producer, Old])


def given_back(*producers: Producer) -> None:
    """Each tensor that was taken over was given back once, and its capsule will not do it again."""
    gc.collect()
    for producer in producers:
        assert producer.deleted == producer.asked == len(producer.capsules) >= 1
        assert all(name_of(capsule).startswith(b"used_dltensor") for capsule in producer.capsules)


@BOTH
def test_indices(kind):
    ids = kind(np.array([[3, -1], [0, 1]]))
    assert take(TABLE, ids, axis=0).tolist() == TABLE[[[3, -1], [0, 1]]].tolist()
    given_back(ids)


@BOTH
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_output_and_data(kind, dtype):
    data, memory = np.arange(4).astype(dtype), np.zeros(3, dtype)
    x, out = kind(data), Producer(memory)
    assert take(x, [3, 0, 1], out=out) is out and memory.tolist() == data[[3, 0, 1]].tolist()
    given_back(x, out)


def test_a_version_is_asked_for():
    """Without max_version a library must give its old struct, which cannot say that memory is read-only."""
    ids = Producer(np.array([1]))
    take(TABLE, ids, axis=0)
    assert ids.max_version[0] == 1


@BOTH
def test_strides(kind):
    for view in (TABLE.T, TABLE[::-1, ::2], TABLE[:, 1:], TABLE[:0]):
        ids, x, out = kind(np.arange(8)[::-4]), kind(view), np.zeros((view.shape[0], 2), np.float32)
        indices = [1, 0]
        take(x, indices, axis=1, out=out)
        assert out.tolist() == view[:, indices].tolist()
        assert take(np.arange(9), ids).tolist() == [7, 3]
        given_back(x, ids)


@BOTH
def test_null_strides_are_row_major(kind):
    x, out = kind(TABLE, strides=False), np.zeros((1, 3), np.float32)
    assert take(x, [2], axis=0, out=out).tolist() == [[6, 7, 8]]
    given_back(x)


@BOTH
@pytest.mark.parametrize("offset", [4, 64, 4096])
def test_byte_offset(kind, offset):
    x, out = kind(TABLE, offset=offset), np.zeros((1, 3), np.float32)
    assert take(x, [3], axis=0, out=out).tolist() == [[9, 10, 11]]
    given_back(x)


def test_read_only_data_is_fine_and_a_read_only_output_is_not():
    memory = np.zeros((1, 3), np.float32)
    x, out = Producer(TABLE, flags=READ_ONLY), Producer(memory, flags=READ_ONLY)
    refuses(libgather.GatherValueError, take, x, [0], axis=0, out=out, says="read-only")
    assert not memory.any()
    given_back(x, out)


def test_an_old_struct_is_no_output():
    """It cannot say that its memory is read-only, and comes from libraries whose arrays never change (JAX, Arrow)."""
    memory = np.zeros((1, 3), np.float32)
    out = Old(memory)
    refuses(libgather.GatherValueError, take, TABLE, [1], axis=0, out=out, says="read-only")
    assert not memory.any()
    given_back(out)


def test_a_copy_is_no_output():
    """What is written to a copy nobody sees."""
    out = Producer(np.zeros((1, 3), np.float32), flags=COPIED)
    refuses(libgather.GatherError, take, TABLE, [0], axis=0, out=out, says="copy")
    given_back(out)
    x, target = Producer(TABLE, flags=COPIED), np.zeros((1, 3), np.float32)
    take(x, [1], axis=0, out=target)
    assert target.tolist() == [[3, 4, 5]]
    given_back(x)


@BOTH
@pytest.mark.parametrize("device", [2, 7, 8, 13, 14, 99])
def test_memory_elsewhere(kind, device):
    """Its address is never followed."""
    for role in ("x", "indices", "out"):
        foreign = kind(np.zeros(3, np.int64), device=device)
        foreign.managed.tensor.data = 8
        call = {"x": lambda: take(foreign, [0]), "indices": lambda: take(np.zeros(3), foreign),
                "out": lambda: take(np.zeros(3, np.int64), [0, 1, 2], out=foreign)}[role]
        refuses(libgather.GatherNotSupportedError, call, says=f"device type {device}")
        given_back(foreign)


@pytest.mark.parametrize("device", [3, 11])
def test_pinned_memory_is_the_cpus(device):
    assert take(np.arange(5), Producer(np.array([4]), device=device)).tolist() == [4]


@pytest.mark.parametrize("version", [(0, 8), (2, 0), (99, 1)])
def test_another_major_version(version):
    """Nothing of the struct but version and deleter may be read."""
    ids = Producer(np.array([0]), version=version)
    ids.managed.tensor.shape = None
    refuses(libgather.GatherNotSupportedError, take, TABLE, ids, axis=0, says=f"DLPack {version[0]}.{version[1]}")
    given_back(ids)


@pytest.mark.parametrize("minor", [0, 2, 7])
def test_other_minor_versions(minor):
    ids = Producer(np.array([1]), version=(1, minor))
    assert take(np.arange(3), ids).tolist() == [1]
    given_back(ids)


@BOTH
def test_errors_give_back_too(kind):
    x, ids = kind(TABLE), kind(np.array([0.5]))
    refuses(libgather.GatherTypeError, take, x, ids, axis=0)
    given_back(x, ids)
    x, ids, out = kind(TABLE), kind(np.array([9])), Producer(np.zeros((1, 3), np.float32))
    refuses(libgather.GatherIndexError, take, x, ids, axis=0, out=out)
    given_back(x, ids, out)
    x, ids, out = kind(TABLE), kind(np.array([0])), Producer(np.zeros((1, 3)))
    refuses(libgather.GatherTypeError, take, x, ids, axis=0, out=out, says="dtype")
    given_back(x, ids, out)
    x = kind(TABLE)
    refuses(libgather.GatherAxisError, gather_elements, x, [[0, 0, 0]], axis=5)
    given_back(x)


@BOTH
def test_plans_give_back(kind):
    x, ids = kind(np.arange(9)), kind(np.array([3, -1]))
    out = Producer(np.zeros(2, np.int64))
    plan = libgather.Plan.take(x, ids)
    given_back(x, ids)
    plan(x, ids, out=out)
    plan.check(ids)
    assert out.array.tolist() == [3, 8]
    given_back(x, ids, out)
    refuses(libgather.GatherValueError, plan, x, kind(np.array([1])), out=out)
    given_back(x, ids)


def test_a_tensor_without_deleter():
    ids = Producer(np.array([1]), deleter=False)
    assert take(np.arange(3), ids).tolist() == [1] and ids.deleted == 0


def test_a_capsule_that_was_used():
    """Its memory belongs to somebody else."""
    class Again(Producer):
        def __dlpack__(self, **keywords):
            return self.capsules[0] if self.capsules else super().__dlpack__(**keywords)

    ids = Again(np.array([1]))
    assert take(np.arange(3), ids).tolist() == [1]
    refuses(libgather.GatherTypeError, take, np.arange(3), ids, says="no DLPack capsule")
    assert ids.deleted == 1


@pytest.mark.parametrize("name", [b"dltensor_", b"dltensor_versioned2", b"tensor"])
def test_a_capsule_of_something_else(name):
    ids = Producer(np.array([1]), name=name)
    refuses(libgather.GatherTypeError, take, np.arange(3), ids, says="no DLPack capsule")
    assert ids.deleted == 0


@pytest.mark.parametrize("answer", [None, 5, "capsule", np.arange(3)], ids=repr)
def test_no_capsule_at_all(answer):
    class Odd:
        def __dlpack__(self, **keywords):
            return answer

    refuses(libgather.GatherTypeError, take, np.arange(3), Odd(), says="no DLPack capsule")


@pytest.mark.parametrize("error", [BufferError, RuntimeError, ValueError, TypeError, AttributeError])
def test_a_method_that_raises(error):
    """Its complaint is the cause of ours, and stands in it."""
    class Raises:
        def __dlpack__(self, **keywords):
            raise error("the tensor is asleep\nand this is a second line")

    for call in (lambda: take(Raises(), [0]), lambda: take(np.arange(3), Raises()), lambda: take(np.arange(3), [0], out=Raises())):
        with pytest.raises(libgather.GatherNotSupportedError, match="the tensor is asleep$") as caught:
            call()
        assert type(caught.value.__cause__) is error


@BOTH
@pytest.mark.parametrize("shape", [(-1,), (2, -3)])
def test_shapes_that_cannot_be(kind, shape):
    x = kind(np.zeros(len(shape), np.int64), shape=shape, strides=False)
    refuses(libgather.GatherError, take, x, [0], axis=0, out=np.zeros(1, np.int64))
    given_back(x)


@BOTH
def test_ranks_that_cannot_be(kind):
    for rank in (65, -1):
        x = kind(np.zeros(1, np.int64))
        x.managed.tensor.ndim = rank
        refuses(libgather.GatherError, take, x, [0], axis=0)
        given_back(x)


def test_lanes_and_unknown_codes_are_opaque():
    """Elements are moved, whatever they are."""
    pairs, memory = np.arange(8, dtype=np.float32).reshape(4, 2), np.zeros((2, 2), np.float32)
    x = Producer(pairs, dtype=(2, 32, 2), shape=(4,), strides=False)
    out = Producer(memory, dtype=(2, 32, 2), shape=(2,), strides=False)
    take(x, [3, 0], out=out)
    assert memory.tolist() == [[6, 7], [0, 1]]
    given_back(x, out)


@pytest.mark.parametrize("code, bits, kind", [(4, 16, ml_dtypes.bfloat16), (10, 8, ml_dtypes.float8_e4m3fn)])
def test_small_floats_meet_ml_dtypes(code, bits, kind):
    data, memory = np.arange(4).astype(kind), np.zeros(2, kind)
    x = Producer(data.view(f"u{bits // 8}"), dtype=(code, bits, 1))
    take(x, [3, 1], out=memory)
    assert memory.astype(int).tolist() == [3, 1]
    given_back(x)


def test_four_bits_in_two_ways():
    """Packed (two to a byte) as DLPack has them, or one to a byte where the flag says so."""
    packed, out_memory = np.array([0x21, 0x43], np.uint8), np.zeros(1, np.uint8)
    x, out = (Producer(m, dtype=(1, 4, 1), shape=s, strides=False) for m, s in ((packed, (4,)), (out_memory, (2,))))
    take(x, [3, 0], out=out)
    assert out_memory.tolist() == [0x14]
    given_back(x, out)
    padded, out_memory = np.array([1, 2, 3, 4], np.uint8), np.zeros(2, np.uint8)
    x, out = (Producer(m, dtype=(1, 4, 1), flags=PADDED, strides=False) for m in (padded, out_memory))
    take(x, [3, 0], out=out)
    assert out_memory.tolist() == [4, 1]


def test_results_come_from_the_same_library():
    """from_dlpack of the tensor's own namespace makes the result; it owns memory that we made, and gives it back."""
    class Namespace:
        @staticmethod
        def from_dlpack(tensor):
            return ("made by the library", np.from_dlpack(tensor))

    class Tensor(Producer):
        def __array_namespace__(self, api_version=None):
            return Namespace

    x = Tensor(TABLE)
    word, result = take(x, [3, 0], axis=0)
    assert word == "made by the library" and result.tolist() == TABLE[[3, 0]].tolist() and result.dtype == np.float32
    given_back(x)


@pytest.mark.parametrize("indices", [[1], 1, [[0], [3]], np.empty((0, 2), int)], ids=repr)
def test_shapes_of_such_results(indices):
    class Tensor(Producer):
        def __array_namespace__(self, api_version=None):
            return np

    result = take(Tensor(TABLE), indices, axis=0)
    assert result.shape == TABLE[indices].shape and result.tolist() == TABLE[indices].tolist()


def test_a_library_without_from_dlpack():
    """Then the result is NumPy's, where NumPy has such a dtype."""
    x = Producer(TABLE)
    result = take(x, [3, 0], axis=0)
    assert type(result) is np.ndarray and result.dtype == np.float32 and result.tolist() == TABLE[[3, 0]].tolist()
    given_back(x)
    x = Producer(np.arange(4, dtype=np.uint16), dtype=(4, 16, 1))  # bfloat16
    refuses(libgather.GatherTypeError, take, x, [0], says="pass out=")
    given_back(x)


def test_numpys_own_dlpack():
    """An object that gives NumPy's capsule on."""
    class Wrapped:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __array_namespace__(self, api_version=None):
            return np

    assert take(Wrapped(TABLE), Wrapped(np.array([1])), axis=0).tolist() == [[3, 4, 5]]
