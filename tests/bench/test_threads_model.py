# SPDX-License-Identifier: MIT
"""The model of docs/measured/threads.md: its formula by hand, its tasks as the library shares them, its page, and its measurements.
Times are not judged."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from benchmark import SOURCE, run

MEASURED = SOURCE / "bench/threads_measured.json"


@pytest.fixture
def model(modules):
    import threads_model

    return threads_model


@pytest.fixture
def machine(model):
    """Eight cores of two L3s. A core moves 1,000 bytes per microsecond, a link 6,000, the channels 10,000."""
    return model.Machine("m", cores=8, near=1.0, far=2.0, group=4, core_bytes=(1000, 1000), link_bytes=6000, socket_bytes=10000,
                         link_lines=60, socket_lines=100, wake=10.0, wake_more=2.0, begins=20.0, call=0.5)  # fmt: skip


@pytest.mark.parametrize("p, by, us", [(1, "cores", 100), (2, "cores", 50), (4, "links", 1000 / 60 + 68 / 6), (5, "cores", 20),
                                       (8, "channels", 10 + 68 / 10)])  # fmt: skip
def test_limits(model, machine, p, by, us):
    """Of 1,000 lines, and 68,000 bytes of output and indices."""
    regime = model.Regime("r", 1000, 64, 1.0, (100.0, 100.0))
    found = model.limits(machine, regime, p)
    assert max(found, key=found.get) == by and found[by] == pytest.approx(us) and found["work"] == 1 / p
    assert model.limits(machine, replace(regime, dram=False), p) == {"work": 1 / p, "cores": 100 / p}
    long = model.Regime("r", 100, 1024, 1.0, (10.0, 10.0))
    assert model.limits(machine, long, 1)["channels"] == pytest.approx(100 * (1024 + 1028) / 10000)
    assert model.cores(3, (10.0, 8.0)) == 24 and model.cores(1, (10.0, 8.0)) == 10


@pytest.mark.parametrize("p, awake, expected", [(1, False, [0]), (1, True, [0]), (2, False, [10, 20]), (4, False, [14, 20, 22, 24]),
                                                (2, True, [0, 1]), (6, True, [0, 1, 2, 3, 5, 7])])  # fmt: skip
def test_threads_begin_one_after_another(model, machine, p, awake, expected):
    assert model.begins(machine, p, awake) == expected


@pytest.mark.parametrize("rows, row_bytes, p, awake, expected", [
    (16384, 4, 2, True, 3), (16384, 4, 64, True, 3), (16384, 4, 2, False, 5), (8192, 4, 2, True, 1), (4 << 20, 4, 1, False, 1),
    (4 << 20, 4, 2, False, 64), (8192, 4096, 2, False, 64), (4096, 4096, 64, False, 64)])  # fmt: skip
def test_tasks(model, rows, row_bytes, p, awake, expected):
    assert model.tasks(model.Regime("r", rows, row_bytes, 1.0, None if awake else (1.0, 1.0), awake=awake), p) == expected


@pytest.mark.parametrize("p, expected", [
    (1, 0.5 + 100),
    (2, 0.5 + (0 + 1) / 2 + 1 + 50),  # the workers begin at 1, 2, 3 and each part takes as long
    (4, 0.5 + (0 + 1 + 2 + 3) / 4 + 1 + 25),
    (8, 0.5 + (0 + 1 + 2 + 3 + 5 + 7 + 9 + 11) / 8 + 2 + 12.5),
    (64, 0.5 + (0 + 1 + 2 + 3 + 5 + 7 + 9 + 11) / 8 + 2 + 12.5)])  # fmt: skip
def test_a_cached_call(model, machine, p, expected):
    regime = model.Regime("r", 100000, 4, 1.0, None, dram=False, awake=True, even=True)
    machine = replace(machine, cores=8 if p < 64 else 64)
    if p == 64:  # more workers would begin too late
        assert model.call(machine, regime, p).threads < 64
    else:
        assert model.call(machine, regime, p).total == pytest.approx(expected)


@pytest.mark.parametrize("rows", [40_000, 1_000_000])
@pytest.mark.parametrize("p", [1, 2])
def test_a_call_from_memory(model, machine, p, rows):
    """Each worker is woken; the last task is awaited. Many indices are validated before, 4 MB in 16 tasks."""
    regime = model.Regime("r", rows, 64, 1.0, (100.0, 100.0))

    def expected(shared: float, tasks: int) -> float:
        return shared + (0 if p == 1 else (10 + 20) / 2 + 1 + shared * 2 / tasks / 2)

    took = 0.5 + expected(rows / (10 * p), model.tasks(regime, p))
    if rows == 1_000_000:
        took += expected(rows * 4 / (1000 * p), 16)
    assert model.call(machine, regime, p).total == pytest.approx(took)


def test_no_more_threads_than_the_memory_feeds(model, machine):
    """The channels let through what six cores ask for."""
    assert model.call(machine, model.Regime("r", 40_000, 64, 1.0, (100.0, 100.0)), 8).threads == 6


def test_a_second_thread_helps_from(model):
    pair = {"round_trip": 0.2, "call": 0.0, "wake": 6.0, "begins": 14.0, "line_read_ns": 1.0, "line_write_ns": 4.0}
    for gain, awake, expected in ((1, True, 0.4), (1.25, True, 0.2 / 0.3), (1, False, 20.2)):
        assert model.least(gain, awake, pair) == pytest.approx(expected)
    assert model.short(pair, 10.0, 6400, False) == pytest.approx(5.2)
    assert model.short(pair, 10.0, 6400, True) == pytest.approx(5.2 + 2 * 200 * 5 / 1e3)


@pytest.mark.parametrize("gains, expected", [((0.5, 0.9, 1.2), "2 to 4 us"), ((1.1, 1.2, 1.3), "below 1 us"),
                                             ((1.04, 1.2, 1.3), "1 to 2 us"),
                                             ((1.1, 0.9, 1.2), "2 to 4 us"), ((0.5, 1.2, 0.9), "above 4 us")])  # fmt: skip
def test_where_two_threads_become_faster(model, gains, expected):
    pair = {"short": [{"us": us, "same": {"one": gain, "line": 1.0}} for us, gain in zip((1, 2, 4), gains)]}
    assert model.crossing(pair, "same", "line") == expected


def test_the_page_has_what_the_program_prints(model):
    page = (SOURCE / "docs/measured/threads.md").read_text(encoding="utf-8")
    constants = json.loads(MEASURED.read_text(encoding="utf-8"))
    for table in (model.predictions, model.measured_constants, model.comparison, model.short_calls, model.bounds):
        assert table(constants) in page, table.__name__


def test_the_picture_is_that_of_the_constants(model, tmp_path):
    model.draw(json.loads(MEASURED.read_text(encoding="utf-8")), tmp_path / "it.svg")
    assert (tmp_path / "it.svg").read_text(encoding="utf-8") == (SOURCE / "docs/pictures/bench-threads.svg").read_text(encoding="utf-8")


def test_the_constants_of_tasks_are_the_librarys(model):
    text = (SOURCE / "src/core/kernel/tuning.def").read_text(encoding="utf-8")
    values = dict(re.findall(r"^GATHER_TUNING\((\w+), (-?\d+),", text, flags=re.M))
    for name in ("task_bytes", "awake_task_bytes", "thread_tasks"):
        assert int(values[name]) == getattr(model, name.upper()), name


def test_measures(tmp_path):
    ran = run("--measure", str(tmp_path / "it.json"), "--quick", "--picture", str(tmp_path / "it.svg"), program="threads_model")
    assert ran.returncode == 0, ran.stderr
    found = json.loads((tmp_path / "it.json").read_text(encoding="utf-8"))
    assert len(found["regimes"]) == 5 and all(us > 0 for times in found["regimes"].values() for us in times.values())
    assert len(found["pairs"][found["measured_as"]]["short"]) == 8
    assert len(re.findall(r"^\| ", ran.stdout, flags=re.M)) == 2 * 5 + 12 + 14 + 5 + 8 + 4 and (tmp_path / "it.svg").exists()
