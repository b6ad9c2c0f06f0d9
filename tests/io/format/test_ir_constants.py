# SPDX-License-Identifier: MIT
"""OpenVINO IR: constants of every type, of files made by hand."""
import numpy as np
import pytest
from gather_files import content
from ir_files import GATHER, PACKED, SIZES, WHOLE, const, layer, net, opened, put, refusal, strings, unreadable

@pytest.mark.parametrize("ov_name", WHOLE)
def test_whole_byte_types(ov_name, tmp_path) -> None:
    size = SIZES.get(ov_name, 1)
    with opened(put(tmp_path, net([const(0, ov_name, "3", 5, 3 * size)]))) as model:
        (tensor,) = model.all
        assert (tensor.type_name.decode(), tensor.shape, tensor.bytes) == (WHOLE[ov_name], (3,), 3 * size)
        assert content(tensor) == bytes(range(5, 5 + 3 * size))


@pytest.mark.parametrize("ov_name", PACKED)
@pytest.mark.parametrize("length", [0, 1, 2, 7, 8, 9, 24])
def test_packed_types(ov_name, length, tmp_path) -> None:
    name, group, group_bytes = PACKED[ov_name]
    size = -(-length // group) * group_bytes
    with opened(put(tmp_path, net([const(0, ov_name, str(length), 5, size)]))) as model:
        (tensor,) = model.all
        assert (tensor.type_name.decode(), tensor.bytes, content(tensor)) == (name, size, bytes(range(5, 5 + size)))
    if size:
        assert f"its shape needs {size}" in refusal(put(tmp_path, net([const(0, ov_name, str(length), 5, size - 1)]))).message


def table_of(texts: list[bytes]) -> bytes:
    ends = np.cumsum([0] + [len(text) for text in texts])
    return np.array([len(texts), *ends], "<i4").tobytes() + b"".join(texts)


def test_strings(tmp_path) -> None:
    texts = [b"A", b"B c", b"", b"d.Ef"]
    table = table_of(texts)
    assert table.startswith(bytes.fromhex("0400000000000000010000000400000004000000 08000000"))
    with opened(put(tmp_path, net([const(0, "string", "2,2", 3, len(table))]), b"xyz" + table)) as model:
        assert strings(model.all[0]) == texts and model.all[0].type_name == b"string"


@pytest.mark.parametrize("place", range(0, 16, 4))
@pytest.mark.parametrize("value", [-1, 5, 2**31 - 1, -(2**31)])
def test_wrong_string_tables(place, value, tmp_path) -> None:
    table = bytearray(table_of([b"ab", b"c"]))
    table[place:place + 4] = value.to_bytes(4, "little", signed=True)
    unreadable(put(tmp_path, net([const(0, "string", "2", 0, len(table))]), bytes(table))).must_be("file_malformed", "l0")


def test_a_link_to_the_bin(tmp_path) -> None:
    """As download caches lay files out."""
    for folder in ("blobs", "snapshot"):
        (tmp_path / folder).mkdir()
    (tmp_path / "blobs" / "abc").write_bytes(GATHER)
    (tmp_path / "blobs" / "def").write_bytes(bytes(range(256)))
    (tmp_path / "snapshot" / "m.xml").symlink_to("../blobs/abc")
    (tmp_path / "snapshot" / "m.bin").symlink_to("../blobs/def")
    with opened(str(tmp_path / "snapshot" / "m.xml")) as model:
        assert content(model.all[0]) == bytes(range(14, 38))


def test_the_bin(tmp_path) -> None:
    error = unreadable(put(tmp_path, GATHER, None))
    assert error.status == "file_not_found" and error.file.endswith("m.bin") and "'l0'" in error.message
    assert unreadable(GATHER).status == "unsupported", "bytes in memory have nothing beside them"
    empty = net([const(0, "f32", "0,3", 0, 0), layer(1, "Parameter", 'element_type="f32" shape="?,2..5"')])
    with opened(put(tmp_path, empty, None, "e")) as model:
        assert model.all[0].shape == (0, 3) and not model.all[0].tensor.data
    with opened(empty) as model:
        assert model.names == ["l0"]
