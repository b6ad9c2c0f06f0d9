# SPDX-License-Identifier: MIT
"""One known behaviour for each function that the plug-in calls; the program of a child, for a wrong slot is a crash.

    ort_slot_checks.py LIBONNXRUNTIME MODEL CHECK

MODEL is a model with the node "the_node" of the operator Probe in the domain "test.probe" (test_onnxruntime_slots.py makes it).
Prints the names of the functions that were called.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from ctypes import CFUNCTYPE, POINTER, Structure, addressof, byref, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p, cast, string_at
from pathlib import Path

import ort_slots as slots

FLOAT, INT64, STRING = 1, 7, 8


def same(found, wanted, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, not {wanted!r}")


def check_status(ort, model) -> None:
    status = ort.CreateStatus(2, b"some text")
    same(ort.GetErrorCode(status), 2, "the code")
    same(ort.GetErrorMessage(status), b"some text", "the text")
    ort.ReleaseStatus(status)


def dimensions(ort, info) -> list[int]:
    rank = ort.number("GetDimensionsCount", info, kind=c_size_t)
    array = (c_int64 * rank)()
    ort.GetDimensions(info, array, rank)
    return list(array)


def check_shapes(ort, model) -> None:
    info = ort.new("CreateTensorTypeAndShapeInfo")
    ort.SetTensorElementType(info, INT64)
    same(ort.number("GetTensorElementType", info, kind=c_int), INT64, "the type")
    ort.SetDimensions(info, slots.lengths(3, -1, 5), 3)
    same(dimensions(ort, info), [3, -1, 5], "the lengths")
    names = (c_char_p * 3)(b"", b"batch", b"")
    ort.SetSymbolicDimensions(info, names, 3)
    back = (c_char_p * 3)()
    ort.GetSymbolicDimensions(info, back, 3)
    same(list(back), [b"", b"batch", b""], "the names")
    ort.ReleaseTensorTypeAndShapeInfo(info)


def check_tensor(ort, model) -> None:
    memory = ort.new("CreateCpuMemoryInfo", 1, 0)
    data = (ctypes.c_float * 6)(*range(6))
    value = ort.new("CreateTensorWithDataAsOrtValue", memory, data, 24, slots.lengths(2, 3), 2, FLOAT)
    where = ort.new("GetTensorMutableData", value)
    same(where.value, addressof(data), "the address")
    info = ort.new("GetTensorTypeAndShape", value)
    same(dimensions(ort, info), [2, 3], "the lengths")
    same(ort.number("GetTensorElementType", info, kind=c_int), FLOAT, "the type")
    ort.ReleaseTensorTypeAndShapeInfo(info)
    kind, shape, rank = c_int(), POINTER(c_int64)(), c_size_t()
    ort.GetTensorElementTypeAndShapeDataReference(value, byref(kind), byref(shape), byref(rank))
    same((kind.value, shape[: rank.value]), (FLOAT, [2, 3]), "the type and the lengths by reference")
    ort.ReleaseValue(value)
    ort.ReleaseMemoryInfo(memory)


def check_strings(ort, model) -> None:
    value = ort.new("CreateTensorAsOrtValue", ort.new("GetAllocatorWithDefaultOptions"), slots.lengths(2), 1, STRING)
    ort.FillStringTensor(value, (c_char_p * 2)(b"one", b"three"), 2)
    same(ort.number("GetStringTensorElementLength", value, 1, kind=c_size_t), 5, "the length")
    text = (c_char * 5)()
    ort.GetStringTensorElement(value, 5, 1, text)
    same(text.raw, b"three", "the string")
    place = c_void_p()
    ort.GetResizedStringTensorElementBuffer(value, 0, 12, byref(place))
    ctypes.memmove(place, b"twelve bytes", 12)
    text = (c_char * 12)()
    ort.GetStringTensorElement(value, 12, 0, text)
    same(text.raw, b"twelve bytes", "the string that was written")
    ort.ReleaseValue(value)


def check_pairs(ort, model) -> None:
    pairs = ort.new("CreateKeyValuePairs")
    ort.AddKeyValuePair(pairs, b"gather.threads", b"3")
    same(ort.GetKeyValue(pairs, b"gather.threads"), b"3", "the value")
    same(ort.GetKeyValue(pairs, b"other"), None, "no value")
    names, values, count = POINTER(c_char_p)(), POINTER(c_char_p)(), c_size_t()
    ort.GetKeyValuePairs(pairs, byref(names), byref(values), byref(count))
    same((names[: count.value], values[: count.value]), ([b"gather.threads"], [b"3"]), "all pairs")
    ort.ReleaseKeyValuePairs(pairs)


def check_options(ort, model) -> None:
    options = ort.new("CreateSessionOptions")
    ort.AddSessionConfigEntry(options, b"gather.plans", b"11")
    same(ort.number("HasSessionConfigEntry", options, b"gather.plans", kind=c_int), 1, "whether there is an entry")
    same(ort.number("HasSessionConfigEntry", options, b"gather.other", kind=c_int), 0, "whether there is another")
    size = c_size_t(0)
    ort.GetSessionConfigEntry(options, b"gather.plans", None, byref(size))
    same(size.value, 3, "the size with its end")
    text = ctypes.create_string_buffer(size.value)
    ort.GetSessionConfigEntry(options, b"gather.plans", text, byref(size))
    same(text.value, b"11", "the entry")
    pairs = ort.new("GetSessionOptionsConfigEntries", options)
    same(ort.GetKeyValue(pairs, b"gather.plans"), b"11", "the entry among all")
    ort.ReleaseKeyValuePairs(pairs)
    ort.ReleaseSessionOptions(options)


def check_types(ort, model) -> None:
    """Of a session's input: the same objects as a graph's values have."""
    environment, options = ort.new("CreateEnv", 1, b"types"), ort.new("CreateSessionOptions")
    ort.AddSessionConfigEntry(options, b"gather.plans", b"5")
    probe = Probe(ort)
    probe.add_to(options)
    session = ort.new("CreateSessionFromArray", environment, model, len(model), options)
    info = ort.new("SessionGetInputTypeInfo", session, 0)
    tensor = ort.new("CastTypeInfoToTensorInfo", info)
    same(ort.number("GetTensorElementType", tensor, kind=c_int), FLOAT, "the type")
    same(dimensions(ort, tensor), [2, 3], "the lengths")
    ort.ReleaseTypeInfo(info)
    ort.ReleaseSession(session)
    ort.ReleaseSessionOptions(options)
    ort.ReleaseEnv(environment)


def check_execution_providers(ort, model) -> None:
    """The table of the execution providers' functions is there, and the same at each call."""
    table = ort.GetEpApi()
    same(bool(table) and table == ort.GetEpApi(), True, "the table")


# ---- a custom operator, from inside


class CustomOp(Structure):
    """ort_api.h's OrtCustomOp: its order and its size."""

    MEMBERS = ("version:u CreateKernel GetName GetExecutionProviderType GetInputType GetInputTypeCount GetOutputType GetOutputTypeCount KernelCompute "
               "KernelDestroy GetInputCharacteristic GetOutputCharacteristic GetInputMemoryType GetVariadicInputMinArity GetVariadicInputHomogeneity "
               "GetVariadicOutputMinArity GetVariadicOutputHomogeneity CreateKernelV2 KernelComputeV2 InferOutputShapeFn GetStartVersion GetEndVersion "
               "GetMayInplace ReleaseMayInplace GetAliasMap ReleaseAliasMap").split()
    _fields_ = [(name.partition(":")[0], c_uint32 if name.endswith(":u") else c_void_p) for name in MEMBERS]


class Probe:
    """The operator Probe: y = its input, 1-D; it asks everything that the plug-in asks."""

    def __init__(self, ort):
        self.ort, self.kept, self.said, self.wrong = ort, [], {}, []
        self.op = CustomOp(version=17)
        for name, returns, given, function in (
            ("GetName", c_char_p, (), lambda op: b"Probe"),
            ("GetExecutionProviderType", c_char_p, (), lambda op: None),
            ("GetInputType", c_int, (c_size_t,), lambda op, i: FLOAT),
            ("GetInputTypeCount", c_size_t, (), lambda op: 1),
            ("GetOutputType", c_int, (c_size_t,), lambda op, i: FLOAT),
            ("GetOutputTypeCount", c_size_t, (), lambda op: 1),
            ("KernelDestroy", None, (), lambda kernel: None),
            ("GetInputCharacteristic", c_int, (c_size_t,), lambda op, i: 0),
            ("GetOutputCharacteristic", c_int, (c_size_t,), lambda op, i: 0),
            ("GetInputMemoryType", c_int, (c_size_t,), lambda op, i: 0),
            ("CreateKernelV2", c_void_p, (c_void_p, c_void_p, POINTER(c_void_p)), self.create),
            ("KernelComputeV2", c_void_p, (c_void_p,), self.compute),
            ("InferOutputShapeFn", c_void_p, (c_void_p,), self.infer),
            ("GetStartVersion", c_int, (), lambda op: 1),
            ("GetEndVersion", c_int, (), lambda op: 2**31 - 1),
        ):
            callback = CFUNCTYPE(returns, c_void_p, *given)(function)
            self.kept.append(callback)
            setattr(self.op, name, cast(callback, c_void_p))

    def add_to(self, options) -> None:
        domain = self.ort.new("CreateCustomOpDomain", b"test.probe")
        self.kept.append(domain)
        self.ort.CustomOpDomain_Add(domain, addressof(self.op))
        self.ort.AddCustomOpDomain(options, domain)

    def guarded(self, work, *given):
        """An exception cannot pass C code: it is kept, and a status says that there is one."""
        try:
            work(*given)
        except BaseException as error:  # noqa: BLE001
            self.wrong.append(error)
            return self.ort.CreateStatus(1, repr(error).encode())
        return None

    def infer(self, op, context):
        return self.guarded(self.inferred, context)

    def inferred(self, context) -> None:
        ort = self.ort
        same(ort.number("ShapeInferContext_GetInputCount", context, kind=c_size_t), 1, "the inputs")
        info = ort.new("ShapeInferContext_GetInputTypeShape", context, 0)
        same(dimensions(ort, info), [2, 3], "the input's lengths")
        attribute = ort.new("ShapeInferContext_GetAttribute", context, b"axis")
        number, size = c_int64(), c_size_t()
        ort.ReadOpAttr(attribute, 1, byref(number), 8, byref(size))
        same(number.value, -7, "the attribute")
        out = ort.new("CreateTensorTypeAndShapeInfo")
        ort.SetTensorElementType(out, FLOAT)
        ort.SetDimensions(out, slots.lengths(6), 1)
        ort.ShapeInferContext_SetOutputTypeShape(context, 0, out)

    def create(self, op, api, info, kernel):
        return self.guarded(self.created, info, kernel)

    def created(self, info, kernel) -> None:
        ort = self.ort
        same(ort.number("KernelInfoGetAttribute_int64", info, b"axis"), -7, "the attribute")
        same(ort.number("KernelInfoGetAttribute_float", info, b"share", kind=ctypes.c_float), 0.25, "the other attribute")
        same(ort.number("KernelInfo_GetInputCount", info, kind=c_size_t), 1, "the inputs")
        size = c_size_t(64)
        name = ctypes.create_string_buffer(64)
        ort.KernelInfo_GetInputName(info, 0, name, byref(size))
        same(name.value, b"x", "the input's name")
        size = c_size_t(64)
        name = ctypes.create_string_buffer(64)
        ort.KernelInfo_GetNodeName(info, name, byref(size))
        same(name.value, b"the_node", "the node's name")
        logger = ort.new("KernelInfo_GetLogger", info)
        same(ort.number("Logger_GetLoggingSeverityLevel", logger, kind=c_int), 1, "the log's level")
        ort.Logger_LogMessage(logger, 1, b"a line of the probe", b"file.c", 7, b"function")
        constant, value = c_int(9), c_void_p()
        ort.KernelInfoGetConstantInput_tensor(info, 0, byref(constant), byref(value))
        same(constant.value, 0, "whether the input is constant")
        entries = ort.new("KernelInfo_GetConfigEntries", info)
        same(ort.GetKeyValue(entries, b"gather.plans"), b"5", "the session's entry")
        ort.ReleaseKeyValuePairs(entries)
        same(ort.number("KernelInfo_GetOperatorSinceVersion", info, kind=c_int), 1, "the operator's version")
        kernel[0] = 1  # any pointer but NULL

    def compute(self, kernel, context):
        return self.guarded(self.computed, context)

    def computed(self, context) -> None:
        ort = self.ort
        same(ort.number("KernelContext_GetInputCount", context, kind=c_size_t), 1, "the inputs")
        value = ort.new("KernelContext_GetInput", context, 0)
        data = string_at(ort.new("GetTensorMutableData", value), 24)
        out = ort.new("KernelContext_GetOutput", context, 0, slots.lengths(6), 1)
        ctypes.memmove(ort.new("GetTensorMutableData", out), data, 24)
        done, lock = [], threading.Lock()

        def task(argument, i):
            with lock:
                done.append((argument, i))

        callback = CFUNCTYPE(None, c_void_p, c_size_t)(task)
        ort.KernelContext_ParallelFor(context, cast(callback, c_void_p), 5, 0, 1234)
        same(sorted(done), [(1234, i) for i in range(5)], "the tasks")


def check_custom_operator(ort, model) -> None:
    environment, options, probe = ort.new("CreateEnv", 1, b"probe"), ort.new("CreateSessionOptions"), Probe(ort)
    ort.SetIntraOpNumThreads(options, 2)
    ort.AddSessionConfigEntry(options, b"gather.plans", b"5")
    probe.add_to(options)
    session = ort.new("CreateSessionFromArray", environment, model, len(model), options)
    memory, data = ort.new("CreateCpuMemoryInfo", 1, 0), (ctypes.c_float * 6)(*range(6))
    given = ort.new("CreateTensorWithDataAsOrtValue", memory, data, 24, slots.lengths(2, 3), 2, FLOAT)
    names, outputs, inputs, values = (c_char_p * 1)(b"x"), (c_char_p * 1)(b"y"), (c_void_p * 1)(given), (c_void_p * 1)()
    ort.Run(session, None, names, inputs, 1, outputs, 1, values)
    if probe.wrong:
        raise probe.wrong[0]
    same(string_at(ort.new("GetTensorMutableData", values[0]), 24), bytes(data), "the output")
    ort.ReleaseValue(values[0])
    ort.ReleaseSession(session)
    ort.ReleaseSessionOptions(options)
    for domain in [kept for kept in probe.kept if isinstance(kept, c_void_p)]:
        ort.ReleaseCustomOpDomain(domain)
    ort.ReleaseEnv(environment)


CHECKS = {name[len("check_") :]: check for name, check in list(globals().items()) if name.startswith("check_")}


def main() -> None:
    library, model, name = sys.argv[1:]
    ort = slots.Host(library)
    CHECKS[name](ort, Path(model).read_bytes())
    print("called", *sorted(ort.called))


if __name__ == "__main__":
    main()
