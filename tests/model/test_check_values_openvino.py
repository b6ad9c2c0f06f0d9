# SPDX-License-Identifier: MIT
"""As test_check_values.py, in OpenVINO IR: beside what OpenVINO computes."""

from __future__ import annotations

import numpy as np
import pytest

from support.openvino_package import needs_openvino, op, ov  # noqa: F401  the fixture holds for the whole file

from test_check_values import ROWS, agree, check


def c(*values):
    return op.constant(np.array(values, np.int64))


def one(value):
    return op.constant(np.array(value, np.int64))


# The indices from a, b: [rows, columns], n: [columns], s: [], m: yes or no like a.
CASES = {
    "broadcast": lambda a, b, n, s, m: op.broadcast(op.unsqueeze(n, one(0)), c(4, 5)),
    "broadcast, both ways": lambda a, b, n, s, m: op.broadcast(a, c(4, 1, 1), broadcast_spec="BIDIRECTIONAL"),
    "broadcast, axes": lambda a, b, n, s, m: op.broadcast(n, c(3, 5, 2), c(1), "EXPLICIT"),
    "tile": lambda a, b, n, s, m: op.tile(a, c(2, 1, 3)),
    "transpose": lambda a, b, n, s, m: op.transpose(a, c(1, 0)),
    "reversed": lambda a, b, n, s, m: op.reshape(op.transpose(a, op.constant(np.zeros(0, np.int64))), c(-1), False),
    "slice": lambda a, b, n, s, m: op.slice(a, c(-1, 0), c(-1000, 4), c(-1, 2), c(1, 0)),
    "strided": lambda a, b, n, s, m: op.strided_slice(a, c(0, 1), c(9, 4), c(2, 1), [0, 0], [1, 0]),
    "strided, shrunk": lambda a, b, n, s, m: op.strided_slice(a, c(1, 0), c(2, 0), c(1, 1), [0, 1], [0, 1], [0, 0], [1, 0]),
    "strided, new": lambda a, b, n, s, m: op.strided_slice(a, c(0, 0, 1), c(0, 0, 3), c(1, 1, 1), [1, 1, 0], [1, 1, 0], [1, 0, 0]),
    "strided, dots": lambda a, b, n, s, m: op.strided_slice(a, c(0, -3), c(0, -1), c(1, 1), [1, 0], [1, 0], [], [], [1, 0]),
    "strided, back": lambda a, b, n, s, m: op.strided_slice(a, c(0, 0), c(0, 0), c(1, -1), [1, 1], [1, 1]),
    "concat": lambda a, b, n, s, m: op.concat([a, b, a], -1),
    "select": lambda a, b, n, s, m: op.select(m, a, n),
    "compared": lambda a, b, n, s, m: op.select(op.logical_and(op.less(a, b), op.not_equal(a, n)), a, s),
    "compared again": lambda a, b, n, s, m: op.select(op.logical_or(op.greater_equal(a, b), op.equal(a, n)), b, a),
    "logic": lambda a, b, n, s, m: op.select(op.logical_xor(op.logical_not(m), op.less_equal(a, b)), b, a),
    "add": lambda a, b, n, s, m: op.add(a, n),
    "subtract": lambda a, b, n, s, m: op.subtract(s, a),
    "multiply": lambda a, b, n, s, m: op.multiply(a, s),
    "divide": lambda a, b, n, s, m: op.divide(op.absolute(a), op.absolute(s)),
    "floor_mod": lambda a, b, n, s, m: op.floor_mod(a, s),
    "mod": lambda a, b, n, s, m: op.mod(a, s),
    "least": lambda a, b, n, s, m: op.minimum(a, n),
    "most": lambda a, b, n, s, m: op.maximum(a, b),
    "clamp": lambda a, b, n, s, m: op.clamp(a, -3.0, 4.0),
    "negative": lambda a, b, n, s, m: op.negative(a),
    "absolute": lambda a, b, n, s, m: op.absolute(a),
    "convert": lambda a, b, n, s, m: op.convert(op.convert(a, "i8"), "i32"),
    "to yes or no": lambda a, b, n, s, m: op.convert(op.convert(a, "boolean"), "i64"),
    "yes or no": lambda a, b, n, s, m: op.convert(m, "i64"),
    "range": lambda a, b, n, s, m: op.range(one(-3), one(2000), one(2), "i64"),
    "split": lambda a, b, n, s, m: op.split(op.concat([a, b, b], 1), one(1), 3).output(1),
    "split, lengths": lambda a, b, n, s, m: op.variadic_split(a, one(1), c(2, -1)).output(1),
    "squeezed": lambda a, b, n, s, m: op.squeeze(op.transpose(op.unsqueeze(a, c(0, 3)), c(3, 2, 1, 0)), c(0)),
    "gather": lambda a, b, n, s, m: op.gather(a, c(0, 2, -1), one(1)),
    "gather, batch": lambda a, b, n, s, m: op.gather(a, op.floor_mod(b, one(3)), one(1), 1),
    "gather_elements": lambda a, b, n, s, m: op.gather_elements(a, op.minimum(op.absolute(b), one(2)), 1),
}


def parameters():
    kinds = {"a": (2, np.int64), "b": (2, np.int64), "n": (1, np.int64), "s": (0, np.int64), "m": (2, np.bool_)}
    made = [op.parameter(ov.PartialShape([-1] * rank), kind) for rank, kind in kinds.values()]
    for parameter, name in zip(made, kinds):
        parameter.friendly_name = name
        parameter.output(0).tensor.names = {name}
    return made


def values_of(case, feeds):
    inputs = parameters()
    model = ov.Model([CASES[case](*inputs)], inputs)
    compiled = ov.Core().compile_model(model, "CPU")
    return next(iter(compiled(list(feeds.values())).values()))


def save(case, folder):
    inputs = parameters()
    table = op.constant(np.zeros((ROWS, 2), np.float32))
    look = op.gather(table, CASES[case](*inputs), one(0))
    look.friendly_name = "look"
    ov.serialize(ov.Model([look], inputs), str(folder / "m.xml"), str(folder / "m.bin"))


@pytest.mark.parametrize("size", [(3, 5), (64, 512)], ids=str)
@pytest.mark.parametrize("case", CASES)
def test_as_openvino_computes_it(case, size, tmp_path):
    rng = np.random.default_rng(list(size))
    if case in ("broadcast", "broadcast, axes"):
        size = (size[0], 5)
    for reach in (3, 30):
        rows, columns = size
        feeds = {k: rng.integers(-reach, reach, (rows, columns)) for k in "ab"}
        feeds |= {"n": rng.integers(-reach, reach, columns), "s": np.array(rng.choice([-3, -1, 2, 5])), "m": rng.random(size) < 0.5}
        values = values_of(case, feeds)
        save(case, tmp_path)
        node = check(tmp_path / "m.xml", feeds, tmp_path)["look"]
        assert node["rules"].startswith("openvino")
        agree_or_zero(node, values, case)


def agree_or_zero(node, values, case):
    """Gather-8 gives zeros for bad indices: that is no error, but they are counted."""
    bad = (values < -ROWS) | (values >= ROWS)
    if bad.any() and node["verdict"] == "ok":
        indices = node["indices"]
        said = (indices["min"], indices["max"], indices["bad"], indices["count"])
        assert said == (values.min(), values.max(), bad.sum(), values.size), (case, node)
    else:
        agree(node, values, case)
