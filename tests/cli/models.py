# SPDX-License-Identifier: MIT
"""Small models of both dialects, for the command's tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser

KINDS = {"float32": ("f32", "FP32"), "int64": ("i64", "I64"), "int32": ("i32", "I32")}


def onnx_model(path: Path, text: str, opset: int = 13) -> Path:
    """A model in ONNX's text form: the graph alone, and functions behind it."""
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}, "own" : 1]>\n{text}'), path)
    return path


class IR:
    """An OpenVINO IR file, layer by layer."""

    def __init__(self):
        self.layers, self.edges, self.weights = [], [], b""

    def layer(self, name, kind, version, data="", inputs=(), out=None):
        """out: (dtype, shape) of its output. Returns its number."""
        number, ports = len(self.layers), ""
        if inputs:
            ports += "<input>" + "".join(f'<port id="{k}"/>' for k in range(len(inputs))) + "</input>"
            self.edges += [f'<edge from-layer="{n}" from-port="9" to-layer="{number}" to-port="{k}"/>' for k, n in enumerate(inputs)]
        if out:
            dims = "".join(f"<dim>{n}</dim>" for n in out[1])
            ports += f'<output><port id="9" precision="{KINDS[out[0]][1]}" names="{name}">{dims}</port></output>'
        self.layers.append(f'<layer id="{number}" name="{name}" type="{kind}" version="{version}">{data}{ports}</layer>')
        return number

    def const(self, name, array):
        array = np.asarray(array)
        kind, at = str(array.dtype), len(self.weights)
        self.weights += array.tobytes()
        shape = ",".join(map(str, array.shape))
        data = f'<data element_type="{KINDS[kind][0]}" shape="{shape}" offset="{at}" size="{array.nbytes}"/>'
        return self.layer(name, "Const", "opset1", data, out=(kind, array.shape))

    def parameter(self, name, kind, shape):
        words = ",".join("?" if n < 0 else str(n) for n in shape)
        return self.layer(name, "Parameter", "opset1", f'<data shape="{words}" element_type="{KINDS[kind][0]}"/>', out=(kind, shape))

    def save(self, path: Path) -> Path:
        path.write_text(f'<?xml version="1.0"?><net name="m" version="11"><layers>{"".join(self.layers)}</layers>'
                        f'<edges>{"".join(self.edges)}</edges></net>')
        path.with_suffix(".bin").write_bytes(self.weights)
        return path


EMBED = """embedder (int64[batch, words] ids) => (float[batch, words, 2] y)
<float[4,2] table = {0,1, 10,11, 20,21, 30,31}> { [embed] e = Gather <axis = 0> (table, ids) [act] y = Relu(e) }"""

# Indices through a cast and a reshape, data without values, nodes without names.
COMPUTED = """g (float[N, C] x, int32[K] k) => (float[N, A, B] y, float[C] q) <int64[2] to = {1, -1}> {
  wide = Cast <to = 7> (k)
  table = Reshape (wide, to)
  y = Gather <axis = 1> (x, table)
  best = ArgMax <axis = 0, keepdims = 0> (x)
  q = Gather <axis = 1> (x, best)
  one = Constant <value = int64[2, 2] {0, -1, 1, 0}> ()
  z = GatherElements <axis = 1> (x, one)
}"""

# Two nodes of one name, in the branches of an If; a third one in a function.
BRANCHES = """g (bool c, float[3] x, int64[2] i) => (float[2] y, float[2] f) {
  [if] y = If (c) <then_branch = t () => (float[2] a) { [pick] a = Gather (x, i) },
                   else_branch = e () => (float[2] b) { n = Neg (i) [pick] b = Gather (x, n) }>
  [call] f = own.twice (x, i)
}
<opset_import: ["" : 13], domain: "own"> twice (v, j) => (w) { [inner] u = Gather (v, j) w = Add (u, u) }"""


def ir_gather(path: Path, version: str = "opset8", batch: int = 0) -> Path:
    net = IR()
    data = net.const("table", np.arange(8, dtype=np.float32).reshape(2, 4))
    ids = net.parameter("ids", "int64", (2, -1))
    axis = net.const("axis", np.array(1))
    y = net.layer("pick", "Gather", version, f'<data batch_dims="{batch}"/>' if batch else "", (data, ids, axis),
                  ("float32", (2, -1) if batch else (2, 2, -1)))
    net.layer("out", "Result", "opset1", "", (y,))
    return net.save(path)
