# SPDX-License-Identifier: MIT
"""Results become an archive, an archive becomes results, and these become the figures and drawings of docs/measured."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
import xml.etree.ElementTree as xml

import pytest

from benchmark import SOURCE, run
from support.colours import distance, nearest
from support.refusal import refuses

ABOUT = {"date": "2026-11-30", "cpu": "AMD EPYC (family 25, model 17, stepping 1)", "cpus": 2, "commit": "0123456789ab", "versions": {"NumPy": "2.4.6"},
         "absent": {}, "isa": "avx2 (avx2)", "load": 0.1, "system": "Linux", "python": "3.11", "server": "nginx/1", "network": "the loopback device"}  # fmt: skip
PAGES = SOURCE / "docs/measured"


@pytest.fixture(scope="module")
def some(tmp_path_factory) -> dict:
    """The results of some rows, of Gather and of GatherND."""
    path = tmp_path_factory.mktemp("archive") / "rows.json"
    ran = run("--quick", "--every", "--threads", "1", "--only", "4 B L1 int64 cached|^nd rows of 16 B, pairs cached", "--peers", "NumPy,C loop", "--json", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(path.read_text(encoding="utf-8"))


def remote(**changes) -> dict:
    """Three ways in two cases, one of which failed."""
    rows = [{"case": case, "rtt": rtt, "way": way, "kind": kind, "rows": 2000, "seconds": seconds * (1 + rtt), "requests": 10, "bytes": 1e6, "peak": 4, "cpu": 0.1,
             "relay": 0.2} for case in ("sparse", "dense") for rtt in (0.001, 0.04)
            for way, kind, seconds in (("libgather", "ours", 1.0), ("curl", "peer", 2.0), ("zarr", "peer", 0.5 if case == "dense" else 4.0))]  # fmt: skip
    rows.append({"case": "dense", "rtt": 0.04, "way": "fsspec", "kind": "peer", "rows": 2000, "error": "no such file"})
    settings = {"quick": False, "rounds": 3, "connections": 8, "rate": 125e6, "seconds": 9, **changes}
    return {"machine": ABOUT, "settings": settings, "cases": [{"case": case, "what": "rows", "rows": 2000} for case in ("sparse", "dense")],
            "ways": [{"way": "curl", "how": "curl"}], "rows": rows}  # fmt: skip


def onnxruntime() -> dict:
    doors = {"built-in": 4e-7, "operators": 5e-7, "provider": 2e-7}
    row = {"name": "Gather [4] x []", "threads": 1, "small": True, "seconds": doors, "fastest": doors, "spread": dict.fromkeys(doors, 0.1)}
    return {"machine": "A CPU, load 0.1.", "onnxruntime": "1.32.0", "rounds": 5, "rows": [row, {**row, "name": "Gather [1000] x [9]", "small": False}]}


@pytest.fixture
def root(tmp_path, modules, some):
    """A copy of the pages, with results of three kinds."""
    import machines
    import results

    machines.store(some, tmp_path)
    results.store("remote-amd-epyc", json.dumps(remote()), tmp_path)
    results.store("plugin-onnxruntime-amd-epyc", json.dumps(onnxruntime()), tmp_path)
    (tmp_path / "docs/pictures").mkdir(parents=True)
    shutil.copytree(PAGES, tmp_path / "docs/measured")
    return tmp_path


def files(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_packed_and_unpacked(root, tmp_path):
    import archive
    import results

    before = files(results.folder(root))
    assert len(before) == 4
    (results.folder(root) / "notes.txt").write_text("not packed")
    assert archive.pack(root / "one.tar.xz", root) == len(before)
    archive.pack(root / "two/one.tar.xz", root)
    assert (root / "one.tar.xz").read_bytes() == (root / "two/one.tar.xz").read_bytes()
    other = tmp_path / "other"
    assert sorted(archive.unpack(root / "one.tar.xz", other)) == sorted(before)
    assert files(results.folder(other)) == before


@pytest.mark.parametrize("name", ["x/../../escaped.json", "x/run.sh", "/x/../absolute.json", "x/y/../../../z.json", "x/page.md"])
def test_an_archive_of_other_files_is_refused(tmp_path, modules, name):
    import archive

    with tarfile.open(tmp_path / "bad.tar.xz", "w:xz") as made:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        made.addfile(entry, io.BytesIO(b"x"))
    refuses(SystemExit, archive.unpack, tmp_path / "bad.tar.xz", tmp_path / "root", says="no archive of results")
    assert not (tmp_path / "root").exists() and not list(tmp_path.rglob("*.json"))


def test_what_a_release_lacks(root):
    import archive

    told = archive.faults(root)
    assert "there are no results of tables" in told and "there are no results of python" in told
    assert sum("is of a quick run" in fault for fault in told) == 2 and not any("remote" in fault for fault in told)


def text_of(folder) -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted(folder.glob("*.md")))


def part(text: str, name: str) -> str:
    return text.split(f"<!-- begin {name} -->")[1].split(f"<!-- end {name} -->")[0]


def test_the_pages_have_every_part(modules):
    """Each part, once; with text; and each drawing."""
    import summary_page

    text = text_of(PAGES)
    names = re.findall(r"<!-- begin (\w+) -->", text)
    assert re.findall(r"<!-- begin (\w+) -->\n\n(?!<!--).*?\n\n<!-- end \1 -->", text, re.S) == names
    assert set(names) == summary_page.SECTIONS.keys() and text.count("<!-- end ") >= len(names) == len(summary_page.SECTIONS)
    for name in summary_page.DRAWINGS:
        assert f"(../pictures/{name})" in text and (SOURCE / "docs/pictures" / name).exists()


def heads(text: str) -> list[str]:
    """The first lines of the tables."""
    return re.findall(r"^(\|.*\|)\n\| ---", text, re.M)


def test_the_figures(root, some):
    """Parts that there are results for are replaced, in the form that the pages have; the others stay; twice gives the same."""
    import summary_page

    before = text_of(PAGES)
    summary_page.write(root)
    page = text_of(root / "docs/measured")
    assert part(page, "python") == part(before, "python") and part(page, "tables") == part(before, "tables")
    assert "| elements, table in L1, cached |" in part(page, "regimes") and some["machine"]["commit"] in part(page, "runs")
    assert "| nd, cached |" in part(page, "siblings") and ", siblings |" in part(page, "slower")
    assert "| sparse, 40 ms | 1.04 | 10 | 1 | curl 2x | zarr 4x | - |" in part(page, "remote") and "faster in 6 of 8" in part(page, "remote")
    assert "slower than zarr: dense, 1 ms: 2.00 times its time" in part(page, "remote")
    assert "| Gather [4] x [] | 400 ns ±5% | 0.80x | 2.00x |" in part(page, "onnxruntime")
    for name in ("runs", "remote", "onnxruntime"):
        assert heads(part(page, name)) == heads(part(before, name)), name
    for name in ("regimes", "siblings"):  # on one thread, where the pages have two
        assert heads(part(before, name))[0].startswith(heads(part(page, name))[0][:-2]), name
    assert {path.name for path in (root / "docs/pictures").iterdir()} == {"bench-regimes.svg", "bench-remote.svg"}
    first = files(root)
    summary_page.write(root)
    assert files(root) == first


def test_a_part_that_the_pages_lack_is_told(root):
    import summary_page

    page = root / "docs/measured/urls.md"
    page.write_text(page.read_text(encoding="utf-8").replace("<!-- begin remote -->", ""), encoding="utf-8")
    refuses(SystemExit, summary_page.write, root, says="no page of docs/measured has the part remote")


def test_the_newest_full_run_is_shown(modules):
    """Not a quick one, and not one in which libgather was held to an instruction set."""
    import summary_page

    def made(date: str, quick: bool = False, held: bool = False) -> dict:
        return {"machine": {"date": date, "held": held}, "settings": {"quick": quick}}

    runs = {"a": made("2026-11-01"), "b": made("2026-11-03"), "c": made("2026-11-09", quick=True), "d": made("2026-11-08", held=True)}
    assert summary_page.newest(runs) is runs["b"] and summary_page.newest({}) is None
    assert summary_page.newest({"c": runs["c"]}) is runs["c"]


def test_results_of_a_server(modules):
    """Every way of every case has a line, with what failed; what is slower is told."""
    import remote_summary

    lines = [remote_summary.line(row) for row in remote()["rows"]]
    assert sum("libgather " in line for line in lines) == 4 and sum("curl " in line for line in lines) == 4
    assert "dense      40 ms  fsspec              no such file" in lines
    assert "libgather is faster in 6 of 8 comparisons" in remote_summary.verdict(remote())
    assert remote_summary.losses(remote())[0][0]["way"] == "zarr"


# ---- drawings


def shapes(text: str, kind: str) -> list[dict[str, str]]:
    return [element.attrib for element in xml.fromstring(text).iter() if element.tag.endswith(f"}}{kind}")]


def test_dots(modules):
    """Equal ratios are equal distances, and a tick is where its value is."""
    import drawings

    parts = {"": [("first & one", [("ours", 4.0), ("open", 8.0)], "4x"), ("second", [("peer", 0.5)], "0.5x")], "limit": [("third", [("limit", 2.0)], "2x")]}
    text = drawings.dots("a < b", {"ours": "ours"}, parts, {1: "1x", 4: "4x"})
    _, four, eight, half = (float(dot["cx"]) for dot in shapes(text, "circle"))
    assert eight - four == pytest.approx((four - half) / 3, abs=0.2)
    ticks = [float(line["d"][1:].split(",")[0]) for line in shapes(text, "path") if line["class"] == "grid"]
    bar = next(float(line["d"][1:].split(",")[0]) for line in shapes(text, "path") if line["class"] == "limit")
    assert ticks[1] == four and bar == pytest.approx((ticks[0] + four) / 2, abs=0.2)
    assert "a &lt; b" in text and "first &amp; one" in text


def test_nothing_is_cut(modules):
    """Names of the pages, in the widest font: left of the first dot, and within the drawing."""
    import drawings

    text = drawings.dots("t", {}, {"": [("elements, table in DRAM, streamed", [("ours", 1.0)], "1x"), ("b", [("peer", 9.0)], "9x")]}, {1: "1", 10: "10"})
    name = next(shape for shape in shapes(text, "text") if shape.get("text-anchor") == "end")
    assert drawings.width("elements, table in DRAM, streamed") <= float(name["x"]) < min(float(dot["cx"]) for dot in shapes(text, "circle"))


def test_curves(modules):
    """Two curves that end at the same place have labels one below the other, beside their ends."""
    import drawings

    text = drawings.curves("title", {"first": [(8, 10.0), (64, 100.0)], "second (dashed)": [(8, 100.0), (64, 100.0)]}, "nodes", "rows")
    first, second = ([tuple(map(float, point.split(","))) for point in line["points"].split()] for line in shapes(text, "polyline"))
    assert first[0][0] == second[0][0] < first[1][0] and first[1][1] == second[0][1] == second[1][1] < first[0][1]
    assert "stroke-dasharray" not in shapes(text, "polyline")[0] and "stroke-dasharray" in shapes(text, "polyline")[1]
    one, other = [shape for shape in shapes(text, "text") if shape.get("class") in ("c0", "c1")]
    assert abs(float(one["y"]) - float(other["y"])) >= 11 and float(one["x"]) > first[1][0]


@pytest.mark.parametrize("eyes", ["normal", "deuteranopia", "protanopia"])
def test_colours_are_told_apart(modules, eyes):
    """Of curves, and of marks and the ground: 10 is more than four times what can just be seen."""
    import drawings

    for theme in (drawings.LIGHT, drawings.DARK):
        assert nearest({name: theme[name] for name in theme if re.fullmatch(r"c\d", name)}, eyes)[0] > 15
        assert nearest({name: theme[name] for name in ("ours", "peer", "limit", "ground")}, eyes)[0] > 25
    assert distance("#4269d0", "#a463f2", "deuteranopia") < 11  # blue and violet


def test_drawings_of_the_documents(modules):
    """Small; as wide as a phone's page, so that text has 11 pixels there; with a dark theme."""
    for path in sorted((SOURCE / "docs/pictures").glob("bench-*.svg")):
        text = path.read_text(encoding="utf-8")
        root = xml.fromstring(text)
        assert len(text.splitlines()) <= 100 and "prefers-color-scheme:dark" in text, path
        assert float(root.attrib["font-size"]) * 390 / float(root.attrib["width"]) > 10.5, path
