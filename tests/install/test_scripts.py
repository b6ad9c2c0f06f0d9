# SPDX-License-Identifier: MIT
"""What the scripts show while they work, what script/test says of skipped tests, and the model that script/demo makes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator


def shell(source: Path, program: str, **keywords) -> subprocess.CompletedProcess:
    """Runs a few lines of bash that use script/lib.sh."""
    return subprocess.run(["bash", "-c", f". {source}/script/lib.sh\n{program}"], capture_output=True, text=True, **keywords)


def test_a_long_step_shows_what_it_does(gather_source: Path, tmp_path: Path):
    """Sums and sizes at once, the latest line every five seconds; all of it is in the log."""
    program = """
work() { echo 'Need to get 93.0 MB of archives.'; echo 'Unpacking gcc'; sleep 6; echo done; echo problem >&2; }
progress apt %s work
""" % (tmp_path / "log")
    done = shell(gather_source, program)
    assert done.returncode == 0, done.stderr
    sums, latest = done.stdout.splitlines()
    assert sums == "apt: Need to get 93.0 MB of archives."
    assert latest in {"apt: 5 s: Unpacking gcc", "apt: 6 s: Unpacking gcc"}
    assert (tmp_path / "log").read_text() == "Need to get 93.0 MB of archives.\nUnpacking gcc\ndone\nproblem\n"


def test_a_step_that_fails(gather_source: Path, tmp_path: Path):
    done = shell(gather_source, f"progress x {tmp_path}/log false || echo failed")
    assert done.stdout == "failed\n"
    assert shell(gather_source, f"progress x {tmp_path}/log false; echo not reached").returncode == 1


def test_tests_that_are_waited_for_are_named(gather_source: Path):
    """ctest's lines come through unchanged, the last one without an end too; in silence those that run are named."""
    lines = ["      Start  1: fast", "      Start 12: slow_one", "1/2 Test  #1: fast ....   Passed    0.01 sec"]
    last = "2/2 Test #12: slow_one ...***Failed    9.01 sec"
    program = "printf '%s\n' " + " ".join(f"'{line}'" for line in lines) + f"; sleep 10; printf '%s' '{last}'"
    done = shell(gather_source, f"{{ {program}; }} | name_running")
    said = done.stdout.splitlines()
    assert said[:3] == lines and said[4:] == [last] and said[3].strip() in {"8 s: waiting for slow_one", "9 s: waiting for slow_one"}, said


LOG = """
1/3 Test: python
Command: "pytest"
SKIPPED [2] ../tests/support/skip.py:15: torch: the package is not installed
SKIPPED [1] ../tests/support/skip.py:15: jax: the package is not installed
2/3 Test: docs
SKIPPED [3] ../tests/support/skip.py:15: torch: the package is not installed
3/3 Test: test_reader
[ RUN      ] test_one
SKIPPED uring: not allowed here
[  SKIPPED ] test_one
[ RUN      ] test_two
SKIPPED uring: not allowed here
[  SKIPPED ] test_two
[  SKIPPED ] 2 test(s), listed below:
[  SKIPPED ] test_one
[  SKIPPED ] test_two
"""


def test_skips_are_summed_up(gather_source: Path):
    done = shell(gather_source, "summarise_skips", input=LOG)
    assert done.stdout.splitlines() == [
        "  jax: the package is not installed (1 test of python)",
        "  torch: the package is not installed (5 tests of python, docs)",
        "  uring: not allowed here (2 tests of test_reader)",
    ]


@pytest.mark.parametrize("log, code, told", [("Start testing", 1, "not known"), ("1/1 Test: a\nSKIPPED x: y\n[  SKIPPED ] b", 0, "x: y"),
                                             ("1/1 Test: a\n", 0, "nothing")])
def test_a_log_without_tests_is_a_failure(gather_source: Path, tmp_path: Path, log: str, code: int, told: str):
    """Whatever emptied it: "nothing" is said only of tests that were seen."""
    (tmp_path / "build/x/Testing/Temporary").mkdir(parents=True)
    (tmp_path / "build/x/Testing/Temporary/LastTest.log").write_text(log)
    done = shell(gather_source, f"cd {tmp_path}; ctest_command=(echo '100% tests passed'); jobs=1; test_preset x")
    assert done.returncode == code and "skipped in x:" in done.stdout and told in done.stdout


CTEST = """
cat >%(bin)s/ctest <<'END'
echo "$*" >>%(bin)s/asked
mkdir -p build/x/Testing/Temporary
cd build/x/Testing/Temporary
case "$*" in
*-R*) echo "1/1 Test: again" >LastTest.log; echo "the second output"; [[ "$*" =~ (%(pass)s)[$] ]]; exit ;;
esac
echo "1/3 Test: a" >LastTest.log
printf '%%s' "%(failed)s" >LastTestsFailed.log
echo '33%% tests passed, %(count)d tests failed out of 12'
exit 8
END
mkdir -p %(bin)s/build
cd %(bin)s; ctest_command=(bash %(bin)s/ctest); jobs=1; test_preset x; echo "result $?"
"""


@pytest.mark.parametrize("failed, passes, flaky, closing, result", [
    (["a"], "a", ["a"], "100% tests passed, 0 tests failed out of 12", 0),
    (["a", "b"], "a|b", ["a", "b"], "100% tests passed, 0 tests failed out of 12", 0),
    (["a", "b"], "b", ["b"], "91% tests passed, 1 tests failed out of 12", 8),
    (["a"], "none", [], "91% tests passed, 1 tests failed out of 12", 8),
    (list("abcdefghi"), "[a-i]", [], "25% tests passed, 9 tests failed out of 12", 8),  # not by chance
])  # fmt: skip
def test_what_failed_is_run_once_more(gather_source: Path, tmp_path: Path, failed, passes, flaky, closing, result):
    given = {"bin": tmp_path, "pass": passes, "failed": "".join(f"{i}:{name}\n" for i, name in enumerate(failed)), "count": len(failed)}
    done = shell(gather_source, "set +e\n" + CTEST % given)
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("flaky: ")] == [f"flaky: {name}" for name in flaky], done.stdout + done.stderr
    assert lines[-2:] == [closing, f"result {result}"] and lines.count("the second output") == len(flaky)
    asked = (tmp_path / "asked").read_text().splitlines()[1:]
    assert [line.split()[-1] for line in asked] == ([f"^{name}$" for name in failed] if len(failed) < 9 else [])


def test_a_missing_terminal_is_a_skip(gather_source: Path, tmp_path: Path):
    """A test that asks for a pseudo-terminal where there is none is skipped by name."""
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(gather_source / 'tests')!r})\nimport pty\n"
        "def none(): raise OSError('out of pty devices')\npty.openpty = none\n"
        f"exec(open({str(gather_source / 'tests/conftest.py')!r}).read())\n"
    )
    (tmp_path / "test_it.py").write_text("import pty\ndef test_it(): pty.openpty()\n")
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0 and "terminal: this system has no pseudo-terminals (out of pty devices)" in done.stdout, done.stdout


def test_the_model_of_the_demo_is_onnx(gather_source: Path, tmp_path: Path):
    np.save(tmp_path / "t.npy", np.arange(600, dtype=np.float32).reshape(200, 3))
    command = [sys.executable, gather_source / "script/demo.py", "model", tmp_path / "t.npy", tmp_path / "m.onnx"]
    subprocess.run(command, check=True)
    model = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert np.array_equal(onnx.numpy_helper.to_array(model.graph.initializer[0]), np.load(tmp_path / "t.npy"))
    answer = ReferenceEvaluator(model).run(None, {"ids": np.array([[199, 2]])})
    assert answer[0].tolist() == [[[597, 598, 599], [6, 7, 8]]]


@pytest.mark.parametrize("group", ["build", "python", "test"])
def test_every_package_has_its_reason(gather_source: Path, group: str):
    """docs/extend/dependencies.md names each Debian package that script/bootstrap installs for building and testing."""
    program = f"eval \"$(sed -n '/^packages_/,/)$/p' script/bootstrap)\"\necho \"${{packages_{group}[@]}}\""
    packages = shell(gather_source, program).stdout.split()
    page = (gather_source / "docs/extend/dependencies.md").read_text(encoding="utf-8")
    assert len(packages) > 3 and [name for name in packages if name not in page] == []


SAMPLED = """
import pytest
@pytest.mark.parametrize("n", range(10))
def test_cases(n): pass
@pytest.mark.all_cases
@pytest.mark.parametrize("n", range(3))
def test_counted(n): pass
@pytest.mark.in_full
def test_learned_once(): pass
"""


@pytest.mark.all_cases
@pytest.mark.parametrize("one_in, left", [("1", 14), ("4", 6)])
def test_a_sample_leaves_out(gather_source: Path, tmp_path: Path, one_in: str, left: int):
    """One in four cases, all that are counted, none of what was learned once."""
    (tmp_path / "test_sampled.py").write_text(SAMPLED)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "test_sampled.py"], cwd=tmp_path,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "GATHER_TEST_CASES": one_in, "PYTHONPATH": str(gather_source / "tests")})
    assert done.returncode == 0 and f"{left} passed" in done.stdout, done.stdout + done.stderr
