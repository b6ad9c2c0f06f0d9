# SPDX-License-Identifier: MIT
"""The order of complaints: command line, files, types, ranks, axis, batch_dims, shapes, existing output, indices."""

import numpy as np
import pytest
from refused import expect, rows


@pytest.fixture
def files(gather, table):
    gather.save("scalar.npy", np.float32(1))
    gather.save("floats.npy", np.zeros((2, 2)))
    gather.save("there.npy", np.zeros(1))
    gather.save("bad.npy", np.full((2, 3), 9))
    gather.write("numbers.bin", bytes(48))
    return table


# Each line has the fault it is named for, and every fault that comes later and can stand beside it.
LINES = """
usage | take none.npy floats.npy -o there.npy --axis 1x
usage | take none.npy floats.npy -o there.txt --axis 9
usage | take none.npy [[1],2] -o there.npy --axis 9
usage | take none.npy floats.npy -o there.npy --rules onnx-2
usage | take none.npy floats.npy -o there.npy --type float33 --shape 3
usage | take none.npy floats.npy -o there.npy --type float32
file_not_found | take none.npy floats.npy -o there.npy --axis 9
file_not_found | take scalar.npy none.npy -o there.npy --axis 9
type_unsupported | take scalar.npy floats.npy -o there.npy --axis 9
unsupported | take numbers.bin floats.npy --type bfloat16 --shape "" -o there.npy
rank_mismatch | take scalar.npy bad.npy -o there.npy --axis 9
rank_mismatch | elements x.npy 9 -o there.npy --axis 9
axis_out_of_range | take x.npy bad.npy -o there.npy --axis 9 --rules openvino-8 --batch-dims 7
axis_out_of_range | elements x.npy [[9,9,9,9,9]] -o there.npy --axis -3
batch_dims_out_of_range | take x.npy bad.npy -o there.npy --axis 1 --rules openvino-7 --batch-dims 2
shape_mismatch | take x.npy bad.npy -o there.npy --axis 1 --rules openvino-7 --batch-dims 1
shape_mismatch | elements x.npy [[9,9,9,9,9]] -o there.npy
type_unsupported | nd scalar.npy floats.npy -o there.npy --batch-dims 9
rank_mismatch | nd scalar.npy bad.npy -o there.npy --batch-dims 9
rank_mismatch | nd x.npy 9 -o there.npy --batch-dims 9
batch_dims_out_of_range | nd x.npy [[9,9,9,9,9]] -o there.npy --batch-dims 2
shape_mismatch | nd x.npy [[9,9,9,9,9]] -o there.npy
file_exists | nd x.npy [[9]] -o there.npy
index_out_of_range | nd x.npy [[9]] -o there.npy -f
file_exists | take x.npy bad.npy -o there.npy
index_out_of_range | take x.npy bad.npy -o there.npy -f
"""


@pytest.mark.parametrize(("status", "line", "parts"), rows(LINES))
def test_the_order(gather, files, status, line, parts):
    for dry in ("", " --dry-run"):
        expect(gather, status, line + dry, parts)


def test_dry_run_checks_everything_and_writes_nothing(gather, files):
    before = gather.names()
    dry = gather.json("take", "x.npy", "[[0, 5]]", "--dry-run", "--on-bad", "zero")
    assert dry["indices"] == {"count": 2, "bad": 1} and dry["output"] is None
    assert (dry["type"], dry["shape"], dry["bytes"]) == ("float32", [1, 2, 4], 32)
    gather.fails("index_out_of_range", "take", "x.npy", "[[0, 5]]", "--dry-run")
    gather.fails("file_exists", "take", "x.npy", "[[0, 5]]", "--dry-run", "-o", "there.npy")
    assert gather.names() == before
    real = gather.json("take", "x.npy", "[[0, 5]]", "-o", "o.npy", "--on-bad", "zero")
    again = gather.json("take", "x.npy", "[[0, 5]]", "-o", "p.npy", "--on-bad", "zero", "--dry-run")
    assert "p.npy" not in gather.names()
    for key in ("command", "rules", "type", "shape", "bytes", "indices", "plan"):
        assert real[key] == dry[key] == again[key]


def test_dry_run_as_text(gather, files):
    answer = gather("take", "x.npy", "[[0, 2]]", "--dry-run")
    assert answer.code == 0
    for words in ("float32", "[1, 2, 4]", "plan: "):
        assert words in answer.text


def test_output_is_required(gather, files):
    for command in ("take", "elements"):
        assert "-o" in gather.fails("usage", command, "x.npy", "[[0,0,0,0]]")["message"]
        assert gather(command, "x.npy", "[[0,0,0,0]]", "--dry-run").code == 0
