# SPDX-License-Identifier: MIT
"""Each library's own GatherND, GatherTree and gather of quantised rows, as its users call it at its best; as peers.py."""

from __future__ import annotations

import gather_bench_native as native
import ggml
import numpy as np
import peers
from codecs_numpy import SideCodec
from contender import Contender, LeftOut
from grid import STREAMED
from summary import GATHER


class Ours:
    """Plans made once, run often. `fresh`: the output may hold anything after an error. Beside it libgather's own Gather of the
    same rows, by flat indices, which is no peer."""

    name = "ours"

    def __init__(self):
        self.version = native.library()["version"]

    def plan(self, memory, fresh: bool = False):
        case = memory.case
        return native.Plan("GatherND", "onnx-13", (memory.data.ctypes.data, case.dtype, case.shape),
                           (memory.index.ctypes.data, case.index, case.index_shape),
                           (memory.out.ctypes.data, case.dtype, case.out_shape), 0, case.batch_dims, case.threads, fresh)

    def way(self, memory) -> str:
        return ""

    def quantised(self, memory):
        """A call for everything: there are no plans for quantised rows."""
        case, codec = memory.case, memory.codec
        rows, width = case.shape
        data, scale, group, high_first, offset = memory.data.ctypes.data, None, 0, False, 0
        name, columns = {"int8 rows": "rowwise8", "int4 rows": "rowwise4", "NF4": "nf4"}.get(case.codec, case.codec), codec.row_bytes(width)
        if isinstance(codec, SideCodec):
            scale = (data + codec.scales_at(rows, width), "float32", (rows, codec.blocks(width)))
            group, high_first = codec.len, codec.high_first
            if case.codec.startswith("ORT"):
                name, offset = "affine", 8
        return native.Quantised(name, (data, "uint8", (rows, columns)), scale, group, high_first, offset,
                                (memory.index.ctypes.data, case.index, case.index_shape),
                                (memory.out.ctypes.data, case.dtype, case.out_shape), case.threads)

    def contenders(self, memory):
        case, pool = memory.case, memory.case.threads > 1
        if case.op == "quantised":
            yield Contender(self.name, "one call", self.quantised(memory).run, pool=pool)
            return
        if case.op == "tree":
            arrays = (memory.data, memory.index, memory.lengths, memory.end, memory.out)
            tree = native.Tree(*((array.ctypes.data, str(array.dtype), array.shape) for array in arrays), case.threads)
            yield Contender(self.name, "one call", lambda kept=arrays: tree.run(), pool=pool)
            return
        yield Contender(self.name, "plan", self.plan(memory).run, pool=pool)
        yield Contender(self.name, "plan, fresh output", self.plan(memory, True).run, pool=pool)
        if case.op != "nd":
            return
        shape = (memory.flat_rows, case.row_len)
        for form, fresh in (("plan", False), ("plan, fresh output", True)):
            flat = native.Plan("Gather", "onnx-13", (memory.data.ctypes.data, case.dtype, shape),
                               (memory.flat.ctypes.data, "int64", memory.flat.shape),
                               (memory.out.ctypes.data, case.dtype, (memory.flat.size, case.row_len)), 0, 0, case.threads, fresh)
            yield Contender(GATHER, form, flat.run, pool=pool, also_flush=((memory.flat.ctypes.data, memory.flat.nbytes),))


class Numpy:
    name = "NumPy"

    def __init__(self):
        self.version = np.__version__

    def contenders(self, memory):
        if memory.case.op != "nd":
            return
        data, picked = memory.data, memory.picked()  # columns of the tuples: views, as a program would have them
        yield Contender(self.name, "x[i, j]", lambda: data[picked], own=True)


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        self.torch, self.version = torch, torch.__version__
        torch.set_grad_enabled(False)

    def contenders(self, memory):
        case, torch = memory.case, self.torch
        more = {"setup": lambda: torch.set_num_threads(case.threads), "pool": case.threads > 1, "own": True, "array": lambda tensor: tensor.numpy()}
        if case.op == "nd":
            data, picked = torch.from_numpy(memory.data), tuple(torch.from_numpy(np.asarray(i)) for i in memory.picked())
            yield Contender(self.name, "x[i, j]", lambda: data[picked], **more)
        elif case.op == "quantised" and case.codec.endswith("rows") and case.dtype == "float32":
            bits = case.codec[3]
            weight = torch.from_numpy(memory.data.reshape(case.shape[0], -1))
            ids = torch.from_numpy(memory.index)
            starts = torch.arange(memory.index.size, dtype=torch.int64)  # bags of one row
            name = "embedding_bag_byte_rowwise_offsets" if bits == "8" else "embedding_bag_4bit_rowwise_offsets"
            bags = getattr(torch.ops.quantized, name)
            yield Contender(self.name, f"{name}, bags of one", lambda: bags(weight, ids, starts), **more)


class OnnxRuntime(peers.OnnxRuntime):
    """Models of one node: GatherND of ONNX, or of com.microsoft where the indices are narrow; GatherBlockQuantized."""

    def node(self, case):
        helper, types = self.onnx.helper, self.onnx.TensorProto
        index = types.INT64 if case.index == "int64" else types.INT32
        value = helper.make_tensor_value_info
        if case.op == "quantised":
            block = int(case.codec.split("/")[1])
            node = helper.make_node("GatherBlockQuantized", ["data", "indices", "scales"], ["out"], domain="com.microsoft", bits=4,
                                    block_size=block, gather_axis=0, quantize_axis=1)
            inputs = [value("data", types.UINT8, (case.shape[0], case.shape[1] // 2)), value("indices", index, case.index_shape),
                      value("scales", types.FLOAT, (case.shape[0], (case.shape[1] + block - 1) // block))]
            return node, inputs, value("out", types.FLOAT, case.out_shape)
        element = {"uint8": types.UINT8, "float32": types.FLOAT}[case.dtype]
        narrow = case.index == "int32"
        node = helper.make_node("GatherND", ["data", "indices"], ["out"], **({"domain": "com.microsoft"} if narrow else {"batch_dims": case.batch_dims}))
        return node, [value("data", element, case.shape), value("indices", index, case.index_shape)], value("out", element, case.out_shape)

    def contenders(self, memory):
        case = memory.case
        if case.op == "tree" or (case.op == "quantised" and not case.codec.startswith("ORT")):
            return
        helper = self.onnx.helper
        node, inputs, output = self.node(case)
        sets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(helper.make_graph([node], "gather", inputs, [output]), opset_imports=sets, ir_version=8)
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = case.threads, 1
        session = self.ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        arrays = {"data": memory.data, "indices": memory.index}
        if case.op == "quantised":
            arrays["data"] = memory.codec.codes(memory.data, *case.shape)
            arrays["scales"] = memory.codec.scales(memory.data, *case.shape)
        for name, array in arrays.items():
            binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        binding.bind_output("out", "cpu", 0, np.dtype(case.dtype), case.out_shape, memory.out.ctypes.data)
        raw, inner = binding._iobinding, session._sess
        yield Contender(self.name, "bound", lambda kept=(session, arrays): inner.run_with_iobinding(raw, None), pool=case.threads > 1)


class OpenVino(peers.OpenVino):
    def contenders(self, memory):
        case, ops = memory.case, self.ops
        if case.op == "quantised":
            return
        if case.table_bytes > self.MOST:
            raise LeftOut("it gets no tables above 1 GiB: from 2 GiB on some of its versions crash or give wrong rows")
        arrays = [memory.data, memory.index] if case.op == "nd" else [memory.data, memory.index, memory.lengths, memory.end]
        inputs = [ops.parameter(list(array.shape), self.ov.Type(array.dtype)) for array in arrays]
        node = ops.gather_nd(*inputs, case.batch_dims) if case.op == "nd" else ops.gather_tree(*inputs)
        model = self.ov.Model([node], inputs, case.op)
        settings = {"INFERENCE_NUM_THREADS": case.threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "EXECUTION_MODE_HINT": "ACCURACY"}
        request = self.core.compile_model(model, "CPU", settings).create_infer_request()
        for i, array in enumerate(arrays):
            request.set_input_tensor(i, self.ov.Tensor(array, shared_memory=True))
        request.set_output_tensor(0, self.ov.Tensor(memory.out, shared_memory=True))
        plain = super(type(request), request).infer
        yield Contender(self.name, "infer", lambda: plain({}, share_outputs=True, decode_strings=False), pool=case.threads > 1)


class Ggml:
    """A graph of one get_rows, on its own memory's terms: tensors that name the case's buffers."""

    name = "ggml"

    def __init__(self):
        self.ggml = ggml.Ggml()
        self.version = self.ggml.version

    def contenders(self, memory):
        case = memory.case
        if case.op != "quantised" or case.codec not in ggml.TYPES or case.dtype != "float32":
            return
        buffer = native.Buffer(max(64, memory.index.size * 4))
        ids = np.frombuffer(buffer, np.int32, memory.index.size)  # it takes no others
        ids[...] = memory.index.reshape(-1)
        memory.followers.append(ids)
        call, owner = self.ggml.rows(case.codec, case.shape[1], case.shape[0], memory.data.ctypes.data, ids.ctypes.data, ids.size,
                                     memory.out.ctypes.data, case.threads)
        yield Contender(self.name, "get_rows", lambda kept=(owner, buffer): call(), pool=case.threads > 1,
                        also_flush=((ids.ctypes.data, ids.nbytes),))


class Gguf:
    """The gguf package: NumPy picks the packed rows, then dequantize."""

    name = "gguf"

    def __init__(self):
        import importlib.metadata

        import gguf

        self.gguf, self.version = gguf, importlib.metadata.version("gguf")

    def contenders(self, memory):
        case = memory.case
        if case.op != "quantised" or case.codec not in ggml.TYPES:
            return
        if case.dtype == "bfloat16" or (case.state == STREAMED and case.threads > 1):  # it has one thread, and takes long
            return
        kind, packed, ids = self.gguf.GGMLQuantizationType[case.codec], memory.data.reshape(case.shape[0], -1), memory.index
        if case.dtype == "float32":
            yield Contender(self.name, "dequantize(x[ids])", lambda: self.gguf.dequantize(packed[ids], kind), own=True)
        else:
            yield Contender(self.name, "dequantize(x[ids])", lambda: self.gguf.dequantize(packed[ids], kind).astype(case.dtype), own=True)


class Levels:
    """What a program in NumPy does with four-bit levels (NF4): picks rows, unpacks, picks levels, scales."""

    name = "NumPy"

    def __init__(self):
        self.version = np.__version__

    def contenders(self, memory):
        case = memory.case
        if case.op == "quantised" and case.codec == "NF4":
            codec, data, ids = memory.codec, memory.data, memory.index
            yield Contender(self.name, "levels[x[ids]] * scales", lambda: codec.decode(data, *case.shape, ids), own=True)


PEERS = (Numpy, Torch, OnnxRuntime, OpenVino, Ggml, Gguf, Levels)


def load(names: tuple[str, ...]) -> tuple[list, dict[str, str]]:
    """The peers that are there, and why the others are not."""
    return peers.load(names, PEERS)
