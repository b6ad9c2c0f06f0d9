# SPDX-License-Identifier: MIT
"""Models in several safetensors files with their index, laid out as Hugging Face's libraries save them; files that are missing,
other files, and names that leave the folder."""
import json
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy as written
from gather_files import content
from support.command import answer, call
from support.skip import needs
from tensor_files import complaint, described, formats, opened, safetensors


needs_safetensors = needs("jansson", "safetensors" in formats(), "this build reads no safetensors")


TENSORS = {
    "model.embed_tokens.weight": np.arange(60, dtype=np.float32).reshape(20, 3),
    "model.layers.0.weight": np.arange(8, dtype=np.int8).reshape(2, 4),
    "model.layers.1.weight": np.arange(8, dtype=np.float16).reshape(4, 2),
    "lm_head.weight": np.array(7, np.int64),
    "model.norm.bias": np.zeros((0, 2), np.uint16),
}
SHARDS = [["lm_head.weight", "model.norm.bias"], ["model.embed_tokens.weight"], ["model.layers.0.weight", "model.layers.1.weight"]]
NAMES = [f"model-{i + 1:05}-of-00003.safetensors" for i in range(3)]


def save(folder: Path, weights: dict | None = None) -> Path:
    """The files and their index; weights: the index's, where it says something else."""
    named = {}
    for shard, names in zip(NAMES, SHARDS, strict=True):
        written.save_file({name: TENSORS[name] for name in names}, folder / shard, metadata={"format": "pt"})
        named |= dict.fromkeys(names, shard)
    index = {"metadata": {"total_size": sum(array.nbytes for array in TENSORS.values())}, "weight_map": weights or named}
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps(index, indent=2, sort_keys=True) + "\n")
    return path


def test_each_tensor_in_its_file(tmp_path) -> None:
    path = save(tmp_path)
    with opened(path) as file:
        assert file.format == "safetensors" and file.names == sorted(TENSORS)
        for shard, names in zip(NAMES, SHARDS, strict=True):
            source = (tmp_path / shard).read_bytes()
            for name in names:
                tensor, array = file[name], TENSORS[name]
                assert tensor.shape == array.shape and tensor.type_name.decode() == array.dtype.name and tensor.complaint is None
                assert content(tensor) == array.tobytes()
                assert source[tensor.offset:tensor.offset + tensor.bytes] == array.tobytes()


def test_each_file_is_mapped_once(tmp_path) -> None:
    path = save(tmp_path)
    with opened(path):
        mapped = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if str(tmp_path) in line]
        assert sorted(mapped) == sorted([str(path), *(str(tmp_path / name) for name in NAMES)])


def test_links_as_in_the_cache_of_downloads(tmp_path) -> None:
    """There the files are links into a folder of blobs, named by their hashes."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    save(blobs)
    for i, path in enumerate(sorted(blobs.iterdir())):
        path.rename(blobs / f"{i:040}")
        (snapshot / path.name).symlink_to(f"../../blobs/{i:040}")
    with opened(snapshot / "model.safetensors.index.json") as file:
        assert all(content(file[name]) == array.tobytes() for name, array in TENSORS.items())


def test_files_in_a_folder_below_and_by_a_relative_path(tmp_path, monkeypatch) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    written.save_file({"a": np.ones(2)}, tmp_path / "deep" / "er" / "s")
    (tmp_path / "deep" / "i.json").write_text('{"weight_map":{"a":"er/s"}}')
    monkeypatch.chdir(tmp_path)
    for folder, path in ((".", "deep/i.json"), ("deep", "i.json"), ("deep/er", "../i.json")):
        monkeypatch.chdir(tmp_path / folder)
        with opened(path) as file:
            assert content(file["a"]) == np.ones(2).tobytes()


def test_a_tensor_of_two_names(tmp_path) -> None:
    """Tied weights: saved once, and the index may name them once or, with another file of the same elements, twice."""
    save(tmp_path)
    written.save_file({"lm_head.weight": TENSORS["model.embed_tokens.weight"]}, tmp_path / "tied.safetensors")
    path = save(tmp_path, {"lm_head.weight": "tied.safetensors", "model.embed_tokens.weight": NAMES[1]})
    with opened(path) as file:
        assert content(file["lm_head.weight"]) == content(file["model.embed_tokens.weight"])


def test_a_missing_file(tmp_path) -> None:
    path = save(tmp_path)
    (tmp_path / NAMES[1]).unlink()
    with opened(path) as file:
        assert content(file["model.layers.0.weight"]) == TENSORS["model.layers.0.weight"].tobytes()
        tensor = file["model.embed_tokens.weight"]
        assert tensor.complaint.status == "file_not_found" and tensor.complaint.file == str(tmp_path / NAMES[1])
        assert "the data of tensor 'model.embed_tokens.weight' are in it" in tensor.complaint.message
        assert tensor.type_name == b"unknown" and tensor.bytes == 0 and not tensor.tensor.data


@pytest.mark.parametrize("damage, status, words, offset", [
    (lambda source: source[:-1], "file_malformed", "truncated", -1),
    (lambda source: source[:8] + b"[" + source[9:], "unsupported", "not a safetensors file", 0),
    (lambda source: b"", "unsupported", "not a safetensors file", 0),
    (lambda source: source.replace(b"F32", b"F\xff2"), "file_malformed", "UTF-8", None),
    (lambda source: source.replace(b"[0,", b"[0:"), "file_malformed", "JSON", None),
])
def test_a_damaged_file(damage, status: str, words: str, offset: int | None, tmp_path) -> None:
    path = save(tmp_path)
    shard = tmp_path / NAMES[1]
    shard.write_bytes(damage(shard.read_bytes()))
    with opened(path) as file:
        error = file["model.embed_tokens.weight"].complaint
        assert error.status == status and words in error.message and error.file == str(shard)
        if offset is not None:
            assert error.offset == (shard.stat().st_size if offset < 0 else offset)
        assert content(file["lm_head.weight"]) == TENSORS["lm_head.weight"].tobytes()


def test_a_file_without_the_tensor(tmp_path) -> None:
    path = save(tmp_path, {"model.embed_tokens.weight": NAMES[0], "lm_head.weight": NAMES[0]})
    with opened(path) as file:
        error = file["model.embed_tokens.weight"].complaint
        text = path.read_text()
        assert error.status == "file_malformed" and f"is not in '{NAMES[0]}'" in error.message
        assert error.file == str(path) and error.offset == text.index(f'"{NAMES[0]}"', text.index("embed_tokens"))
        assert file["lm_head.weight"].complaint is None


def test_an_index_of_pickles(tmp_path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"PK\x03\x04" + bytes(40))
    path = tmp_path / "pytorch_model.bin.index.json"
    path.write_text('{"metadata": {}, "weight_map": {"a": "pytorch_model.bin", "b": "pytorch_model.bin"}}')
    with opened(path) as file:
        assert [tensor.complaint.status for tensor in file.all] == ["unsupported"] * 2


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../x", "a/../../x", "..", "a\\..\\b"])
def test_names_that_leave_the_folder(name: str, tmp_path) -> None:
    path = tmp_path / "i.json"
    text = json.dumps({"weight_map": {"a": name}})
    path.write_text(text)
    error = complaint(path)
    assert error.status == "file_malformed" and error.offset == text.index(json.dumps(name)) and error.file == str(path)


@pytest.mark.parametrize("text, where, words", [
    ('{"weight_map":{"a":"s","a":"s"}}', ',"a"', "is given twice"),
    ('{"weight_map":{"a":"s"},"weight_map":{}}', ',"weight_map"', "is given twice"),
    ('{"weight_map":[]}', "[", "expected '{'"),
    ('{"weight_map":"a"}', '"a"', "expected '{'"),
    ('{"weight_map":{"a":1}}', "1", "is not a string"),
    ('{"weight_map":{"a":null}}', "null", "is not a string"),
    ('{"weight_map":{"a":"s\\u0000"}}', '"s', "zero byte"),
    ('{"weight_map":{"a":"s"]}', "]", "expected ','"),
    ('{"weight_map":{"a":"s"}} x', "x", "after the JSON"),
    ('{"metadata":{"weight_map":"weight_map"}}', None, "no 'weight_map'"),
    ('{"weight_map":{"a":"s"}', None, "the JSON ends"),
    ('{"weight_map":', None, "expected a value"),
])
def test_an_index_that_is_wrong(text: str, where: str | None, words: str, tmp_path) -> None:
    path = tmp_path / "i.json"
    path.write_text(text)
    complaint(path).must_be("file_malformed", words, len(text) if where is None else text.index(where) + where.startswith(","))


def test_an_index_that_is_no_utf8(tmp_path) -> None:
    path = tmp_path / "i.json"
    path.write_bytes(b'{"weight_map":{"a\xff":"s"}}')
    assert complaint(path).offset == 17 and "UTF-8" in complaint(path).message


def test_an_index_in_memory() -> None:
    with opened(b' \n{"weight_map":{"a":"s"}}') as file:
        assert file["a"].complaint.status == "unsupported" and "a model in memory" in file["a"].complaint.message


def test_other_json_is_not_taken_for_an_index(tmp_path) -> None:
    for text in ("{}", '{"weight_maps":{}}', '{"a":1}', '["weight_map"]', '"weight_map"', '{"weight_map'):
        assert complaint(text.encode()).status == "unsupported" and "unknown format" in complaint(text.encode()).message


def test_many_tensors_in_many_files(tmp_path) -> None:
    """Each file's header is read once, and no tensor is compared with all others."""
    count, shards = 12000, 40
    weights = {f"t{i}": f"s{i * 31 % shards}" for i in range(count)}
    for shard in range(shards):
        names = [name for name, file in weights.items() if file == f"s{shard}"]
        members = ",".join(f'"{name}":{described("U8", [1], i, i + 1)}' for i, name in enumerate(names))
        (tmp_path / f"s{shard}").write_bytes(safetensors(f"{{{members}}}".encode(), bytes(int(n[1:]) % 251 for n in names)))
    (tmp_path / "i.json").write_text(json.dumps({"weight_map": weights}))
    with opened(tmp_path / "i.json") as file:
        assert file.names == list(weights)
        assert all(content(tensor) == bytes([i % 251]) for i, tensor in enumerate(file.all))


def test_the_command(tmp_path) -> None:
    path = save(tmp_path)
    (tmp_path / NAMES[2]).unlink()
    done = call("take", f"{path}:model.embed_tokens.weight", "[19, 0]", "-o", tmp_path / "o.npy")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "o.npy"), TENSORS["model.embed_tokens.weight"][[19, 0]])
    info = answer("info", path)
    assert [row["name"] for row in info["tensors"] if "unreadable" in row] == SHARDS[2]
    done = call("take", f"{path}:model.layers.0.weight", "[0]", "-o", tmp_path / "p.npy")
    assert done.returncode != 0 and NAMES[2] in done.stderr
