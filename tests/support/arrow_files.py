# SPDX-License-Identifier: MIT
"""Arrow files put together by hand, so that each number can be a wrong one, of kinds too that pyarrow does not write.

Standard library only. A table of FlatBuffers is a dict from the number of a field to its value: (bytes, number), a str,
a dict, a list of dicts, or Items. Field numbers are those of File.fbs, Message.fbs and Schema.fbs.
"""
import struct
from dataclasses import dataclass, field

MAGIC = b"ARROW1"
# Of the union Type.
NULL, INT, FLOAT, BINARY, UTF8, BOOL, DECIMAL, DATE, TIME, TIMESTAMP, INTERVAL = range(1, 12)
LIST, STRUCT, UNION, FIXED_BINARY, FIXED_LIST, MAP, DURATION = range(12, 19)
LARGE_LIST = 21
RUN_END, BINARY_VIEW, UTF8_VIEW, LIST_VIEW = 22, 23, 24, 25


@dataclass
class Items:
    """A list of structs or numbers; count replaces the true one."""

    count: int
    content: bytes


def flatbuffer(root: dict) -> bytes:
    """A buffer with that table. Fields take 8 bytes each, so all are aligned; tables stand before what they name."""
    out = bytearray(8)
    put_pointer(out, 0, put_table(out, root))
    return bytes(out) + bytes(-len(out) % 8)


def put_pointer(out: bytearray, at: int, target: int) -> None:
    struct.pack_into("<I", out, at, target - at)


def align(out: bytearray, rest: int = 0) -> int:
    """Grows to where, behind `rest` bytes more, a multiple of 8 is."""
    out += bytes((-len(out) - rest) % 8)
    return len(out)


def put_table(out: bytearray, table: dict) -> int:
    slots = max(table, default=-1) + 1
    places = [8 + 8 * i if i in table else 0 for i in range(slots)]
    size = 8 + 8 * slots
    fields = align(out)
    out += struct.pack(f"<HH{slots}H", 4 + 2 * slots, size, *places)
    at = align(out)
    out += struct.pack("<i", at - fields) + bytes(size - 4)
    for number, value in table.items():
        put_value(out, at + places[number], value)
    return at


def put_value(out: bytearray, at: int, value) -> None:
    if isinstance(value, tuple):
        size, number = value
        out[at:at + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")
    elif isinstance(value, dict):
        put_pointer(out, at, put_table(out, value))
    elif isinstance(value, (str, bytes)):
        text = value.encode() if isinstance(value, str) else value
        put_pointer(out, at, align(out))
        out += struct.pack("<I", len(text)) + text + b"\0"
    elif isinstance(value, Items):
        put_pointer(out, at, align(out, 4))
        out += struct.pack("<I", value.count) + value.content
    else:
        start = align(out, 4)
        put_pointer(out, at, start)
        out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for i, inner in enumerate(value):
            put_value(out, start + 4 + 4 * i, inner)


def pairs(rows: list[tuple[int, int]]) -> Items:
    return Items(len(rows), b"".join(struct.pack("<qq", *row) for row in rows))


# ---- the schema


def column(name: str | bytes | None, kind: int, type_table: dict | None = None, children: list[dict] | None = None, **more) -> dict:
    """A Field."""
    made = {1: (1, 1), 2: (1, kind), 3: type_table or {}, 5: children or []}
    if name is not None:
        made[0] = name
    if more.get("dictionary"):
        made[4] = {0: (8, 0), 1: {0: (4, 8), 1: (1, 1)}}
    if "metadata" in more:
        made[6] = [{0: key, 1: value} for key, value in more["metadata"].items()]
    return made


def integer(name: str | None = "a", bits: int = 32, signed: int = 1, **more) -> dict:
    return column(name, INT, {0: (4, bits), 1: (1, signed)}, **more)


def fixed_list(name: str | None, length: int, inner: dict, **more) -> dict:
    return column(name, FIXED_LIST, {0: (4, length)}, [inner], **more)


def listed(name: str | None, inner: dict, large: bool = False) -> dict:
    """A column of lists of variable size."""
    return column(name, LARGE_LIST if large else LIST, None, [inner])


def offsets(*numbers: int, large: bool = False, order: str = "<") -> bytes:
    return struct.pack(f"{order}{len(numbers)}{'q' if large else 'i'}", *numbers)


def tensors(name: str, length: int, metadata: str, extension: str = "arrow.fixed_shape_tensor", inner: dict | None = None) -> dict:
    """A column of the extension, of int32 where `inner` is not given."""
    keys = {"ARROW:extension:name": extension, "ARROW:extension:metadata": metadata}
    return fixed_list(name, length, inner or integer(None), metadata=keys)


# ---- batches and files


@dataclass
class Batch:
    """rows; nodes: (length, nulls); buffers: their bytes, or (offset, length) as they are to be said. more: `fields` of
    the RecordBatch as they are to be, `header`, `method`, `body_bytes`, `length`, and `old`: without the mark before the
    length, which Arrow has since 0.15."""

    rows: int
    nodes: list[tuple[int, int]]
    buffers: list[bytes | tuple[int, int]]
    compression: int | None = None
    views: list[int] | None = None
    more: dict = field(default_factory=dict)

    def message(self) -> tuple[bytes, bytes]:
        """The metadata with its length before it, and the body."""
        body, places = bytearray(), []
        for buffer in self.buffers:
            if isinstance(buffer, tuple):
                places.append(buffer)
                continue
            places.append((len(body), len(buffer)))
            body += buffer + bytes(-len(buffer) % 8)
        batch = {0: (8, self.rows), 1: pairs(self.nodes), 2: pairs(places)}
        if self.compression is not None:
            batch[3] = {0: (1, self.compression), 1: (1, self.more.get("method", 0))}
        if self.views is not None:
            batch[4] = Items(len(self.views), struct.pack(f"<{len(self.views)}q", *self.views))
        batch.update(self.more.get("fields", {}))
        message = {0: (2, 4), 1: (1, self.more.get("header", 3)), 2: batch, 3: (8, self.more.get("body_bytes", len(body)))}
        metadata = flatbuffer(message)
        length = struct.pack("<i", self.more.get("length", len(metadata)))
        mark = b"" if self.more.get("old") else b"\xff" * 4
        return mark + length + metadata, bytes(body)


def chunk(*columns: bytes, rows: int) -> Batch:
    """A batch of columns without nulls: a node, an empty buffer and the elements for each."""
    return Batch(rows, [(rows, 0)] * len(columns), [buffer for data in columns for buffer in (b"", data)])


def arrow_stream(columns: list[dict], batches: list[Batch], **lies) -> bytes:
    """The streaming format. lies: version, endianness, schema (False = none), end (the bytes at the end)."""
    schema = {0: (2, lies.get("endianness", 0)), 1: columns}
    content = flatbuffer({0: (2, lies.get("version", 4)), 1: (1, 1), 2: schema, 3: (8, 0)})
    out = b"\xff" * 4 + struct.pack("<i", len(content)) + content if lies.get("schema", True) else b""
    for batch in batches:
        out += b"".join(batch.message())
    return out + lies.get("end", b"\xff" * 4 + bytes(4))


def arrow_file(columns: list[dict], batches: list[Batch], **lies) -> bytes:
    """lies: version, endianness, blocks (a function of the true ones), footer_bytes, schema (False = none), magic."""
    out = bytearray(MAGIC + b"\0\0")
    blocks = []
    for batch in batches:
        metadata, body = batch.message()
        metadata += bytes(-len(metadata) % 8)
        blocks.append((len(out), len(metadata), len(body)))
        out += metadata + body
    blocks = lies.get("blocks", lambda true: true)(blocks)
    schema = {0: (2, lies.get("endianness", 0)), 1: columns}
    footer = {0: (2, lies.get("version", 4)), 1: schema, 2: Items(0, b""),
              3: Items(len(blocks), b"".join(struct.pack("<qi4xq", *block) for block in blocks))}
    if not lies.get("schema", True):
        del footer[1]
    content = flatbuffer(footer)
    return bytes(out) + content + struct.pack("<i", lies.get("footer_bytes", len(content))) + lies.get("magic", MAGIC)
