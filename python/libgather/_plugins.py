# SPDX-License-Identifier: MIT
"""The paths of the native parts of plug-ins, for libgather.onnxruntime, libgather.duckdb and the others."""

from pathlib import Path

_FOLDER = Path(__file__).with_name("plugins")


def library(name: str) -> str:
    """The path of libgather_NAME.so.

    Raises
    ------
    FileNotFoundError
        This build of libgather has no such plug-in. The message says how to get one.
    """
    path = _FOLDER / f"libgather_{name}.so"
    if not path.is_file():
        raise FileNotFoundError(f"this build of libgather has no plug-in for {name}: {path} is missing (docs/embed/plugins.md says how each is built)")
    return str(path)
