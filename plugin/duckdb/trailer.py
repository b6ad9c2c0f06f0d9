# SPDX-License-Identifier: MIT
"""trailer.py LIBRARY EXTENSION --system NAME --processor NAME --version NUMBER: makes a DuckDB extension of a shared library.
trailer.py --wheel BEFORE AFTER: restores the trailer of the extension in the wheel AFTER, which auditwheel made from BEFORE. auditwheel
changes libraries in place, and the trailer is then no longer at their end.

DuckDB reads the last 512 bytes of an extension: eight fields of 32 bytes, padded with zeros, and 256 bytes for a signature, which is
empty here. Source: the public documentation and build scripts of DuckDB's extensions.
"""

import argparse
import base64
import hashlib
import os
import sys
import zipfile
from pathlib import Path

API = "v1.2.0"  # the oldest C extension API that has all calls of duck_slots.def
_SYSTEMS = {"Linux": "linux", "Darwin": "osx", "FreeBSD": "freebsd"}
_INSTALLED = "libgather/plugins/gather.duckdb_extension"
_PROCESSORS = {"x86_64": "amd64", "AMD64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def platform(system: str, processor: str) -> str:
    """DuckDB's name of a platform: linux_amd64."""
    return f"{_SYSTEMS.get(system, system.lower())}_{_PROCESSORS.get(processor, processor)}"


def trailer(platform_name: str, version: str) -> bytes:
    """The 512 bytes. DuckDB numbers the fields from the last: 4, platform, API, version of the extension, kind of interface."""
    fields = ["", "", "", "C_STRUCT", version, API, platform_name, "4"]
    encoded = [field.encode() for field in fields]
    if any(len(field) > 32 for field in encoded):
        raise ValueError(f"a field is longer than 32 bytes: {fields}")
    return b"".join(field.ljust(32, b"\0") for field in encoded) + bytes(256)


def record_line(content: bytes) -> str:
    """The line of a wheel's RECORD for the extension."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{_INSTALLED},sha256={digest},{len(content)}"


def restore(before: Path, after: Path) -> None:
    """Puts the trailer of `before` on the extension in `after`, if both have one and it is no longer at the end."""
    with zipfile.ZipFile(before) as wheel:
        if _INSTALLED not in wheel.namelist():
            return
        end = wheel.read(_INSTALLED)[-512:]
    new = after.with_suffix(".new")
    with zipfile.ZipFile(after) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as made:
        content = old.read(_INSTALLED)
        content += b"" if content.endswith(end) else end
        for entry in old.infolist():
            data = content if entry.filename == _INSTALLED else old.read(entry)
            if entry.filename.endswith(".dist-info/RECORD"):
                lines = [record_line(content) if line.startswith(_INSTALLED + ",") else line for line in data.decode().splitlines()]
                data = ("\n".join(lines) + "\n").encode()
            made.writestr(entry, data)
    os.replace(new, after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("extension", type=Path)
    parser.add_argument("--system", required=True)
    parser.add_argument("--processor", required=True)
    parser.add_argument("--version", required=True)
    given = parser.parse_args()
    end = trailer(platform(given.system, given.processor), f"v{given.version}")
    made = given.extension.with_suffix(".new")
    made.write_bytes(given.library.read_bytes() + end)
    made.replace(given.extension)  # a process that has loaded the old one keeps it


if __name__ == "__main__":
    if sys.argv[1:2] == ["--wheel"]:
        restore(*map(Path, sys.argv[2:4]))
    else:
        main()
