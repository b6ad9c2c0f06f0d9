# SPDX-License-Identifier: MIT
"""`gather tree`: sequences, policies, errors, JSON, exit codes."""

import re

import numpy as np
import pytest

from support.beams import OPENVINO_CASES, draw, sequences

LINE = ("s.npy", "p.npy", "l.npy")


def save(gather, steps, parents, lengths):
    for name, array in zip(LINE, (steps, parents, lengths), strict=True):
        gather.save(name, array)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.uint8, np.dtype(">i2").type])
def test_random_cases(gather, dtype):
    rng = np.random.default_rng(9)
    for number in range(6):
        steps, parents, lengths, end = draw(rng, dtype)
        save(gather, steps, parents, lengths)
        gather.save("end.npy", np.asarray(end))
        answer = gather.json("tree", *LINE, "end.npy" if number % 2 else end.item(), "-o", "o.npy", "-f")
        want, _ = sequences(steps, parents, lengths, end)
        np.testing.assert_array_equal(gather.load("o.npy"), want)
        assert gather.load("o.npy").dtype == want.dtype
        assert (answer["command"], answer["rules"], answer["type"]) == ("tree", "openvino-1", np.dtype(dtype).name)
        assert (answer["shape"], answer["bytes"]) == (list(want.shape), want.nbytes)
        assert answer["indices"] == {"count": want.size, "bad": 0} and answer["dry_run"] is False


def test_byte_order_of_the_output_is_that_of_step_ids(gather):
    steps, parents, lengths, end = draw(np.random.default_rng(1), np.int32, time=3, batch=2, width=3)
    save(gather, steps.astype(">i4"), parents, lengths)
    assert gather("tree", *LINE, end.item(), "-o", "o.npy").code == 0
    assert gather.load("o.npy").dtype == np.dtype(">i4")
    np.testing.assert_array_equal(gather.load("o.npy"), sequences(steps, parents, lengths, end)[0])


def test_openvinos_own_cases(gather):
    for _, shape, ids, lengths, end, want in OPENVINO_CASES:
        gather.save("s.npy", np.array(ids, np.int32).reshape(shape))
        assert gather.result("tree", "s.npy", "s.npy", str(lengths), end).ravel().tolist() == want


def test_literals_texts_and_standard_input(gather):
    line = ("tree", "[[[1, 2]], [[3, 4]]]", "[[[0, 0]], [[1, 0]]]")
    gather.write("l.txt", "2\n")
    assert gather(*line, "l.txt", 9, "-o", "o.npy").code == 0
    assert gather.load("o.npy").tolist() == [[[2, 1]], [[3, 4]]] and gather.load("o.npy").dtype == np.int64
    gather.save("s.npy", np.array([[[1, 2]], [[3, 4]]], np.float32))
    bytes_of = (gather.folder / "s.npy").read_bytes()
    answer = gather("tree", "-", line[2], "[2]", "9", "-o", "-", stdin=bytes_of)
    assert answer.code == 0 and answer.out[-16:] == np.array([2, 1, 3, 4], np.float32).tobytes()


def test_a_parent_out_of_range(gather):
    rng = np.random.default_rng(3)
    steps, parents, lengths, end = draw(rng, np.int32, time=5, batch=2, width=3)
    lengths[:] = 5
    parents[3, 1, :] = [7, 0, -2]
    save(gather, steps, parents, lengths)
    _, bad = sequences(steps, parents, lengths, end)
    error = gather.fails("index_out_of_range", "tree", *LINE, end.item(), "-o", "new.npy")
    first = min(bad)
    assert error["position"] == list(first) and error["value"] == parents[first] and error["bad_count"] == len(bad)
    assert (error["low"], error["high"], error["axis"], error["op"], error["input"]) == (0, 2, 2, "GatherTree", "parent_ids")
    assert "new.npy" not in gather.names()
    for policy in ("clamp", "wrap", "zero", "fill=4", "promise"):
        want, bad = sequences(steps, parents, lengths, end, policy.split("=")[0], fill=4 if "=" in policy else 0)
        answer = gather.json("tree", *LINE, end.item(), "-o", "o.npy", "-f", "--on-bad", policy)
        np.testing.assert_array_equal(gather.load("o.npy"), want)
        assert answer["indices"]["bad"] == len(bad)
    want, bad = sequences(steps, parents, lengths, end, "wrap", negative=True)
    assert gather.json("tree", *LINE, end.item(), "-o", "o.npy", "-f", "--on-bad", "wrap", "--negative", "on")["indices"]["bad"] == len(bad)
    np.testing.assert_array_equal(gather.load("o.npy"), want)


def test_dry_run_writes_nothing(gather):
    save(gather, *draw(np.random.default_rng(6), np.int32, time=4, batch=1, width=2)[:3])
    before = gather.names()
    answer = gather.json("tree", *LINE, 1, "--dry-run")
    assert answer["dry_run"] is True and answer["shape"] == [4, 1, 2] and gather.names() == before
    text = gather("tree", *LINE, 1, "--dry-run").text
    assert text.startswith("result: would be int32 [4, 1, 2], 32 bytes; 8 indices\n")
    gather.save("p.npy", np.full((4, 1, 2), 5, np.int32))
    gather.save("l.npy", np.array([4], np.int32))
    gather.fails("index_out_of_range", "tree", *LINE, 1, "--dry-run")


def test_help(gather):
    text = gather("tree", "--help").text
    assert "gather tree STEP_IDS PARENT_IDS MAX_SEQ_LEN END_TOKEN -o OUT" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "--axis" not in text and re.search(r"--on-bad\b", text)


def test_threads_do_not_change_the_result(gather):
    steps, parents, lengths, end = draw(np.random.default_rng(8), np.int32, time=60, batch=30, width=120)
    save(gather, steps, parents, lengths)
    want, _ = sequences(steps, parents, lengths, end)
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(gather.result("tree", *LINE, end.item(), "--threads", threads), want)
