# SPDX-License-Identifier: MIT
#
# _onnxruntime_ops.py: the custom operators of libgather in ONNX Runtime; libgather.onnxruntime re-exports it.
"""The custom operators of libgather in ONNX Runtime."""

from __future__ import annotations

import ctypes
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


def texts_of(options: dict[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in options.items() if value is not None}


def plugin() -> Any:
    """The plug-in as a library of C functions; ONNX Runtime has loaded the same one."""
    plugin = ctypes.CDLL(library("onnxruntime"))
    plugin.gather_onnxruntime_statistics.restype = ctypes.c_size_t
    plugin.gather_onnxruntime_statistics.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    plugin.gather_onnxruntime_option_check.restype = ctypes.c_bool
    plugin.gather_onnxruntime_option_check.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_size_t]
    return plugin


def check_options(options: dict[str, str]) -> None:
    """Refuses unknown options and values. ONNX Runtime ignores config entries that nobody reads. Before 1.32 it prints an error of the
    execution provider and continues without it.
    """
    message = ctypes.create_string_buffer(1024)
    for name, value in options.items():
        if not plugin().gather_onnxruntime_option_check(name.encode(), value.encode(), message, len(message)):
            raise ValueError(message.value.decode(errors="replace"))


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
        memory, cache, engine, depth, buffered, keep_signals, types. docs/embed/onnxruntime.md describes them. None leaves one out.

    Returns
    -------
    onnxruntime.SessionOptions
        options.

    Raises
    ------
    ValueError
        Unknown option or invalid value. The message lists the valid ones.
    Exception
        ONNX Runtime's, if it is older than 1.17.
    """
    texts = texts_of(gather)
    check_options(texts)
    for name, value in texts.items():
        options.add_session_config_entry(f"gather.{name}", value)
    options.register_custom_ops_library(library_path())
    return options


def session_options(**gather: Any) -> Any:
    """New onnxruntime.SessionOptions with the custom operators: `register_operators(onnxruntime.SessionOptions(), **gather)`.

    Raises
    ------
    ImportError
        ONNX Runtime is not installed.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError("libgather.onnxruntime needs ONNX Runtime: pip install libgather[onnxruntime]") from error
    return register_operators(onnxruntime.SessionOptions(), **gather)
