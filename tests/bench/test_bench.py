# SPDX-License-Identifier: MIT
"""script/bench works: rows come out, wrong rows are told and never win, results become parts of a page. Times are not judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmark import run
from support.refusal import refuses

PEERS = "NumPy,C loop"


def results(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("only", ["tiny", "1 B L1 int32 cached", "rows (3|64) B L2 int64 cached", "int4 elements L2 int64 cached",
                                  r"batch \(8", r"elements \(16", r"axis 1 of \(16", "table 256 x 1 B uint8 streamed"])
def test_rows(tmp_path, only):
    path = tmp_path / "rows.json"
    ran = run("--quick", "--every", "--only", only, "--peers", PEERS, "--json", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = results(path)
    assert found["rows"] and found["machine"]["commit"] and found["machine"]["compiler"]
    for row in found["rows"]:
        assert row["ours"]["median"] > 0 and row["ours"]["min"] <= row["ours"]["median"] <= row["ours"]["max"], row["name"]
        assert not row["wrong"], row["name"]
        assert row["kept"]["form"] == "plan" and row["ours"]["median"] <= row["kept"]["median"], row["name"]
        assert row["dtype"] == "int4" or row["best"]["verdict"] in ("faster", "even", "slower"), row["name"]
        assert row["unit"] == "call" or row["dtype"] == "int4" or row["ceiling"]["ns"] > 0, row["name"]
        assert row["unit"] == "call" or row["dtype"] == "int4" or row["table_bytes"] <= 512 or row["ceiling"]["touch_ns"] > 0, row["name"]


def made(peer: str, form: str, *times: float):
    from contender import Contender

    contender = Contender(peer, form, lambda: None)
    contender.times, contender.cpu = list(times), list(times)
    return contender


def test_both_forms_of_ours_are_judged(modules):
    """The fastest form is ours, the first one is kept; calls from C are neither."""
    import grid
    import summary

    case = grid.cases((1,), True, "take 4 B L1 int64 cached")[0]
    ours = [made("ours", "plan", 300, 310, 320), made("ours", "fresh", 100, 110, 120), made("ours", "fresh, from C", 1, 1, 1)]
    peer = made("NumPy", "take", 200, 210, 220)
    row = summary.row(case, [*ours, peer, made("C loop", "loop", 50, 51, 52)], [made("limit: stream", "stream", 55, 55, 55)], [], "")
    assert row["ours"]["form"] == "fresh" and row["best"]["verdict"] == "faster" and row["loop"]["ratio"] == 51  # the loop is called from C
    assert row["kept"]["loop"]["verdict"] == "slower"
    assert row["kept"]["form"] == "plan" and row["kept"]["best"]["verdict"] == "slower"
    assert row["share"] == pytest.approx(0.5) and row["kept"]["share"] == pytest.approx(55 / 310)
    assert row["kept"]["best"]["ratio"] == pytest.approx(210 / 310)
    assert summary.counts([row]) == [1, 0, 0] and summary.counts(summary.as_kept([row])) == [0, 0, 1]
    closing = summary.closing({"rows": [row], "machine": {"load": 0, "cpus": 1}, "settings": {"seconds": 1}})
    assert "slower (transactional): take 4 B L1 int64 cached 1T: NumPy" in closing and "slower: " not in closing
    # If the default is the fastest form it counts once, not twice.
    alone = summary.row(case, [ours[0], peer], [], [], "")
    assert alone["kept"]["best"] == alone["best"] and not summary.only_kept([alone])


@pytest.mark.in_full
def test_growth_is_not_in_the_means(modules, some):
    import summary

    rows, curves = summary.in_means(some["rows"]), [r for r in some["rows"] if summary.is_curve(r)]
    assert len(curves) >= 5 and len(rows) + len(curves) == len(some["rows"])
    lost = {**curves[0], "best": {"peer": "NumPy", "ratio": 0.001, "verdict": "slower", "fastest": 0.001, "cpu": 0.001}}
    means = [line for line in summary.closing({**some, "rows": rows}).splitlines() if "best peer / ours" in line]
    closing = summary.closing({**some, "rows": [*rows, lost]})
    assert means and all(line in closing for line in means) and f"slower: {lost['name']}: NumPy" in closing


def test_growth_goes_from_16_kib_to_8_gib_and_to_all_cpus(modules):
    import grid

    found = [case for case in grid.cases((1, 2), curve=grid.up_to(6)) if case.regime.startswith("growth: ")]
    tables = [case.table_bytes for case in found if case.regime == grid.BY_TABLE]
    assert min(tables) == 16 << 10 and max(tables) == 8 << 30
    assert {case.threads for case in found if case.regime == grid.BY_THREADS} == {1, 2, 4, 6}
    assert {case.threads for case in found if case.regime != grid.BY_THREADS} == {1, 2}
    assert grid.up_to(1) == (1,) and grid.up_to(8) == (1, 2, 4, 8)
    assert not [case for case in grid.cases((1, 2), True) if case.regime.startswith("growth: ")]


def test_rows_beyond_the_memory_are_named(modules):
    import grid
    import machine

    found = grid.cases((1,), only="growth: table [148] GiB")
    kept, left = grid.affordable(found, 12 << 30)
    assert [case.name for case in kept] == ["growth: table 1 GiB 1T", "growth: table 4 GiB 1T"]
    assert [row["row"] for row in left] == ["growth: table 8 GiB 1T"] and "12.0" in left[0]["why"]
    assert grid.affordable(found, 1 << 40) == (found, [])
    assert 0 < machine.free_bytes() < 1 << 60


def test_large_tables_are_not_given_to_openvino(modules):
    import cases
    import grid
    import measure
    import peers

    class Memory(cases.Memory):
        def __init__(self, case):
            self.case = case

        def expected(self):
            return None

    vino = object.__new__(peers.OpenVino)
    case = grid.cases((1,), only="growth: table 4 GiB")[0]
    right, wrong = measure.collect(Memory(case), [vino])
    assert not right and wrong[0]["peer"] == "OpenVINO" and wrong[0]["why"].startswith("left out: ")


def test_slower_rows_of_both_forms_are_counted(modules):
    import grid
    import summary
    import summary_page

    case = grid.cases((1,), True, "take 4 B L1 int64 cached")[0]
    row = summary.row(case, [made("ours", "plan", 3, 3, 3), made("ours", "fresh", 1, 1, 1), made("NumPy", "take", 2, 2, 2)], [], [], "")
    run_ = {"machine": {"cpu": "A CPU", "held": False}, "settings": {"quick": False}, "rows": [row]}
    assert "| A CPU | 1 of 1 | 0 of 1 |" in summary_page.slower({"memory-a-cpu": run_})
    slow = {**row, "best": {**row["best"], "verdict": "slower", "ratio": 0.67}}
    assert f"| {row['name']} | NumPy | 0.67x | - |" in summary_page.slower({"memory-a-cpu": {**run_, "rows": [slow]}})


def test_names_are_told_apart(modules):
    import grid

    for quick in (False, True):
        names = [case.name for case in grid.cases((1, 2), quick)]
        assert len(names) == len(set(names)) and names
    assert len(grid.cases((1, 2), True)) < len(grid.cases((1, 2), False))


def places(memory):
    """Where each row of a gather begins in the table, by NumPy's own gather of the places."""
    import numpy as np

    case = memory.case
    every = np.arange(memory.data.size, dtype=np.int64).reshape(case.shape)
    if case.op == "elements":
        taken = np.take_along_axis(every, memory.index.astype(np.int64), case.axis)
    elif case.batch_dims:
        taken = np.stack([np.take(one, index, 0) for one, index in zip(every, memory.index)])
    else:
        taken = np.take(every, memory.index, case.axis)
    return taken.reshape(-1, case.row_len)[:, 0] * memory.data.itemsize


@pytest.mark.parametrize("name", [r"axis 1 of \(16,64\)", r"axis 1 of \(256,1000,3\)", r"batch \(8,64", r"batch \(256", r"elements \(16,1024",
                                  r"elements \(512,1024,8\) axis [012] f32", "1 B L1 int32 cached"])
def test_touch_reads_the_lines_of_the_gather(modules, name):
    """By the sum of what it read."""
    import cases
    import gather_bench_native as native
    import grid
    import limits
    import numpy as np

    for case in grid.cases((1,), True, name, every=True):
        memory = cases.Memory(case, cases.Arenas([case]))
        begins, table = places(memory), memory.data.reshape(-1).view(np.uint8)
        row = case.out_bytes // case.rows
        lines = begins // 64  # the table begins on a line
        assert np.array_equal(limits.lines_of(memory), lines[np.append(True, lines[1:] != lines[:-1])])
        assert limits.different(lines) == len(set(lines.tolist()))
        for work, form, job, _ in limits.touches(memory):
            native.timed(work, 1, 1, job)
            at = limits.lines_of(memory).astype(np.int64) * 64 if "list" in form else begins
            read = sum(int(table[at + step].sum(dtype=np.uint64)) for step in range(0, 1 if "list" in form else row, 64))
            assert native.touched() == read, form


@pytest.mark.parametrize("name", [r"rows (64|1000) B L2 int64 cached", r"rows 24 B L2 int64 cached", r"rows 64 B L2 int64 streamed"])
def test_long_rows_from_cache_to_cache_are_copied(modules, name):
    """As many bytes as the gather moves, by any number of threads; the limit is the slowest of its parts."""
    import cases
    import gather_bench_native as native
    import grid
    import limits
    import numpy as np
    import summary

    for case in grid.cases((1,), True, name, every=True):
        memory = cases.Memory(case, cases.Arenas([case]))
        found = list(limits.copies_of_rows(memory))
        assert len(found) == (2 if case.state == grid.CACHED and case.row_len >= 16 else 0)
        for work, form, job, _ in found:
            for threads in (1, 3):
                memory.out.reshape(-1).view(np.uint8)[:] = 0xEE
                native.timed(work, threads, 1, job)
                table = memory.data.reshape(-1).view(np.uint8)[: case.table_bytes // limits.COPY_BLOCK * limits.COPY_BLOCK]
                assert np.array_equal(memory.out.reshape(-1).view(np.uint8), np.resize(table, case.out_bytes)), form
    ceiling = summary.ceiling_of([made("limit: stream", "stream", 1), made("limit: touch", "touch", 2), made("limit: copy", "copy", 3)], 1)
    assert ceiling["ns"] == 3 and ceiling["copy_form"] == "copy"


def test_no_such_row():
    ran = run("--only", "no row is called so", "--peers", PEERS)
    assert ran.returncode == 2 and "no row" in ran.stdout


def test_wrong_rows_do_not_win(modules):
    """A peer that is fast because it does nothing is named, and has no time."""
    import cases
    import grid
    import peers
    import measure
    from contender import Contender

    class Idle:
        name, version = "idle", "1"

        def contenders(self, memory):
            yield Contender(self.name, "nothing", lambda: None)

    class Failing(Idle):
        name = "failing"

        def contenders(self, memory):
            raise RuntimeError("cannot")

    case = grid.cases((1,), True, "take 4 B L1 int64 cached")[0]
    found, = measure.run_case(case, cases.Arenas([case]), [peers.Ours(), peers.Numpy(), Idle(), Failing()], measure.Settings(True))
    assert {(w["peer"], w["why"]) for w in found["wrong"]} == {("idle", "wrong rows"), ("failing", "failed: RuntimeError: cannot")}
    assert set(found["peers"]) == {"NumPy"}


def test_wrong_rows_of_ours_end_the_run(modules):
    import cases
    import grid
    import peers
    import measure
    from contender import Contender

    class Idle(peers.Ours):
        def contenders(self, memory):
            yield Contender("ours", "nothing", lambda: None)

    case = grid.cases((1,), True, "take 4 B L1 int64 cached")[0]
    refuses(SystemExit, measure.run_case, case, cases.Arenas([case]), [Idle()], measure.Settings(True), says="libgather is wrong")


def test_shifted_indices_stay_in_range_and_in_order(modules):
    import gather_bench_native as native
    import numpy as np

    for dtype in (np.uint8, np.int32, np.int64):
        buffer = native.Buffer(4096)
        indices = np.frombuffer(buffer, dtype, 100)
        indices[:] = np.arange(100)
        native.shift(buffer.address, 100, indices.itemsize, 30, 100)
        assert list(indices) == [*range(30, 100), *range(30)]


@pytest.fixture(scope="module")
def some(tmp_path_factory) -> dict:
    """The results of some rows."""
    path = tmp_path_factory.mktemp("some") / "rows.json"
    only = "tiny|4 B L1 int64 cached|growth: (table (16|64) KiB|indices (8|64) |threads, table 256)"
    ran = run("--quick", "--every", "--only", only, "--peers", PEERS, "--json", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return results(path)


def test_results_are_stored(tmp_path, modules, some):
    """And become a line in the list of runs, and a line for each regime."""
    import machines
    import summary
    import summary_page

    path, = machines.store(some, tmp_path)
    stored = machines.stored(tmp_path)
    assert stored == {path.stem: some} and path.stem.startswith("memory-") and path.stem.endswith("-quick")
    assert f"| {len(summary.in_means(some['rows']))} | quick | {some['machine']['commit']} |" in summary_page.runs_table(stored)
    page = summary_page.regimes(some)
    for regime in summary.regimes(summary.in_means(some["rows"])):
        assert f"| {regime} |" in page
    assert page.count("| **all rows** |") == 1 and "growth" not in page


@pytest.mark.parametrize(("cpu", "isa", "held", "name"), [
    ("AMD EPYC (family 25, model 17, stepping 1)", "avx512vbmi (sse4.2 avx2 avx512 avx512vbmi)", False, "amd-epyc-family-25-model-17"),
    ("AMD EPYC (family 25, model 17, stepping 1)", "avx2 (sse4.2 avx2 avx512 avx512vbmi)", True, "amd-epyc-family-25-model-17-avx2"),
    ("Intel(R) Xeon(R) Processor (family 6, model 207, stepping 2)", "portable (sse4.2 avx2)", True, "intel-xeon-family-6-model-207-portable"),
    ("AMD Ryzen 9 7950X 16-Core Processor", "avx512vbmi ()", False, "amd-ryzen-9-7950x-16-core"),
    ("Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz (family 6, model 158)", "avx2 (sse4.2 avx2)", False, "intel-core-i7-8700-family-6-model-158"),
])
def test_names_of_machines(modules, cpu, isa, held, name):
    import machines

    about = {"cpu": cpu, "isa": isa, "held": held}
    assert machines.name(about) == name
    assert ("held to" in machines.words(about)) == held and "stepping" not in machines.words(about)
