# SPDX-License-Identifier: MIT
"""What a run may have done: the command's contract, whatever went wrong in it."""

import errno
import json
import re
import signal

from runs import Point, Result
from scenarios import PRECIOUS, Scenario

BROKEN = {"io_error", "out_of_memory"}  # statuses of a system that fails; both are exit code 3
TEMPORARY = re.compile(r"^\.gather-[^/]*\.tmp$")
SHUFFLE = re.compile(r"^\.gather-shuffle-o\.npy")
ADDRESSES = re.compile(rb'("seconds": ?[0-9.e+-]+|[0-9.]+ (s|ms|us)\b)')


def same_text(text: bytes) -> bytes:
    """Without what a clock says."""
    return ADDRESSES.sub(b"", text)


def codes(point: Point, base: Result) -> set[int]:
    """The exit codes that are right."""
    if point.how == "signal":
        # Before main has set its handlers, the signal itself ends the command.
        ends = {-point.number} if point.number == signal.SIGKILL else {-point.number, 128 + point.number}
        return ends | {base.code}
    if point.how in ("none", "short") or point.number == errno.EINTR:
        return {base.code}
    return {base.code, 3}


def json_error(text: bytes) -> str | dict:
    """The only object of an answer, or what is wrong with it."""
    if text.count(b"\n") != 1 or not text.endswith(b"}\n"):
        return "no JSON object of one line"
    try:
        return json.loads(text)
    except ValueError as error:
        return f"broken JSON: {error}"


def judge_failure(as_json: bool, scenario: Scenario, point: Point, result: Result) -> list[str]:
    """Exit code 3 where the undisturbed run has another: it is said, in the form that was asked for."""
    name = result.fired.split(".")[0]
    if name == "stderr" or (name == "stdout" and as_json):
        return []  # where the answer should have gone
    answer = result.err if scenario.data_to_stdout else result.out
    if not as_json:
        return [] if re.search(rb"^gather: error: .+$", result.err, re.M) else ["no line says the error"]
    found = json_error(answer)
    if isinstance(found, str):
        return [found]
    status = found.get("error", {}).get("status")
    if point.how.startswith("alloc") and status != "out_of_memory":
        return [f"without memory the status is {status}: {found['error'].get('message')}"]
    return [] if status in BROKEN else [f"the status is {status}: {found.get('error', {}).get('message')}"]


def may_differ(point: Point, result: Result) -> bool:
    """A file beside a model that cannot be read: its tensors are shown with the reason, and nodes that need them are unknown. Or
    standard output itself failed, and that was said."""
    if result.fired.startswith("stdout") and point.how == "fail":
        return re.search(rb"^gather: error: standard output", result.err, re.M) is not None
    beside = point.how == "fail" and result.fired in ("open", "openat", "newfstatat", "fstat", "stat", "mmap")
    return beside and re.search(rb"cannot (open it|map it|find out its size)", result.out) is not None


def judge_answer(as_json: bool, scenario: Scenario, point: Point, result: Result, base: Result) -> list[str]:
    """The exit code of the undisturbed run: so are the bytes."""
    wrong = [f"{name} is not what it should be" for name in scenario.outputs
             if base.code == 0 and result.files.get(name) != base.files[name]]
    if scenario.data_to_stdout and result.out != base.out:
        wrong.append("standard output is not what it should be")
    if scenario.stable and same_text(result.out) != same_text(base.out) and not may_differ(point, result):
        wrong.append(f"another answer: {result.out[:300]!r}")
    if as_json and not result.fired.startswith("std"):
        found = json_error(result.err if scenario.data_to_stdout else result.out)
        wrong += [found] if isinstance(found, str) else []
    return wrong


def left_by_kill(name: str, content: bytes, result: Result, base: Result, unnamed: bool) -> bool:
    """Whether SIGKILL may leave that. A file without a name gets one for a moment where it replaces another: a kill between that
    call and rename() leaves it, whole. Where a file system has no files without names, a kill leaves parts of them too."""
    if result.code != -signal.SIGKILL or not TEMPORARY.match(name):
        return False
    return not unnamed or (content in base.files.values() and result.fired.startswith("rename"))


def judge_files(scenario: Scenario, point: Point, result: Result, base: Result, unnamed: bool) -> list[str]:
    """Outputs are whole or as they were, and nothing else is there."""
    wrong = []
    for name, content in result.files.items():
        if name in scenario.outputs:
            whole = [base.files.get(name)] + ([PRECIOUS] if scenario.replaces else [])
            if content not in whole:
                wrong.append(f"{name} is partial: {len(content)} bytes")
        elif scenario.resumes and SHUFFLE.match(name) and result.code != 0:
            continue
        elif name.startswith(".gather-") and point.how == "fail" and result.fired.startswith(("unlink", "rmdir")):
            continue  # it is the removal itself that failed
        elif left_by_kill(name, content, result, base, unnamed):
            continue
        else:
            wrong.append(f"{name} is left, {len(content)} bytes")
    if scenario.replaces:
        wrong += [f"{name} is gone" for name in scenario.outputs if name not in result.files]
    return wrong


# glibc ends a process that has no memory for the thread-local data of a library that was loaded by dlopen: libcurl's TLS library.
NO_THREAD_LOCAL = b"cannot allocate memory for thread-local data: ABORT\n"


def judge(scenario: Scenario, as_json: bool, point: Point, result: Result, base: Result, unnamed: bool) -> list[str]:
    """All that is wrong with a run."""
    if result.code is None:
        return ["it hangs"]
    if b"CHECK failed: sanitizer_" in result.err and b"__asan::AsanThread::Init" in result.err:
        return []  # it is the runtime of the sanitizer that has no memory for a thread
    wrong = judge_files(scenario, point, result, base, unnamed)
    if point.how.startswith("alloc") and result.err == NO_THREAD_LOCAL:
        return wrong
    if result.code not in codes(point, base):
        return [f"exit code {result.code}: {(result.err or result.out)[-400:]!r}", *wrong]
    if result.code == base.code:
        return wrong + judge_answer(as_json, scenario, point, result, base)
    return wrong + (judge_failure(as_json, scenario, point, result) if result.code == 3 else [])
