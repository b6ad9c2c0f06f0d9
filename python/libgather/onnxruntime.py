# SPDX-License-Identifier: MIT
"""libgather in ONNX Runtime: by custom operators, from 1.17 on, or as an execution provider, from 1.24 on."""

from libgather._onnxruntime_ep import add_to, devices, ep_name, register, report, statistics, unregister
from libgather._onnxruntime_ops import library_path, register_operators, session_options

__all__ = [
    "add_to",
    "devices",
    "ep_name",
    "library_path",
    "register",
    "register_operators",
    "report",
    "session_options",
    "statistics",
    "unregister",
]
