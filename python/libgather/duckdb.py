# SPDX-License-Identifier: MIT
#
# duckdb.py: where the extension for DuckDB is, and loading it. plugin/duckdb has its functions.
"""Rows of tensor files in SQL: the extension for DuckDB.

>>> import libgather.duckdb
>>> connection = libgather.duckdb.connect()
>>> connection.sql("SELECT name, type, shape FROM tensors('model.safetensors')")
>>> connection.sql("SELECT m.title, take_row('model.safetensors', 'emb', m.row) FROM 'meta.parquet' m WHERE m.year > 2020")
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

_TRAILER = 512  # bytes behind the library; plugin/duckdb/trailer.py makes them
_PLATFORM = 6  # number of the field of 32 bytes with the platform


def extension_path(platform: str | None = None) -> str:
    """The path of the extension, for DuckDB's LOAD.

    Parameters
    ----------
    platform : str, optional
        The result of `PRAGMA platform`, if it is not the platform that libgather was built for. Wheels of DuckDB 1.2 for Linux have
        linux_amd64_gcc4, although the extension works there. The path is then that of a copy in the user's cache (XDG_CACHE_HOME,
        else ~/.cache), which is written if it is missing.

    Raises
    ------
    FileNotFoundError
        This build of libgather has no extension for DuckDB.
    ValueError
        The extension was built for another system or processor.
    """
    path = Path(__file__).with_name("plugins") / "gather.duckdb_extension"
    if not path.is_file():
        raise FileNotFoundError(f"this build of libgather has no extension for DuckDB: {path} is missing (docs/embed/plugins.md says how it is built)")
    if platform is None:
        return str(path)
    content = path.read_bytes()
    field = slice(len(content) - _TRAILER + 32 * _PLATFORM, len(content) - _TRAILER + 32 * (_PLATFORM + 1))
    built_for = content[field].rstrip(b"\0").decode()
    if platform == built_for:
        return str(path)
    if platform.removesuffix("_gcc4") != built_for:
        raise ValueError(f"the extension is for {built_for}; this DuckDB is for {platform}")
    return str(_copy(content[: field.start] + platform.encode().ljust(32, b"\0") + content[field.stop :]))


def _copy(content: bytes) -> Path:
    """The extension with another platform, in the user's cache. DuckDB derives its name from the file name, so the folders differ."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    copy = cache / "libgather" / "duckdb" / hashlib.sha256(content).hexdigest()[:16] / "gather.duckdb_extension"
    if not (copy.is_file() and copy.read_bytes() == content):
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=copy.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, copy)
    return copy


def load(connection: Any) -> None:
    """Loads the extension into the database of a connection (a DuckDBPyConnection). Does nothing if it is loaded.

    The database must have been opened with `config={"allow_unsigned_extensions": "true"}`, as `connect` does: DuckDB signs only what
    its own repositories distribute.

    Raises
    ------
    RuntimeError
        The database does not allow unsigned extensions.
    duckdb.Error
        DuckDB refused the extension for another reason.
    """
    cursor = connection.cursor()  # keeps the result that the connection may have
    platform = cursor.execute("PRAGMA platform").fetchone()
    path = extension_path(platform[0] if platform else None).replace("'", "''")
    allowed = cursor.execute("SELECT current_setting('allow_unsigned_extensions')").fetchone()
    if allowed and not allowed[0]:
        raise RuntimeError(
            "this database does not allow unsigned extensions; open it with libgather.duckdb.connect(), or with "
            "duckdb.connect(..., config={'allow_unsigned_extensions': 'true'})"
        )
    cursor.execute(f"LOAD '{path}'")


def connect(database: Any = ":memory:", read_only: bool = False, config: dict[str, Any] | None = None) -> Any:
    """duckdb.connect() with the extension loaded: a DuckDBPyConnection.

    Raises
    ------
    ImportError
        DuckDB is not installed.
    """
    try:
        import duckdb
    except ImportError as error:
        raise ImportError("libgather.duckdb.connect() needs DuckDB: pip install libgather[duckdb]") from error
    connection = duckdb.connect(database, read_only, {"allow_unsigned_extensions": "true"} | (config or {}))
    load(connection)
    return connection
