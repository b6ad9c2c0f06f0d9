# SPDX-License-Identifier: MIT
"""ONNX Runtime's C interface through the rows of plugin/onnxruntime/ort_slots.def, by ctypes: slots, results and parameters as declared
there. So a check that calls a function checks the row itself. ort_slot_checks.py has the checks."""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p, cast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "plugin/onnxruntime/ort_slots.def"
ROW = re.compile(r"^ORT_SLOT\((\w+),\s*(\d+),\s*(\d+),\s*([^,]+?),\s*\((.*)\)\)$", re.M)
# What the checks need and the plug-in does not: sessions, and tensors of memory that is ours.
HELPERS = """
ORT_SLOT(CreateEnv, 3, 1, OrtStatus *, (int level, const char *name, void **env))
ORT_SLOT(CreateSessionFromArray, 8, 1, OrtStatus *, (const void *env, const void *model, size_t bytes, const void *options, void **session))
ORT_SLOT(Run, 9, 1, OrtStatus *, (void *session, const void *options, const void *names, const void *inputs, size_t n, const void *outputs, size_t m, void **values))
ORT_SLOT(CreateSessionOptions, 10, 1, OrtStatus *, (void **options))
ORT_SLOT(SetIntraOpNumThreads, 24, 1, OrtStatus *, (void *options, int n))
ORT_SLOT(SessionGetInputTypeInfo, 33, 1, OrtStatus *, (const void *session, size_t input, void **info))
ORT_SLOT(CreateTensorAsOrtValue, 48, 1, OrtStatus *, (void *allocator, const int64_t *lengths, size_t rank, int type, void **value))
ORT_SLOT(CreateTensorWithDataAsOrtValue, 49, 1, OrtStatus *, (const void *memory, void *data, size_t bytes, const int64_t *lengths, size_t rank, int type, void **value))
ORT_SLOT(FillStringTensor, 52, 1, OrtStatus *, (void *value, const void *texts, size_t n))
ORT_SLOT(CreateCpuMemoryInfo, 69, 1, OrtStatus *, (int allocator, int kind, void **memory))
ORT_SLOT(GetAllocatorWithDefaultOptions, 78, 1, OrtStatus *, (void **allocator))
ORT_SLOT(ReleaseEnv, 92, 1, void, (void *env))
ORT_SLOT(ReleaseMemoryInfo, 94, 1, void, (void *memory))
ORT_SLOT(ReleaseSession, 95, 1, void, (void *session))
ORT_SLOT(ReleaseSessionOptions, 100, 1, void, (void *options))
ORT_SLOT(AddSessionConfigEntry, 130, 5, OrtStatus *, (void *options, const char *name, const char *value))
"""


class StatusError(Exception):
    """A status that was not NULL."""

    def __init__(self, code: int, text: str):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


def parameter(text: str):
    """The ctypes type of a C parameter, such as "const char *name"."""
    if "(*" in text or text.count("*") > 1:
        return c_void_p
    if "*" in text:
        return c_char_p if re.match(r"const char \*", text) else c_void_p
    first = text.split()[0]
    return {"size_t": c_size_t, "int64_t": c_int64, "uint32_t": c_uint32, "bool": ctypes.c_bool}.get(first, c_int)


def parameters(text: str) -> list:
    """Those of a list; a comma within the parentheses of a function's type separates nothing."""
    parts = re.split(r",\s*(?![^()]*\))", text)
    return [parameter(part.strip()) for part in parts if part.strip() != "void"]


def result(text: str):
    if text == "void":
        return None
    return c_char_p if text == "const char *" else c_void_p if "*" in text else {"size_t": c_size_t, "int64_t": c_int64, "bool": ctypes.c_bool}.get(text, c_int)


def rows(text: str) -> dict[str, tuple]:
    return {name: (int(slot), int(since), returns, words) for name, slot, since, returns, words in ROW.findall(text)}


def declared() -> dict[str, tuple]:
    return rows(SOURCE.read_text())


class ApiBase(ctypes.Structure):
    _fields_ = [("GetApi", ctypes.CFUNCTYPE(c_void_p, c_uint32)), ("GetVersionString", ctypes.CFUNCTYPE(c_char_p))]


class Host:
    """ort.GetDimensionsCount(info, byref(rank)): calls the function at the declared slot; a status becomes a StatusError."""

    def __init__(self, path: str, version: int = 24):
        library = ctypes.CDLL(path)
        library.OrtGetApiBase.restype = POINTER(ApiBase)
        self.base = library.OrtGetApiBase().contents
        self.api = cast(self.base.GetApi(version), POINTER(c_void_p))
        self.rows = rows(HELPERS) | declared()
        self.called: set[str] = set()

    def raw(self, name: str):
        slot, _, returns, words = self.rows[name]
        return ctypes.CFUNCTYPE(result(returns), *parameters(words))(self.api[slot])

    def __getattr__(self, name: str):
        if name not in self.rows:
            raise AttributeError(name)
        function, returns = self.raw(name), self.rows[name][2]
        self.called.add(name)

        def call(*given):
            answer = function(*given)
            if returns.startswith("OrtStatus") and answer and name != "CreateStatus":
                code, text = self.raw("GetErrorCode")(answer), self.raw("GetErrorMessage")(answer).decode()
                self.raw("ReleaseStatus")(answer)
                raise StatusError(code, text)
            return answer

        return call

    def new(self, name: str, *given):
        """What a function gives through its last parameter."""
        out = c_void_p()
        getattr(self, name)(*given, byref(out))
        return out

    def number(self, name: str, *given, kind=c_int64):
        out = kind()
        getattr(self, name)(*given, byref(out))
        return out.value


def lengths(*numbers: int):
    return (c_int64 * len(numbers))(*numbers)
