# SPDX-License-Identifier: MIT
"""HDF5 files put together structure by structure, so that each number in them can be a wrong one, and so that there are those that
today's libraries do not write: sizes of offsets of 2 and 4, layouts before HDF5 1.6. Standard library only: the corpus is made with it."""
import struct

UNDEFINED = (1 << 64) - 1
Field = bytes | tuple[str, int, int]  # a part without a name, or (name, value, bytes)
SPACE, LINK_INFO, TYPE, FILL, LINK, EXTERNAL, LAYOUT, PIPELINE, CONTINUED, TABLE = 1, 2, 3, 5, 6, 7, 8, 11, 16, 17  # types of messages


def checksum(data: bytes, initial: int = 0) -> int:
    """Jenkins' lookup3 of little-endian words."""
    def rotated(x: int, by: int) -> int:
        return (x << by | x >> 32 - by) & 0xffffffff

    a = b = c = 0xdeadbeef + len(data) + initial & 0xffffffff
    blocks = [data[i:i + 12].ljust(12, b"\0") for i in range(0, len(data), 12)]
    for block in blocks[:-1]:
        x, y, z = struct.unpack("<3I", block)
        a, b, c = a + x & 0xffffffff, b + y & 0xffffffff, c + z & 0xffffffff
        for by in (4, 6, 8, 16, 19, 4):  # a, b, c change places after each step
            a = (a - c ^ rotated(c, by)) & 0xffffffff
            c = c + b & 0xffffffff
            a, b, c = b, c, a
    if not blocks:
        return c
    x, y, z = struct.unpack("<3I", blocks[-1])
    a, b, c = a + x & 0xffffffff, b + y & 0xffffffff, c + z & 0xffffffff
    for by in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - rotated(b, by) & 0xffffffff
        a, b, c = b, c, a
    return b  # c before the last change of places


def size_of(fields: list[Field]) -> int:
    return sum(len(field) if isinstance(field, bytes) else field[2] for field in fields)


def padded(fields: list[Field], to: int = 8) -> list[Field]:
    return [*fields, bytes(-size_of(fields) % to)]


# ---- messages


def space(shape, version: int = 1, lengths: int = 8, largest=None, null: bool = False) -> list[Field]:
    head = [("version", version, 1), ("rank", len(shape), 1), ("flags", largest is not None, 1)]
    head += [bytes(5)] if version == 1 else [("kind", 2 if null else len(shape) > 0, 1)]
    sides = [(f"side{i}", side, lengths) for i, side in enumerate(shape)]
    return [*head, *sides, *[(f"largest{i}", side, lengths) for i, side in enumerate(largest or ())]]


def typed(kind: int, size: int, bits: int, properties: list[Field], version: int = 1) -> list[Field]:
    return [("class", kind | version << 4, 1), ("bits", bits, 3), ("size", size, 4), *properties]


def integer(size: int, signed: bool = True, big: bool = False, **more) -> list[Field]:
    places = {"at": 0, "precision": 8 * size, **more}
    return typed(0, size, big | signed << 3, [("at", places["at"], 2), ("precision", places["precision"], 2)])


IEEE = {2: (10, 5, 15), 4: (23, 8, 127), 8: (52, 11, 1023)}


def floating(size: int, big: bool = False, mantissa=None, exponent=None, bias=None, **more) -> list[Field]:
    usual = IEEE[size]
    mantissa, exponent, bias = mantissa or usual[0], exponent or usual[1], bias or usual[2]
    numbers = {"at": 0, "precision": 8 * size, "exponent_at": mantissa, "exponent": exponent, "mantissa_at": 0, "mantissa": mantissa,
               "bias": bias, **more}
    widths = {"at": 2, "precision": 2, "bias": 4}
    properties: list[Field] = [(name, value, widths.get(name, 1)) for name, value in numbers.items() if name != "sign"]
    return typed(1, size, 0x20 | big | numbers.get("sign", 8 * size - 1) << 8, properties)


def compound(size: int, members, version: int = 1) -> list[Field]:
    """members: (name, byte, type)."""
    fields: list[Field] = []
    for i, (name, at, kind) in enumerate(members):
        text = name + b"\0"
        within = [(f"{i}.{field[0]}", *field[1:]) if isinstance(field, tuple) else field for field in kind]
        if version == 3:
            fields += [text, (f"member{i}", at, max(1, (size.bit_length() + 7) // 8)), *within]
        else:
            fields += [text.ljust(-(-len(text) // 8) * 8, b"\0"), (f"member{i}", at, 4), *[bytes(28)] * (version == 1), *within]
    return typed(6, size, len(members), fields, version)


def enumeration(base: list[Field], members: dict[bytes, bytes], version: int = 1) -> list[Field]:
    names = [(name + b"\0").ljust(-(-len(name + b"\0") // 8) * 8 if version < 3 else 0, b"\0") for name in members]
    size = next(field[1] for field in base if field[0] == "size")
    within = [(f"base.{field[0]}", *field[1:]) if isinstance(field, tuple) else field for field in base]
    return typed(8, size, len(members), [*within, *names, *members.values()], version)


def array_type(base: list[Field], shape, version: int = 2) -> list[Field]:
    size = next(field[1] for field in base if field[0] == "size")
    for side in shape:
        size *= side
    within = [(f"base.{field[0]}", *field[1:]) if isinstance(field, tuple) else field for field in base]
    sides: list[Field] = [(f"array{i}", side, 4) for i, side in enumerate(shape)]
    skipped = [bytes(3)] if version == 2 else []
    permuted = [bytes(4) for _ in shape if version == 2]
    return typed(10, size, 0, [("array_rank", len(shape), 1), *skipped, *sides, *permuted, *within], version)


FILLED = [b"\2\2\2\1", bytes(4)]  # version 2, the default: zeros


def link(name: bytes, address: int, offsets: int = 8, soft: bytes | None = None, order: int | None = None, kind: int = 1) -> list[Field]:
    """A hard link, or one whose text (or, with kind 64 and above, bytes) is `soft`."""
    flags = (8 if soft is not None else 0) | (4 if order is not None else 0) | (1 if len(name) > 255 else 0)
    fields: list[Field] = [("version", 1, 1), ("flags", flags, 1)]
    fields += [("kind", kind, 1)] if soft is not None else []
    fields += [("order", order, 8)] if order is not None else []
    fields += [("name_bytes", len(name), 2 if flags & 1 else 1), name]
    return fields + ([("soft_bytes", len(soft), 2), soft] if soft is not None else [("address", address, offsets)])


# ---- files


class Hdf5:
    """A file that grows structure by structure; addresses count from the end of the user block. `at` has the byte and the size of each
    field, by the name of its structure and its own; `changed` gives the file with one of them wrong, its checksums right again."""

    def __init__(self, superblock: int = 0, offsets: int = 8, lengths: int = 8, user: int = 0, leaf: int = 4, inner: int = 16) -> None:
        self.superblock, self.offsets, self.lengths, self.user = superblock, offsets, lengths, user
        self.leaf, self.inner = leaf, inner  # nodes of old groups have room for twice as many
        self.bytes = bytearray(user + self.head_bytes())
        self.at: dict[str, tuple[int, int]] = {}
        self.spans: dict[str, tuple[int, int]] = {}  # of each structure: its first byte and the one behind it
        self.sums: list[tuple[int, int, int]] = []  # first byte, byte behind the last one, place of the sum

    def head_bytes(self) -> int:
        return (24, 28)[self.superblock] + 5 * self.offsets + self.lengths + 24 if self.superblock < 2 else 16 + 4 * self.offsets

    def pack(self, value: int, size: int) -> bytes:
        return (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def write(self, label: str, fields: list[Field], place: int | None = None, summed: bool = False) -> int:
        """Writes a structure at the end, or at a place; returns its address."""
        if place is None:
            self.bytes += bytes(-(len(self.bytes) - self.user) % 8)
            place = len(self.bytes)
        fields = [*fields, ("sum", 0, 4)] if summed else fields
        at = place
        for field in fields:
            content = field if isinstance(field, bytes) else self.pack(*field[1:])
            if not isinstance(field, bytes):
                self.at[f"{label}.{field[0]}"] = at, field[2]
            self.bytes[at:at + len(content)] = content
            at += len(content)
        self.spans[label] = place, at
        if summed:
            self.sums.append((place, at - 4, at - 4))
            self.mend(self.bytes, self.sums[-1:])
        return place - self.user

    def mend(self, target: bytearray, sums=None) -> None:
        for begin, end, place in self.sums if sums is None else sums:
            target[place:place + 4] = bytes(4)
            target[place:place + 4] = struct.pack("<I", checksum(bytes(target[begin:end])))

    def changed(self, name: str, value: int, summed: bool = True) -> bytes:
        target = bytearray(self.bytes)
        place, size = self.at[name]
        target[place:place + size] = self.pack(value, size)
        if summed:
            self.mend(target)
        return bytes(target)

    def data(self, content: bytes) -> int:
        return self.write("data", [content])

    # ---- object headers

    def message(self, version: int, number: int, kind: int, fields: list[Field], flags: int, ordered: bool) -> list[Field]:
        named = [(f"{number}.{field[0]}", *field[1:]) if isinstance(field, tuple) else field for field in fields]
        if version == 1:
            named = padded(named)
            return [(f"{number}.type", kind, 2), (f"{number}.bytes", size_of(named), 2), (f"{number}.flags", flags, 1), bytes(3), *named]
        head: list[Field] = [(f"{number}.type", kind, 1), (f"{number}.bytes", size_of(named), 2), (f"{number}.flags", flags, 1)]
        return [*head, *([bytes(2)] if ordered else []), *named]

    def header(self, label: str, messages, version: int = 1, flags: int = 0, split: int | None = None) -> int:
        """An object header of messages (type, fields) or (type, fields, flags); those from number `split` on in a continuation."""
        made = [self.message(version, i, message[0], message[1], message[2] if len(message) > 2 else 0, bool(flags & 4))
                for i, message in enumerate(messages)]
        first, rest = made[:split], made[split:] if split is not None else []
        if split is not None:
            fields: list[Field] = [field for message in rest for field in message]
            address = self.write(f"{label}+", [b"OCHK"] * (version == 2) + fields, summed=version == 2)
            begin, end = self.spans[f"{label}+"]
            continued: list[Field] = [("address", address, self.offsets), ("length", end - begin, self.lengths)]
            first.append(self.message(version, len(made), CONTINUED, continued, 0, bool(flags & 4)))
        fields = [field for message in first for field in message]
        if version == 1:
            count = len(first) + len(rest)
            head: list[Field] = [("version", 1, 1), b"\0", ("messages", count, 2), ("references", 1, 4), ("length", size_of(fields), 4),
                                 bytes(4)]
            return self.write(label, [*head, *fields])
        times = [bytes(16)] if flags & 0x20 else []
        phases = [bytes(4)] if flags & 0x10 else []
        head = [b"OHDR", ("version", 2, 1), ("flags", flags, 1), *times, *phases, ("length", size_of(fields), 1 << (flags & 3))]
        return self.write(label, [*head, *fields], summed=True)

    def layout(self, address: int, content: bytes, shape=(), version: int = 3, kind: int = 1, item: int = 0) -> list[Field]:
        """kind 0: compact, 1: contiguous, 2: chunked, whose chunks have the shape `shape` (and whose index is at the address)."""
        where: list[Field] = [("address", address, self.offsets)]
        if version < 3:
            sides: list[Field] = [(f"side{i}", side, 4) for i, side in enumerate((*shape, item) if kind == 2 else shape)]
            tail: list[Field] = [("length", len(content), 4), content] if kind == 0 else []
            return [("version", version, 1), ("rank", len(sides), 1), ("class", kind, 1), bytes(5), *(where if kind else []), *sides, *tail]
        head: list[Field] = [("version", version, 1), ("class", kind, 1)]
        if kind == 0:
            return [*head, ("length", len(content), 2), content]
        if kind == 1:
            return [*head, *where, ("length", len(content), self.lengths)]
        if kind == 3:
            return [*head, *where, bytes(4)]
        return [*head, ("rank", len(shape) + 1, 1), *where, *[(f"side{i}", side, 4) for i, side in enumerate((*shape, item))]]

    def dataset(self, label: str, shape, kind: list[Field], content: bytes, version: int = 1, layout: list[Field] | None = None,
                more=(), spaces: int | None = None, **header) -> int:
        """Contiguous unless a layout is given."""
        layout = layout or self.layout(self.data(content) if content else UNDEFINED, content)
        messages = [(SPACE, space(shape, spaces or version, self.lengths)), (TYPE, kind), (FILL, FILLED), (LAYOUT, layout), *more]
        return self.header(label, messages, version, **header)

    # ---- groups

    def old_group(self, label: str, links: dict[bytes, int | bytes]) -> int:
        """Symbol tables under a B-tree. A link is an address, or bytes: the text of a soft one."""
        O, L, leaf, inner = self.offsets, self.lengths, self.leaf, self.inner
        names, heap = sorted(links), bytearray(8)
        places: dict[bytes, int] = {}
        for text in [*names, *[value for value in links.values() if isinstance(value, bytes)]]:
            places.setdefault(text, len(heap))
            heap += text + b"\0"
            heap += bytes(-len(heap) % 8)
        segment = self.write(f"{label}.names", [bytes(heap)])
        heap_at = self.write(f"{label}.heap", [b"HEAP", ("version", 0, 1), bytes(3), ("length", len(heap), L), ("free", 1, L),
                                               ("address", segment, O)])
        nodes = []
        for i in range(0, len(names), 2 * leaf):
            some, fields = names[i:i + 2 * leaf], []
            for k, name in enumerate(some):
                value = links[name]
                soft = isinstance(value, bytes)
                scratch = struct.pack("<I", places[value] if soft else 0) + bytes(12)
                fields += [(f"{k}.name", places[name], L), (f"{k}.address", UNDEFINED if soft else value, O),
                           (f"{k}.cache", 2 * soft, 4), bytes(4), scratch]
            head: list[Field] = [b"SNOD", ("version", 1, 1), b"\0", ("used", len(some), 2)]
            unused = bytes((2 * leaf - len(some)) * (L + O + 24))
            nodes.append((self.write(f"{label}.table{i // (2 * leaf)}", [*head, *fields, unused]), places[some[-1]]))
        level, width = 0, 2 * inner
        while True:
            parents = []
            for i in range(0, max(1, len(nodes)), width):
                some = nodes[i:i + width]
                keys = [part for k, (address, last) in enumerate(some)
                        for part in ((f"child{k}", address, O), (f"key{k + 1}", last, L))]
                head = [b"TREE", ("kind", 0, 1), ("level", level, 1), ("used", len(some), 2), ("left", UNDEFINED, O),
                        ("right", UNDEFINED, O), ("key0", 0, L)]
                unused = bytes((width - len(some)) * (O + L))
                address = self.write(f"{label}.tree{level}.{i // width}", [*head, *keys, unused])
                parents.append((address, some[-1][1] if some else 0))
            nodes, level = parents, level + 1
            if len(nodes) == 1:
                break
        tree = nodes[0][0]
        return self.header(label, [(TABLE, [("tree", tree, O), ("heap", heap_at, O)])])

    def compact_group(self, label: str, links: list[list[Field]], **header) -> int:
        """Link messages in the object header."""
        info: list[Field] = [b"\0\0", ("heap", UNDEFINED, self.offsets), ("names", UNDEFINED, self.offsets)]
        return self.header(label, [(LINK_INFO, info), (10, [b"\0\0"]), *[(LINK, one) for one in links]], 2, **header)

    def dense_group(self, label: str, links: dict[bytes, list[Field]], **header) -> int:
        """Link messages in a fractal heap of one block, with an index of names."""
        O, L = self.offsets, self.lengths
        place = 5 + O + 4 + 4  # of the first object in the block
        self.bytes += bytes(-(len(self.bytes) - self.user) % 8)
        block_bytes = 512
        while block_bytes < place + sum(size_of(one) for one in links.values()):
            block_bytes *= 2
        begin = len(self.bytes)
        frame = begin + block_bytes - self.user  # where the heap's header will be
        fields: list[Field] = [b"FHDB", ("version", 0, 1), ("heap", frame, O), ("offset", 0, 4), ("sum", 0, 4)]
        records = []
        for i, (name, one) in enumerate(links.items()):
            fields += [(f"{i}.{field[0]}", *field[1:]) if isinstance(field, tuple) else field for field in one]
            records.append((checksum(name), place, size_of(one)))
            place += size_of(one)
        block = self.write(f"{label}.block", [*fields, bytes(block_bytes - place)])
        self.sums.append((begin, begin + block_bytes, begin + 5 + O + 4))
        self.mend(self.bytes, self.sums[-1:])
        counts = [("next_huge", 0, L), ("huge_tree", UNDEFINED, O), ("free", block_bytes - place, L), ("free_space", UNDEFINED, O),
                  ("managed", block_bytes, L), ("allocated", block_bytes, L), ("iterator", block_bytes, L), ("objects", len(links), L),
                  ("huge_bytes", 0, L), ("huge", 0, L), ("tiny_bytes", 0, L), ("tiny", 0, L)]
        table = [("width", 4, 2), ("start", block_bytes, L), ("most", 32768, L), ("heap_bits", 32, 2), ("start_rows", 1, 2),
                 ("root", block, O), ("rows", 0, 2)]
        heap = self.write(f"{label}.frame", [b"FRHP", ("version", 0, 1), ("id_bytes", 7, 2), ("filters", 0, 2), ("flags", 2, 1),
                                             ("most_managed", 4096, 4), *counts, *table], summed=True)
        assert heap == frame
        leaf = [part for i, (number, at, size) in enumerate(sorted(records))
                for part in ((f"{i}.hash", number, 4), (f"{i}.id", 0, 1), (f"{i}.at", at, 4), (f"{i}.size", size, 2))]
        leaves = self.write(f"{label}.leaf", [b"BTLF", ("version", 0, 1), ("kind", 5, 1), *leaf], summed=True)
        self.bytes += bytes(max(0, leaves + self.user + 512 - len(self.bytes)))  # a node is of one length, however many records it has
        names = self.write(f"{label}.index", [b"BTHD", ("version", 0, 1), ("kind", 5, 1), ("node", 512, 4), ("record", 11, 2),
                                              ("depth", 0, 2), ("split", 100, 1), ("merge", 40, 1), ("root", leaves, O),
                                              ("used", len(records), 2), ("total", len(records), L)], summed=True)
        info: list[Field] = [b"\0\0", ("heap", heap, O), ("names", names, O)]
        return self.header(label, [(LINK_INFO, info), (10, [b"\0\0"])], 2, **header)

    # ---- the whole

    def finished(self, root: int, istore: bytes = b"\x20\0\0\0") -> bytes:
        """The file, with its superblock."""
        O = self.offsets
        self.bytes += bytes(-(len(self.bytes) - self.user) % 8)
        end = len(self.bytes)  # the only address that counts from the first byte
        signature = b"\x89HDF\r\n\x1a\n"
        if self.superblock < 2:
            versions: list[Field] = [("version", self.superblock, 1), b"\0\0\0\0", ("offsets", O, 1), ("lengths", self.lengths, 1), b"\0"]
            sizes: list[Field] = [("leaf", self.leaf, 2), ("inner", self.inner, 2), bytes(4), *([istore] if self.superblock else [])]
            where: list[Field] = [("base", self.user, O), ("free", UNDEFINED, O), ("end", end, O), ("driver", UNDEFINED, O)]
            entry: list[Field] = [("name", 0, self.lengths), ("root", root, O), ("cache", 0, 4), bytes(20)]
            self.write("superblock", [signature, *versions, *sizes, *where, *entry], self.user)
        else:
            fields: list[Field] = [signature, ("version", self.superblock, 1), ("offsets", O, 1), ("lengths", self.lengths, 1),
                                   ("flags", 0, 1), ("base", self.user, O), ("extension", UNDEFINED, O), ("end", end, O),
                                   ("root", root, O)]
            self.write("superblock", fields, self.user, summed=True)
        return bytes(self.bytes)
