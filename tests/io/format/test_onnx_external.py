# SPDX-License-Identifier: MIT
"""ONNX tensors in files of their own: where they may be, what is missing, and what large ones cost."""
import os
import time

import pytest
from gather_files import GatherError, content
from onnx import TensorProto
from onnx_files import graph, model, onnx_is_read, opened, varint  # noqa: F401

def external(tmp_path, bytes_needed: int, **keys: str) -> os.PathLike:
    proto = TensorProto(data_type=TensorProto.UINT8, dims=[bytes_needed], name="w", data_location=1)
    for key, value in keys.items():
        proto.external_data.add(key=key, value=value)
    path = tmp_path / "m.onnx"
    path.write_bytes(model(graph("m", [], [proto])).SerializeToString())
    return path


def test_external_data(tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(100)))
    for keys, start in (({}, 0), ({"length": "0"}, 0), ({"offset": "10", "length": "0"}, 10), ({"offset": "10"}, 10), ({"offset": "10", "length": "20"}, 10), ({"checksum": "x"}, 0)):
        with opened(external(tmp_path, 20, location="w.bin", **keys)) as file:
            assert content(file.find("w")) == bytes(range(start, start + 20))


OUTSIDE = ["../w.bin", "../../etc/passwd", "/w.bin", "/etc/passwd", "a/../../w.bin", "a/..", "..", "..\\w.bin", ""]


@pytest.mark.parametrize("keys", [{"offset": "-1"}, {"length": "1x"}, {"length": ""}, {"offset": "9" * 30},
                                  *({"location": name} for name in OUTSIDE)])
def test_wrong_external_data(keys: dict, tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(100)))
    with pytest.raises(GatherError) as caught, opened(external(tmp_path, 20, **{"location": "w.bin", **keys})):
        pass
    assert caught.value.status == "file_malformed" and caught.value.offset > 0


def unreadable(source) -> GatherError:
    """What keeps the values of the tensor `w` away; the model opens all the same."""
    with opened(source) as file:
        assert file.all[0].shape == (20,) and file.all[0].bytes == 20 and file.find("w").type_name == b"uint8"
        complaint = file.all[0].complaint
        assert complaint and "'w'" in complaint.message
        return complaint


@pytest.mark.parametrize("keys", [{"offset": "90"}, {"offset": "101"}, {"length": "101"}, {"offset": str(2**63 - 1), "length": "20"}])
def test_external_data_that_is_too_short(keys: dict, tmp_path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(range(100)))
    complaint = unreadable(external(tmp_path, 20, location="w.bin", **keys))
    assert complaint.status == "file_malformed" and complaint.offset > 0 and "100" in complaint.message
    assert complaint.file.endswith("m.onnx") and "w.bin" in complaint.message


@pytest.mark.parametrize("keys", [{"length": "19"}, {"length": "1", "offset": "10"}])
def test_a_length_that_is_shorter_than_the_tensor(keys: dict, tmp_path) -> None:
    """That tensor cannot be read; the others of the model can."""
    (tmp_path / "w.bin").write_bytes(bytes(range(100)))
    path = external(tmp_path, 20, location="w.bin", **keys)
    complaint = unreadable(path)
    assert complaint.status == "file_malformed" and complaint.offset > 0
    assert f"needs 20 bytes; it has {keys['length']} in 'w.bin'" in complaint.message
    (tmp_path / "w.bin").unlink()
    assert unreadable(path).status == "file_not_found"


def test_external_data_that_is_missing_or_has_no_place(tmp_path) -> None:
    path = external(tmp_path, 20, location="w.bin")
    complaint = unreadable(path)
    assert complaint.status == "file_not_found" and complaint.file == str(tmp_path / "w.bin")
    assert unreadable(path.read_bytes()).status == "unsupported"
    (tmp_path / "w.bin").mkdir()
    assert unreadable(path).status == "io_error"
    # A zero byte in the name is none of the name's end.
    (tmp_path / "w").write_bytes(bytes(20))
    assert unreadable(external(tmp_path, 20, location="w\0.bin")).status == "file_not_found"


def test_one_file_may_be_missing_of_two(tmp_path) -> None:
    (tmp_path / "there").write_bytes(b"abc")
    tensors = [TensorProto(data_type=TensorProto.UINT8, dims=[3], name=name, data_location=1) for name in ("gone", "there")]
    for tensor in tensors:
        tensor.external_data.add(key="location", value=tensor.name)
    (tmp_path / "m.onnx").write_bytes(model(graph("m", [], tensors)).SerializeToString())
    with opened(tmp_path / "m.onnx") as file:
        assert file.find("gone").complaint and not file.find("there").complaint
        assert content(file.find("there")) == b"abc"


def test_links_that_lead_out_of_the_folder(tmp_path) -> None:
    """As download caches lay files out: snapshots of links into a folder of blobs. The name stays inside; where the link under it
    leads is the choice of who made the folder."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshots" / "1").mkdir(parents=True)
    external(tmp_path, 20, location="m.onnx.data").rename(tmp_path / "blobs" / "abc")
    (tmp_path / "blobs" / "def").write_bytes(bytes(range(20)))
    for name, blob in (("m.onnx", "abc"), ("m.onnx.data", "def")):
        (tmp_path / "snapshots" / "1" / name).symlink_to(f"../../blobs/{blob}")
    with opened(tmp_path / "snapshots" / "1" / "m.onnx") as file:
        assert content(file.find("w")) == bytes(range(20))
    # The link of the model itself is not followed to find its neighbours.
    assert unreadable(tmp_path / "blobs" / "abc").status == "file_not_found"


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def assert_cheap(path, bytes_needed: int) -> None:
    before, start = resident(), time.monotonic()
    with opened(path) as file:
        assert file.find("w").bytes == bytes_needed
        assert resident() - before < 16 << 20
    assert time.monotonic() - start < 1


def test_ten_gigabytes_beside_the_model(tmp_path) -> None:
    with open(tmp_path / "w.bin", "wb") as file:
        file.truncate(10 << 30)
    assert_cheap(external(tmp_path, 10 << 30, location="w.bin"), 10 << 30)


def test_two_gigabytes_in_the_model(tmp_path) -> None:
    size = 2**31 - 4096
    tensor = TensorProto(data_type=TensorProto.UINT8, dims=[size], name="w").SerializeToString() + varint(9 << 3 | 2) + varint(size)
    body = varint(5 << 3 | 2) + varint(len(tensor) + size) + tensor
    head = b"\x08\x0a" + varint(7 << 3 | 2) + varint(len(body) + size) + body
    with open(tmp_path / "m.onnx", "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    assert_cheap(tmp_path / "m.onnx", size)
