# SPDX-License-Identifier: MIT
#
# ids.py: reads ids from files of all kinds. Parquet, and Arrow files that the library refuses, are read by pyarrow if it is
# installed; everything else by the library.
"""Ids from files."""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from libgather import _core
from libgather.errors import GatherNotSupportedError, refuse
from libgather.remote import is_url, url_options
from libgather.table import tensor_name

Path = str | bytes | os.PathLike
_HEAD_BYTES = 4096


def _split(path: Path, tensor: str | None) -> tuple[str, str]:
    """The file, and the column or tensor in it: FILE:COLUMN if `tensor` is None."""
    if tensor is not None:
        return os.fsdecode(path), tensor
    file, name = _core._split_path(os.fsencode(path))
    return os.fsdecode(file), os.fsdecode(name)


def _head(path: str) -> bytes:
    """The first bytes of a regular file. For other files the library reports the error."""
    try:
        if not os.path.isfile(path):
            return b""
        with builtins.open(path, "rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


# ---- by pyarrow ------------------------------------------------------------------------------------------------------


def _field(schema: Any, column: str, path: str) -> Any:
    """The column of that name, or the only one."""
    names = schema.names
    if not column and len(names) != 1:
        refuse("name_not_found", f"{path}: it has {len(names)} columns; name one of them: {', '.join(names[:8])}")
    column = column or names[0]
    if names.count(column) != 1:
        have = f"{names.count(column)} columns are named" if column in names else "no such column"
        refuse("name_not_found", f"{path}: {have} '{column}'; it has {', '.join(names[:8])}")
    return schema.field(column)


def _integers(batches: Iterable[Any], field: Any, rows: int, path: str) -> np.ndarray:
    """A column of integers, batch by batch, so that only one is in memory besides the result."""
    import pyarrow as pa

    if not pa.types.is_integer(field.type):
        refuse("type_unsupported", f"{path}: ids must be integers, and column '{field.name}' is {field.type}", "indices")
    out, first = np.empty(rows, field.type.to_pandas_dtype()), 0
    for batch in batches:
        values = batch.column(batch.schema.get_field_index(field.name))
        if values.null_count:
            row = first + int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
            refuse("unsupported", f"{path}: column '{field.name}' has a null in row {row}; fill it in or drop it", "indices")
        out[first : first + len(values)] = values.to_numpy()
        first += len(values)
    return out


def _malformed(path: str, error: Exception) -> NoReturn:
    refuse("file_malformed", f"{path}: {error}")


def _from_parquet(path: str, column: str) -> np.ndarray:
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow, which is not installed: pip install pyarrow", name="pyarrow") from error
    try:
        with parquet.ParquetFile(path) as file:
            field = _field(file.schema_arrow, column, path)
            batches = file.iter_batches(columns=[field.name])
            return _integers(batches, field, file.metadata.num_rows, path)
    except (pa.ArrowException, OSError) as error:
        if type(error).__module__.startswith("libgather"):
            raise
        _malformed(path, error)


def _from_arrow_stream(path: str, column: str) -> np.ndarray:
    """Reads a stream twice, one batch at a time, since it does not contain its number of rows."""
    import pyarrow as pa

    with pa.OSFile(path) as source, pa.ipc.open_stream(source) as stream:
        rows = sum(batch.num_rows for batch in stream)
    with pa.OSFile(path) as source, pa.ipc.open_stream(source) as stream:
        return _integers(stream, _field(stream.schema, column, path), rows, path)


def _from_arrow(path: str, column: str, is_stream: bool) -> np.ndarray | None:
    """None if pyarrow is not installed."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    try:
        if is_stream:
            return _from_arrow_stream(path, column)
        with pa.OSFile(path) as source, pa.ipc.open_file(source) as file:
            field = _field(file.schema, column, path)
            rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
            return _integers((file.get_batch(i) for i in range(file.num_record_batches)), field, rows, path)
    except (pa.ArrowException, OSError) as error:
        if type(error).__module__.startswith("libgather"):
            raise
        _malformed(path, error)


# ---- by the library --------------------------------------------------------------------------------------------------


def _from_library(path: str, column: str, head: bytes) -> np.ndarray:
    remote = url_options(path) if is_url(path) else None
    name, swapped, shape, strides, data = _core._read_ids(os.fsencode(path), column, head, remote)
    dtype = np.dtype(name).newbyteorder("S" if swapped else "=")
    return np.ascontiguousarray(np.ndarray(shape, dtype, data, strides=strides)).reshape(shape)


def read_ids(path: Path, *, tensor: str | None = None) -> np.ndarray:
    """Reads ids from a file, as an array of integers.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        'FILE', or 'FILE:NAME' for a file with several tensors or columns; FILE may be a URL, which is downloaded.
        The format is detected from the content:

        - text: integers separated by white space or commas, with comments (#) and a header of one word; also in the notation of floats
          (1e+05, numpy.savetxt's 1.000000000000000000e+00), and lists in brackets, [1, 2] or [[0, 1], [2, 3]];
        - CSV, TSV: 'ids.csv:user_id' is the column of that name, 'ids.csv:#0' column number 0 of a file without a header;
        - Arrow files and streams, Feather: 'ids.arrow:user_id', in any number of record batches; lists of one length are rows;
        - Parquet: 'ids.parquet:user_id', with pyarrow, which must be installed;
        - .npy, safetensors and every other format of `gather info --formats`.
    tensor : str, optional
        The name of the tensor or column, of any characters. `path` is then not split at a colon.

    Returns
    -------
    ndarray
        Of the file's integer type (int64 for text); 1-D for text without brackets and columns, else of the tensor's shape.

    Raises
    ------
    GatherFileError
        The file cannot be read, or contains something other than integers. The message has the line or the byte.
    GatherNameError
        No such column, or a column must be named.
    GatherTypeError
        The column does not contain integers.
    GatherNotSupportedError
        Nulls, with the row of the first one; a dictionary; another encoding than UTF-8.
    ImportError
        Parquet without pyarrow.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"path must be a str or os.PathLike, not {type(path).__name__}")
    file, column = _split(path, tensor_name(tensor))
    head = _head(file)
    if head.startswith(b"PAR1"):
        return _from_parquet(file, column)
    try:
        return _from_library(file, column, head)
    except GatherNotSupportedError:
        is_stream = head.startswith(b"\xff\xff\xff\xff")
        ids = _from_arrow(file, column, is_stream) if is_stream or head.startswith(b"ARROW1") else None
        if ids is None:
            raise
        return ids
