# SPDX-License-Identifier: MIT
"""libgather in ONNX Runtime."""

from libgather._onnxruntime_ep import add_to, devices, ep_name, register, report, statistics, unregister
from libgather._plugins import library

__all__ = ["add_to", "devices", "ep_name", "library_path", "register", "report", "statistics", "unregister"]


def library_path() -> str:
    """The path of libgather_onnxruntime.so."""
    return library("onnxruntime")
