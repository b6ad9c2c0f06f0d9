# SPDX-License-Identifier: MIT
"""`gather explain`: the drawings to the letter, the origins against NumPy, also of scatters, and the picture as XML."""

import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from command import elements, gather_nd, one_object, take

SNAPSHOTS = Path(__file__).parent / "explain"
CASES = {
    "axis_0": (0, "--data", "3x4", "[2, 0, 2]"),
    "axis_1": (0, "--data", "3x4", "[2, 0]", "--axis", "1"),
    "negative": (0, "--data", "3x2", "[-1, 0]"),
    "elements": (0, "--data", "3x3", "[[0, 2, 1], [2, 0, 0]]", "--elements"),
    "nd": (0, "--data", "3x4", "[[2, 0], [1, -1]]", "--nd"),
    "nd_rows": (1, "--data", "2x3x2", "[[1, 0], [0, 3]]", "--nd"),
    "bad": (1, "--data", "3x2", "[1, 7]"),
    "clamp": (0, "--data", "3x2", "[1, 7]", "--on-bad", "clamp"),
    "zero": (0, "--data", "3x2", "[1, 7]", "--rules", "openvino-8"),
    "fill": (0, "--data", "3x2", "[1, 7]", "--on-bad", "fill=-5"),
    "batch_dims": (0, "--data", "2x3", "[[0, 2], [1, 1]]", "--rules", "openvino-8", "--axis", "1", "--batch-dims", "1"),
    "one_index": (0, "--data", "4", "2"),
    "empty": (0, "--data", "3x2", "[]"),
    "no_rows": (1, "--data", "0x2", "[0]"),
    "large": (0, "--data", "1000x500", "[700, 3, -1]"),
    "slices": (0, "--data", "2x3x2", "[1, 0]", "--axis", "1"),
    "many_slices": (0, "--data", "9x2x2", "[5]", "--ascii"),
    "ascii": (1, "--data", "3x2", "[-1, 7]", "--ascii"),
    "scatter": (0, "--scatter", "[[7, 1], [2, 3], [4, 5]]", "[2, 0, -1]", "[[1, 2], [3, 4], [5, 6]]", "--reduction", "add"),
    "scatter_axis_1": (0, "--scatter", "--data", "3x4", "[2, 0]", "--axis", "1", "--rules", "openvino-3"),
    "scatter_bad": (1, "--scatter", "--data", "3", "[1, 7, 1]", "[10, 20, 30]"),
    "scatter_elements": (0, "--scatter", "--data", "3x3", "[[0, 2, 1], [0, 5, 1]]", "--elements", "--on-bad", "skip"),
    "scatter_nd": (1, "--scatter", "--data", "3x4", "[[2, 0], [1, -1], [2, 0]]", "--nd", "--unique", "--rules", "onnx-18"),
}


@pytest.mark.parametrize("name", CASES)
def test_drawings(gather, name):
    code, *words = CASES[name]
    answer = gather("explain", *words, env={"COLUMNS": "80"})
    assert answer.code == code
    assert answer.text == (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert bool(answer.err) == (code != 0)
    if "--ascii" in words:
        assert answer.text.isascii()


def test_every_drawing_is_a_case():
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(CASES)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_width(gather, width):
    text = gather("explain", "--data", "100000x100000", "[99999, 5]", env={"COLUMNS": str(width)}).text
    boxes = text.partition("\n\n")[2].splitlines()
    assert width // 2 < max(map(len, boxes)) <= width


def origins(shape, indices, **options):
    """For each output cell, where it comes from: NumPy's gather of a table of offsets, -1 where there is no source."""
    call = options.pop("call")
    return call(np.arange(np.prod(shape)).reshape(shape), indices, fill=-1, **options)


@pytest.mark.parametrize("seed", range(40))
def test_origins_are_numpys(gather, seed):
    random = np.random.default_rng(seed)
    shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 4)))
    axis = int(random.integers(len(shape)))
    policy = ["clamp", "wrap", "zero", "error"][seed % 4]
    is_elements = bool(seed // 4 % 2)
    low, high = (-9, 9) if policy != "error" else (-shape[axis], shape[axis])
    if is_elements:
        want = [int(random.integers(1, n + 1)) for n in shape]
    else:
        want = random.integers(1, 4, random.integers(0, 3)).tolist()
    indices = random.integers(low, high, want)
    words = ["--data", "x".join(map(str, shape)), str(indices.tolist()), "--axis", axis, "--on-bad", policy]
    answer = gather.json("explain", *words, *(["--elements"] if is_elements else []))
    expected = origins(shape, indices, axis=axis, policy=policy, call=elements if is_elements else take)
    assert answer["output_shape"] == list(expected.shape)
    assert answer["complete"] == (len(answer["cells"]) == expected.size)
    assert answer["cells"]
    for cell in answer["cells"]:
        offset = expected[tuple(cell["out"])]
        assert cell["data"] == (None if offset < 0 else [int(c) for c in np.unravel_index(offset, shape)])
        assert cell["row"] == (None if offset < 0 else cell["data"][axis])
        n = shape[axis]
        assert cell["bad"] == (not -n <= cell["index"] < n)


@pytest.mark.parametrize("seed", range(24))
def test_origins_of_tuples(gather, seed):
    random = np.random.default_rng(seed)
    shape = tuple(int(n) for n in random.integers(1, 5, random.integers(2, 5)))
    policy = ["clamp", "wrap", "zero", "error"][seed % 4]
    batch = int(random.integers(2))
    length = int(random.integers(1, len(shape) - batch + 1))
    want = [*shape[:batch], int(random.integers(1, 4)), length]
    low, high = (-9, 9) if policy != "error" else (0, 1)
    indices = random.integers(low, high, want)
    words = ["--data", "x".join(map(str, shape)), str(indices.tolist()), "--nd", "--batch-dims", batch, "--on-bad", policy]
    answer = gather.json("explain", *words)
    expected = gather_nd(np.arange(np.prod(shape)).reshape(shape), indices, batch, policy=policy, fill=-1)
    assert answer["op"] == "GatherND" and answer["output_shape"] == list(expected.shape)
    assert answer["complete"] == (len(answer["cells"]) == expected.size)
    assert answer["cells"]
    for cell in answer["cells"]:
        offset = expected[tuple(cell["out"])]
        assert cell["data"] == (None if offset < 0 else [int(c) for c in np.unravel_index(offset, shape)])
        assert cell["row"] == (None if offset < 0 else cell["data"][batch : batch + length])
        assert cell["bad"] == any(not -n <= i < n for i, n in zip(cell["index"], shape[batch:], strict=False))


@pytest.mark.parametrize("seed", range(36))
def test_places_of_scatters(gather, seed):
    """Each update goes where the gather of the same indices reads; those of one place are marked."""
    random = np.random.default_rng(seed)
    form, policy = ["rows", "elements", "nd"][seed % 3], ["clamp", "wrap", "skip", "error"][seed // 3 % 4]
    shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 4)))
    axis = 0 if form == "nd" else int(random.integers(len(shape)))
    low, high = (-9, 9) if policy != "error" else (0, 1) if form == "nd" else (-shape[axis], shape[axis])
    if form == "nd":
        want = [int(random.integers(0, 4)), int(random.integers(1, len(shape) + 1))]
    else:
        want = [int(random.integers(1, n + 1)) for n in shape] if form == "elements" else random.integers(1, 4, random.integers(0, 3)).tolist()
    indices = random.integers(low, high, want)
    np.save(gather.folder / "i.npy", indices)
    words = ["--scatter", "--data", "x".join(map(str, shape)), "i.npy", "--on-bad", policy, *([] if form == "nd" else ["--axis", axis])]
    read = {"rows": take, "elements": elements, "nd": gather_nd}[form]
    expected = origins(shape, indices, call=read, policy="zero" if policy == "skip" else policy, **({} if form == "nd" else {"axis": axis}))
    answer = gather.json("explain", *words, *([] if form == "rows" else [f"--{form}"]))
    assert answer["rules"] is None and answer["reduction"] == "none" and "out" not in str(answer["cells"])
    assert answer["updates_shape"] == list(expected.shape) and answer["output_shape"] == list(shape)
    assert answer["complete"] == (len(answer["cells"]) == expected.size)
    places, counts = np.unique(expected[expected >= 0], return_counts=True)
    repeated = set(places[counts > 1].tolist())
    assert ("repeated" in answer) == bool(repeated)
    for cell in answer["cells"]:
        offset = int(expected[tuple(cell["update"])])
        assert cell["data"] == (None if offset < 0 else [int(c) for c in np.unravel_index(offset, shape)])
        assert cell["repeated"] == (offset in repeated)


def test_scatters_in_json(gather):
    gather.save("x.npy", np.zeros((3, 2), np.float32))
    answer = gather("explain", "--scatter", "x.npy", "[2, 0, 2]", "--unique", "--json", "--reduction", "sum")
    assert answer.code == 1
    answer = one_object(answer.out)
    assert (answer["reduction"], answer["repeated"]["position"], answer["repeated"]["first_position"]) == ("add", [2], [0])
    assert (answer["error"]["status"], answer["error"]["first_position"]) == ("index_repeated", [0])
    picture = gather("explain", "--scatter", "x.npy", "[2, 0, 2]", "-o", "-").text
    assert ">2*<" in picture and "idx[2] selects the same place as idx[0]" in picture and ET.fromstring(picture) is not None


@pytest.mark.parametrize("words, code, said", [
    (("--data", "3", "[0]", "--reduction", "add"), 2, "--reduction needs --scatter"),
    (("--data", "3", "[0]", "--unique"), 2, "--unique needs --scatter"),
    (("[1, 2]", "[0]", "[1]"), 2, "with UPDATES it is a scatter: give --scatter"),
    (("--scatter", "--data", "3", "[0]", "[1]", "[2]"), 2, "give only INDICES and UPDATES"),
    (("--scatter", "[1, 2]"), 2, "--scatter needs DATA and INDICES"),
    (("--scatter", "--data", "3", "[0]", "--batch-dims", "0"), 2, "a scatter has no --batch-dims"),
    (("--scatter", "--data", "3", "[0]", "--on-bad", "zero"), 2, "--on-bad takes error (raise), clamp (clip), wrap or skip"),
    (("--scatter", "--data", "3", "[0]", "--neutral"), 2, "--neutral needs a --reduction"),
    (("--scatter", "--data", "3", "[[0]]", "--nd", "--axis", "0"), 2, "--nd has no --axis"),
    (("--scatter", "--data", "3", "[0]", "--rules", "onnx-18"), 2, "ScatterUpdate has no rules 'onnx-18'"),
    (("--scatter", "--data", "3", "[0]", "--rules", "openvino-3", "--reduction", "add"), 4, "has no reduction"),
    (("--scatter", "--data", "3", "[0]", "[1, 2]"), 1, "updates"),
    (("--scatter", "--data", "3x2", "[0]", "--axis", "2"), 1, "axis 2"),
    (("--scatter", "-", "-"), 2, "DATA and INDICES cannot both be standard input"),
    (("--scatter", "--data", "3", "-", "-"), 2, "only one argument can be standard input"),
])  # fmt: skip
def test_scatters_that_are_refused(gather, words, code, said):
    answer = gather("explain", *words)
    assert answer.code == code and said in answer.err.decode()


def test_an_output_that_is_the_updates(gather):
    with open(gather.folder / "u.svg", "wb") as file:
        np.save(file, np.zeros(1))
    gather.save("x.npy", np.zeros(2))
    before = (gather.folder / "u.svg").read_bytes()
    assert gather("explain", "--scatter", "x.npy", "[0]", "u.svg", "-o", "u.svg", "-f").err.startswith(b"gather: error: ")
    assert (gather.folder / "u.svg").read_bytes() == before


def test_a_long_axis_is_computed_alike(gather):
    """Above a million rows no table of offsets is made."""
    n = 3_000_000
    for policy, rows in {"clamp": [5, n - 1, n - 1, 0], "wrap": [5, n - 1, 7, n - 2]}.items():
        indices = [5, -1, n + 7, -n - 2]
        cells = gather.json("explain", "--data", f"{n}x1", str(indices), "--on-bad", policy)["cells"]
        assert [cell["row"] for cell in cells] == rows
        assert [cell["bad"] for cell in cells] == [False, False, True, True]


def test_a_bad_index_in_json(gather):
    answer = gather("explain", "--data", "3x2", "[1, 7]", "--json")
    assert (answer.code, answer.err) == (1, b"")
    answer = one_object(answer.out)
    assert answer["error"]["status"] == "index_out_of_range" and answer["error"]["position"] == [1]
    assert [(cell["bad"], cell["data"]) for cell in answer["cells"]] == [(False, [1, 0]), (False, [1, 1]), (True, None), (True, None)]


VALUES = {
    "float16": (np.array([0.5, -2], np.float16), "0.5   -2"),
    "swapped": (np.array([1.25, np.nan], ">f4"), "1.25   nan"),
    "int8": (np.array([-128, 7], np.int8), "-128     7"),
    "uint64": (np.array([2**64 - 1, 0], np.uint64), "18446744073709551615"),
    "bool": (np.array([True, False]), "true  false"),
    "complex": (np.array([1 - 2j, 0], np.complex64), "1-2j"),
    "opaque": (np.array([b"ab", b"c"], "S2"), "0x6162  0x6300"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(gather, name):
    array, text = VALUES[name]
    gather.save("x.npy", array)
    assert text in gather("explain", "x.npy", "[0]").text.split("\nidx")[0]


def test_packed_values(gather):
    gather.write("x.bin", b"\x21\x43\xf5")
    rows = gather("explain", "x.bin", "[1]", "--type", "int4", "--shape", "2x3", "--ascii").text
    assert "0 |   1   2   3 |\n1 |   4   5  -1 |" in rows


def test_colour_stays_on_the_terminal(gather):
    assert "\033" not in gather("explain", "--data", "3x2", "[1]", env={"TERM": "xterm"}).text


@pytest.mark.parametrize("name", ["axis_0", "axis_1", "elements", "bad", "batch_dims", "one_index", "empty", "large", "slices"])
def test_pictures_are_whole_and_alone(gather, name):
    code, *words = CASES[name]
    answer = gather("explain", *words, "-o", "x.svg")
    assert (answer.code, answer.out) == (code, b"")
    text = (gather.folder / "x.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)
    tags = {element.tag.split("}")[1] for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "text", "path"} and {"title", "desc"} <= tags
    assert "prefers-color-scheme" in text
    for outside in ("href", "url(", "@import", "src="):
        assert outside not in text
    assert text.count("http") == 1, "the name space alone"
    assert int(root.get("width")) <= 900
    assert gather.names() == {"x.svg"}
    assert ('class="c bad"' in text) == (name == "bad")


def test_names_are_escaped(gather):
    gather.save("x.npy", np.array([(1,), (2,)], dtype=[("<script>&\"'\x1b", "<i4")]))
    assert gather("explain", "x.npy", "[1]", "--on-bad", "error", "-o", "x.svg").code == 0
    text = (gather.folder / "x.svg").read_text(encoding="utf-8")
    ET.fromstring(text)
    assert "<script" not in text and "&lt;script" in text
    assert "\033" not in gather("explain", "x.npy", "[1]").text


def test_pictures_keep_what_is_there(gather):
    gather.write("x.svg", "mine")
    words = ("explain", "--data", "3x2", "[1]", "-o", "x.svg")
    gather.fails("file_exists", *words)
    assert (gather.folder / "x.svg").read_text() == "mine"
    assert gather(*words, "-f").code == 0
    ET.parse(gather.folder / "x.svg")
    assert gather.names() == {"x.svg"}
    ET.fromstring(gather("explain", "--data", "3x2", "[1]", "-o", "-").out)


def test_the_pictures_of_the_documents(gather):
    root = Path(__file__).parents[2]
    words = [line.split(maxsplit=3) for line in (root / "script/make-pictures").read_text().splitlines() if line.startswith("picture ")]
    assert len(words) == 3
    for _, name, code, rest in words:
        answer = gather("explain", *shlex.split(rest), "-o", "-")
        assert answer.code == int(code)
        assert answer.text == (root / f"docs/pictures/{name}.svg").read_text(encoding="utf-8"), "run script/make-pictures"


SMALL = {
    "float8_e4m3fn": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
    "float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4,
}


@pytest.mark.parametrize("name", SMALL)
def test_every_small_float_is_ml_dtypes(gather, name):
    """All codes, 64 in a drawing."""
    bits = SMALL[name]
    codes = np.arange(1 << bits, dtype=np.uint8)
    want = ["nan" if np.isnan(v) else f"{v:.4g}" for v in codes.view(getattr(ml_dtypes, name)).astype(np.float64)]
    stream = np.concatenate([[code >> i & 1 for i in range(bits)] for code in codes]).astype(np.uint8)
    gather.write("x.bin", np.packbits(stream, bitorder="little").tobytes())
    got = []
    for first in range(0, 1 << bits, 64):
        high = min(1 << bits, 64) // 8
        offset = ("--offset", first * bits // 8)
        text = gather("explain", "x.bin", "[0]", "--type", name, "--shape", f"{high}x8", *offset, env={"COLUMNS": "300"}).text
        table = [line.split("│") for line in text.partition("\nidx")[0].splitlines() if "│" in line]
        shown = {int(line[0]): line[1].split() for line in table}
        assert 0 in shown and len(shown) == high
        got += [(first + 8 * row + column, word) for row, words in shown.items() for column, word in enumerate(words)]
    assert [word for _, word in sorted(got)] == want


def test_nf4(gather):
    gather.write("x.bin", bytes(low | low + 1 << 4 for low in range(0, 16, 2)))
    text = gather("explain", "x.bin", "[0]", "--type", "nf4", "--shape", "2x8", env={"COLUMNS": "300"}).text
    table = [line.split("│")[1].split() for line in text.partition("\nidx")[0].splitlines() if "│" in line]
    assert [float(word) for word in table[0]] == [-1, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.09105, 0]
    assert [float(word) for word in table[1]] == [0.07958, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.723, 1]


# ---- what is used and not drawn


def data_rects(gather, shape, indices, *words):
    """Whether each cell of data has a colour in the picture; data is shown whole."""
    svg = gather("explain", "--data", "x".join(map(str, shape)), str(indices.tolist()), *words, "-o", "-").text
    picture = ET.fromstring(svg)
    rects = [rect.get("class").split() for rect in picture.iter("{http://www.w3.org/2000/svg}rect")][1:]
    first, count = indices.size, int(np.prod(shape))
    return np.array([len(classes) > 1 for classes in rects[first : first + count]]).reshape(shape), picture


@pytest.mark.parametrize("seed", range(30))
def test_every_used_cell_is_drawn_as_used(gather, seed):
    """Also where the output has more slices, rows or columns than are drawn."""
    random = np.random.default_rng(seed)
    shape = (4, 5, 3)
    axis, kind = int(random.integers(3)), ("take", "elements", "batch")[seed % 3]
    if kind == "elements":
        indices, words = random.integers(0, shape[axis], [int(random.integers(1, n + 1)) for n in shape]), ["--elements"]
        call = elements
    elif kind == "batch":
        axis = max(axis, 1)
        indices, words = random.integers(0, shape[axis], (4, 2)), ["--rules", "openvino-8", "--batch-dims", 1]
    else:
        indices, words, call = random.integers(-shape[axis], shape[axis], random.integers(1, 4, 2)), [], take
    numbers = np.arange(60).reshape(shape)
    if kind == "batch":
        expected = np.concatenate([np.take(numbers[b], indices[b], axis - 1).ravel() for b in range(4)])
    else:
        expected = call(numbers, indices, axis=axis, policy="error", fill=-1)
    used, _ = data_rects(gather, shape, indices, "--axis", axis, *words)
    np.testing.assert_array_equal(used, np.isin(numbers, expected))


def rows_of(text):
    """The labels of the rows of data that are drawn."""
    box = text.partition("\ndata")[2].partition("\n\n")[0].splitlines()
    return [int(line.split()[0]) for line in box if "│" in line]


def test_rows_whose_output_is_cut_off(gather):
    used, _ = data_rects(gather, (4, 5, 3), np.array([[0, 2], [1, -1]]), "--axis", 1)
    assert used[:, [0, 1, 2, 4]].all() and not used[:, 3].any()


@pytest.mark.parametrize("count, left", [(14, 0), (16, 0), (17, 1), (40, 24)])
def test_used_rows_are_kept(gather, count, left):
    """No unused row is drawn in place of a used one, and what is left out is said, on a screen and in the picture."""
    indices = [3 + 2 * i for i in range(count)]
    text = gather("explain", "--data", "100x4", str(indices)).text
    rows = rows_of(text)
    assert len(rows) == min(count, 16) and set(rows) <= set(indices)
    said = f"{left} more used {'row is' if left == 1 else 'rows are'} not drawn"
    assert (f"… {said}\n" in text) == (left > 0) and ("not drawn" in text) == (left > 0)
    assert " ⋮ ⋮\n 3 │" in text  # rows before the first
    ascii_text = gather("explain", "--data", "100x4", str(indices), "--ascii").text
    assert ascii_text.isascii() and (f"... {said}\n" in ascii_text) == (left > 0)
    picture = ET.fromstring(gather("explain", "--data", "100x4", str(indices), "-o", "-").text)
    words = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert (said in words) == (left > 0)
    for element in picture.iter():
        for name, most in (("x", "width"), ("y", "height")):
            assert 0 <= float(element.get(name, 0)) <= float(picture.get(most))
    shown = {int(word) for word in words if word and word.isdecimal()}
    assert set(rows) <= shown


@pytest.mark.parametrize("width", [24, 40, 60, 80, 200])
def test_narrow_screens_keep_used_columns(gather, width):
    text = gather("explain", "--data", "4x100", "[3, 50, 7, 9, 11, 13, 15, 17]", "--axis", "1", env={"COLUMNS": str(width)}).text
    head = text.partition("\ndata")[2].splitlines()[1].replace("…", " ").split()
    drawn = [int(word) for word in head]
    used = {3, 50, 7, 9, 11, 13, 15, 17}
    assert set(drawn) <= used or used <= set(drawn)
    left = len(used - set(drawn))
    assert (f"… {left} more used rows are not drawn" in text) == (left > 1)
    boxes = text.partition("\n\n")[2].splitlines()
    assert max(len(line) for line in boxes if "│" in line) <= max(width, 32)


def test_slices_that_are_used(gather):
    """The axis runs over the slices: those that are gathered are drawn, not the first four."""
    text = gather("explain", "--data", "9x2x2", "[8, 5, 7]").text
    assert [line for line in text.splitlines() if line.startswith("data[") and "→" not in line] == [
        "data[0, :, :]", "data[5, :, :]", "data[7, :, :]", "data[8, :, :]"]
    text = gather("explain", "--data", "9x2x2", "[8, 5, 7, 1, 2, 3]").text
    assert "… 2 more used rows are not drawn" in text and "data[0" not in text.partition("\nidx")[0]


def test_more_indices_than_are_looked_at(gather):
    np.save(gather.folder / "many.npy", np.arange(2_000_000) % 300)
    text = gather("explain", "--data", "1000x2", "many.npy").text
    assert "rows are not drawn" in text and "at least " in text
