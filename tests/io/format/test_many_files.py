# SPDX-License-Identifier: MIT
"""Models in thousands of files: each is found by its name, and the time grows as their number does."""

import os
import tempfile
import time
from pathlib import Path

import pytest
from gather_files import content, handle
from onnx import TensorProto
from onnx_files import graph, model, onnx_is_read, opened  # noqa: F401


def save(folder, locations: list[str], count: int):
    """Tensor i of `count` bytes has its byte i in each file; files that have several tensors are named several times."""
    tensors = []
    for i, location in enumerate(locations):
        tensor = TensorProto(data_type=TensorProto.UINT8, dims=[1], name=f"t{i}", data_location=1)
        tensor.external_data.add(key="location", value=location)
        tensor.external_data.add(key="offset", value=str(i % count))
        tensors.append(tensor)
    for parent in {os.path.dirname(location) for location in locations}:
        (folder / parent).mkdir(exist_ok=True)
    for number, location in enumerate(sorted(set(locations))):
        file = os.open(f"{folder}/{location}", os.O_WRONLY | os.O_CREAT)
        os.write(file, bytes((number + k) % 251 for k in range(count)))
        os.close(file)
    (folder / "m.onnx").write_bytes(model(graph("m", [], tensors)).SerializeToString())
    return folder / "m.onnx"


NAMES = {
    "numbers": [f"{i}" for i in range(300)],
    "beginnings": ["a" * i for i in range(1, 200)],
    "endings": ["x" * 60 + f"{i:03}" for i in range(200)],
    "folders": [f"{i}/{k}" for i in range(15) for k in range(15)],
    "bytes": [chr(c) * 2 for c in range(0x21, 0x400) if chr(c) not in "./\\"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_each_name_is_its_own_file(kind, tmp_path) -> None:
    """In an order that no tree likes, and each twice."""
    names = NAMES[kind]
    locations = names + names[::-1]
    wanted = {name: i for i, name in enumerate(sorted(set(names)))}
    with opened(save(tmp_path, locations, 7)) as file:
        for i, name in enumerate(locations):
            assert content(file.find(f"t{i}")) == bytes([(wanted[name] + i % 7) % 251]), name


@pytest.fixture
def quick_folder(tmp_path):
    """In memory where that can be had: disks take far longer to make files than the test takes."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_many_files_take_no_long_time(quick_folder) -> None:
    """16,000 took 0.9 s when each was compared with all before it, so that 24,000 would take 2 s. They take 0.2 s.

    This process's own time, whatever else the machine does; some count it in ticks of 10 ms, so that small times have no ratio.
    """
    path = save(quick_folder, [f"weights-{i:05}.bin" for i in range(24_000)], 1)
    times = []
    for _ in range(3):
        begin = time.process_time()
        with handle(path):
            pass
        times.append(time.process_time() - begin)
    assert min(times) < 1.2, times
