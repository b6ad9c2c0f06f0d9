# SPDX-License-Identifier: MIT
"""A shuffle that is stopped anywhere goes on, and gives the same bytes; what it left is trusted in nothing."""

import os
import resource
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from support.sample import STEP

RNG = np.random.default_rng(5)
ROWS, WIDTH = 120_000, 160
FEW = 15_000
FOLDER = ".gather-shuffle-o.npy"
WORDS = ("shuffle", "x.npy", "-o", "o.npy", "--memory", "4300000")
WORD = (1 << 64) - 1


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return RNG.integers(0, 256, (ROWS, WIDTH), np.uint8)


@pytest.fixture(scope="module")
def order() -> np.ndarray:
    return RNG.integers(-ROWS, ROWS, ROWS)


@pytest.fixture
def ready(gather, data, order):
    gather.save("x.npy", data)
    gather.save("i.npy", order)
    return gather


def expected_of(gather, data, order, more) -> np.ndarray:
    if "--order" in more:
        return data[order]
    gather.save("numbers.npy", np.arange(ROWS))
    assert gather("shuffle", "numbers.npy", "-o", "undisturbed.npy", "-f", "--seed", more[1]).code == 0
    return data[gather.load("undisturbed.npy")]


def start(gather, *words) -> subprocess.Popen:
    return subprocess.Popen(
        [str(gather.exe), *map(str, words)], cwd=gather.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def journal(gather) -> str:
    try:
        return (gather.folder / FOLDER / "journal").read_text()
    except FileNotFoundError:
        return ""


def stop_when(gather, text: str, *words, number=signal.SIGKILL) -> tuple[int, bytes]:
    """Runs it until the journal has these words, and then no further."""
    process = start(gather, *words)
    for _ in range(100_000):
        if text in journal(gather) or process.poll() is not None:
            break
        time.sleep(0.0005)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


KINDS = [("--seed", "17"), ("--order", "i.npy")]


def left_of(gather) -> set[str]:
    """What a shuffle works in, or leaves."""
    return {name for name in gather.names() if name.startswith(".gather-")}


@pytest.mark.parametrize("more", KINDS, ids=["random", "given"])
@pytest.mark.parametrize("passes", [1, 2])
def test_kill_at_random_moments(ready, data, order, more, passes):
    """Each run gets longer than the one before, from a small part of what an undisturbed one takes."""
    words = (*WORDS, *more, "--passes", passes)
    expected = expected_of(ready, data, order, more)
    begin = time.monotonic()
    assert ready(*words).code == 0
    seconds = time.monotonic() - begin
    kills = 0
    for i in range(1, 25, min(STEP, 3)):
        if (ready.folder / "o.npy").exists() and not left_of(ready):  # done, and begun anew
            assert (ready.load("o.npy") == expected).all()
            (ready.folder / "o.npy").unlink()
        process = start(ready, *words, "--resume", "-q")
        try:
            process.wait(seconds * float(RNG.random()) * i / 12)
        except subprocess.TimeoutExpired:
            process.kill()
        assert process.wait(60) in (0, -signal.SIGKILL), process.stderr.read()
        kills += process.returncode != 0
    assert kills > 2
    assert (ready.folder / "o.npy").exists() and not left_of(ready) or ready(*words, "--resume").code == 0
    assert (ready.load("o.npy") == expected).all() and not left_of(ready)


@pytest.mark.parametrize("more", KINDS, ids=["random", "given"])
def test_kill_as_soon_as_the_output_has_its_name(ready, data, order, more):
    """From there to the end of the process, a later run says that it is done. A small table: the same moment, and sooner there."""
    ready.save("x.npy", data[:FEW])
    ready.save("i.npy", order[:FEW] % FEW)
    for _ in range(15):
        process = start(ready, *WORDS, *more, "-q")
        while not (ready.folder / "o.npy").exists() and process.poll() is None:
            pass
        process.kill()
        process.communicate(timeout=60)
        if left_of(ready):
            answer = ready.json(*WORDS, *more, "--resume")
            assert answer["resumed"] is True and answer["rows"] == FEW
        assert not left_of(ready)
        (ready.folder / "o.npy").unlink()


def test_what_is_left_is_private(ready):
    """The journal gets a name beside the output at the end, where the folder does not hide it: it names files, and has the order."""
    leave(ready, "--seed", 3)
    folder = ready.folder / FOLDER
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o077 for path in folder.iterdir() if path.name != "rows"}
    assert modes.keys() - {"journal.new"} == {"journal", "places", "lock"} and not any(modes.values())  # the kill may have met a new journal


def finished_states(ready):
    """Everything that a run can leave behind between giving OUT its name and its end."""
    leave(ready, "--seed", 3)
    body = (ready.folder / FOLDER / "journal").read_bytes().split(b"step collect")[0]
    assert ready.json(*WORDS, "--seed", 3, "--resume")["resumed"] is True
    body += b"step publish\nat %d\nfills 0\n" % (ready.folder / "o.npy").stat().st_size
    journal = body + sum_of(body)
    last = ready.folder / (FOLDER + ".done")

    def make(*names: str) -> None:
        (ready.folder / FOLDER).mkdir()
        for name in names:
            (ready.folder / FOLDER / name).write_bytes(journal if name == "journal" else b"")

    yield lambda: (make("journal", "places", "lock", "rows"), (ready.folder / FOLDER / "rows").unlink(),
                   os.link(ready.folder / "o.npy", ready.folder / FOLDER / "rows"))
    yield lambda: make("journal", "places", "lock")
    yield lambda: make("journal", "lock")
    yield lambda: (make("lock"), last.write_bytes(journal))
    yield lambda: (make(), last.write_bytes(journal))
    yield lambda: last.write_bytes(journal)


@pytest.mark.parametrize("number", range(6))
def test_a_run_that_ended_behind_its_output(ready, data, number):
    state = list(finished_states(ready))[number]
    expected = ready.load("o.npy")
    state()
    error = ready.fails("usage", *WORDS, "--seed", 4, "--resume")
    assert "'seed 3' there, 'seed 4' here" in error["message"]
    assert left_of(ready) and (ready.load("o.npy") == expected).all()
    answer = ready.json(*WORDS, "--seed", 3, "--resume")
    assert answer["resumed"] is True and not left_of(ready) and (ready.load("o.npy") == expected).all()
    state()
    ready.fails("file_exists", *WORDS, "--seed", 3)
    assert ready.json(*WORDS, "--seed", 3, "-f")["resumed"] is False and not left_of(ready)
    state()
    (ready.folder / "o.npy").unlink()
    again = ready(*WORDS, "--seed", 3, "--resume", *(["-f"] if number < 3 else []))
    if number < 3:  # its folder says that the output has its name, and neither it nor the rows are there
        assert again.code == 3
        assert ready(*WORDS, "--seed", 3, "-f").code == 0
    else:
        assert again.code == 0
    assert not left_of(ready) and (ready.load("o.npy") == expected).all()


def test_a_folder_that_was_being_removed(ready, data):
    """The journal goes first: without its files it would promise what is not there."""
    leave(ready, "--seed", 3)
    (ready.folder / FOLDER / "journal").unlink()
    answer = ready.json(*WORDS, "--seed", 3, "--resume")
    assert answer["resumed"] is False and not left_of(ready)
    assert (ready.load("o.npy") == expected_of(ready, data, None, ("--seed", 3))).all()


def test_the_output_is_private_while_it_is_made(ready):
    """Nobody else can look into the folder; a file that is replaced keeps its permissions."""
    ready.write("o.npy", "old")
    (ready.folder / "o.npy").chmod(0o600)
    code, _ = stop_when(ready, "step collect", *WORDS, "--passes", 2, "--seed", 3, "-f")
    assert code == -signal.SIGKILL and (ready.folder / FOLDER).stat().st_mode & 0o777 == 0o700
    assert ready(*WORDS, "--passes", 2, "--seed", 3, "-f", "--resume").code == 0
    assert (ready.folder / "o.npy").stat().st_mode & 0o777 == 0o600 and not left_of(ready)


@pytest.mark.parametrize("more", KINDS, ids=["random", "given"])
@pytest.mark.parametrize("moment", ["step pairs", "step spread\nat 0", "step spread\nat 5", "step collect", "publish"])
def test_kill_in_every_step(ready, data, order, more, moment):
    if moment == "step pairs" and "--seed" in more:
        moment = "seed 17"  # as soon as there is a journal
    code, _ = stop_when(ready, moment, *WORDS, *more, "--passes", 2)
    finished = code == 0
    assert finished or FOLDER in ready.names()
    if not finished:
        answer = ready.json(*WORDS, *more, "--passes", 2, "--resume")
        assert answer["resumed"] is True
    assert (ready.load("o.npy") == expected_of(ready, data, order, more)).all()
    assert FOLDER not in ready.names()


def leave(ready, *more) -> None:
    """A run that ended in its second pass."""
    code, _ = stop_when(ready, "step collect", *WORDS, "--passes", 2, *more)
    assert code == -signal.SIGKILL and FOLDER in ready.names()


def test_what_the_line_leaves_open_is_in_the_journal(ready, data):
    """A seed that was made, memory and passes."""
    leave(ready)
    seed = int(journal(ready).split("\nseed ")[1].split("\n")[0])
    answer = ready.json("shuffle", "x.npy", "-o", "o.npy", "--resume")
    assert (answer["seed"], answer["memory"], answer["passes"]) == (seed, 4300000, 2)
    assert (ready.load("o.npy") == expected_of(ready, data, None, ("--seed", seed))).all()


def test_ctrl_c_leaves_the_folder(ready):
    code, errors = stop_when(ready, "step spread", *WORDS, "--passes", 2, number=signal.SIGINT)
    assert code == 130 and FOLDER in ready.names() and "o.npy" not in ready.names()
    note = "gather: note: .gather-shuffle-o.npy contains what is done; --resume resumes it, -f starts again\n"
    assert errors.decode() == note
    assert ready.json("shuffle", "x.npy", "-o", "o.npy", "--resume")["resumed"] is True


def test_a_folder_is_kept_unless_told_otherwise(ready, data):
    leave(ready, "--seed", 3)
    error = ready.fails("file_exists", *WORDS, "--seed", 3)
    assert "--resume" in error["message"] and FOLDER in error["message"]
    assert ready.json(*WORDS, "--seed", 4, "-f")["resumed"] is False
    assert (ready.load("o.npy") == expected_of(ready, data, None, ("--seed", 4))).all()
    assert FOLDER not in ready.names()


def test_resume_without_a_folder_begins(ready):
    assert ready.json(*WORDS, "--resume")["resumed"] is False
    (ready.folder / FOLDER).mkdir()
    assert ready.json(*WORDS, "-f", "--resume")["resumed"] is False
    assert FOLDER not in ready.names()


def test_another_command_is_refused_with_the_difference(ready, data):
    leave(ready, "--seed", 3)
    for change, word in [
        (("--seed", 4), "'seed 3' there, 'seed 4' here"),
        (("--seed", 3, "--memory", "4300001"), "memory 4300001"),
        (("--seed", 3, "--passes", 1), "passes 1"),
        (("--order", "i.npy"), " there, 'order "),
    ]:
        words = [*WORDS[:4], *([] if "--memory" in change else WORDS[4:]), *change, "--resume"]
        error = ready.fails("usage", *words)
        assert word in error["message"], error
    os.utime(ready.folder / "x.npy", ns=(1, 1))
    assert "changed at 0.000000001" in ready.fails("usage", *WORDS, "--resume")["message"]
    ready.save("x.npy", data[:-1])
    assert "data " in ready.fails("usage", *WORDS, "--resume")["message"]
    assert "o.npy" not in ready.names() and FOLDER in ready.names()


def test_another_order_is_refused(ready, order):
    leave(ready, "--order", "i.npy")
    order = order.copy()
    order[77] = (order[77] + 1) % ROWS
    ready.save("i.npy", order)
    assert "order " in ready.fails("usage", *WORDS, "--order", "i.npy", "--passes", 2, "--resume")["message"]


def test_data_that_changes_while_it_is_read(ready):
    process = start(ready, *WORDS, "--passes", 2)
    for _ in range(100_000):
        if "step spread" in journal(ready):
            break
        time.sleep(0.0005)
    os.utime(ready.folder / "x.npy", ns=(5, 5))
    _, errors = process.communicate(timeout=60)
    if process.returncode == 0:  # it was read before
        return
    assert process.returncode == 3 and b"changed" in errors and "o.npy" not in ready.names()


def test_two_at_once(ready, data):
    first = start(ready, *WORDS, "--seed", 6, "--passes", 2)
    while "step" not in journal(ready) and first.poll() is None:
        time.sleep(0.0005)
    os.kill(first.pid, signal.SIGSTOP)
    try:
        for more in (["--resume"], ["-f"], []):
            answer = ready(*WORDS, "--seed", 6, *more)
            assert answer.code == 3 and ("using it" in answer.errors), answer
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert first.wait(120) == 0
    assert (ready.load("o.npy") == expected_of(ready, data, None, ("--seed", 6))).all()


@pytest.mark.parametrize("moment", ["step spread", "step collect"])
def test_a_disk_that_is_full_in_the_middle(ready, data, moment):
    """A limit on the size of files that comes while it works; with room again, it goes on."""
    process = start(ready, *WORDS, "--seed", 9, "--passes", 2)
    while moment not in journal(ready) and process.poll() is None:
        time.sleep(0.0005)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
    _, errors = process.communicate(timeout=60)
    if process.returncode != 0:
        assert process.returncode == 3 and errors.startswith(b"gather: error: ") and "o.npy" not in ready.names()
        kept = b"--resume resumes" in errors  # where something was durable
        assert kept == (FOLDER in ready.names()) and (kept or moment == "step spread")
        assert ready.json(*WORDS, "--resume", "--seed", 9)["resumed"] is kept
    assert (ready.load("o.npy") == expected_of(ready, data, None, ("--seed", 9))).all()


def test_an_aligned_output(ready, data):
    """The rows on the disk are where the alignment put them: a run with another one is another shuffle."""
    leave(ready, "--seed", 3, "--align", 4096)
    for other in ((), ("--align", 8192)):
        error = ready.fails("usage", *WORDS, "--resume", "--seed", 3, *other)
        assert "another shuffle" in error["message"]
    assert ready.json(*WORDS, "--resume", "--align", 4096)["resumed"]
    assert ready.json("info", "o.npy")["tensors"][0]["offset"] == 4096
    assert (ready.load("o.npy") == expected_of(ready, data, None, ("--seed", 3))).all()


def sum_of(text: bytes) -> bytes:
    value = len(text)
    for byte in text:
        value = (value ^ byte) * 0x9E3779B97F4A7C15 & WORD
        value ^= value >> 29
    return b"sum %016x\n" % value


def test_a_hostile_journal(ready):
    leave(ready, "--seed", 3)
    path = ready.folder / FOLDER / "journal"
    good = path.read_bytes()
    body = good[:-21]
    assert good == body + sum_of(body)
    head = body[: body.index(b"step collect")]
    broken = [b"", b"x", good[:-1], good[1:], good[:50], good.replace(b"seed 3", b"seed 4"), b"\0" * 100, good + good]
    wrong = [
        head,
        head + b"step collect\n",
        head + b"step collect\nat 99999\nfills 0\n",
        head + b"step collect\nat -1\nfills 0\n",
        head + b"step collect\nat 99999999999999999999999\nfills 0\n",
        head + b"step take\nat 0\nfills 0\n",
        head + b"step pairs\nat 0\nfills 0\n",
        head + b"step nothing\nat 0\nfills 0\n",
        head + b"step spread\nat 5\nfills 5\n",
        head + b"step spread\nat 5\nfills " + b"9" * 400 + b"\n",
        head + b"step spread\nat 120001\nfills" + b" 120001" * 40 + b"\n",
    ]
    for text in [*broken, *(body + sum_of(body) for body in wrong)]:
        path.write_bytes(text)
        answer = ready(*WORDS, "--seed", 3, "--passes", 2, "--resume")
        assert answer.code in (2, 3) and answer.errors.startswith("gather: error: "), (text, answer)
        assert "o.npy" not in ready.names()
    path.unlink()
    path.symlink_to("/dev/zero")
    assert ready(*WORDS, "--seed", 3, "--passes", 2, "--resume").code == 3
    path.unlink()
    os.mkfifo(path)
    assert ready(*WORDS, "--seed", 3, "--passes", 2, "--resume").code == 3
    path.unlink()
    path.write_bytes(good)
    ready.json(*WORDS, "--seed", 3, "--passes", 2, "--resume")


def test_hostile_files_in_the_folder(ready):
    leave(ready, "--seed", 3)
    folder = ready.folder / FOLDER
    resume = (*WORDS, "--seed", 3, "--passes", 2, "--resume")
    keep = ready.folder / "kept"
    shutil.copytree(folder, keep)
    ready.write("victim", "precious")

    def spoiled(spoil) -> None:
        shutil.rmtree(folder)
        shutil.copytree(keep, folder)
        spoil()
        assert ready(*resume).code == 3
        assert "o.npy" not in ready.names() and (ready.folder / "victim").read_text() == "precious"

    spoiled(lambda: ((folder / "rows").unlink(), (folder / "rows").symlink_to(ready.folder / "victim")))
    spoiled(lambda: ((folder / "rows").unlink(), os.link(ready.folder / "victim", folder / "rows")))
    spoiled(lambda: (folder / "rows").unlink())
    spoiled(lambda: os.truncate(folder / "rows", 5000))
    spoiled(lambda: os.truncate(folder / "places", 5000))
    spoiled(lambda: (folder / "places").write_bytes(b"\xff" * (4 * ROWS)))
    spoiled(lambda: (folder / "places").write_bytes(bytes(4 * ROWS)))  # all rows at one place
    shutil.rmtree(folder)
    folder.symlink_to(ready.folder / "kept")
    assert ready(*resume).code == 3
    folder.unlink()
    folder.mkdir()
    (folder / "mine").write_text("precious")
    assert ready(*WORDS, "-f").code == 3 and (folder / "mine").read_text() == "precious"
