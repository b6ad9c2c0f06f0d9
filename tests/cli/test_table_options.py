# SPDX-License-Identifier: MIT
"""--memory, --engine, --depth and --part: what they take, and where they are refused."""

import numpy as np
import pytest

BYTES = {
    "4194304": 4 << 20, "4M": 4 << 20, "4MiB": 4 << 20, "4mib": 4 << 20, "4MB": 4_000_000, "5000KB": 5_000_000,
    "4096K": 4 << 20, "4096kiB": 4 << 20, "2G": 2 << 30, "2GiB": 2 << 30, "2GB": 2_000_000_000, "1T": 1 << 40,
    "1TB": 10**12, "4194304B": 4 << 20,
}  # fmt: skip


@pytest.mark.parametrize(("text", "size"), BYTES.items())
def test_amounts(gather, table, text, size):
    assert gather.json("take", table, "0", "--dry-run", "--memory", text)["table"]["memory_ceiling"] == size


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "1.5G", "4 M", "M", "4P", "4MM", "4iB", "4Mi", "4BB", "+4M", "99999999999T", "0", "1000"]
)
def test_amounts_that_are_none(gather, table, text):
    message = gather.fails("usage", "take", table, "0", "-o", "o.npy", f"--memory={text}")["message"]
    assert message.startswith("--memory")


@pytest.mark.parametrize("row_bytes", [16, 1 << 20, 5 << 20])
def test_a_ceiling_that_is_too_low_says_what_would_do(gather, row_bytes):
    gather.save("x.npy", np.zeros((2, row_bytes), np.uint8))
    words = ("take", "x.npy", "[1, 0]", "-o", "o.npy", "-f", "--memory")
    message = gather.fails("usage", *words, "1MiB")["message"]
    assert message.startswith(f"--memory 1.00 MiB is too little for rows of {row_bytes} bytes; ")
    enough, unit = message.split("; at least ")[1].split(" ")[:2]
    assert gather(*words, str(int(float(enough))) + unit).code == 0
    assert gather.load("o.npy").shape == (2, row_bytes)


OPTIONS = [("--memory", "8M"), ("--engine", "pread"), ("--depth", "4"), ("--part", "x.npy")]


@pytest.mark.parametrize("option", OPTIONS)
def test_what_is_no_table_says_why(gather, table, option):
    name, raw = option[0], (gather.folder / table).read_bytes()
    for words, why, more in (
        ((table, "0", "--axis", "1"), "axis is 1", {}),
        ((table, "0", "--axis", "-1"), "axis is -1", {}),
        (("-", "0"), "standard input", {"stdin": raw}),
        ((table, "[0]", "--rules", "openvino-8", "--axis", "1", "--batch-dims", "1"), "batch_dims", {}),
        ((gather.write("p.bin", bytes(5)), "0", "--type", "int4", "--shape", "3x3"), "byte", {}),
    ):
        if name == "--part" and words[0] in ("p.bin",):
            continue  # parts of another kind do not fit at all
        message = gather.fails("usage", "take", *words, "-o", "o.bin", *option, **more)["message"]
        assert name in message and why in message, message
    assert "has no option" in gather.fails("usage", "elements", table, "[[0]]", "-o", "o.npy", *option)["message"]


@pytest.mark.parametrize("option", [("--memory", "8M"), ("--engine", "pread"), ("--engine", "mmap"), ("--depth", "4"), ("--part", "g.npy")])
def test_fortran_order(gather, option):
    """With the options of tables as without them; without, the mapping is faster."""
    data = np.arange(60, dtype=">f4").reshape(5, 4, 3)
    gather.save("f.npy", np.asfortranarray(data))
    gather.save("g.npy", np.asfortranarray(data + 100).astype(data.dtype))
    both = np.concatenate([data, data + 100]) if option[0] == "--part" else data
    wanted = np.array([0, len(both) - 1, 2])
    answer = gather.json("take", "f.npy", str(wanted.tolist()), "-o", "o.npy", *option)
    assert answer["table"]["rows"] == 3 and (gather.load("o.npy") == both[wanted]).all() and gather.load("o.npy").dtype == data.dtype
    assert (gather.result("nd", "f.npy", "[[1, 3], [4, 0]]", *option) == both[[1, 4], [3, 0]]).all()
    assert (gather.result("take", "f.npy", "[99]", "--on-bad", "fill=7", *option) == 7).all()
    gather.fails("index_out_of_range", "take", "f.npy", "[10]", "-o", "o.npy", "-f", *option)
    gather.fails("unsupported", "shuffle", "f.npy", "-o", "s.npy")
    assert "Fortran" in gather.fails("unsupported", "bench", "f.npy")["message"]


@pytest.mark.parametrize("engine", ["auto", "mmap", "pread", "uring"])
def test_engines(gather, table, engine):
    """The one that is asked for, where it is here; the answer says which one it was."""
    works = {row["name"]: row["works"] for row in gather.json("info")["engines"]} | {"auto": True}
    answer = gather("take", table, "[0, 2]", "-o", "o.npy", "--engine", engine)
    assert answer.code == 0 and (answer.err == b"") == works[engine]
    used = gather.json("take", table, "[0, 2]", "-o", "o.npy", "-f", "--engine", engine)["table"]
    assert used["why"] and used["engine"] in works
    if works[engine] and engine != "auto":
        assert used["engine"] == engine
