# SPDX-License-Identifier: MIT
"""GGUF files written by hand, for the tests of what their own package does not write."""
from __future__ import annotations

import struct

UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64 = range(13)
FORMS = {UINT8: "B", INT8: "b", UINT16: "H", INT16: "h", UINT32: "I", INT32: "i", FLOAT32: "f", BOOL: "?", UINT64: "Q",
         INT64: "q", FLOAT64: "d"}


class Gguf:
    """The parts of a file in one byte order."""

    def __init__(self, order: str = "<", version: int = 3) -> None:
        self.order, self.version = order, version
        self.pairs: list[bytes] = []
        self.tensors: list[bytes] = []

    def pack(self, form: str, *values) -> bytes:
        return struct.pack(self.order + form, *values)

    def text(self, text: str | bytes) -> bytes:
        content = text if isinstance(text, bytes) else text.encode()
        return self.pack("Q", len(content)) + content

    def value(self, kind: int, value) -> bytes:
        """A value; of an array the pair of its elements' kind and their list."""
        if kind == STRING:
            return self.text(value)
        if kind == ARRAY:
            return self.pack("IQ", value[0], len(value[1])) + b"".join(self.value(value[0], item) for item in value[1])
        return self.pack(FORMS[kind], value)

    def add(self, key: str, kind: int, value) -> Gguf:
        self.pairs.append(self.text(key) + self.pack("I", kind) + self.value(kind, value))
        return self

    def tensor(self, name: str | bytes, lengths: list[int], kind: int, offset: int) -> Gguf:
        """lengths: innermost first, as they stand in the file."""
        self.tensors.append(self.text(name) + self.pack(f"I{len(lengths)}QIQ", len(lengths), *lengths, kind, offset))
        return self

    def head(self) -> bytes:
        return b"GGUF" + self.pack("IQQ", self.version, len(self.tensors), len(self.pairs)) + b"".join(self.pairs + self.tensors)

    def file(self, data: bytes = b"", alignment: int = 32) -> bytes:
        head = self.head()
        return head + bytes(-len(head) % alignment) + data
