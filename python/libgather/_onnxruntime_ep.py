# SPDX-License-Identifier: MIT
#
# _onnxruntime_ep.py: the execution provider of libgather in ONNX Runtime; libgather.onnxruntime re-exports it.
"""The execution provider of libgather in ONNX Runtime."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import threading
from typing import Any

from libgather._onnxruntime_ops import check_options, plugin, texts_of
from libgather._plugins import library

__all__ = ["add_to", "devices", "ep_name", "register", "report", "statistics", "unregister"]

_NAME = "GatherExecutionProvider"
_OLDEST = (1, 24)
_LABEL = f"ep.{_NAME.lower()}.label"
_lock = threading.Lock()
_labels = itertools.count(1)
_registered = False


def _onnxruntime() -> Any:
    """The module onnxruntime, of a version that has plug-in execution providers with kernels."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError("libgather.onnxruntime needs ONNX Runtime: pip install libgather[onnxruntime]") from error
    version = onnxruntime.__version__
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST:
        raise RuntimeError(
            f"the execution provider needs onnxruntime {_OLDEST[0]}.{_OLDEST[1]} or later, and this is {version}: "
            "use session_options.register_custom_ops_library(libgather.onnxruntime.library_path())"
        )
    return onnxruntime


def ep_name() -> str:
    """The name of the execution provider, as session.get_providers() and profiles show it."""
    return _NAME


def register() -> str:
    """Registers the execution provider with ONNX Runtime, once per process. add_to() does it.

    Returns
    -------
    str
        ep_name().

    Raises
    ------
    ImportError
        ONNX Runtime is not installed.
    RuntimeError
        ONNX Runtime is older than 1.24. The message says what to use instead.
    FileNotFoundError
        This build of libgather has no plug-in for ONNX Runtime.
    """
    global _registered
    onnxruntime = _onnxruntime()
    with _lock:
        if not _registered:
            onnxruntime.register_execution_provider_library(_NAME, library("onnxruntime"))
            _registered = True
    return _NAME


def unregister() -> None:
    """Unregisters the execution provider, if it is registered. No session may be using it."""
    global _registered
    with _lock:
        if _registered:
            _onnxruntime().unregister_execution_provider_library(_NAME)
            _registered = False


def devices() -> list[Any]:
    """The devices of the execution provider, for SessionOptions.add_provider_for_devices(): the CPU."""
    register()
    return [device for device in _onnxruntime().get_ep_devices() if device.ep_name == _NAME]


def add_to(session_options: Any, **options: Any) -> Any:
    """Makes the sessions of these options run their gathers on libgather. The rest stays on the CPU provider.

        options = libgather.onnxruntime.add_to(onnxruntime.SessionOptions(), table="always", memory="1GiB")
        session = onnxruntime.InferenceSession("model.onnx", options)

    Parameters
    ----------
    session_options
        An onnxruntime.SessionOptions. Leave `providers` of InferenceSession out.
    options
        The provider's options: take, table, table_min, memory, cache, engine, depth, buffered, keep_signals, verbose, label,
        report_file, and those of the custom operators. docs/embed/onnxruntime.md describes them. None leaves one out.

    Returns
    -------
    onnxruntime.SessionOptions
        session_options.

    Raises
    ------
    ValueError
        Unknown option or invalid value. The message lists the valid ones.
    """
    found = devices()  # first: it says what is missing
    texts = texts_of(options)
    check_options(texts)
    texts.setdefault("label", f"{os.getpid()}-{next(_labels)}")
    session_options.add_provider_for_devices(found, texts)
    return session_options


def statistics() -> dict[str, Any]:
    """Statistics of the plug-in in all live sessions.

    Returns
    -------
    dict
        "sessions": those of the execution provider; "tables": all open tables, also those of custom operators, with users, the number
        of nodes and sessions that share one. A session has "label", "model", "nodes" (name, operator, version, data, type; way: "table"
        or "plain"; why; runs) and "tables" (file, offset, engine, rows, rows_resident, rows_cached, rows_read, bytes_useful, bytes_read,
        memory_peak ...). If several sessions share a table, its counts are those of all of them.
    """
    function = plugin().gather_onnxruntime_statistics
    room = 1 << 16
    while True:
        text = ctypes.create_string_buffer(room)
        length = function(text, room)
        if length < room:
            return json.loads(text.raw[:length])
        room = length + 4096


def report(session: Any, **options: Any) -> dict[str, Any]:
    """The nodes of a model that the execution provider took over.

    Parameters
    ----------
    session
        An onnxruntime.InferenceSession whose options went through add_to(), or a model (a path, or its bytes), which is loaded
        with the execution provider and closed again.
    options
        With a model: as in add_to().

    Returns
    -------
    dict
        As a session in statistics(). If several sessions have the same options, that of the last one.

    Raises
    ------
    ValueError
        The session does not use the execution provider.
    """
    if hasattr(session, "get_session_options"):
        return _of_session(session)
    onnxruntime = _onnxruntime()
    model = session if isinstance(session, bytes) else os.fspath(session)
    return _of_session(onnxruntime.InferenceSession(model, add_to(onnxruntime.SessionOptions(), **options)))


def _of_session(session: Any) -> dict[str, Any]:
    if _NAME in session.get_providers():
        label = session.get_session_options().get_session_config_entry(_LABEL)
        for found in statistics()["sessions"]:
            if found["label"] == label:
                return found
    raise ValueError(f"the session does not use {_NAME}: its options did not go through libgather.onnxruntime.add_to()")
