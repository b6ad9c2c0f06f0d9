# SPDX-License-Identifier: MIT
"""Each library's own scatters, gradients and bags, as its users call it at its best: in place wherever it can; as peers.py."""

from __future__ import annotations

from dataclasses import replace

import gather_bench_native as native
import numpy as np
import peers
from cases import Arenas
from contender import Contender, LeftOut
from grid import MIB
from scatter_grid import BACKWARD, BACKWARD_ELEMENTS, BAG, ELEMENTS, ND, SCATTER, written
from scatter_memory import BFLOAT16, UFUNCS, Writes
from summary import KEPT, LOOP


def tensor(array: np.ndarray, dtype: str = "") -> tuple:
    return array.ctypes.data, dtype or str(array.dtype), array.shape


class Ours:
    """Scatters in place: plans made once, run often. Gradients and bags: a call for everything, as there are no plans for them."""

    name = "ours"
    OPS = {SCATTER: ("scatter", ""), ELEMENTS: ("ScatterElements", "onnx-18"), ND: ("ScatterND", "onnx-18"),
           BACKWARD: ("Gather", "onnx-13"), BACKWARD_ELEMENTS: ("GatherElements", "onnx-13")}  # fmt: skip

    def __init__(self):
        self.version = native.library()["version"]

    def plan(self, memory):
        case = memory.case
        return native.Scatter(*self.OPS[case.op], tensor(memory.out, case.dtype), tensor(memory.index), tensor(memory.data, case.dtype), case.axis,
                              case.reduction, case.threads)  # fmt: skip

    def way(self, memory) -> str:
        return str(self.plan(memory)) if memory.case.op in (SCATTER, ELEMENTS, ND) else ""

    def contenders(self, memory):
        case, pool = memory.case, memory.case.threads > 1
        if case.op == BAG:
            weights = None if memory.weights is None else tensor(memory.weights)
            made = native.Bag(tensor(memory.out), tensor(memory.index), tensor(memory.offsets), weights, tensor(memory.data), case.reduction, case.threads)
            yield Contender(self.name, "one call", made.run, pool=pool)
        elif case.op in (BACKWARD, BACKWARD_ELEMENTS):
            made = native.Backward(*self.OPS[case.op], tensor(memory.out, case.dtype), tensor(memory.index), tensor(memory.data, case.dtype),
                                   case.axis, case.threads)  # fmt: skip
            yield Contender(self.name, "one call", made.run, pool=pool)
        else:
            yield Contender(self.name, "plan", self.plan(memory).run, pool=pool)
            kept = self.plan(memory)
            kept.keep()
            yield Contender(KEPT, "kept", kept.run, pool=pool)


class Naive:
    """The serial loop in C: one thread, indices not checked."""

    name = LOOP

    def __init__(self):
        self.version = ""

    def contenders(self, memory):
        case = memory.case
        if case.op == BAG:
            weights = 0 if memory.weights is None else memory.weights.ctypes.data
            job = (memory.data.ctypes.data, weights, memory.index.ctypes.data, memory.offsets.ctypes.data, memory.out.ctypes.data, case.bags,
                   memory.index.size, case.row_len, case.reduction == "mean")  # fmt: skip
            yield Contender(self.name, "loop", lambda rounds: native.bag_loop(rounds, job), clock=True)
            return
        steps = np.array(memory.out.strides) // memory.out.itemsize
        outer, inner, outer_step, used = 1, 1, 0, steps[: case.tuple_len]
        if case.op in (ELEMENTS, BACKWARD_ELEMENTS):
            outer, inner = int(np.prod(case.index_shape[: case.axis])), int(np.prod(case.index_shape[case.axis + 1 :]))
            outer_step, used = int(steps[0]) if case.axis else 0, steps[case.axis : case.axis + 1]
        count = case.rows // outer // inner
        job = (memory.data.ctypes.data, memory.index.ctypes.data, memory.out.ctypes.data, outer, count, inner, count * inner, outer_step, 1,
               case.row_len, case.out_bytes if case.op in (BACKWARD, BACKWARD_ELEMENTS) else 0)  # fmt: skip
        used = tuple(int(step) for step in used)
        yield Contender(self.name, "loop", lambda rounds: native.write_loop(case.dtype, case.reduction, rounds, job, used), clock=True)


class Numpy:
    name = "NumPy"

    def __init__(self):
        self.version = np.__version__

    def contenders(self, memory):
        case, out, updates = memory.case, memory.out, memory.data
        if case.dtype == BFLOAT16:
            return
        if case.op == BAG:
            if case.reduction == "add" and not case.weighted:
                ids, offsets = memory.index, memory.offsets
                yield Contender(self.name, "add.reduceat(x[ids])", lambda: np.add.reduceat(updates[ids], offsets, axis=0), own=True)
            return
        places = memory.places()
        if case.reduction == "none":
            yield Contender(self.name, "x[idx] = y", lambda: out.__setitem__(places, updates))
            if case.op == ELEMENTS:
                yield Contender(self.name, "put_along_axis", lambda: np.put_along_axis(out, memory.index, updates, case.axis))
            return
        at = UFUNCS[case.reduction].at
        if case.op in (BACKWARD, BACKWARD_ELEMENTS):
            yield Contender(self.name, "x[...] = 0, add.at", lambda: (out.fill(0), at(out, places, updates)))
        else:
            yield Contender(self.name, f"{case.reduction}.at", lambda: at(out, places, updates))


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        self.torch, self.version = torch, torch.__version__
        torch.set_grad_enabled(False)

    def tensor(self, array: np.ndarray, dtype: str):
        made = self.torch.from_numpy(array)
        return made.view(self.torch.bfloat16) if dtype == BFLOAT16 else made

    def contenders(self, memory):
        case, torch = memory.case, self.torch
        out, updates, index = self.tensor(memory.out, case.dtype), self.tensor(memory.data, case.dtype), torch.from_numpy(memory.index)
        more = {"setup": lambda: torch.set_num_threads(case.threads), "pool": case.threads > 1}
        own = {"own": True, "array": lambda made: made.view(torch.uint16).numpy() if made.dtype == torch.bfloat16 else made.numpy(), **more}
        if case.op == BAG:
            offsets, weights = torch.from_numpy(memory.offsets), None if memory.weights is None else torch.from_numpy(memory.weights)
            mode, bag = "mean" if case.reduction == "mean" else "sum", torch.nn.functional.embedding_bag
            yield Contender(self.name, "embedding_bag", lambda: bag(index, updates, offsets, mode=mode, per_sample_weights=weights), **own)
            return
        for form, call in self.in_place(case, out, index, updates):
            if case.op in (BACKWARD, BACKWARD_ELEMENTS):
                yield Contender(self.name, f"zero_ and {form}", lambda call=call: (out.zero_(), call()), **more)
            else:
                yield Contender(self.name, form, call, **more)
        if case.op == BACKWARD:
            gradient = torch.ops.aten.embedding_dense_backward
            yield Contender(self.name, "embedding_dense_backward", lambda: gradient(updates, index, case.shape[0], -1, False), **own)

    @staticmethod
    def in_place(case, out, index, updates):
        """(form, call)"""
        axis, reduce = case.axis, {"add": "sum", "max": "amax", "min": "amin"}.get(case.reduction)
        plain = case.reduction == "none"
        if case.op == ND:
            picked = tuple(index[..., column] for column in range(case.tuple_len))
            yield "index_put_", lambda: out.index_put_(picked, updates, accumulate=not plain)
            return
        wide = index
        if case.op in (SCATTER, BACKWARD):
            wide = index.reshape((-1, *(1,) * (out.dim() - 1))).expand(updates.shape)
            if plain:
                yield "index_copy_", lambda: out.index_copy_(axis, index, updates)
                yield "index_put_", lambda: out.index_put_((index,), updates)
            elif case.reduction == "add":
                yield "index_add_", lambda: out.index_add_(axis, index, updates)
                yield "index_put_", lambda: out.index_put_((index,), updates, accumulate=True)
            else:
                yield "index_reduce_", lambda: out.index_reduce_(axis, index, updates, reduce)
        if plain:
            yield "scatter_", lambda: out.scatter_(axis, wide, updates)
            return
        if case.reduction == "add":
            yield "scatter_add_", lambda: out.scatter_add_(axis, wide, updates)
        yield "scatter_reduce_", lambda: out.scatter_reduce_(axis, wide, updates, reduce)


class OnnxRuntime(peers.OnnxRuntime):
    """Models of one node. Data and output are bound to the same memory: then it copies nothing."""

    def contenders(self, memory):
        case = memory.case
        if case.op == BAG:
            return
        if memory.out.itemsize == 2:
            raise LeftOut("it has no sums of 16-bit floats; with two threads the process may end while it refuses them")
        elements = case.op in (ELEMENTS, BACKWARD_ELEMENTS) or (case.op == SCATTER and len(case.shape) == 1)
        if elements:
            yield self.contender(memory, "ScatterElements", memory.index)
        if not elements or case.op == SCATTER:
            yield self.contender(memory, "ScatterND", memory.index if case.op == ND else memory.index.reshape(-1, 1))

    def contender(self, memory, op: str, index: np.ndarray) -> Contender:
        case, helper, types = memory.case, self.onnx.helper, self.onnx.TensorProto
        element = {"float32": types.FLOAT, "int32": types.INT32}[case.dtype]
        value = helper.make_tensor_value_info
        node = helper.make_node(op, ["data", "indices", "updates"], ["out"], reduction=case.reduction, **({"axis": case.axis} if op == "ScatterElements" else {}))
        graph = helper.make_graph([node], "scatter", [value("data", element, case.shape), value("indices", types.INT64, index.shape),
                                                      value("updates", element, memory.data.shape)], [value("out", element, case.shape)])  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        session = self.ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        data = memory.out if case.op not in (BACKWARD, BACKWARD_ELEMENTS) else np.zeros(case.shape, memory.out.dtype)
        for name, array in (("data", data), ("indices", index), ("updates", memory.data)):
            binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        binding.bind_output("out", "cpu", 0, memory.out.dtype, case.shape, memory.out.ctypes.data)
        raw, inner = binding._iobinding, session._sess
        return Contender(self.name, op, lambda kept=(session, data): inner.run_with_iobinding(raw, None), pool=case.threads > 1)


class OpenVino(peers.OpenVino):
    WORDS = {"add": "sum", "none": "none", "max": "max", "min": "min"}

    def __init__(self):
        super().__init__()
        from openvino import opset15

        self.ops = opset15

    def contenders(self, memory):
        case, ov, ops = memory.case, self.ov, self.ops
        if case.dtype == BFLOAT16:
            return
        if case.op == BAG:
            arrays = [memory.data, memory.index, memory.offsets]
            if memory.weights is not None:
                arrays += [np.array(-1, np.int64), memory.weights]
        elif case.op in (BACKWARD, BACKWARD_ELEMENTS):
            arrays = [np.zeros(case.shape, memory.out.dtype), memory.index, memory.data]
        else:
            arrays = [memory.out, memory.index, memory.data]
        if case.op in (SCATTER, BACKWARD) and (case.reduction != "none" or case.axis):
            arrays[1] = memory.index.reshape(-1, 1)
        inputs = [ops.parameter(list(array.shape), ov.Type(array.dtype)) for array in arrays]
        for form, node in self.nodes(case, inputs):
            model = ov.Model([node], inputs, "scatter")
            settings = {"INFERENCE_NUM_THREADS": case.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "EXECUTION_MODE_HINT": "ACCURACY"}
            request = self.core.compile_model(model, "CPU", settings).create_infer_request()
            for i, array in enumerate(arrays):
                request.set_input_tensor(i, ov.Tensor(array, shared_memory=True))
            request.set_output_tensor(0, ov.Tensor(memory.out, shared_memory=True))
            plain = super(type(request), request).infer
            yield Contender(self.name, form, lambda plain=plain, kept=arrays: plain({}, share_outputs=True, decode_strings=False), pool=case.threads > 1)

    def nodes(self, case, inputs):
        """(form, node)"""
        ops, word = self.ops, self.WORDS.get(case.reduction)
        if case.op == BAG:
            if case.reduction == "mean":
                yield "EmbeddingBagOffsets", ops.embedding_bag_offsets(*inputs[:3], reduction="mean")
            else:
                default, weights = inputs[3:] if case.weighted else (None, None)
                yield "EmbeddingBagOffsetsSum", ops.embedding_bag_offsets_sum(*inputs[:3], default, weights)
        elif case.op in (ELEMENTS, BACKWARD_ELEMENTS):
            yield "ScatterElementsUpdate", ops.scatter_elements_update(*inputs, np.int64(case.axis), word, True)
        elif case.op == SCATTER and case.reduction == "none":
            yield "ScatterUpdate", ops.scatter_update(*inputs, np.int64(case.axis))
        else:
            yield "ScatterNDUpdate", ops.scatter_nd_update(*inputs, word)


class Jax(peers.Jax):
    """XLA's scatter, compiled for the case, into a new array. All CPUs."""

    def contenders(self, memory):
        jnp, case = self.jnp, memory.case
        if case.threads != self.cpus or case.dtype == BFLOAT16:
            return
        index, updates = (jnp.array(array) for array in (memory.index, memory.data))
        if case.op == BAG:
            if memory.fresh:
                raise LeftOut("its copy of the indices would not change with the others")
            bag = jnp.repeat(jnp.arange(case.bags), memory.index.size // case.bags)
            weights = None if memory.weights is None else jnp.array(memory.weights)[:, None]
            scale = memory.index.size // case.bags if case.reduction == "mean" else 1
            sums = self.jax.jit(lambda t, i: self.jax.ops.segment_sum(t[i] if weights is None else t[i] * weights, bag, case.bags) / scale)
            yield Contender(self.name, "segment_sum(x[ids])", lambda: sums(updates, index).block_until_ready(), own=True, pool=True)
            return
        places = tuple(place if isinstance(place, slice) else jnp.array(place) for place in memory.places())
        word = {"none": "set"}.get(case.reduction, case.reduction)

        def scatter(start, *wheres):
            return getattr(start.at[wheres], word)(updates, mode="promise_in_bounds")

        if case.op in (BACKWARD, BACKWARD_ELEMENTS):
            jitted = self.jax.jit(lambda *wheres: scatter(jnp.zeros(case.shape, case.dtype), *wheres))
            call = lambda: jitted(*places).block_until_ready()  # noqa: E731
        else:
            jitted, start = self.jax.jit(scatter), jnp.array(memory.base)
            call = lambda: jitted(start, *places).block_until_ready()  # noqa: E731
        call()
        yield Contender(self.name, f"jit at[].{word}", call, own=True, pool=True)


class Fbgemm:
    """Its bags of tables on CPUs, which inference uses; the table is a copy in its own memory."""

    name = "FBGEMM"

    def __init__(self):
        import logging

        logging.disable(logging.WARNING)  # it says on import that it was made for another PyTorch
        try:
            import fbgemm_gpu
            import torch
            from fbgemm_gpu import split_table_batched_embeddings_ops_common as common
            from fbgemm_gpu import split_table_batched_embeddings_ops_inference as inference
            from fbgemm_gpu.split_embedding_configs import SparseType
        except (OSError, RuntimeError) as error:
            raise ImportError(str(error)) from None
        self.torch, self.version, self.common, self.made, self.kind = torch, fbgemm_gpu.__version__, common, inference, SparseType.FP32

    def contenders(self, memory):
        case, torch = memory.case, self.torch
        if case.op != BAG:
            return
        host, pooling = self.common.EmbeddingLocation.HOST, self.common.PoolingMode
        made = self.made.IntNBitTableBatchedEmbeddingBagsCodegen(
            [("", *case.shape, self.kind, host)], device="cpu", output_dtype=self.kind,
            pooling_mode=pooling.MEAN if case.reduction == "mean" else pooling.SUM)  # fmt: skip
        made.initialize_weights()
        table = made.split_embedding_weights()[0][0]
        table[:, : memory.row_bytes] = torch.from_numpy(memory.data).view(torch.uint8)
        index, ends = torch.from_numpy(memory.index), torch.from_numpy(np.append(memory.offsets, memory.index.size))
        weights = None if memory.weights is None else torch.from_numpy(memory.weights)
        yield Contender(self.name, "table-batched bags", lambda: made(index, ends, weights), setup=lambda: torch.set_num_threads(case.threads),
                        pool=case.threads > 1, own=True, array=lambda kept: kept.numpy())  # fmt: skip


PEERS = (Numpy, Torch, OnnxRuntime, OpenVino, Jax, Fbgemm, Naive)


class Suspect:
    """A peer without the forms that are wrong on several threads where indices repeat: a run that happens to be right says nothing."""

    def __init__(self, peer, loses: set[tuple[str, bool]]):
        self.peer, self.name, self.version, self.loses = peer, peer.name, peer.version, loses

    def contenders(self, memory):
        case = memory.case
        for contender in self.peer.contenders(memory):
            if case.threads > 1 and (contender.form, case.reduction == "none") in self.loses:
                contender.refused = "repeated indices: not the last one is left" if case.reduction == "none" else "repeated indices: it loses updates"
            yield contender


def watched(found: list, threads: tuple[int, ...]) -> list:
    """Each peer after it wrote 2^20 updates of one cell, some times, on the most threads."""
    most = max(threads)
    return [Suspect(peer, losing(peer, most) if most > 1 and peer.name != LOOP else set()) for peer in found]


def losing(peer, threads: int) -> set[tuple[str, bool]]:
    """Which forms are wrong, and whether without a reduction."""
    loses = set()
    shapes = ((SCATTER, (1,), (MIB,)), (SCATTER, (1, 16), (64 * 1024,)), (ELEMENTS, (1, 1), (MIB, 1)), (ND, (1, 1), (MIB, 2)))
    for op, shape, index_shape in shapes:
        for reduction in ("none", "add"):
            case = replace(written("", op, "", shape, index_shape, reduction, "float32"), threads=threads)
            memory = Writes(case, Arenas([case], False))
            whole = np.arange(memory.data.size, dtype=np.float32) % 4 + 1
            memory.data[...] = whole.reshape(memory.data.shape)
            expected = memory.expected()
            try:
                made = list(peer.contenders(memory))
            except Exception:  # noqa: BLE001  said again for each case
                continue
            for contender in made:
                contender.setup()
                for _ in range(3):
                    memory.clear()
                    contender.time_once()
                    if not memory.accepts(contender.result(memory.out), expected, peer.name):
                        loses.add((contender.form, reduction == "none"))
    return loses


def load(names: tuple[str, ...]) -> tuple[list, dict[str, str]]:
    """The peers that are there, and why the others are not."""
    return peers.load(names, PEERS)
