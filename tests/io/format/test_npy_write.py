# SPDX-License-Identifier: MIT
"""What is written as .npy is what numpy.save writes, and NumPy loads it."""
import io
import os
import warnings

import numpy as np
import pytest
from support.dtypes import ALL, OPAQUE, SHAPES, STRUCTURED, TYPED, bytes_of, identify, random_array
from gather_files import GatherError, opened, writing, write
from support.refusal import refuses
from test_npy_read import saved, with_header


def describe(array: np.ndarray, keep_descr: bool = True) -> dict:
    """The arguments of `writing` for an array."""
    named = array.dtype.newbyteorder("=").name
    is_typed = named in TYPED and not array.dtype.names
    descr = repr(np.lib.format.dtype_to_descr(array.dtype))
    return {"type_name": named if is_typed else "opaque", "shape": array.shape, "item_bytes": array.itemsize,
            "byte_swapped": is_typed and not array.dtype.isnative, "descr": descr if keep_descr else None}


def load(path) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.load(path, allow_pickle=False, max_header_size=1 << 20)


@pytest.mark.parametrize("dtype", ALL, ids=identify)
def test_same_bytes_as_numpy(dtype, tmp_path) -> None:
    for i, shape in enumerate(SHAPES):
        array = random_array(dtype, shape)
        path = tmp_path / f"{i}.npy"
        write(writing(path, **describe(array)), bytes_of(array))
        assert path.read_bytes() == saved(array)
        loaded = load(path)
        assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
        assert bytes_of(loaded) == bytes_of(array)


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("order", "<>")
def test_own_descr(name, order, tmp_path) -> None:
    array = random_array(np.dtype(name).newbyteorder(order), (3, 2))
    write(writing(tmp_path / "a.npy", **describe(array, keep_descr=False)), array.tobytes())
    assert (tmp_path / "a.npy").read_bytes() == saved(array)


def test_opaque_without_descr_is_void(tmp_path) -> None:
    write(writing(tmp_path / "a.npy", "opaque", (2,), item_bytes=7), bytes(range(14)))
    assert load(tmp_path / "a.npy").dtype == np.dtype("V7")


@pytest.mark.parametrize("dtype", STRUCTURED + [np.dtype(name) for name in OPAQUE], ids=identify)
def test_from_file_to_file(dtype, tmp_path) -> None:
    """What one file has is enough to write the next, in C order."""
    array = random_array(dtype, (3, 4), "F")
    (tmp_path / "in.npy").write_bytes(saved(array))
    with opened(tmp_path / "in.npy") as t:
        content = bytes_of(t.array(dtype))
        what = writing(tmp_path / "out.npy", "opaque", t.shape, item_bytes=t.tensor.item_bytes, descr=t.descr,
                       byte_swapped=t.swapped)
        write(what, content)
    loaded = load(tmp_path / "out.npy")
    assert loaded.dtype == dtype and bytes_of(loaded) == bytes_of(array)


@pytest.mark.parametrize("fields", [1200, 1250, 1300, 1500])
def test_header_around_64_kib(fields, tmp_path) -> None:
    """Version 1.0 as long as it fits, 2.0 then: where exactly is for NumPy to say."""
    dtype = np.dtype([("f" * 36 + f"{i:04}", "<i4") for i in range(fields)])
    array = random_array(dtype, (2,))
    write(writing(tmp_path / "a.npy", **describe(array)), array.tobytes())
    assert (tmp_path / "a.npy").read_bytes() == saved(array)


def test_header_at_the_exact_border(tmp_path) -> None:
    for extra in range(0, 200):
        dtype = np.dtype([("f" * (65350 + extra), "<i4")])
        array = random_array(dtype, (2,))
        write(writing(tmp_path / "a.npy", replace=True, **describe(array)), array.tobytes())
        assert (tmp_path / "a.npy").read_bytes() == saved(array), extra


@pytest.mark.parametrize("descr", ["'<i8'", "'>f4'", "'<f4", "'<f4' x", "4", "", "[('a', '<f4')]"])
def test_descr_that_does_not_fit_the_type(descr, tmp_path) -> None:
    refuses(GatherError, write, writing(tmp_path / "a.npy", "float32", (3,), descr=descr), bytes(12)).must_be("usage")
    assert os.listdir(tmp_path) == []


def test_descr_of_another_size(tmp_path) -> None:
    refuses(GatherError, write, writing(tmp_path / "a.npy", "opaque", (3,), item_bytes=4, descr="'|S5'"), bytes(12)).must_be("usage")


@pytest.mark.parametrize("name", ["bfloat16", "int4", "float8_e4m3fn", "uint1", "string"])
def test_types_that_npy_cannot_carry(name, tmp_path) -> None:
    with pytest.raises(GatherError, match="npy cannot carry") as caught:
        write(writing(tmp_path / "a.npy", name, (3,)), b"")
    assert caught.value.status == "unsupported"
    assert ("raw" in caught.value.message) == (name != "string")
    assert ("pb" in caught.value.message) == (name != "uint1")


@pytest.mark.filterwarnings("ignore")
def test_python_2_file_is_written_for_python_3(tmp_path) -> None:
    header = "{'descr': [('a', '<i4', (2L,))], 'fortran_order': False, 'shape': (1L,), }"
    (tmp_path / "in.npy").write_bytes(with_header(header))
    with opened(tmp_path / "in.npy") as t:
        write(writing(tmp_path / "out.npy", "opaque", t.shape, item_bytes=8, descr=t.descr), bytes(8))
    assert load(tmp_path / "out.npy").dtype == np.load(io.BytesIO(with_header(header))).dtype
