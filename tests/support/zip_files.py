# SPDX-License-Identifier: MIT
"""Zip files put together record by record, so that each number in them can be a wrong one."""
import struct

FULL = 2**32 - 1


class Member:
    """A stored member; what is given by name replaces what would be true."""

    def __init__(self, name: bytes, data: bytes, **lies) -> None:
        self.name, self.data, self.lies = name, data, lies

    def local(self) -> bytes:
        lies, size = self.lies, len(self.data)
        extra = lies.get("local_extra", b"")
        name = lies.get("local_name", self.name)
        head = struct.pack("<IHHHHHIIIHH", lies.get("local_signature", 0x04034b50), 20, lies.get("local_flags", 0),
                           lies.get("local_method", lies.get("method", 0)), 0, 0, 0, size, size,
                           lies.get("local_name_bytes", len(name)),
                           lies.get("local_extra_bytes", len(extra)))
        return head + name + extra

    def entry(self, offset: int) -> bytes:
        lies, size = self.lies, len(self.data)
        extra, comment = lies.get("extra", b""), lies.get("comment", b"")
        head = struct.pack("<IHHHHHHIIIHHHHHII", lies.get("signature", 0x02014b50), 20, 20, lies.get("flags", 0),
                           lies.get("method", 0),
                           0, 0, 0, lies.get("packed", size), lies.get("unpacked", size),
                           lies.get("name_bytes", len(self.name)),
                           lies.get("extra_bytes", len(extra)), lies.get("comment_bytes", len(comment)),
                           lies.get("disk", 0), 0, 0,
                           lies.get("offset", offset))
        return head + self.name + extra + comment


def end(count: int, size: int, offset: int, /, **lies) -> bytes:
    count, size, offset = lies.get("count", count), lies.get("size", size), lies.get("offset", offset)
    comment = lies.get("comment", b"")
    disks = lies.get("disk", 0), lies.get("first_disk", 0)
    return struct.pack("<IHHHHIIH", 0x06054b50, *disks, count, count, size, offset, lies.get("comment_bytes", len(comment))) + comment


def end64(count: int, size: int, offset: int, at: int, /, **lies) -> bytes:
    """The end record of 64 bits and its locator, which stand before the other one."""
    count, size, offset = lies.get("count64", count), lies.get("size64", size), lies.get("offset64", offset)
    record = struct.pack("<IQHHIIQQQQ", lies.get("signature64", 0x06064b50), lies.get("bytes64", 44), 45, 45,
                         lies.get("disk64", 0), 0,
                         count, count, size, offset)
    return record + struct.pack("<IIQI", 0x07064b50, 0, lies.get("locator", at), 1)


def zip_file(*members: Member, wide: bool = False, **lies) -> bytes:
    """wide: with the numbers of the end in 64 bits."""
    content, directory = bytearray(), bytearray()
    for member in members:
        directory += member.entry(len(content))
        content += member.local() + member.data
    at = len(content)
    if not wide:
        return bytes(content + directory) + end(len(members), len(directory), at, **lies)
    last = end(0xffff, FULL, FULL, **lies)
    return bytes(content + directory) + end64(len(members), len(directory), at, at + len(directory), **lies) + last
