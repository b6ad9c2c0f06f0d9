# SPDX-License-Identifier: MIT
"""What is not a regular file, and files that are larger than memory."""
import os
import resource
import time

import numpy as np
import pytest
from gather_files import GatherError, opened, opened_raw
from support.skip import skip_test
from unprivileged import unprivileged_folder


def failure(path) -> GatherError:
    with pytest.raises(GatherError) as caught, opened(path):
        pass
    assert str(path).endswith(caught.value.file[-200:])
    return caught.value


def test_no_such_file(tmp_path) -> None:
    assert failure(tmp_path / "none.npy").status == "file_not_found"
    (tmp_path / "file").write_text("x")
    assert failure(tmp_path / "file" / "a.npy").status == "file_not_found"


def test_directory(tmp_path) -> None:
    failure(tmp_path).must_be("io_error", "directory")


def test_pipe_is_not_waited_for(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    failure(tmp_path / "pipe.npy").must_be("io_error", "a pipe")


def test_device() -> None:
    failure("/dev/zero").must_be("io_error", "a device")


def test_empty_file(tmp_path) -> None:
    (tmp_path / "a.npy").write_bytes(b"")
    assert failure(tmp_path / "a.npy").status == "file_malformed"


def test_file_without_permission() -> None:
    with unprivileged_folder() as folder:
        (folder / "a.npy").write_bytes(b"x")
        (folder / "a.npy").chmod(0)
        assert failure(folder / "a.npy").status == "io_error"


def test_long_names_show_their_end(tmp_path) -> None:
    folder = tmp_path / ("d" * 200) / ("e" * 200)
    folder.mkdir(parents=True)
    error = failure(folder / "the_end.npy")
    assert error.file.endswith("the_end.npy") and len(error.file) == 255


def test_file_replaced_while_it_is_open(tmp_path) -> None:
    """The mapping shows the file that was opened, not the one that has its name now."""
    path, other = tmp_path / "a.npy", tmp_path / "b.npy"
    np.save(path, np.arange(1000))
    np.save(other, np.zeros(1000))
    with opened(path) as t:
        other.rename(path)
        assert t.array(np.dtype("<i8")).tolist() == list(range(1000))


ROWS, COLUMNS = 250_000_000, 100  # of float32: 100 GB


def sparse(path, start: int, size: int) -> None:
    with open(path, "r+b" if start else "wb") as file:
        try:
            file.truncate(start + size)
        except OSError as error:
            skip_test("huge-file", f"the file system has no sparse file of 100 GB: {error}")
        file.seek(start + size - 4)
        file.write(np.float32(42).tobytes())


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize("kind", ["npy", "raw"])
def test_opening_100_gb_costs_its_header(kind, tmp_path) -> None:
    path, size = tmp_path / "huge", ROWS * COLUMNS * 4
    start = 0
    if kind == "npy":
        with open(path, "wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (ROWS, COLUMNS)}
            np.lib.format.write_array_header_1_0(file, header)
            start = file.tell()
    sparse(path, start, size)
    memory, clock = peak_mib(), time.monotonic()
    with opened(path) if kind == "npy" else opened_raw(path, "float32", (ROWS, COLUMNS)) as t:
        assert (t.shape, t.bytes, t.offset) == ((ROWS, COLUMNS), size, start)
        table = np.ndarray((ROWS, COLUMNS), "<f4", buffer=(np.ctypeslib.ctypes.c_char * size).from_address(t.tensor.data))
        rows = table[np.linspace(0, ROWS - 1, 10).astype(int)]
    assert rows[0, 0] == 0 and rows[9, 99] == 42
    assert time.monotonic() - clock < 1
    assert peak_mib() - memory < 20
    path.unlink()
