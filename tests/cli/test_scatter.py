# SPDX-License-Identifier: MIT
"""`gather scatter` and `gather bag` against loops: forms, reductions, rules, errors, JSON, exit codes."""

import numpy as np
import pytest

LINE = ("x.npy", "i.npy", "u.npy")
OPERATIONS = {
    "none": lambda a, b: b, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip


def written(x, indices, updates, form, reduction="none", axis=0, neutral=None):
    """The serial loop of the header."""
    out, seen = x.copy(), set()
    places = np.ndindex(*(indices.shape[:-1] if form == "nd" else indices.shape))
    for at in places:
        if form == "nd":
            where = tuple(int(k) for k in indices[at])
            source = at
        elif form == "elements":
            where = list(at)
            where[axis] = int(indices[at])
            where, source = tuple(where), at
        else:
            where = (slice(None),) * axis + (int(indices[at]),)
            source = (slice(None),) * axis + at
        if neutral is not None and str(np.arange(out.size).reshape(out.shape)[where]) not in seen:
            seen.add(str(np.arange(out.size).reshape(out.shape)[where]))
            out[where] = neutral
        out[where] = OPERATIONS[reduction](out[where], updates[source])
    return out


def draw(rng, form, dtype, axis=0):
    x = rng.integers(-9, 9, (4, 5)).astype(dtype)
    if form == "nd":
        indices = rng.integers(-4, 4, (6, 1))
        updates = rng.integers(-9, 9, (6, 5))
    elif form == "elements":
        indices = rng.integers(-x.shape[axis], x.shape[axis], (3, 4))
        updates = rng.integers(-9, 9, (3, 4))
    else:
        indices = rng.integers(-x.shape[axis], x.shape[axis], (2, 3))
        updates = rng.integers(-9, 9, (*x.shape[:axis], 2, 3, *x.shape[axis + 1 :]))
    return x, indices, updates.astype(dtype)


def save(gather, *arrays):
    for name, array in zip(LINE, arrays, strict=True):
        gather.save(name, array)


@pytest.mark.parametrize("form", ["rows", "elements", "nd"])
@pytest.mark.parametrize("reduction", OPERATIONS)
def test_forms_and_reductions(gather, form, reduction):
    rng = np.random.default_rng(5)
    for dtype, axis in ((np.int16, 0), (np.float64, 0 if form == "nd" else 1)):
        x, indices, updates = draw(rng, form, dtype, axis)
        save(gather, x, indices, updates)
        words = [] if form == "rows" else [f"--{form}"]
        words += [] if form == "nd" else ["--axis", axis]
        answer = gather.json("scatter", *LINE, "-o", "o.npy", "-f", "--reduction", reduction, *words)
        np.testing.assert_array_equal(gather.load("o.npy"), written(x, indices, updates, form, reduction, axis))
        assert (answer["command"], answer["rules"], answer["reduction"]) == ("scatter", None, reduction)
        assert answer["shape"] == list(x.shape) and answer["indices"] == ({"count": indices.size, "bad": 0} | ({"tuples": 6} if form == "nd" else {}))
        np.testing.assert_array_equal(gather.load("x.npy"), x)


def test_mean_and_neutral(gather):
    assert gather.result("scatter", "[10, 20, 30]", "[1, 1]", "[1, 4]", "--reduction", "mean").tolist() == [10, 8, 30]
    assert gather.result("scatter", "[10, 20, 30]", "[1, 1]", "[1, 4]", "--reduction", "mean", "--neutral").tolist() == [10, 2, 30]
    rng = np.random.default_rng(6)
    x, indices, updates = draw(rng, "rows", np.int32)
    save(gather, x, indices, updates)
    want = written(x, indices, updates, "rows", "add", neutral=0)
    np.testing.assert_array_equal(gather.result("scatter", *LINE, "--reduction", "sum", "--neutral"), want)


def test_accumulate(gather):
    save(gather, np.zeros(2, np.float16), np.zeros(4096, np.int64), np.ones(4096, np.float16))
    for how, want in (("steps", 2048), ("halves", 4096), ("wide", 4096)):
        assert gather.result("scatter", *LINE, "--reduction", "add", "--accumulate", how)[0] == want
    assert gather.result("scatter", *LINE, "--reduction", "add")[0] == 4096
    assert gather.result("scatter", *LINE, "--reduction", "add", "--elements", "--rules", "onnx-18")[0] == 2048


def test_literals_texts_slices_and_standard_input(gather):
    gather.write("ids.txt", "2\n0\n")
    assert gather.result("scatter", "[1, 2, 3]", "ids.txt", "[7, 8]").tolist() == [8, 2, 7]
    assert gather.result("scatter", "[1, 2, 3]", "1:", "[7, 8]").tolist() == [1, 7, 8]
    gather.save("x.npy", np.array([1, 2, 3], ">f4"))
    gather.save("u.npy", np.array([1.5], ">f4"))
    assert gather("scatter", "x.npy", "[0]", "u.npy", "-o", "o.npy").code == 0
    assert gather.load("o.npy").dtype == np.dtype(">f4") and gather.load("o.npy").tolist() == [1.5, 2, 3]
    x = np.array([1, 2, 3], np.uint8)
    gather.save("x.npy", x)
    answer = gather("scatter", "-", "[0]", "[9]", "-o", "-", stdin=(gather.folder / "x.npy").read_bytes())
    assert answer.code == 0 and answer.out[-3:] == b"\x09\x02\x03"
    gather.write("x.bin", x.tobytes())
    assert gather.result("scatter", "x.bin", "[-1]", "[4]", "--type", "uint8", "--shape", "3").tolist() == [1, 2, 4]


def test_rows_of_any_type_are_replaced(gather):
    names = np.array([b"a", b"bb", b"ccc"])
    gather.save("names.npy", names)
    gather.save("new.npy", np.array([b"zzz"]))
    assert gather.result("scatter", "names.npy", "[1]", "new.npy").tolist() == [b"a", b"zzz", b"ccc"]
    gather.fails("type_unsupported", "scatter", "names.npy", "[1]", "new.npy", "-o", "o.npy", "--reduction", "add")


def test_a_bad_index_writes_nothing(gather):
    rng = np.random.default_rng(7)
    x, indices, updates = draw(rng, "rows", np.float32)
    indices[1, 2] = 9
    save(gather, x, indices, updates)
    before = gather.names()
    error = gather.fails("index_out_of_range", "scatter", *LINE, "-o", "new.npy")
    assert (error["position"], error["value"], error["low"], error["high"], error["axis"], error["bad_count"]) == ([1, 2], 9, -4, 3, 0, 1)
    assert gather.names() == before
    for policy, last in (("clamp", 3), ("wrap", 1)):
        repaired = indices.copy()
        repaired[1, 2] = last
        answer = gather.json("scatter", *LINE, "-o", "o.npy", "-f", "--on-bad", policy)
        np.testing.assert_array_equal(gather.load("o.npy"), written(x, repaired, updates, "rows"))
        assert answer["indices"]["bad"] == 1
    answer = gather("scatter", *LINE, "-o", "o.npy", "-f", "--on-bad", "skip")
    assert answer.text.endswith("6 indices, 1 out of range and skipped\n")
    np.testing.assert_array_equal(gather.load("o.npy"), written(x, indices.ravel()[:-1], updates.reshape(6, 5)[:-1], "rows"))
    gather.fails("index_out_of_range", "scatter", "[1, 2]", "[-1]", "[3]", "-o", "o.npy", "-f", "--negative", "off")


@pytest.mark.parametrize(("form", "indices", "position", "first"), [
    ("rows", [[3, 0], [1, -4]], [1, 1], [0, 1]), ("elements", [[3], [0], [3]], [2, 0], [0, 0]), ("nd", [[1], [3], [1]], [2, 0], [0, 0]),
])  # fmt: skip
def test_repeated(gather, form, indices, position, first):
    indices = np.array(indices)
    x = np.zeros((4, 1), np.int8)
    updates = np.ones(indices.shape if form == "elements" else (*indices.shape, 1) if form == "rows" else indices.shape, np.int8)
    save(gather, x, indices, updates)
    words = [] if form == "rows" else [f"--{form}"]
    error = gather.fails("index_repeated", "scatter", *LINE, "-o", "new.npy", "--unique", *words)
    assert (error["position"], error["first_position"], error["axis"]) == (position, first, 0)
    assert error["value"] == indices[tuple(position)] and "new.npy" not in gather.names()
    gather.fails("index_repeated", "scatter", *LINE, "--dry-run", "--unique", *words)
    assert gather("scatter", *LINE, "-o", "new.npy", *words).code == 0
    if form != "elements":  # rows without elements
        save(gather, x[:, :0], indices, np.ones((*indices.shape[: indices.ndim - (form == "nd")], 0), np.int8))
        error = gather.fails("index_repeated", "scatter", *LINE, "-o", "empty.npy", "--unique", *words)
        assert (error["position"], error["first_position"]) == (position, first) and "empty.npy" not in gather.names()


def test_dry_run_and_plan(gather):
    save(gather, *draw(np.random.default_rng(8), "rows", np.float32))
    before = gather.names()
    answer = gather.json("scatter", *LINE, "--dry-run")
    assert answer["dry_run"] is True and answer["shape"] == [4, 5] and gather.names() == before
    assert gather("scatter", *LINE, "-o", "o.npy", "--plan").text.splitlines()[1].startswith("plan: scatter: none of 6 rows of 20 bytes")


def test_threads_do_not_change_the_result(gather):
    rng = np.random.default_rng(9)
    save(gather, np.zeros((50, 64), np.float32), rng.integers(0, 50, 20000), rng.standard_normal((20000, 64)).astype(np.float32))
    results = [gather.result("scatter", *LINE, "--reduction", "add", "--threads", n) for n in (1, 2, 3)]
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


# ---- bags


def bags(table, lists, reduction="sum", weights=None, default=None):
    """lists: the indices of each bag, and their places in the weights."""
    out = np.zeros((len(lists), *table.shape[1:]), table.dtype)
    for i, rows in enumerate(lists):
        picked = [table[index] * (1 if weights is None else weights[at]) for index, at in rows]
        if not picked and default is not None:
            out[i] = table[default]
        elif picked:
            out[i] = {"sum": sum, "mean": lambda a: sum(a) / len(a), "max": lambda a: np.max(a, 0)}[reduction](picked)
    return out


def test_bags(gather):
    rng = np.random.default_rng(10)
    table, ids = rng.integers(-9, 9, (6, 3)).astype(np.float32), rng.integers(0, 6, 8)
    weights = rng.integers(1, 5, 8).astype(np.float32)
    for name, array in (("t", table), ("i", ids), ("w", weights), ("p", ids.reshape(2, 4)), ("wp", weights.reshape(2, 4))):
        gather.save(f"{name}.npy", array)
    every = [(index, at) for at, index in enumerate(ids)]
    parts = [every[:3], [], every[3:]]
    for reduction in ("sum", "mean", "max"):
        found = gather.result("bag", "t.npy", "i.npy", "[0, 3, 3]", "--reduction", reduction)
        np.testing.assert_array_equal(found, bags(table, parts, reduction))
    np.testing.assert_array_equal(gather.result("bag", "t.npy", "i.npy", "[0, 3, 3]", "--weights", "w.npy"), bags(table, parts, weights=weights))
    found = gather.result("bag", "t.npy", "i.npy", "[0, 3, 3]", "--default-index", 5)
    np.testing.assert_array_equal(found, bags(table, parts, default=5))
    found = gather.result("bag", "t.npy", "i.npy", "[0, 3, 3, 6]", "--last-offset")
    np.testing.assert_array_equal(found, bags(table, [every[:3], [], every[3:6]]))
    found = gather.result("bag", "t.npy", "p.npy", "--weights", "wp.npy", "--rules", "openvino-3")
    np.testing.assert_array_equal(found, bags(table, [every[:4], every[4:]], weights=weights))
    found = gather.result("bag", "t.npy", "i.npy", "--segment-ids", "[0,0,0,2,2,2,2,2]", "--segments", 4)
    np.testing.assert_array_equal(found, bags(table, [*parts, []]))


def test_bags_are_checked(gather):
    line = ("bag", "[[1, 2], [3, 4]]", "[0, 1, 1]")
    error = gather.fails("index_out_of_range", *line, "[0, 4]", "-o", "o.npy")
    assert (error["input"], error["position"], error["value"], error["low"], error["high"]) == ("offsets", [1], 4, 0, 3)
    error = gather.fails("index_out_of_range", *line, "-o", "o.npy", "--segment-ids", "[0, 1, 2]", "--segments", 2)
    assert (error["input"], error["position"], error["value"]) == ("segment_ids", [2], 2)
    error = gather.fails("index_out_of_range", "bag", "[[1, 2], [3, 4]]", "[0, 2]", "[0]", "-o", "o.npy", "--dry-run")
    assert (error["position"], error["value"], error["low"], error["high"], error["axis"]) == ([1], 2, 0, 1, 0)
    assert gather.result("bag", "[[1, 2], [3, 4]]", "[0, 2]", "[0]", "--on-bad", "skip").tolist() == [[1, 2]]
    answer = gather.json(*line, "[0, 1]", "--dry-run")
    assert (answer["command"], answer["reduction"], answer["shape"], answer["rules"]) == ("bag", "sum", [2, 2], None)


REFUSED = [
    ("usage", "scatter x.npy i.npy -o o.npy"),
    ("usage", "scatter x.npy i.npy u.npy"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --elements --nd"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --nd --axis 0"),
    ("usage", "scatter x.npy 1: u.npy -o o.npy --elements"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --reduction most"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --accumulate twice"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --neutral"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --on-bad zero"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --on-bad fill=1"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --rules onnx-13"),
    ("usage", "scatter - i.npy - -o o.npy"),
    ("usage", "scatter x.npy i.npy u.npy -o o.npy --batch-dims 1"),
    ("usage", "take x.npy i.npy -o o.npy --on-bad skip"),
    ("unsupported", "scatter x.npy i.npy u.npy -o o.npy --rules openvino-3 --reduction add"),
    ("unsupported", "scatter x.npy i.npy u.npy -o o.npy --elements --rules onnx-18 --reduction mean"),
    ("axis_out_of_range", "scatter x.npy i.npy u.npy -o o.npy --axis 3"),
    ("shape_mismatch", "scatter x.npy i.npy x.npy -o o.npy"),
    ("type_mismatch", "scatter x.npy i.npy i.npy -o o.npy"),
    ("type_unsupported", "scatter x.npy x.npy x.npy -o o.npy"),
    ("rank_mismatch", "scatter x.npy i.npy u.npy -o o.npy --elements"),
    ("file_not_found", "scatter x.npy i.npy none.npy -o o.npy"),
    ("file_exists", "scatter x.npy i.npy u.npy -o there.npy"),
    ("usage", "bag x.npy i.npy [0] -o o.npy --segment-ids [0] --segments 1"),
    ("usage", "bag x.npy i.npy -o o.npy --segment-ids [0]"),
    ("usage", "bag x.npy i.npy -o o.npy --segments 2"),
    ("usage", "bag x.npy i.npy -o o.npy --last-offset"),
    ("usage", "bag x.npy i.npy -o o.npy --default-index 1"),
    ("usage", "bag x.npy i.npy [0] -o o.npy --reduction add-all"),
    ("usage", "bag x.npy i.npy [0] -o o.npy --rules onnx-13"),
    ("usage", "bag x.npy i.npy [0] -o o.npy --unique"),
    ("unsupported", "bag x.npy i.npy [0] -o o.npy --rules openvino-3 --reduction mean"),
    ("file_exists", "bag x.npy i.npy [0] -o there.npy"),
]


@pytest.mark.parametrize(("status", "line"), REFUSED, ids=[line for _, line in REFUSED])
def test_refused(gather, status, line):
    rng = np.random.default_rng(11)
    save(gather, rng.standard_normal((4, 5)).astype(np.float32), np.array([0, 2]), np.ones((2, 5), np.float32))
    gather.write("there.npy", "")
    before = gather.names()
    gather.fails(status, *line.split(" "))
    assert gather.names() == before


@pytest.mark.parametrize("line", ["scatter x.npy i.npy u.npy", "bag x.npy i.npy o.npy --weights w.npy"])
def test_an_input_is_not_replaced(gather, line):
    save(gather, np.zeros((4, 5), np.float32), np.array([0, 2]), np.ones((2, 5), np.float32))
    gather.save("o.npy", np.array([0]))
    gather.save("w.npy", np.ones(2, np.float32))
    for name in [word for word in line.split() if word.endswith(".npy")]:
        gather.fails("file_exists", *line.split(), "-o", name, "-f")


def test_help(gather):
    for command in ("scatter", "bag"):
        text = gather(command, "--help").text
        assert all(len(row) <= 80 for row in text.splitlines()) and "--reduction" in text
    assert "\n  onnx-18     ScatterElements        none add mul min max\n" in gather("scatter", "--help").text
    assert "\n  openvino-15 EmbeddingBagOffsets    " in gather("bag", "--help").text
