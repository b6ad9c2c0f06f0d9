# SPDX-License-Identifier: MIT
"""ggml's get_rows by ctypes, from the shared libraries that the wheel of pywhispercpp carries (the smallest that has them)."""

from __future__ import annotations

import ctypes
import glob
import importlib.metadata
import importlib.util
from pathlib import Path

from grid import MIB

TYPES = {"Q4_0": 2, "Q8_0": 8, "Q4_K": 12, "Q6_K": 14, "IQ4_NL": 20, "MXFP4": 39}
I32 = 26
DATA = 248  # where a tensor keeps its data's address; checked at load


class Parameters(ctypes.Structure):
    _fields_ = [("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


class Ggml:
    def __init__(self):
        spec = importlib.util.find_spec("pywhispercpp")
        folder = Path(spec.origin).parent.parent / "pywhispercpp.libs" if spec and spec.origin else None
        if not folder or not folder.is_dir():
            raise ImportError("pywhispercpp, whose wheel carries ggml, is not installed")
        self.libraries = {}
        for name in ("libgomp-", "libggml-base-", "libggml-cpu-"):
            found = glob.glob(str(folder / f"{name}*"))
            if not found:
                raise ImportError(f"the wheel of pywhispercpp has no {name.strip('-')}")
            self.libraries[name] = ctypes.CDLL(found[0], ctypes.RTLD_GLOBAL)
        base, cpu = self.libraries["libggml-base-"], self.libraries["libggml-cpu-"]
        base.ggml_version.restype = ctypes.c_char_p
        self.version = f"{base.ggml_version().decode()} (pywhispercpp {importlib.metadata.version('pywhispercpp')})"
        pointer, size = ctypes.c_void_p, ctypes.c_int64
        for name, restype, argtypes in (("ggml_init", pointer, [Parameters]), ("ggml_free", None, [pointer]),
                                        ("ggml_new_tensor_1d", pointer, [pointer, ctypes.c_int, size]),
                                        ("ggml_new_tensor_2d", pointer, [pointer, ctypes.c_int, size, size]),
                                        ("ggml_get_data", pointer, [pointer]), ("ggml_get_rows", pointer, [pointer] * 3),
                                        ("ggml_new_graph", pointer, [pointer]), ("ggml_build_forward_expand", None, [pointer] * 2)):
            function = getattr(base, name)
            function.restype, function.argtypes = restype, argtypes
            setattr(self, name[5:], function)
        cpu.ggml_cpu_init()
        self.compute = cpu.ggml_graph_compute_with_ctx
        self.compute.restype, self.compute.argtypes = ctypes.c_int, [pointer, pointer, ctypes.c_int]

    def _at(self, tensor: int, address: int) -> int:
        ctypes.c_void_p.from_address(tensor + DATA).value = address
        if self.get_data(tensor) != address:
            raise ImportError("this ggml has its tensors' data elsewhere")
        return tensor

    def rows(self, codec: str, width: int, rows: int, table: int, ids: int, count: int, out: int, threads: int):
        """A call that gathers, and what must live as long."""
        context = self.init(Parameters(64 * MIB, None, True))
        if not context:
            raise MemoryError("ggml_init failed")
        data = self._at(self.new_tensor_2d(context, TYPES[codec], width, rows), table)
        index = self._at(self.new_tensor_1d(context, I32, count), ids)
        result = self._at(self.get_rows(context, data, index), out)
        graph = self.new_graph(context)
        self.build_forward_expand(graph, result)
        compute = self.compute

        def call():
            if compute(context, graph, threads) != 0:
                raise RuntimeError("ggml_graph_compute failed")

        return call, Owner(self, context)


class Owner:
    def __init__(self, ggml: Ggml, context: int):
        self.ggml, self.context = ggml, context

    def __del__(self):
        self.ggml.free(self.context)


