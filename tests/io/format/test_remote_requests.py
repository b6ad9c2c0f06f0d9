# SPDX-License-Identifier: MIT
"""What opening a URL costs in each format: requests and bytes, counted by the server. Elements are not read."""
import io
import json

import numpy as np
import pytest
import remote_files
from gather_files import GatherError, Raw, content, lengths
from gguf_files import ARRAY, STRING, UINT32, Gguf
from remote_files import handle, is_remote, opened, whole
from support import hdf5_files as hdf5
from support import http_faults as faults
from support.hdf5_files import Hdf5
from support.http_server import HttpServer
from support.refusal import refuses
from support.skip import needs, skip_test
from support.zarr_files import filled, write_3
from tensor_files import Opened, formats, safetensors

HEAD = 1 << 16  # bytes of the first request
BIG = 3 << 20  # bytes of a tensor that nobody wants to download


needs_urls = needs("http", not remote_files.why_no_urls(), remote_files.why_no_urls())


@pytest.fixture(scope="module")
def server():
    with HttpServer() as server:
        yield server


def cost(server: HttpServer, data, path: str = "/file", **more) -> tuple[Opened, int, int]:
    """A file opened by its URL: what is in it, the requests and the bytes. It is closed already: only names and shapes are left."""
    server.put(path, data)
    server.reset_counts()
    with opened(server.url(path), **more) as file:
        for tensor in file.all:
            assert tensor.bytes < 1 << 15 or is_remote(tensor) or not tensor.tensor.data  # or it is in chunks
        return file, server.requests, server.body_bytes


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def need(format: str) -> None:
    if format not in formats():
        skip_test(format, f"this build reads no {format}")


def test_npy(server) -> None:
    file, requests, read = cost(server, npy(np.arange(BIG // 4, dtype=np.float32)))
    assert (file.format, requests) == ("npy", 1) and read <= HEAD


def test_raw(server) -> None:
    server.put("/raw", bytes(BIG))
    server.reset_counts()
    raw = Raw(b"float32", 2, lengths((BIG // 16, 4)), 0, True)
    with handle(server.url("/raw"), raw) as file:
        assert is_remote(Opened(file).all[0])
    assert server.requests == 1 and server.body_bytes <= HEAD


def test_empty(server) -> None:
    with pytest.raises(GatherError, match="empty"):
        cost(server, b"")
    assert server.requests == 1


def test_unknown_content_is_not_read_on(server) -> None:
    """Not even if it begins like JSON or XML, or could be a long protobuf."""
    for start in (b"\0\1\2\3", b"{ no JSON", b"<no XML", b"\x0a\xff\xff\xff\x7f"):
        refuses(GatherError, cost, server, start + bytes(200 << 20 if start[:1] == b"{" else BIG)).must_be("unsupported")
        assert server.requests <= 2 and server.body_bytes <= 3 * HEAD


def test_npz(server) -> None:
    """The first bytes, the last ones, and the headers of all members at once."""
    out = io.BytesIO()
    np.savez(out, **{f"a{i}": np.full(BIG // 8, i) for i in range(5)})
    file, requests, read = cost(server, out.getvalue())
    assert file.names == [f"a{i}" for i in range(5)] and requests <= 2 + 4 and read <= 3 * HEAD
    small = io.BytesIO()
    np.savez(small, a=np.arange(9), b=np.eye(3))
    assert cost(server, small.getvalue())[1] == 1


def test_npz_of_many_members_joins_requests(server) -> None:
    out = io.BytesIO()
    np.savez(out, **{f"a{i}": np.arange(16) for i in range(2000)})
    file, requests, _ = cost(server, out.getvalue())
    assert len(file.names) == 2000 and requests <= 6


@pytest.mark.parametrize("tensors,most", [(3, 1), (3000, 2)])
def test_safetensors(server, tensors: int, most: int) -> None:
    need("safetensors")
    each = BIG // tensors
    header = {f"model.layers.{i}.weight": {"dtype": "U8", "shape": [each], "data_offsets": [i * each, (i + 1) * each]}
              for i in range(tensors)}
    source = safetensors(json.dumps(header).encode(), bytes(each * tensors))
    file, requests, read = cost(server, source)
    assert len(file.names) == tensors and requests <= most and read <= HEAD + len(source) - each * tensors + HEAD


def shard(name: str, size: int, padding: int = 0) -> bytes:
    header = {name: {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}, "__metadata__": {"x": " " * padding}}
    return safetensors(json.dumps(header).encode(), bytes(size))


@pytest.mark.parametrize("padding,most", [(0, 1), (100_000, 2)])
def test_sharded_safetensors(server, padding: int, most: int) -> None:
    """The index, and a request for each shard, of which many are on their way at once."""
    need("safetensors")
    names = [f"model-{i:05}-of-00060.safetensors" for i in range(60)]
    for i, name in enumerate(names):
        server.put(f"/model/{name}", shard(f"w{i}", 1 << 18, padding))
    index = json.dumps({"weight_map": {f"w{i}": name for i, name in enumerate(names)}}).encode()
    file, requests, _ = cost(server, index, "/model/model.safetensors.index.json")
    assert (file.format, len(file.names)) == ("safetensors", 60)
    asked = 1 + 60 * most
    assert asked <= requests <= asked + 1 + asked // 50  # of so many, one in 50 that is slow may be sent a second time
    assert 4 <= server.peak <= 16


def test_shards_that_are_missing_are_asked_for_once(server) -> None:
    need("safetensors")
    server.put("/lost/there.safetensors", shard("a", 4))
    weights = {"a": "there.safetensors", "b": "gone.safetensors", "c": "gone.safetensors", "d": "gone.safetensors"}
    server.put("/lost/index.json", json.dumps({"weight_map": weights}).encode())
    server.reset_counts()
    with opened(server.url("/lost/index.json")) as file:
        assert is_remote(file["a"])
        complaints = [file[name].complaint for name in "bcd"]
    assert [found.status for found in complaints] == ["file_not_found"] * 3
    assert all("gone.safetensors" in str(found) and f"the data of tensor '{name}'" in str(found)
               for name, found in zip("bcd", complaints, strict=True))
    assert server.requests == 3


def test_gguf_with_a_long_tokenizer(server) -> None:
    """Metadata of 9 MB: the steps grow, so it is a handful of requests."""
    words = [f"token{i:08}" for i in range(420_000)]
    model = Gguf().add("general.architecture", STRING, "t").add("tokenizer.ggml.tokens", ARRAY, (STRING, words))
    model.add("general.alignment", UINT32, 32).tensor("emb", [64, BIG // 256], 0, 0)
    source = model.file(bytes(BIG), 32)
    file, requests, read = cost(server, source)
    assert file.names == ["emb"] and requests <= 6 and read <= len(source) - BIG + (8 << 20)


@pytest.mark.parametrize("codec", [None, "lz4"])
def test_arrow(server, codec) -> None:
    """The first bytes, the last ones, and the metadata of the batches at once; of compressed ones the lengths, too."""
    pa = pytest.importorskip("pyarrow")
    batches = 6
    numbers = np.random.default_rng(1).integers(0, 2**63, BIG // 8)
    table = pa.table({"a": numbers, "b": np.ones(BIG // 8, np.float32)})
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table, max_chunksize=-(-len(table) // batches))
    file, requests, read = cost(server, out.getvalue())
    assert len(file.names) == 2 * batches and requests <= 2 + batches * (3 if codec else 1) and read <= 4 * HEAD * batches
    with handle(server.url("/file")) as file:
        assert content(whole(file, "a")) == numbers.tobytes()


def test_arrow_lists_and_streams(server) -> None:
    """The offsets of lists are read, the elements are not; each batch of a stream is a request."""
    pa = pytest.importorskip("pyarrow")
    values = np.arange(BIG // 4, dtype=np.float32).reshape(-1, 256)
    table = pa.table({"v": pa.ListArray.from_arrays(pa.array(range(0, values.size + 1, 256), pa.int32()), pa.array(values.ravel()))})
    for new, most in ((pa.ipc.new_file, 2 + 2 * 6), (pa.ipc.new_stream, 3 * 7)):
        out = io.BytesIO()
        with new(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=-(-len(table) // 6))
        file, requests, read = cost(server, out.getvalue())
        assert len(file.names) == 6 and requests <= most and read <= BIG // 2
        with handle(server.url("/file")) as file:
            assert content(whole(file, "v")) == values.tobytes()


def hdf5_file(header: int, groups: int, each: int, size: int) -> bytes:
    """Groups of datasets, the elements before all that describes them, which is therefore not among the first bytes that are loaded."""
    file = Hdf5(0 if header == 1 else 2)
    made = {}
    for i in range(groups):
        rows = {}
        for k in range(each):
            data = np.full(size // 8, i * each + k).tobytes()
            rows[b"%d" % k] = file.dataset(f"{i}.{k}", (size // 8,), hdf5.integer(8), data, header)
        made[b"group%d" % i] = file.old_group(f"{i}", rows)
    return file.finished(file.old_group("root", made))


@pytest.mark.parametrize("header", [1, 2])
@pytest.mark.parametrize("groups,each,size,most",
                         [(1, 1, 800, 1), (2, 3, BIG // 4, 8), (8, 100, 8, 8), (4, 12, BIG // 32, 54)])
def test_hdf5(server, header: int, groups: int, each: int, size: int, most: int) -> None:
    """The root group, then all groups at once, then the headers of all datasets, neighbours by one request; no elements."""
    source = hdf5_file(header, groups, each, size)
    file, requests, read = cost(server, source)
    assert sorted(file.names) == sorted(f"group{i}/{k}" for i in range(groups) for k in range(each))
    assert requests <= most and read <= min(len(source), HEAD + 4096 * groups * (each + 4)) + HEAD, (requests, read)
    with handle(server.url("/file")) as file:
        for name, number in (("group0/0", 0), (f"/group{groups - 1}/{each - 1}", groups * each - 1)):
            assert content(whole(file, name)) == np.full(size // 8, number).tobytes()


def test_hdf5_of_h5py(server, tmp_path) -> None:
    h5py = pytest.importorskip("h5py")
    for libver in ("earliest", "latest"):
        with h5py.File(tmp_path / "made.h5", "w", libver=libver) as made:
            for i in range(40):
                made[f"g{i % 4}/rows{i}"] = np.full(BIG // 80, i)
        file, requests, read = cost(server, (tmp_path / "made.h5").read_bytes())
        assert len(file.names) == 40 and requests <= 60 and read <= 8 * HEAD, (requests, read)
        with handle(server.url("/file")) as file:
            assert content(whole(file, "g3/rows39")) == np.full(BIG // 80, 39).tobytes()


def test_onnx(server) -> None:
    """Weights inside the model are passed over; what is small is read."""
    need("onnx")
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    weights = [numpy_helper.from_array(np.full(BIG // 4, i, np.float32), f"w{i}") for i in range(4)]
    ids = numpy_helper.from_array(np.array([0, 2], np.int64), "ids")
    graph = helper.make_graph([helper.make_node("Gather", ["w0", "ids"], ["y"], "g")], "m", [],
                              [helper.make_tensor_value_info("y", 1, [2])], [*weights, ids])
    source = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    file, requests, read = cost(server, source)
    assert file.names == ["w0", "w1", "w2", "w3", "ids"] and requests <= 8 and read <= 8 * (1 << 20)
    with opened(server.url("/file")) as file:
        assert content(file["ids"]) == np.array([0, 2]).tobytes() and is_remote(file["w1"])
        assert content(whole(file.file, "w3")) == weights[3].raw_data


def external_model(onnx, entries: list[dict[str, str]]) -> bytes:
    """A model of the tensors w0, w1 ..., BIG bytes each, with these entries of external data."""
    protos = []
    for i, pairs in enumerate(entries):
        proto = onnx.TensorProto(data_type=onnx.TensorProto.UINT8, dims=[BIG], name=f"w{i}", data_location=1)
        for key, value in pairs.items():
            proto.external_data.add(key=key, value=value)
        protos.append(proto)
    return onnx.helper.make_model(onnx.helper.make_graph([], "m", [], [], protos)).SerializeToString()


def test_onnx_with_external_data(server) -> None:
    """A request for the model and one for the file beside it."""
    need("onnx")
    onnx = pytest.importorskip("onnx")
    model = external_model(onnx, [{"location": "weights of it.bin", "offset": str(i * BIG), "length": str(BIG)} for i in range(3)])
    server.put("/deep/weights of it.bin", bytes(range(256)) * (3 * BIG // 256))
    file, requests, read = cost(server, model, "/deep/m.onnx")
    assert file.names == ["w0", "w1", "w2"] and requests == 2 and read <= 2 * HEAD
    with opened(server.url("/deep/m.onnx")) as file:
        assert content(whole(file.file, "w2"))[:300] == (bytes(range(256)) * 2)[:300]


def test_onnx_with_many_files_of_external_data(server) -> None:
    """A request for each, all at once: each answer takes long enough that they would be seen one after another."""
    need("onnx")
    onnx = pytest.importorskip("onnx")
    for i in range(6):
        server.put(f"/many/w{i}.bin", bytes([i]) * BIG)
    model = external_model(onnx, [{"location": f"w{i % 5}.bin"} for i in range(6)])
    server.fault(faults.delay(0.3), when=lambda request: request.path.endswith(".bin"))
    file, requests, _ = cost(server, model, "/many/m.onnx")
    assert file.names == [f"w{i}" for i in range(6)] and requests == 6 and server.peak >= 5
    with opened(server.url("/many/m.onnx")) as file:
        assert content(whole(file.file, "w4"))[:9] == bytes([4]) * 9


def test_openvino(server) -> None:
    need("ir")
    layer = ('<layer id="{0}" name="w{0}" type="Const" version="opset1"><data element_type="u8" shape="{1}" offset="{2}" size="{1}"/>'
             '<output><port id="0" precision="U8"><dim>{1}</dim></port></output></layer>')
    layers = "".join(layer.format(i, BIG if i < 2 else 16, i * BIG) for i in range(3))
    xml = f'<?xml version="1.0"?><net name="m" version="11"><layers>{layers}</layers><edges/></net>'.encode()
    server.put("/ov/m.bin", bytes(2 * BIG) + bytes(range(16)))
    file, requests, _ = cost(server, xml, "/ov/m.xml")
    assert file.names == ["w0", "w1", "w2"] and requests <= 3  # the small constant is read
    server.put("/ov/a b%.bin", server.files["/ov/m.bin"])
    server.put("/ov/a%20b%25.xml", xml)
    with opened(server.url("/ov/a%20b%25.xml")) as file:  # percent-encoded once, not twice
        assert content(file["w2"]) == bytes(range(16))
    with opened(server.url("/ov/m.xml")) as file:
        assert content(file["w2"]) == bytes(range(16)) and is_remote(file["w0"])


def test_tensor_proto(server) -> None:
    need("pb")
    onnx = pytest.importorskip("onnx")
    source = onnx.numpy_helper.from_array(np.zeros(BIG, np.uint8), "t").SerializeToString()
    file, requests, read = cost(server, source)
    assert (file.format, file.names, requests) == ("pb", ["t"], 1) and read <= HEAD


# ---- downloads

def test_a_tensor_is_downloaded_whole(server) -> None:
    data = np.random.default_rng(7).integers(0, 255, 20 << 20, np.uint8)
    server.put("/big.npy", npy(data))
    server.reset_counts()
    with handle(server.url("/big.npy")) as file:
        assert content(whole(file, "")) == data.tobytes()
    assert server.requests <= 4 and server.body_bytes <= len(data) + 2 * HEAD  # parts of 8 MiB


def test_a_download_has_a_limit(server) -> None:
    server.put("/big.npy", npy(np.zeros(BIG, np.uint8)))
    server.reset_counts()
    with handle(server.url("/big.npy"), download_bytes=BIG - 1) as file, pytest.raises(GatherError) as caught:
        whole(file, "")
    assert caught.value.status == "unsupported" and "3.00 MiB" in caught.value.message
    assert server.requests == 1
    with handle(server.url("/big.npy"), download_bytes=BIG) as file:
        whole(file, "")
    server.reset_counts()
    with pytest.raises(GatherError) as caught, handle(server.url("/big.npy"), download_bytes=-1):
        pass
    assert caught.value.status == "usage" and "download_bytes is negative" in caught.value.message and server.requests == 0


def test_text(server) -> None:
    numbers = np.arange(40_000)
    server.put("/ids.txt", "\n".join(map(str, numbers)).encode())
    server.reset_counts()
    with opened(server.url("/ids.txt"), text_column=b"") as file:
        assert file.format == "text" and content(file.all[0]) == numbers.tobytes()
    assert server.requests <= 2
    with pytest.raises(GatherError, match="are downloaded at once"), opened(server.url("/ids.txt"), text_column=b"", download_bytes=99):
        pass


@pytest.mark.parametrize("kind", ["hdf5", "shards", "files"])
def test_an_array_in_chunks_is_downloaded_at_once(server, kind: str, tmp_path) -> None:
    """Not chunk by chunk: a request for each that is far from the others, many in flight; and no byte of a chunk twice."""
    data = np.random.default_rng(3).integers(0, 255, (512, 8192), np.uint8)
    if kind == "hdf5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "a.h5", "w") as made:
            made.create_dataset("x", data=data, chunks=(8, 8192), compression="gzip", compression_opts=1)
    else:
        write_3(tmp_path / "a.zarr", data, (8, 8192), (64, 8192) if kind == "shards" else None, "gzip")
    with HttpServer(folder=tmp_path) as own:
        own.fault(faults.delay(0.2))
        with handle(own.url("/a.h5" if kind == "hdf5" else "/a.zarr")) as file:
            before = own.requests
            wanted = filled(data, (64, 8192), (), 0, (8, 8192)) if kind == "shards" else data
            assert content(whole(file, "x" if kind == "hdf5" else "")) == wanted.tobytes()
        assert own.requests - before <= 64 + 8 and own.body_bytes <= data.nbytes * 1.01 + HEAD
        assert own.slow_most >= (1 if kind == "hdf5" else 12)  # chunks of HDF5 that follow each other are one request
        assert kind != "hdf5" or own.requests - before <= 8


# ---- names

def test_a_name_has_no_query(server) -> None:
    server.put("/a.npy", npy(np.arange(3)))
    with handle(server.url("/a.npy?secret=1")) as file:
        assert remote_files.LIB.gather_file_name(file).decode() == server.url("/a.npy")
    with pytest.raises(GatherError) as caught, opened(server.url("/gone.npy?secret=1")):
        pass
    assert caught.value.status == "file_not_found" and "secret" not in str(caught.value)


def test_without_permission_a_url_is_the_name_of_a_file(server) -> None:
    with pytest.raises(GatherError) as caught, remote_files.g.opened(server.url("/a.npy")):
        pass
    assert caught.value.status == "file_not_found" and "cannot open it" in caught.value.message
