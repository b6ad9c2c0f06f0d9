# SPDX-License-Identifier: MIT
#
# _onnxruntime_ops.py: the custom operators of libgather in ONNX Runtime; libgather.onnxruntime re-exports it.
"""The custom operators of libgather in ONNX Runtime."""

from __future__ import annotations

import os
from typing import Any

from libgather._plugins import library

__all__ = ["library_path", "register_operators", "session_options"]


def library_path() -> str:
    """The path of the plug-in, libgather_onnxruntime.so, for SessionOptions.register_custom_ops_library().

    Raises
    ------
    FileNotFoundError
        This build of libgather has no plug-in for ONNX Runtime.
    """
    return library("onnxruntime")


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def register_operators(options: Any, **gather: Any) -> Any:
    """Makes the sessions of these options run Gather, GatherElements, GatherND and GatherBlockQuantized on libgather, by custom operators.

        options = libgather.onnxruntime.register_operators(onnxruntime.SessionOptions(), report=True)
        session = onnxruntime.InferenceSession("model.onnx", options)

    Parameters
    ----------
    options
        An onnxruntime.SessionOptions, of ONNX Runtime 1.17 or later. Once per object.
    gather
        The plug-in's options, which become config entries "gather.NAME": threads, plans, report, operators (names), table, table_min,
        memory, cache, engine, depth, buffered, keep_signals, types. docs/plugin-onnxruntime.md describes them. None leaves one out.

    Returns
    -------
    onnxruntime.SessionOptions
        options.

    Raises
    ------
    Exception
        ONNX Runtime's, where it is older than 1.17, or an option cannot have that value; the message says so.
    """
    for name, value in gather.items():
        if value is not None:
            options.add_session_config_entry(f"gather.{name}", _text(value))
    options.register_custom_ops_library(library_path())
    return options


def session_options(**gather: Any) -> Any:
    """New onnxruntime.SessionOptions with the custom operators: `register_operators(onnxruntime.SessionOptions(), **gather)`.

    Raises
    ------
    ImportError
        There is no ONNX Runtime.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError("libgather.onnxruntime needs ONNX Runtime: pip install libgather[onnxruntime]") from error
    return register_operators(onnxruntime.SessionOptions(), **gather)
