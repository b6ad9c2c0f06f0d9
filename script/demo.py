# SPDX-License-Identifier: MIT
"""The demo's data and checks: reads a safetensors file's header by hand, looks words up, makes a model, compares with NumPy.
It needs NumPy only."""

import json
import sys
from pathlib import Path

import numpy as np

TENSOR = "embeddings.word_embeddings.weight"


def place(model: Path) -> tuple[int, list[int]]:
    """Where the table's bytes begin in the file, and its shape. The file: a length, a JSON header, then the tensors."""
    with model.open("rb") as file:
        header_bytes = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(header_bytes))[TENSOR]
    assert entry["dtype"] == "F32"
    return 8 + header_bytes + entry["data_offsets"][0], entry["shape"]


def make_table(model: Path, target: Path) -> None:
    offset, shape = place(model)
    np.save(target, np.memmap(model, np.float32, "r", offset, tuple(shape)))
    print(f"{TENSOR}: {shape[0]} words x {shape[1]} float32 numbers, at byte {offset} of {model.name}")


def make_ids(model: Path, target: Path, words: list[str]) -> None:
    vocabulary = (model.parent / "vocab.txt").read_text(encoding="utf-8").split("\n")
    ids = [vocabulary.index(word) for word in words]
    np.save(target, np.array(ids, np.int64))
    print("ids: " + ", ".join(f"{word} {number}" for word, number in zip(words, ids)))


def must_equal(name: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape or ours.tobytes() != theirs.tobytes():
        sys.exit(f"demo: the result differs from {name}")
    print(f"equal to {name}, bit for bit: {ours.shape[0]} x {ours.shape[1]} {ours.dtype}")


def check_rows(table: Path, ids: Path, rows: Path, words: list[str]) -> None:
    found = np.load(rows)
    must_equal("numpy.take", found, np.take(np.load(table, mmap_mode="r"), np.load(ids), axis=0))
    for word, row in zip(words, found):
        print(f"  {word:7} {' '.join(f'{number:8.4f}' for number in row[:6])} ...")
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    likeness = unit @ unit.T
    print("how alike the words are (cosine):")
    for first, second in (("king", "queen"), ("king", "apple"), ("apple", "orange"), ("london", "paris"), ("london", "car")):
        print(f"  {first:7} {second:7} {likeness[words.index(first), words.index(second)]:.3f}")


def make_order(rows: Path, target: Path) -> None:
    np.save(target, np.argsort(-np.load(rows), axis=1, kind="stable")[:, :5])


def check_top(rows: Path, order: Path, top: Path) -> None:
    must_equal("numpy.take_along_axis", np.load(top), np.take_along_axis(np.load(rows), np.load(order), axis=1))
    print("first row: " + " ".join(f"{number:.4f}" for number in np.load(top)[0]))


def make_model(table: Path, target: Path) -> None:
    """An ONNX model as a person has it: the table is an initializer, the ids are an input. Its few fields are written by hand, with
    their numbers in onnx.proto, so that the demo needs no package for it."""
    rows = np.load(table)
    float32, int64 = 1, 7
    words = b"".join(field(1, length) for length in rows.shape) + field(2, float32) + field(8, b"table") + field(9, rows.tobytes())
    axis = field(1, b"axis") + field(3, 0) + field(20, 2)
    node = field(1, b"table") + field(1, b"ids") + field(2, b"embedded") + field(3, b"embed") + field(4, b"Gather") + field(5, axis)
    graph = field(1, node) + field(2, b"embedder") + field(5, words)
    graph += field(11, value_info(b"ids", int64, b"sentences", b"words"))
    graph += field(12, value_info(b"embedded", float32, b"sentences", b"words", rows.shape[1]))
    opset = field(1, b"") + field(2, 13)
    target.write_bytes(field(1, 8) + field(7, graph) + field(8, opset))


def value_info(name: bytes, element_type: int, *shape: bytes | int) -> bytes:
    """A value's name, type and shape; a dimension is a name or a number."""
    dims = b"".join(field(1, field(1 if isinstance(dim, int) else 2, dim)) for dim in shape)
    return field(1, name) + field(2, field(1, field(1, element_type) + field(2, dims)))


def field(number: int, value: bytes | int) -> bytes:
    """A field of a protobuf message: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    """Seven bits to a byte, the lowest first; the highest bit says that more follow."""
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def main(command: str, *arguments: str) -> None:
    paths = [Path(argument) for argument in arguments]
    if command == "table":
        make_table(paths[0], paths[1])
    elif command == "ids":
        make_ids(paths[0], paths[1], list(arguments[2:]))
    elif command == "check-rows":
        check_rows(paths[0], paths[1], paths[2], list(arguments[3:]))
    elif command == "order":
        make_order(paths[0], paths[1])
    elif command == "model":
        make_model(paths[0], paths[1])
    elif command == "check-top":
        check_top(paths[0], paths[1], paths[2])
    else:
        sys.exit(f"demo.py: unknown command: {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
