# SPDX-License-Identifier: MIT
"""Asks the plug-in for its execution provider as ONNX Runtime itself would: for versions whose Python package does not offer that.

    ort_factories.py LIBONNXRUNTIME LIBRARY

Prints "factories N", or the text of the status.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_size_t, c_uint32, c_void_p, cast

GET_ERROR_MESSAGE = 2


class ApiBase(ctypes.Structure):
    _fields_ = [("GetApi", CFUNCTYPE(c_void_p, c_uint32)), ("GetVersionString", CFUNCTYPE(c_char_p))]


def main() -> None:
    host, plugin = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
    host.OrtGetApiBase.restype = POINTER(ApiBase)
    base = host.OrtGetApiBase()
    create = plugin.CreateEpFactories
    create.restype, create.argtypes = c_void_p, [c_char_p, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]
    factories, count = (c_void_p * 4)(), c_size_t(0)
    status = create(b"libgather", base, None, factories, 4, byref(count))
    if not status:
        print("factories", count.value)
        return
    version = int(base.contents.GetVersionString().decode().split(".")[1])
    functions = cast(base.contents.GetApi(version), POINTER(c_void_p))
    print(CFUNCTYPE(c_char_p, c_void_p)(functions[GET_ERROR_MESSAGE])(status).decode())


if __name__ == "__main__":
    main()
