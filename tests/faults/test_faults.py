# SPDX-License-Identifier: MIT
"""One call fails, or the run is stopped at one: exit code of the contract, whole outputs, nothing left, --resume to the same bytes.

GATHER_TEST_ROUNDS=N tries N points of each scenario, GATHER_TEST_ROUNDS=all every one; GATHER_TEST_SEED=N others.
"""

import os
import queue
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from points import all_points, choose
from runs import Point, Result, Runner
from scenarios import PRECIOUS, SCENARIOS, Scenario
from verdict import judge

WORKERS = len(os.sched_getaffinity(0))


def make_cold(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


class Trial:
    """One scenario in one form of its answer."""

    def __init__(self, scenario: Scenario, as_json: bool, input_folder: Path, unnamed: bool, url: str):
        self.scenario, self.as_json, self.inputs, self.unnamed = scenario, as_json, input_folder, unnamed
        self.words = scenario.words(str(input_folder), url, as_json)
        self.before = {name: PRECIOUS for name in scenario.outputs} if scenario.replaces else {}
        self.base = Result(None, b"", b"")

    def run(self, runner: Runner, point: Point) -> Result:
        runner.clean(self.before)
        if self.scenario.cold:
            make_cold(self.inputs / self.scenario.cold)
        return runner.run(self.words, point)

    def begin(self, runner: Runner) -> list[Point]:
        """The undisturbed run, and where it can go wrong."""
        self.base = self.run(runner, Point())
        assert self.base.code in (0, 1), self.base
        assert all(self.base.files.get(name, PRECIOUS) != PRECIOUS for name in self.scenario.outputs if self.base.code == 0)
        calls = self.run(runner, Point("count")).calls
        return all_points(calls, self.run(runner, Point("alloc")).allocations, self.scenario.loops)

    def resume(self, runner: Runner, result: Result) -> list[str]:
        """What is left of a shuffle goes on to the same bytes."""
        if not self.scenario.resumes or result.code in (0, None):
            return []
        folder = any(name.startswith(".gather-shuffle") for name in result.files)
        if not folder and result.files.get("o.npy") == self.base.files["o.npy"]:
            return []  # it was done
        again = runner.run([*self.words, "--resume"], Point())
        if again.code != 0:
            return [f"--resume: exit code {again.code}: {(again.err or again.out)[-300:]!r}, from {sorted(result.files)}"]
        return [] if again.files == self.base.files else [f"--resume: {sorted(again.files)} are not the same"]

    def wrong(self, runner: Runner, point: Point) -> str:
        result = self.run(runner, point)
        wrong = judge(self.scenario, self.as_json, point, result, self.base, self.unnamed) + self.resume(runner, result)
        return f"{point} ({result.fired or 'not come to'}): {'; '.join(wrong)}" if wrong else ""


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_faults(scenario, as_json, runner, input_folder, unnamed, server_url):
    trial = Trial(scenario, as_json, input_folder, unnamed, server_url(scenario, input_folder))
    runners: queue.SimpleQueue[Runner] = queue.SimpleQueue()
    for i in range(WORKERS):
        runners.put(runner(f"worker-{i}"))

    def attempt(point: Point) -> str:
        mine = runners.get()
        try:
            return trial.wrong(mine, point)
        finally:
            runners.put(mine)

    points = choose(trial.begin(runner("base")), f"{scenario.name} {as_json}", scenario.least)
    with ThreadPoolExecutor(WORKERS) as pool:
        wrong = [text for text in pool.map(attempt, points) if text]
    assert not wrong, f"{len(wrong)} of {len(points)} points, gather {' '.join(trial.words)}\n" + "\n".join(wrong[:40])
