# SPDX-License-Identifier: MIT
"""Every dtype, order and version that NumPy writes is read, bit for bit."""
import io
import struct
import warnings

import numpy as np
import pytest
from support.dtypes import ALL, OPAQUE, SHAPES, TYPED, bytes_of, identify, random_array
from gather_files import OPAQUE as OPAQUE_TYPE
from gather_files import GatherError, opened, opened_bytes, type_number


def saved(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(buffer, array, version=version, allow_pickle=False)
    return buffer.getvalue()


def with_header(header: str, data: bytes = bytes(range(256)), version: int = 1) -> bytes:
    encoded = header.encode("utf8" if version == 3 else "latin1")
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(encoded)) + encoded + data


def assert_same(content: bytes, array: np.ndarray) -> None:
    with opened_bytes(content) as t:
        assert t.shape == array.shape
        assert t.bytes == array.nbytes
        assert t.offset + t.bytes == len(content)
        assert bytes_of(t.array(array.dtype)) == bytes_of(array)


@pytest.mark.parametrize("dtype", ALL, ids=identify)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_dtype_and_shape(dtype, order) -> None:
    for shape in SHAPES:
        array = random_array(dtype, shape, order)
        assert_same(saved(array), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)], ids=str)
def test_every_version(version) -> None:
    array = np.arange(12, dtype="<i4").reshape(3, 4)
    assert_same(saved(array, version), array)


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("order", "<>")
def test_types_with_a_name(name, order) -> None:
    dtype = np.dtype(name).newbyteorder(order)
    with opened_bytes(saved(np.ones(3, dtype))) as t:
        assert t.tensor.type == type_number(name)
        assert t.type_name.decode() == name
        assert t.descr.decode() == repr(dtype.str)
        assert t.swapped == (not dtype.isnative)


@pytest.mark.parametrize("name", OPAQUE)
def test_opaque_types(name) -> None:
    dtype = np.dtype(name)
    with opened_bytes(saved(random_array(dtype, (3,)))) as t:
        assert t.tensor.type == OPAQUE_TYPE
        assert t.tensor.item_bytes == dtype.itemsize
        assert t.type_name.decode() == dtype.str
        assert t.descr.decode() == repr(dtype.str)


def test_structured_descr_is_kept_literally() -> None:
    dtype = np.dtype([("größe", "<f4"), ("b", ">f8", (2, 3))])
    with opened_bytes(saved(np.zeros(2, dtype))) as t:
        assert t.descr.decode() == t.type_name.decode() == repr(dtype.descr)
        assert t.tensor.item_bytes == 52


def test_order_of_elements_of_columns() -> None:
    array = np.asfortranarray(np.arange(24, dtype="<i2").reshape(2, 3, 4))
    with opened_bytes(saved(array)) as t:
        assert t.strides == (2, 4, 12)
        assert (t.array(array.dtype) == array).all()


GOOD_HEADERS = [
    "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }",
    '{"shape":(3,),"fortran_order":False,"descr":"<i4"}',
    "{'descr': '<i4', 'fortran_order': False, 'shape': (3L,), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (3L, 1L), }",
    "{'descr': u'<i4', u'fortran_order': False, 'shape': (0x3, 1_0), }          \n",
    " { 'descr' :'<i4' ,\n 'fortran_order' : False , # a comment }\n 'shape' : ( 3 ,\t) , }\n\n",
    "{'descr': 'i4', 'fortran_order': False, 'shape': (+3,)}",
    "{'descr': '=i4', 'fortran_order': True, 'shape': (3, 2)}",
    "{'descr': 'int32', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '>h', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '|i4', 'fortran_order': False, 'shape': ()}",
    "{'descr': [('a', '<i4', 2), ('b', ('<i2', (2,)),), ], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': [('a', '<i4', (2L,)), (('t', 'b'), '<i2')], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': [('', '|V3'), ('b', '|u1')], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': [('\\x41\\u00b5\\U0001F600\\'\\\\', '<i4')], 'fortran_order': False, 'shape': (00, 0)}",
    "{'descr': '<i2', 'shape': (9,), 'descr': '<i4', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '<m8[generic]', 'fortran_order': False, 'shape': (3,)}",
]


@pytest.mark.parametrize("header", GOOD_HEADERS)
@pytest.mark.filterwarnings("ignore")
def test_spellings_that_numpy_accepts(header) -> None:
    content = with_header(header)
    array = np.load(io.BytesIO(content))
    with opened_bytes(content) as t:
        assert t.shape == array.shape
        assert t.tensor.item_bytes == array.dtype.itemsize
        assert t.array(array.dtype).tobytes() == array.tobytes()


@pytest.mark.filterwarnings("ignore")
def test_python_2_descr_is_kept_without_its_long_numbers() -> None:
    with opened_bytes(with_header("{'descr': [('aL', '<i4', (2L, 3L))], 'fortran_order': False, 'shape': (1,)}")) as t:
        assert t.descr == b"[('aL', '<i4', (2, 3))]"


def test_header_text_becomes_utf8() -> None:
    header = "{'descr': [('\u00b5', '<i4')], 'fortran_order': False, 'shape': (1,)}"
    for version in (1, 2, 3):
        with opened_bytes(with_header(header, version=version)) as t:
            assert t.descr.decode() == "[('\u00b5', '<i4')]"


def test_long_double_of_other_machines() -> None:
    for descr, item in (("<f12", 12), ("<c24", 24), (">f16", 16), ("<c32", 32)):
        content = with_header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,)}}")
        with opened_bytes(content) as t:
            assert (t.tensor.type, t.tensor.item_bytes, t.bytes) == (OPAQUE_TYPE, item, 2 * item)


def test_a_file_on_disk_with_bytes_behind_the_array(tmp_path) -> None:
    array = np.arange(6, dtype="<f8")
    (tmp_path / "a.npy").write_bytes(saved(array) + b"behind")
    with opened(tmp_path / "a.npy") as t:
        assert t.array(array.dtype).tolist() == array.tolist()


@pytest.mark.parametrize("descr", [">b1", ">u1", ">i1", ">S3", ">V4", "=i4", "|f8"])
def test_byte_order_where_there_is_none(descr) -> None:
    with opened_bytes(with_header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,)}}")) as t:
        assert not t.swapped


def test_pickled_objects_are_refused() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}, 1], dtype=object), allow_pickle=True)
    nested = with_header("{'descr': [('a', [('b', '|O')])], 'fortran_order': False, 'shape': (3,)}")
    for content in (buffer.getvalue(), nested):
        with pytest.raises(GatherError, match="pickle") as caught, opened_bytes(content):
            pass
        assert caught.value.status == "unsupported"
