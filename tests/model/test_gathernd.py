# SPDX-License-Identifier: MIT
"""GatherND in models: gather check verifies each number of each tuple, gather run computes the nodes, gather explain draws them;
ONNX's own domain, com.microsoft, and OpenVINO IR. Models of many random nodes are compared with plain loops.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import helper as h, numpy_helper as nh, TensorProto as T
import onnx
import pytest
import run_models as models
from support.command import asked
from test_check import RUNTIMES, call, check, only, save, tensor, value
from test_run_onnx import run


# ---- random nodes, and what a plain loop gives


@dataclass
class Case:
    """One gather. `fused`: its batch dimensions are one dimension of the output (OpenVINO's GatherND-5)."""

    data: np.ndarray
    indices: np.ndarray
    batch_dims: int = 0
    fused: bool = False

    @property
    def tuple_len(self) -> int:
        return self.indices.shape[-1]

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the axes that a tuple selects on."""
        return self.data.shape[self.batch_dims : self.batch_dims + self.tuple_len]

    @property
    def loose_shape(self) -> tuple[int, ...]:
        return self.indices.shape[:-1] + self.data.shape[self.batch_dims + self.tuple_len :]

    @property
    def shape(self) -> tuple[int, ...]:
        b = self.batch_dims
        if not self.fused or b < 2:
            return self.loose_shape
        return (int(np.prod(self.data.shape[:b])), *self.loose_shape[b:])

    def source(self, at: tuple) -> tuple:
        """The coordinates in data of the tuple at those coordinates."""
        numbers = [int(n) + (size if n < 0 else 0) for n, size in zip(self.indices[at], self.lengths, strict=True)]
        return at[: self.batch_dims] + tuple(numbers)

    def wanted(self) -> np.ndarray:
        """The output, for indices that are all in range."""
        out = np.empty(self.loose_shape, self.data.dtype)
        for at in np.ndindex(self.indices.shape[:-1]):
            out[at] = self.data[self.source(at)]
        return out.reshape(self.shape)

    def bad(self, negative: bool = True) -> list[tuple]:
        """Where numbers are out of range, in row-major order: coordinates in indices, value, length of the axis."""
        found = []
        for at in np.ndindex(self.indices.shape):
            value, size = int(self.indices[at]), self.lengths[at[-1]]
            if value >= size or value < (-size if negative else 0):
                found.append((at, value, size))
        return found


def shapes(rng, most_batch: int, empty_tuples: bool = False) -> tuple[tuple, tuple, int]:
    """Shapes of data and of indices, and batch_dims."""
    rank = int(rng.integers(1, 5))
    data = [int(n) for n in rng.integers(1, 6, rank)]
    b = int(rng.integers(0, min(rank - 1, most_batch) + 1))
    k = int(rng.integers(0 if empty_tuples else 1, rank - b + 1))
    lead = [int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3)))]
    return tuple(data), (*data[:b], *lead, k), b


def random_case(rng, most_batch: int, index_type, negative: bool = True, fused: bool = False, data=None) -> Case:
    """data: makes elements of a shape; without it 0, 1, 2, ..."""
    shape, index_shape, b = shapes(rng, most_batch)
    table = data(shape) if data else np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    indices = np.empty(index_shape, index_type)
    back = negative and np.issubdtype(index_type, np.signedinteger)
    for c in range(index_shape[-1]):
        size = shape[b + c]
        indices[..., c] = rng.integers(-size if back else 0, size, index_shape[:-1])
    return Case(table, indices, b, fused)


def spoil(rng, case: Case, count: int) -> None:
    """Puts so many numbers out of range, on either side."""
    for at in rng.permutation(case.indices.size)[:count]:
        place = np.unravel_index(int(at), case.indices.shape)
        size, by = case.lengths[place[-1]], int(rng.integers(0, 3))
        case.indices[place] = size + by if rng.random() < 0.5 else -size - 1 - by


# ---- models of many of them

# (domain, opset of ONNX, rules, most batch dimensions, index types)
ONNX = [
    ("", 11, "onnx-11", 0, ["int64"]),
    ("", 12, "onnx-12", 3, ["int64"]),
    ("", 13, "onnx-13", 3, ["int64"]),
    ("", 25, "onnx-13", 3, ["int64"]),
    ("com.microsoft", 13, "microsoft-1", 0, ["int32", "int64"]),
]
# (opset, rules, negative numbers count from the end, batch dimensions are fused)
IR = [(5, "openvino-5", False, True), (7, "openvino-5", False, True), (8, "openvino-8", True, False), (15, "openvino-8", True, False)]
IR_INDICES = {"i32": np.int32, "i64": np.int64, "u8": np.uint8, "i16": np.int16}
NODES = 60  # of a model
PACKED = {"UINT4", "INT4", "FLOAT4E2M1", "UINT2", "INT2"}


def nd_node(name, data="x", indices="i", domain="", **attributes):
    return h.make_node("GatherND", [data, indices], [f"out_{name}"], name=name, domain=domain, **attributes)


def save_onnx(folder, domain, opset, cases, types):
    """A model of one node for each case, all operands constants, and its test set."""
    nodes, constants, outputs, wanted = [], [], [], []
    for n, (case, kind) in enumerate(zip(cases, types, strict=True)):
        attributes = {"batch_dims": case.batch_dims} if case.batch_dims or (n % 2 and not domain and opset > 11) else {}
        nodes.append(nd_node(f"g{n}", f"x{n}", f"i{n}", domain, **attributes))
        constants += [models.tensor_of(f"x{n}", kind, case.data), nh.from_array(case.indices, f"i{n}")]
        outputs.append(h.make_tensor_value_info(f"out_g{n}", T.DataType.Value(kind), None))
        wanted.append((f"out_g{n}", kind, case))
    graph = h.make_graph(nodes, "g", [], outputs, constants)
    imports = [h.make_opsetid("", opset)] + ([h.make_opsetid(domain, 1)] if domain else [])
    path = folder / "model.onnx"
    path.write_bytes(h.make_model(graph, opset_imports=imports, ir_version=models.IR_OF[opset]).SerializeToString())
    return path, wanted


def save_ir(folder, opset, cases, kinds, index_kind):
    net = models.Net()
    wanted = []
    for n, (case, kind) in enumerate(zip(cases, kinds, strict=True)):
        sources = [net.const(f"x{n}", kind, case.data), net.const(f"i{n}", index_kind, case.indices)]
        words = f'<data batch_dims="{case.batch_dims}"/>' if case.batch_dims or n % 2 else ""
        y = net.node(f"g{n}", "GatherND", f"opset{opset}", words, sources, kind, case.shape)
        net.layer(f"r{n}", "Result", "opset1", "", [y], "")
        wanted.append((f"r{n}", models.IR_TYPES[kind][0], case))
    return net.save(folder), wanted


def verify(node: dict, case: Case, rules: str, negative: bool) -> None:
    """A checked node beside the loop."""
    bad, flat = case.bad(negative), case.indices.reshape(-1, case.tuple_len)
    assert (node["op"], node["rules"], node["batch_dims"], node["axis"]) == ("GatherND", rules, case.batch_dims, case.batch_dims)
    assert node["output"]["shape"] == list(case.shape), node
    components = [
        {"axis": case.batch_dims + c, "length": size, "min": int(flat[:, c].min()), "max": int(flat[:, c].max())}
        for c, size in enumerate(case.lengths)
    ]
    assert node["indices"]["components"] == components
    assert (node["indices"]["min"], node["indices"]["max"]) == (flat.min(), flat.max())
    assert (node["indices"]["count"], node["indices"]["bad"]) == (flat.size, len(bad))
    assert node["verdict"] == ("bad" if bad else "ok")
    if not bad:
        assert "error" not in node and "runtimes" not in node
        return
    (at, number, size), error = bad[0], node["error"]
    assert (error["status"], error["position"], error["value"]) == ("index_out_of_range", [int(n) for n in at], number)
    assert (error["low"], error["high"]) == (-size if negative else 0, size - 1)
    assert (error["axis"], error["bad_count"]) == (case.batch_dims + int(at[-1]), len(bad))
    assert set(node["runtimes"]) == RUNTIMES and all(node["runtimes"].values())


def draw(seed, count, most_batch, index_type, negative=True, fused=False, kinds=("FLOAT",), spoiled=True):
    """Random cases, a part of them with numbers out of range; and the type of each one's elements."""
    rng = np.random.default_rng(seed)
    cases, types = [], []
    for n in range(count):
        kind = kinds[n % len(kinds)]
        case = random_case(rng, most_batch, index_type, negative, fused, lambda shape, kind=kind: models.random_data(rng, kind, shape))
        if spoiled and n % 3 and np.issubdtype(index_type, np.signedinteger):
            spoil(rng, case, n % 3)
        cases.append(case)
        types.append(kind)
    return cases, types


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("version", range(len(ONNX)), ids=lambda i: f"{ONNX[i][2]}-opset{ONNX[i][1]}")
def test_check_onnx(version, seed, tmp_path):
    domain, opset, rules, most_batch, index_types = ONNX[version]
    cases, types = draw([1, version, seed], NODES, most_batch, np.dtype(index_types[seed % len(index_types)]).type)
    path, _ = save_onnx(tmp_path, domain, opset, cases, types)
    nodes = check(path, code=1)["nodes"]
    assert len(nodes) == NODES and {node["domain"] for node in nodes} == {domain}
    for node, case in zip(nodes, cases, strict=True):
        verify(node, case, rules, True)


@pytest.mark.parametrize("index_kind", IR_INDICES)
@pytest.mark.parametrize("version", range(len(IR)), ids=lambda i: f"{IR[i][1]}-opset{IR[i][0]}")
def test_check_ir(version, index_kind, tmp_path):
    opset, rules, negative, fused = IR[version]
    cases, _ = draw([2, version], NODES, 3, IR_INDICES[index_kind], negative, fused)
    path, _ = save_ir(tmp_path, opset, cases, ["f32"] * NODES, index_kind)
    nodes = check(path, code=index_kind[0] == "i")["nodes"]
    assert len(nodes) == NODES
    for node, case in zip(nodes, cases, strict=True):
        verify(node, case, rules, negative)


def run_set(path, wanted, folder):
    outputs = [models.tensor_of(name, kind, case.wanted()) for name, kind, case in wanted]
    models.test_set(folder / "set", [], *outputs)
    code, answer = run(path, "--test-data", folder / "set")
    assert code == 0 and len(answer["compared"]) == NODES, answer
    assert all(entry["equal"] and entry["mismatches"] == 0 for entry in answer["compared"]), answer


@pytest.mark.parametrize("version", range(len(ONNX)), ids=lambda i: f"{ONNX[i][2]}-opset{ONNX[i][1]}")
def test_run_onnx(version, tmp_path):
    """Every element type; more than the documents list."""
    domain, opset, _, most_batch, index_types = ONNX[version]
    for seed, index_type in enumerate(index_types * (2 // len(index_types))):
        folder = tmp_path / str(seed)
        folder.mkdir()
        kinds = [kind for kind in models.ALL_TYPES if opset > 18 or kind not in PACKED]
        cases, types = draw([3, version, seed], NODES, most_batch, np.dtype(index_type).type, kinds=kinds, spoiled=False)
        path, wanted = save_onnx(folder, domain, opset, cases, types)
        run_set(path, wanted, folder)


@pytest.mark.parametrize("index_kind", IR_INDICES)
@pytest.mark.parametrize("version", range(len(IR)), ids=lambda i: f"{IR[i][1]}-opset{IR[i][0]}")
def test_run_ir(version, index_kind, tmp_path):
    opset, _, negative, fused = IR[version]
    kinds = list(models.IR_TYPES)
    names = [models.IR_TYPES[kind][0] for kind in kinds]
    cases, types = draw([4, version], NODES, 3, IR_INDICES[index_kind], negative, fused, names, spoiled=False)
    path, wanted = save_ir(tmp_path, opset, cases, [kinds[names.index(kind)] for kind in types], index_kind)
    run_set(path, wanted, tmp_path)


# ---- what is known, and what would be


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.onnx"


def test_tuples_that_are_given(path):
    save(path, [nd_node("g")], [value("x", ["A", "B", 2]), value("i", ["N", 2], T.INT64)])
    node = only(check(path))
    assert (node["verdict"], node["give"]) == ("unknown", "--input i=TENSOR")
    assert node["output"]["shape"] == ["N", 2]
    assert node["indices"]["components"] == [{"axis": 0, "length": -1}, {"axis": 1, "length": -1}]
    node = only(check(path, "--input", "i=[[0, 1]]"))
    assert node["verdict"] == "unknown" and "'A' along axis 0" in node["reason"]
    assert node["give"] == "--dim A=LENGTH --dim B=LENGTH"
    node = only(check(path, "--input", "i=[[0, 1]]", "--dim", "A=3"))
    assert node["verdict"] == "unknown" and "'B' along axis 1" in node["reason"] and node["give"] == "--dim B=LENGTH"
    assert only(check(path, "--input", "i=[[2, -7]]", "--dim", "A=3", "--dim", "B=7"))["verdict"] == "ok"
    node = only(check(path, "--input", "i=[[0, 1], [2, 7]]", "--dim", "A=3", "--dim", "B=7", code=1))
    assert node["error"]["position"] == [1, 1] and "may count from 1" in node["cause"]
    assert node["error"]["message"].startswith("indices[1, 1] = 7, component 1 of tuple [1], is outside [-7, 6] of axis 1")


def test_a_length_of_tuples_that_is_not_known(path):
    save(path, [nd_node("g")], [value("x", [3, 4]), value("i", ["N", "K"], T.INT64)])
    node = only(check(path))
    assert node["verdict"] == "unknown" and "components" not in node["indices"]
    assert "GatherND onnx-13  tuples  " in call("check", path)


def test_numbers_for_the_other_axis(path):
    save(path, [nd_node("g", indices="c")], [], [tensor(np.zeros((4, 9)), "x", np.float32), tensor([[8, 1], [5, 3]], "c")])
    assert "wrong order" in only(check(path, code=1))["cause"]


def test_text(path):
    save(path, [nd_node("g", indices="c")], [], [tensor(np.zeros((4, 9)), "x", np.float32), tensor([[3, 1], [-5, 3]], "c")])
    text = call("check", path, code=1)
    assert "bad      GatherND onnx-13  tuples of 2  [4, 9] by [2, 2]  main/g\n" in text
    assert "4 numbers, -5 to 3 on axis 0, 1 to 3 on axis 1, 1 out of range\n" in text
    assert "openvino     does not check: it reads another row" in text


@pytest.mark.parametrize("data, indices, attributes, status", [
    ([3, 4], [2, 3], {}, "shape_mismatch"),
    ([3, 4], [2, 0], {}, "shape_mismatch"),
    ([3, 4], [2, 2], {"batch_dims": 1}, "shape_mismatch"),
    ([3, 4], [2, 1], {"batch_dims": 1}, "shape_mismatch"),
    ([3, 4], [3, 1], {"batch_dims": -1}, "batch_dims_out_of_range"),
    ([3, 4], [3, 1], {"batch_dims": 2}, "batch_dims_out_of_range"),
    ([3, 4], [], {}, "rank_mismatch"),
    ([], [1], {}, "rank_mismatch"),
])
def test_shapes_that_do_not_fit(path, data, indices, attributes, status):
    """Found before the indices are known, and by a run."""
    save(path, [nd_node("g", **attributes)], [value("x", data), value("i", indices, T.INT64)])
    node = only(check(path, code=1))
    assert (node["verdict"], node["error"]["status"]) == ("bad", status), node
    given = [f"x={np.zeros(data).tolist()}".replace(".0", ""), f"i={np.zeros(indices, int).tolist()}"]
    save(path, [nd_node("g", **attributes)], [value("x", data, T.INT64), value("i", indices, T.INT64)])
    if 0 not in indices:
        code, answer = run(path, *(word for one in given for word in ("--input", one)))
        assert (code, answer["error"]["status"]) == (1, status)


def test_empty_tuples_of_microsoft(path):
    """ONNX Runtime's own operator takes them, each selects the whole data."""
    imports = [h.make_opsetid("com.microsoft", 1)]
    save(path, [nd_node("g", domain="com.microsoft")], [value("x", [3], T.INT64), value("i", [2, 0], T.INT64)], imports=imports)
    node = only(check(path))
    assert node["output"]["shape"] == [2, 3] and node["indices"]["components"] == []
    np.save(path.parent / "i.npy", np.zeros((2, 0), np.int64))
    words = ["--input", "x=[5, 6, 7]", "--input", f"i={path.parent}/i.npy"]
    code, _ = run(path, *words, "--output", f"out_g={path.parent}/y.npy")
    assert code == 0 and np.load(path.parent / "y.npy").tolist() == [[5, 6, 7]] * 2
    assert only(check(path, *words[2:]))["verdict"] == "ok"


def test_batch_dims_that_only_a_caller_knows(path):
    """In a function's body the attribute may be the caller's."""
    node = nd_node("g", "fx", "fi")
    node.attribute.append(onnx.AttributeProto(name="batch_dims", ref_attr_name="b", type=onnx.AttributeProto.INT))
    function = h.make_function("mine", "F", ["fx", "fi"], ["out_g"], [node], [h.make_opsetid("", 13)], ["b"])
    caller = h.make_node("F", ["x", "c"], ["out_y"], domain="mine", b=1)
    save(path, [caller], [value("x", [2, 3])], [tensor([[0], [1]], "c")], functions=[function], imports=[h.make_opsetid("mine", 1)])
    node = only(check(path))
    assert (node["verdict"], node["graph"], node["batch_dims"]) == ("ok", "main/F_0/function:F", 1)
    node = h.make_node("F", ["x", "c"], ["out_y"], domain="mine")
    save(path, [node], [value("x", [2, 3])], [tensor([[0], [1]], "c")], functions=[function], imports=[h.make_opsetid("mine", 1)])
    node = only(check(path))  # left out by the call, as ONNX Runtime reads it: the operator's default
    assert (node["verdict"], node["batch_dims"]) == ("ok", 0)
    function.attribute_proto.append(h.make_attribute("b", 1))
    del function.attribute[:]
    save(path, [caller], [value("x", [2, 3])], [tensor([[0], [1]], "c")], functions=[function], imports=[h.make_opsetid("mine", 1)])
    assert only(check(path))["batch_dims"] == 1


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_values_pass_through(path, domain):
    """Lengths gathered from a shape, exact ones and names, are known behind the node."""
    nodes = [
        h.make_node("Shape", ["x"], ["s"]),
        nd_node("g", "s", "c", domain),
        h.make_node("Identity", ["out_g"], ["two"]),
        h.make_node("ConstantOfShape", ["two"], ["z"]),
        h.make_node("Gather", ["z", "d"], ["out_last"], name="last"),
    ]
    imports = [h.make_opsetid("com.microsoft", 1)] if domain else []
    save(path, nodes, [value("x", [5, "N", 7])], [tensor([[2], [-2]], "c"), tensor([6], "d")], imports=imports)
    nodes = {node["name"]: node for node in check(path)["nodes"]}
    assert nodes["g"]["verdict"] == "ok" and nodes["last"]["verdict"] == "ok"
    assert nodes["last"]["data"]["shape"] == [7, "N"]


def test_indices_from_another_gathernd(path):
    """Elements of constants are followed through a GatherND."""
    nodes = [nd_node("a", "c", "pick"), h.make_node("Identity", ["out_a"], ["j"]), nd_node("b", "x", "j")]
    constants = [tensor([[0, 0], [2, 3], [1, 9]], "c"), tensor([[1], [2]], "pick")]
    save(path, nodes, [value("x", [3, 4])], constants)
    nodes = {node["name"]: node for node in check(path, code=1)["nodes"]}
    assert nodes["a"]["verdict"] == "ok"
    error = nodes["b"]["error"]
    assert (error["position"], error["value"], error["axis"], error["bad_count"]) == ([1, 1], 9, 1, 1)


def test_one_node_of_a_model(path):
    """The node's number names it, in the domain that is not ONNX's own too."""
    nodes = [h.make_node("Relu", ["x"], ["r"]), nd_node("g", "r", "i", "com.microsoft")]
    save(path, nodes, [value("x", [3, 2]), value("i", [1, 1], T.INT32)], imports=[h.make_opsetid("com.microsoft", 1)])
    np.save(path.parent / "r.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    np.save(path.parent / "i.npy", np.array([[-1]], np.int32))
    words = ["--node", "g", "--input", f"r={path.parent}/r.npy", "--input", f"i={path.parent}/i.npy"]
    code, _ = run(path, *words, "--output", f"out_g={path.parent}/y.npy")
    assert code == 0 and np.load(path.parent / "y.npy").tolist() == [[4, 5]]


# ---- drawings


def explain(path, *words) -> dict:
    code, answer = asked("explain", path, *words)
    assert code in (0, 1), answer
    return answer


def drawn(tmp_path, ir, cases, kinds):
    if ir:
        return save_ir(tmp_path, 5 if cases[0].fused else 8, cases, ["i32"] * len(cases), "i64")[0]
    return save_onnx(tmp_path, "", 13, cases, kinds)[0]


@pytest.mark.parametrize("kind", ["onnx", "openvino-8", "openvino-5"])
def test_explain_random(kind, tmp_path):
    """Every cell of the output: the tuple as it is written, the rows that it selects, and the cell of data."""
    negative, fused = kind != "openvino-5", kind == "openvino-5"
    cases, kinds = draw([5, len(kind)], 30, 3, np.int64, negative, fused, ("INT32",))
    path = drawn(tmp_path, kind != "onnx", cases, kinds)
    complete = 0
    for n, case in enumerate(cases):
        answer = explain(path, "--node", f"g{n}")
        bad = case.bad(negative)
        complete += answer["complete"]
        assert (answer["axis"], answer["batch_dims"], answer["output_shape"]) == (case.batch_dims, case.batch_dims, list(case.shape))
        assert ("error" in answer) == bool(bad) and (not bad or answer["error"]["position"] == [int(i) for i in bad[0][0]])
        wrong = {at[:-1] for at, _, _ in bad}
        for cell in answer["cells"]:
            flat = np.ravel_multi_index(cell["out"], case.shape) if cell["out"] else 0
            loose = tuple(int(i) for i in np.unravel_index(flat, case.loose_shape)) if case.loose_shape else ()
            at, rest = loose[: case.indices.ndim - 1], loose[case.indices.ndim - 1 :]
            assert cell["index"] == case.indices[at].tolist() and cell["bad"] == (at in wrong)
            if cell["bad"]:
                assert cell["row"] is None and cell["data"] is None
                continue
            source = case.source(at)
            assert cell["row"] == list(source[case.batch_dims :]) and cell["data"] == [*source, *rest], (case, cell)
        assert answer["cells"]
    assert complete > 10


def test_explain_formulas(path):
    save(path, [nd_node("g", batch_dims=1)], [value("x", [2, 5, 3, 4]), value("i", [2, 6, 2], T.INT64)])
    np.save(path.parent / "i.npy", np.zeros((2, 6, 2), np.int64))
    text = call("explain", path, "--input", f"i={path.parent}/i.npy")
    assert text.startswith("GatherND: out[i, j, k] = data[i, idx[i, j, 0], idx[i, j, 1], k]\n")
    assert "batch_dims 1: idx[i] gathers only from data[i], batch by batch\n" in text
    assert "axis 1: over the slices, axis 2: down\n" in text and "← data[1, 0, 0, :]" in text


def test_explain_fused(tmp_path):
    data = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    case = Case(data, np.array([[[1], [0], [3]], [[2], [2], [-1]]]), 2, True)
    path, _ = save_ir(tmp_path, 5, [case], ["i32"], "i64")
    text = call("explain", path, code=1)
    assert "out[(i, j)] = data[i, j, idx[i, j, 0]]" in text and "in out they are one dimension" in text
    assert "✗" in text and "What each runtime does" in text and "counts from the end" in text
    call("explain", path, "-o", tmp_path / "g.svg", code=1)
    picture = (tmp_path / "g.svg").read_text()
    assert "[1, 0, 2]" in picture and picture.count("class=\"x\"") >= 1


@pytest.mark.parametrize("policy, row", [("clamp", [2, 0]), ("wrap", [1, 3]), ("zero", None)])
def test_explain_policies(path, policy, row):
    save(path, [nd_node("g", indices="c")], [value("x", [3, 4])], [tensor([[4, -5]], "c")])
    cell = explain(path, "--on-bad", policy)["cells"][0]
    assert (cell["index"], cell["bad"], cell["row"]) == ([4, -5], True, row)


def test_explain_large(path):
    """More than a drawing holds, and more than a table of places: the shown cells are right, used ones are counted."""
    rng = np.random.default_rng(6)
    indices = np.stack([rng.integers(-3000, 3000, 500), rng.integers(0, 2000, 500)], -1)
    save(path, [nd_node("g", indices="c")], [value("x", [3000, 2000])], [tensor(indices, "c")])
    answer = explain(path)
    assert not answer["complete"] and answer["cells"]
    for cell in answer["cells"]:
        first, second = indices[cell["out"][0]]
        assert cell["data"] == [first % 3000, second] and cell["row"] == cell["data"]
    assert "more used cells are not drawn" in call("explain", path)
