# SPDX-License-Identifier: MIT
"""Each library as its users call it at its best: bound buffers, outputs allocated beforehand wherever it can, its own threads.

A peer has a name, a version, and contenders(memory), which may be none. It raises ImportError when it is not installed.
"""

from __future__ import annotations

import os

import gather_bench_native as native
import numpy as np
from cases import Memory, batched
from contender import Contender, LeftOut
from grid import BY_COUNT
from summary import FROM_C, LOOP


class Ours:
    """libgather: a plan made once, run often, as a runtime does. Its output keeps what it held when an index is bad; `fresh`: it
    may hold anything then, as the peers' do that look at each index as they come to it."""

    name = "ours"

    def __init__(self):
        self.version = native.library()["version"]

    def plan(self, memory: Memory, fresh: bool = False) -> native.Plan:
        case = memory.case
        op, rules = ("GatherElements", "onnx-13") if case.op == "elements" else ("Gather", "onnx-13")
        if case.batch_dims:
            rules = "openvino-8"
        return native.Plan(op, rules, (memory.data.ctypes.data, case.dtype, case.shape),
                           (memory.index.ctypes.data, case.index, case.index_shape),
                           (memory.out.ctypes.data, case.dtype, case.out_shape), case.axis, case.batch_dims, case.threads, fresh)

    def way(self, memory: Memory) -> str:
        """What the plan says of itself."""
        return str(self.plan(memory))

    def contenders(self, memory: Memory):
        plan, regime = self.plan(memory), memory.case.regime
        yield Contender(self.name, "plan", plan.run, pool=memory.case.threads > 1)
        pool = memory.case.threads > 1
        if regime != "tiny calls":
            fresh = self.plan(memory, True)
            yield Contender(self.name, "plan, fresh output", fresh.run, pool=pool)
        if regime == BY_COUNT:
            yield Contender(self.name, "plan, fresh output" + FROM_C, fresh.run_loop, clock=True, pool=pool)
        if regime in ("tiny calls", BY_COUNT):
            yield Contender(self.name, "plan" + FROM_C, plan.run_loop, clock=True, pool=pool)
        if regime == "tiny calls":
            yield Contender(self.name, "one call", plan.apply)
            yield Contender(self.name, "one call" + FROM_C, plan.apply_loop, clock=True)


class Naive:
    """The loop anybody writes in C: one thread, sizes of rows known to the compiler, indices not checked."""

    name = LOOP

    def __init__(self):
        self.version = ""

    def contenders(self, memory: Memory):
        case = memory.case
        if case.regime == "tiny calls":  # it is measured from C and the others from Python, which is half of such a call
            return
        work, job = ("naive_int4", memory.int4_job()) if case.dtype == "int4" else ("naive", memory.job())
        yield Contender(self.name, "loop", lambda rounds: native.timed(work, 1, rounds, job), clock=True)


class Numpy:
    name = "NumPy"

    def __init__(self):
        self.version = np.__version__

    def contenders(self, memory: Memory):
        case, data, index, out = memory.case, memory.data, memory.index, memory.out
        if case.dtype == "int4":
            return
        if case.op == "elements":
            yield Contender(self.name, "take_along_axis", lambda: np.take_along_axis(data, index, case.axis), own=True)
        elif case.batch_dims:
            wide = index.reshape(index.shape + (1,) * (data.ndim - 2))
            yield Contender(self.name, "take_along_axis", lambda: np.take_along_axis(data, wide, 1), own=True)
            yield Contender(self.name, "a[rows, idx]", lambda: batched(data, index), own=True)
        else:
            axis, take = case.axis, np.take
            picked = (slice(None),) * axis + (index,)
            yield Contender(self.name, "take out= clip", lambda: take(data, index, axis, out, "clip"))
            yield Contender(self.name, "take out=", lambda: take(data, index, axis, out))
            yield Contender(self.name, "take", lambda: take(data, index, axis), own=True)
            yield Contender(self.name, "a[idx]", lambda: data[picked], own=True)


class Translate:
    """Python's own bytes.translate: a table of 256 bytes, indices of one byte."""

    name = "bytes.translate"

    def __init__(self):
        self.version = ""

    def contenders(self, memory: Memory):
        case = memory.case
        if case.index != "uint8" or case.shape != (256,) or case.dtype != "uint8":
            return
        text, table = memory.index.tobytes(), memory.data.tobytes()
        where = np.frombuffer(text, np.uint8).ctypes.data
        yield Contender(self.name, "translate", lambda: text.translate(table), own=True,
                        array=lambda kept: np.frombuffer(kept, np.uint8), also_flush=((where, len(text)),))


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        self.torch, self.version = torch, torch.__version__
        torch.set_grad_enabled(False)

    def contenders(self, memory: Memory):
        torch, case = self.torch, memory.case
        if case.dtype == "int4" or case.index == "uint8":
            return
        data, index, out = (torch.from_numpy(array) for array in (memory.data, memory.index, memory.out))
        more = {"setup": lambda: torch.set_num_threads(case.threads), "pool": case.threads > 1}
        own = {"own": True, "array": lambda tensor: tensor.numpy(), **more}
        axis = case.axis
        if case.op == "elements":
            yield Contender(self.name, "gather out=", lambda: torch.gather(data, axis, index, out=out), **more)
            return
        if case.batch_dims:
            wide = index.reshape(index.shape + (1,) * (data.dim() - 2)).expand(index.shape + tuple(data.shape[2:]))
            yield Contender(self.name, "gather out=", lambda: torch.gather(data, 1, wide, out=out), **more)
            every = torch.arange(data.shape[0])[:, None]
            yield Contender(self.name, "x[rows, idx]", lambda: data[every, index], **own)
            return
        yield Contender(self.name, "index_select out=", lambda: torch.index_select(data, axis, index, out=out), **more)
        if data.dim() == 1:
            yield Contender(self.name, "gather out=", lambda: torch.gather(data, 0, index, out=out), **more)
            if case.index == "int64":
                yield Contender(self.name, "take out=", lambda: torch.take(data, index, out=out), **more)
        elif axis == 0:
            embedding = torch.nn.functional.embedding
            yield Contender(self.name, "embedding", lambda: embedding(index, data), **own)
        picked = (slice(None),) * axis + (index,)
        yield Contender(self.name, "x[idx]", lambda: data[picked], **own)


class OnnxRuntime:
    """A model of one node; inputs and output bound to the buffers."""

    name = "ONNX Runtime"

    def __init__(self):
        import onnx
        import onnxruntime

        self.onnx, self.ort, self.version = onnx, onnxruntime, onnxruntime.__version__
        onnxruntime.set_default_logger_severity(3)

    def model(self, case):
        helper, types = self.onnx.helper, self.onnx.TensorProto
        element = {"uint8": types.UINT8, "float16": types.FLOAT16, "float32": types.FLOAT, "float64": types.DOUBLE}
        op, more, index_shape = {"elements": "GatherElements", "take": "Gather"}[case.op], {"axis": case.axis}, case.index_shape
        if case.batch_dims:
            op, more, index_shape = "GatherND", {"batch_dims": 1}, (*case.index_shape, 1)
        graph = helper.make_graph(
            [helper.make_node(op, ["data", "indices"], ["out"], **more)], "gather",
            [helper.make_tensor_value_info("data", element[case.dtype], case.shape),
             helper.make_tensor_value_info("indices", types.INT64 if case.index == "int64" else types.INT32, index_shape)],
            [helper.make_tensor_value_info("out", element[case.dtype], case.out_shape)],
        )  # fmt: skip
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), index_shape

    def contenders(self, memory: Memory):
        case = memory.case
        if case.dtype == "int4" or case.index == "uint8" or (case.batch_dims and case.index != "int64"):
            return
        model, index_shape = self.model(case)
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        session = self.ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        element = np.dtype(case.dtype)
        binding.bind_input("data", "cpu", 0, element, case.shape, memory.data.ctypes.data)
        binding.bind_input("indices", "cpu", 0, np.dtype(case.index), index_shape, memory.index.ctypes.data)
        binding.bind_output("out", "cpu", 0, element, case.out_shape, memory.out.ctypes.data)
        run = session.run_with_iobinding
        # The session's own object spares it the wrapper's work in Python.
        inner = getattr(session, "_sess", None)
        raw = getattr(binding, "_iobinding", None)
        form = "GatherND, bound" if case.batch_dims else "bound"
        if inner is not None and raw is not None and hasattr(inner, "run_with_iobinding"):
            yield Contender(self.name, form, lambda: inner.run_with_iobinding(raw, None), pool=case.threads > 1)
        else:
            yield Contender(self.name, form, lambda: run(binding), pool=case.threads > 1)


class OpenVino:
    """A compiled model of one node; inputs and output set to the buffers."""

    name = "OpenVINO"
    MOST = 1 << 30  # bytes of a table

    def __init__(self):
        import openvino
        from openvino import opset13

        self.ov, self.ops, self.version = openvino, opset13, openvino.__version__.split("-")[0]
        self.core = openvino.Core()

    def contenders(self, memory: Memory):
        case = memory.case
        if case.dtype == "int4" or case.index == "uint8":
            return
        if case.table_bytes > self.MOST:
            raise LeftOut("it gets no tables above 1 GiB: from 2 GiB on some of its versions crash or give wrong rows")
        ops, types = self.ops, {"uint8": "u8", "float16": "f16", "float32": "f32", "float64": "f64"}
        data = ops.parameter(list(case.shape), self.ov.Type(np.dtype(case.dtype)))
        index = ops.parameter(list(case.index_shape), self.ov.Type(np.dtype(case.index)))
        if case.op == "elements":
            node = ops.gather_elements(data, index, case.axis)
        else:
            node = ops.gather(data, index, np.int64(case.axis), case.batch_dims)
        model = self.ov.Model([node], [data, index], f"gather_{types[case.dtype]}")
        settings = {"INFERENCE_NUM_THREADS": case.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
                    "EXECUTION_MODE_HINT": "ACCURACY"}
        request = self.core.compile_model(model, "CPU", settings).create_infer_request()
        for i, array in enumerate((memory.data, memory.index)):
            request.set_input_tensor(i, self.ov.Tensor(array, shared_memory=True))
        request.set_output_tensor(0, self.ov.Tensor(memory.out, shared_memory=True))

        def call():
            request.start_async()
            request.wait()

        # infer() of the class below spares it the wrapper's work in Python; without share_outputs it would copy the output.
        plain = super(type(request), request).infer
        yield Contender(self.name, "infer", lambda: plain({}, share_outputs=True, decode_strings=False), pool=case.threads > 1)
        yield Contender(self.name, "start, wait", call, pool=case.threads > 1)


class Arrow:
    name = "Arrow"

    def __init__(self):
        import pyarrow
        import pyarrow.compute

        self.pa, self.pc, self.version = pyarrow, pyarrow.compute, pyarrow.__version__

    def contenders(self, memory: Memory):
        pa, case = self.pa, memory.case
        if case.op != "take" or case.axis or case.batch_dims or case.dtype == "int4" or len(case.index_shape) != 1:
            return
        plain = len(case.shape) == 1
        element = pa.from_numpy_dtype(np.dtype(case.dtype)) if plain else pa.binary(memory.data.itemsize * case.row_len)
        index_type = pa.from_numpy_dtype(np.dtype(case.index))
        data = pa.Array.from_buffers(element, case.shape[0], [None, pa.py_buffer(memory.data)])
        index = pa.Array.from_buffers(index_type, memory.index.size, [None, pa.py_buffer(memory.index)])
        take = self.pc.take
        yield Contender(self.name, "take", lambda: take(data, index), own=True, array=self.bytes_of)

    @staticmethod
    def bytes_of(array) -> np.ndarray:
        return np.frombuffer(array.buffers()[1], np.uint8)


class Jax:
    """XLA's gather, compiled for the case. It uses all CPUs and cannot be told otherwise in a running process."""

    name = "JAX"

    def __init__(self):
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        import jax
        import jax.numpy

        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp, self.version = jax, jax.numpy, jax.__version__
        self.cpus = native.library()["cpus"]

    def contenders(self, memory: Memory):
        jnp, case = self.jnp, memory.case
        if case.dtype == "int4" or case.threads != self.cpus:
            return
        data, index = self.jnp.from_dlpack(memory.data), self.jnp.from_dlpack(memory.index)
        take = jnp.take_along_axis if case.op == "elements" else jnp.take
        if case.batch_dims:
            jitted = self.jax.jit(self.jax.vmap(lambda d, i: jnp.take(d, i, axis=0, mode="clip")))
        else:
            jitted = self.jax.jit(lambda d, i: take(d, i, axis=case.axis, mode="clip"))
        jitted(data, index).block_until_ready()
        yield Contender(self.name, "jit take clip", lambda: jitted(data, index).block_until_ready(), own=True, pool=True)


PEERS = (Numpy, Torch, OnnxRuntime, OpenVino, Arrow, Jax, Translate, Naive)


def load(names: tuple[str, ...], made=PEERS) -> tuple[list, dict[str, str]]:
    """The peers that are there, and why the others are not."""
    found, absent = [], {}
    for peer in made:
        if names and peer.name not in names:
            continue
        try:
            found.append(peer())
        except ImportError as error:
            absent[peer.name] = str(error)
    return found, absent
