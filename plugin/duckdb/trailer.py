# SPDX-License-Identifier: MIT
"""trailer.py LIBRARY EXTENSION --system NAME --processor NAME --version NUMBER: makes a DuckDB extension of a shared library.

DuckDB reads the last 512 bytes of an extension: eight fields of 32 bytes, padded with zeros, and 256 bytes for a signature, which is
empty here. Source: the public documentation and build scripts of DuckDB's extensions.
"""

import argparse
from pathlib import Path

API = "v1.2.0"  # the oldest C extension API that has all calls of duck_slots.def
_SYSTEMS = {"Linux": "linux", "Darwin": "osx", "FreeBSD": "freebsd"}
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


if __name__ == "__main__":
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
