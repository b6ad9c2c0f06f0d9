# SPDX-License-Identifier: MIT
"""What a first try gets wrong, and the sentence and the hint that must help: never one about something else. All lines have one folder,
in which none of them changes anything."""

import os

import numpy as np
import pytest
from command import Gather
from models import BRANCHES, COMPUTED, EMBED, IR, onnx_model
from refused import expect, rows

ROWS = """m (int64[N] ids) => (float[N, 2] y) <float[3,2] w = {0,1, 10,11, 20,21}> { [g] y = Gather (w, ids) }"""
BOOLS = """m (bool[2, 2] w, int64[N] ids) => (bool[N, 2] y) { [g] y = Gather (w, ids) }"""
TWO = """two (int64[n] ids) => (float[n, 2] y, int64[n] z)
<float[4,2] table = {0,1, 10,11, 20,21, 30,31}, int64[3] labels = {7, 8, 9}> { y = Gather(table, ids) z = Gather(labels, ids) }"""


@pytest.fixture(scope="module")
def files(gather_exe, tmp_path_factory) -> Gather:
    """The files that the lines name, and none beside them."""
    gather = Gather(gather_exe, tmp_path_factory.mktemp("refused"))
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    arrays = {
        "x": x, "f": np.array([1.5]), "floats": np.zeros(2), "scalar": np.float32(3), "i": np.array([0, 1]), "far": np.array([0, 3]),
        "3x2": np.zeros((3, 2), np.int64), "3x5": np.zeros((3, 5), np.int64), "3x0": np.zeros((3, 0)), "1x2": np.zeros((1, 2), np.int64),
        "objects": np.array([{}, None]), "fortran": np.asfortranarray(x), "bytes": np.zeros((9, 30), np.uint8),
        "row": np.zeros(9, np.uint8), "blocks": np.zeros((9, 3, 10), np.uint8), "wide": np.zeros((1, 8), np.uint8),
        "norows": np.zeros((0, 4)), "many": np.zeros(300000, np.int8),
        "steps": np.zeros((3, 1, 2), np.int32), "parents": np.full((3, 1, 2), 9, np.int32), "parents64": np.zeros((3, 1, 2), np.int64),
        "lengths": np.array([3], np.int32), "flag": np.zeros((3, 1, 2), bool),
    }  # fmt: skip
    for name, array in arrays.items():
        gather.save(f"{name}.npy", array)
    contents = {"i.txt": "1", "ids.raw": bytes(8), "r.bin": x.tobytes(), "some.bin": b"###" + x.tobytes() + b"more", "short.bin": bytes(5),
                "cut.npy": b"\x93NUMPY\x01\x00\x10", "text.txt": "1 2 3", "there.npy": "", "packed.bin": bytes(64), "none.raw": b""}  # fmt: skip
    for name, content in contents.items():
        gather.write(name, content)
    (gather.folder / "folder").mkdir()
    np.savez(gather.folder / "two.npz", emb=np.zeros((4, 3), np.float32), pos=np.zeros(2))
    for name, text in {"m": ROWS, "bools": BOOLS, "embed": EMBED, "computed": COMPUTED, "branches": BRANCHES, "two": TWO}.items():
        onnx_model(gather.folder / f"{name}.onnx", text)
    ir = IR()
    data, ids, axis = ir.const("emb", np.zeros((3, 4), np.float32)), ir.parameter("ids", "int64", [2]), ir.const("axis", np.int64(0))
    node = ir.layer("g", "Gather", "opset8", inputs=[data, ids, axis], out=("float32", [2, 4]))
    ir.layer("r", "Result", "opset1", inputs=[node])
    os.unlink(ir.save(gather.folder / "bare.xml").with_suffix(".bin"))
    return gather


LINE = """
# arguments: too few, too many, not known
usage | take
usage | take x.npy
usage | take x.npy 1 | -o - writes to standard output
usage | take x.npy 1 2 -o o.npy
usage | elements
usage | elements x.npy [[0,0,0,0]] | -o
usage | ops x
usage | info x.npy f.npy
usage | help nonsense
usage | help take ops
usage | info --formats x.npy
usage | info --plugins x.npy
usage | info --plugins --formats
usage | info --type int8
usage | completion
usage | completion tcsh | bash, zsh and fish
usage | take - - -o o.npy
# options: without a value, twice, of another command
usage | take x.npy 1 -o
usage | take x.npy 1 -o o.npy -o o.npy
usage | take x.npy 1 -o o.npy --axis 0 --axis=0
usage | take x.npy 1 -o o.npy --axis
usage | take x.npy 1 -o o.npy --force=yes
usage | take x.npy 1 -o o.npy --formats
usage | ops --axis 1
usage | info --plan
usage | take -z
usage | nd x.npy [[0]] -o o.npy --axis 0 | no option --axis
usage | nd x.npy [[0]] -o o.npy --elements | no option --elements
usage | tree steps.npy parents.npy lengths.npy 1 -o o.npy --axis 1
usage | scatter x.npy i.npy x.npy -o o.npy --memory 8MiB | gather scatter has no option --memory
usage | bag x.npy i.npy [0] -o o.npy --axis 1 | gather bag has no option --axis
usage | tree two.npz two.npz two.npz 1 --tensor emb -o o.npy | gather tree has no option --tensor | hint: a tensor is named FILE:NAME
usage | tree two.npz two.npz two.npz 1 --indices-tensor emb -o o.npy | hint: a tensor is named FILE:NAME
usage | run m.onnx --input ids=two.npz --tensor emb | a tensor is named --input INPUT=FILE:NAME; FILE ends at the first colon
usage | check m.onnx --input ids=two.npz --tensor emb | a tensor is named --input INPUT=FILE:NAME; FILE ends at the first colon
# values
usage | take x.npy 1 -o o.npy --on-bad ignore
usage | take x.npy 1 -o o.npy --on-bad fill
usage | take x.npy 1 -o o.npy --on-bad fill=
usage | take x.npy 1 -o o.npy --on-bad CLIP
usage | take x.npy 1 -o o.npy --negative yes
usage | take x.npy 1 -o o.npy --threads 0
usage | take x.npy 1 -o o.npy --threads -1
usage | take x.npy 1 -o o.npy --threads 1025
usage | take x.npy 1 -o o.npy --threads two
usage | take x.npy 0 -o o.npy --engine disk | error: --engine
usage | take x.npy 0 -o o.npy --engine AUTO | error: --engine
usage | take x.npy 0 -o o.npy --engine= | error: --engine
usage | take x.npy 0 -o o.npy --depth 0 | error: --depth
usage | take x.npy 0 -o o.npy --depth 4097 | error: --depth
usage | take x.npy 0 -o o.npy --depth x | error: --depth
usage | take x.npy 0 -o o.npy --memory 4M --memory 5M | error: --memory
usage | take x.npy 1 -o o.npy --axis 9223372036854775808
usage | take x.npy 1 -o o.npy --axis -9223372036854775809
usage | take x.npy 1 -o o.npy --axis 999999999999999999999999999999999999999999999999999999999999
# rules
usage | take x.npy 1 -o o.npy --rules onnx-12
usage | take x.npy 1 -o o.npy --rules openvino-6
usage | take x.npy 1 -o o.npy --rules ""
usage | elements x.npy [[1]] -o o.npy --rules openvino-8
usage | nd x.npy [[0]] -o o.npy --rules onnx-11 --batch-dims 1 | onnx-12, onnx-13, openvino-5 and openvino-8 have it for nd
usage | nd x.npy [[0]] -o o.npy --rules microsoft-1 --batch-dims 1 | onnx-12, onnx-13, openvino-5 and openvino-8 have it for nd
usage | nd x.npy [[0]] -o o.npy --rules onnx-1 | it has onnx-11, onnx-12, onnx-13, microsoft-1, openvino-5, openvino-8 | hint: onnx-1 is for Gather: gather take
usage | take x.npy [[0]] -o o.npy --rules microsoft-1 | gather nd
usage | explain x.npy [0] --rules onnx-12 | hint: onnx-12 is for GatherND: give --nd
# outputs
usage | take x.npy 1 -o ""
usage | take x.npy 1 -o out
usage | take x.npy 1 -o out.txt
usage | take x.npy 1 -o dir.npy/out
usage | take x.npy 1 -o out.
usage | take x.npy 1 -o o.csv | .npy | .pb | .bin | .raw
file_exists | take x.npy 0 -o there.npy | file=there.npy | hint: -f
file_exists | nd x.npy [[0]] -o x.npy
"""

SUGGESTIONS = """
usage | take x.npy 1 --axes 0 -o o.npy | did you mean --axis?
usage | take x.npy 1 --dryrun | did you mean --dry-run?
usage | take x.npy 1 --ax=1 | did you mean --axis?
usage | element | did you mean 'elements'?
usage | tkae x.npy 0 | did you mean 'take'?
usage | help tkae | did you mean 'take'?
usage | help tunnig | did you mean 'tuning'?
usage | nonsense | hint: gather --help
usage | x.npy 0 | the command comes first
usage | version | did you mean --version?
usage | --axis 0 | without a command
usage | take x.npy 0 --mode clip | did you mean --on-bad?
usage | take x.npy 0 --fill 3 | did you mean --on-bad?
usage | take x.npy 0 --dtype int8 | did you mean --type?
usage | take x.npy 0 --o o.npy | did you mean --output?
usage | take x.npy 0 --dequantize float32 --dry-run | did you mean --as?
usage | take x.npy 0 --decode-as float32 --dry-run | did you mean --as?
usage | take x.npy 0 --on-bad clmp --dry-run | did you mean 'clamp'?
usage | take x.npy 0 --on-bad rise --dry-run | did you mean 'raise'?
usage | take x.npy 0 --on-bad fill --dry-run | did you mean 'fill='?
usage | take x.npy 0 --rules onnx13 --dry-run | did you mean 'onnx-13'?
usage | take x.npy 0 --rules ONNX-13 --dry-run | did you mean 'onnx-13'?
usage | take x.npy 0 --rules openvino-6 --dry-run | hint: openvino-6 is for GatherElements: gather elements
usage | elements x.npy [[0,0,0,0]] --rules openvino-8 --dry-run | openvino-8 is for Gather: gather take
usage | take x.npy 0 --engine io_uring --dry-run | did you mean 'uring'?
usage | bench x.npy --engine nmap | did you mean 'mmap'?
usage | take x.npy 0 --type flaot32 --shape 3 --dry-run | did you mean 'float32'?
usage | take x.npy 0 --type float --shape 3 --dry-run | did you mean one of float16, float32, float64, 
usage | take x.npy x.npy --indices-type itn64 --indices-shape 3 --dry-run | did you mean 'int64'?
usage | take x.npy [0, 2] -o o.npy | quote a literal that contains spaces: '[0, 2]'
usage | take x.npy 0 2 -o o.npy | one argument: '[0, 2]'
usage | take x.npy 0 o.npy | name the output with -o o.npy
usage | shuffle x.npy o.npy | name the output with -o o.npy
usage | check m.onnx ids=[0] | with --input ids=[0]
usage | run m.onnx ids=[0] | with --input ids=[0]
"""

FILES = """
# none, and the nearest one
file_not_found | take none.npy 0 -o o.npy | input=data | file=none.npy | hint: name a tensor as
file_not_found | take none.npy:x 0 -o o.npy | input=data | file=none.npy:x
file_not_found | take x.npy none -o o.npy | input=indices | file=none | literal
file_not_found | info none.npy
io_error | info folder
file_not_found | info two.nzp | did you mean two.npz?
file_not_found | check bols.onnx | did you mean bools.onnx?
file_not_found | info nodir/two.npz | no such folder: nodir
file_not_found | take two.npz/emb 0 -o o.npy | named two.npz:emb
file_not_found | take x.npy 0 -o nodir/r.npy | no such folder: nodir | mkdir
file_not_found | take x.npy 0 -o x.npy/r.npy | x.npy is a file, not a folder
file_not_found | run m.onnx --input ids=[0] --output y=nodir/r.npy | no such folder: nodir
file_not_found | shuffle x.npy -o nodir/r.npy | no such folder: nodir
file_not_found | explain x.npy 0 -o nodir/r.svg | no such folder: nodir
# names of tensors
name_not_found | take two.npz 0 -o o.npy | 2 tensors | 'emb' float32 [4, 3], 'pos' float64 [2] | FILE:NAME
name_not_found | take two.npz:zzzzzz 0 -o o.npy | the file has: 'emb' float32 [4, 3], 'pos' float64 [2]
name_not_found | take two.npz:embb 0 -o o.npy | the nearest is 'emb'
name_not_found | bench two.npz | 'emb' float32 [4, 3], 'pos' float64 [2]
name_not_found | take x.npy:w 0 -o o.npy | file=x.npy | 'w'
name_not_found | take x.npy x.npy:w -o o.npy | file=x.npy | 'w'
name_not_found | info x.npy:w | file=x.npy | 'w'
name_not_found | take x.npy i.txt:w -o o.npy
usage | take x.npy [0] --indices-tensor x -o o.npy | tensor needs
usage | take x.npy 0:1 --indices-tensor x -o o.npy | tensor needs
usage | shuffle x.npy --indices-tensor x -o o.npy | tensor needs
usage | shuffle x.npy --order [0] --indices-tensor x -o o.npy | tensor needs
usage | explain --data 3x4 [0] --tensor x | tensor needs
usage | explain m.onnx --node g --tensor x | --tensor needs DATA and INDICES that are files
usage | explain m.onnx --node g --indices-tensor x | tensor needs
# what a file is
unsupported | take objects.npy 0 -o o.npy
unsupported | take x.npy objects.npy -o o.npy
unsupported | info objects.npy
unsupported | take text.txt 0 -o o.npy
unsupported | info packed.bin
unsupported | check x.npy | MODEL is an ONNX model
unsupported | explain x.npy | INDICES
file_not_found | check n.onnx | MODEL is an ONNX model
file_malformed | bench cut.npy
"""

RAW = """
# a file that has a type and a shape, and a line that says others
usage | take x.npy 0 --type float32 --shape 3x4 -o o.npy | file=x.npy | npy | --raw
usage | take x.npy 0 --type float32 --shape 3x4 --offset 128 -o o.npy | file=x.npy | npy | --raw
usage | take x.npy 0 --type float32 --shape -1x4 -o o.npy | file=x.npy | npy | --raw
usage | take r.bin 0 --type float32 --shape 3x4 --part x.npy -o o.npy | file=x.npy | npy | --raw
usage | take r.bin 0 --type float32 --shape 3x4 --part x.npy --memory 4MiB -o o.npy | file=x.npy | npy | --raw
usage | elements x.npy "[[0, 0, 0, 0]]" --type float32 --shape 3x4 -o o.npy | file=x.npy | npy | --raw
usage | explain x.npy 0 --type float32 --shape 3x4 | file=x.npy | npy | --raw
usage | shuffle x.npy --type float32 --shape 3x4 -o o.npy | file=x.npy | npy | --raw
usage | bench x.npy --type float32 --shape 3x4 | file=x.npy | npy | --raw
usage | info x.npy --type float32 --shape 3x4 | file=x.npy | npy | --raw
usage | info x.npy --type float32 | raw bytes need --shape too; other formats need neither
usage | info x.npy --shape 3x4 | raw bytes need --type too; other formats need neither
usage | take x.npy 0 --type float32 | raw bytes need --shape too
usage | info x.npy --raw | raw bytes need --type too
usage | take x.npy i.npy --indices-type int8 | raw bytes need --indices-shape too
usage | take x.npy i.npy --indices-type int8 --indices-shape 3 -o o.npy | file=i.npy | input=indices | --indices-raw
usage | shuffle x.npy --order i.npy --indices-type int8 --indices-shape 3 -o o.npy | file=i.npy | input=indices | --indices-raw
# options that belong together
usage | take x.npy 0 --raw -o o.npy
usage | take x.npy 0 --raw --type uint8 -o o.npy
usage | take x.npy 0 --raw --shape 4 -o o.npy
usage | take x.npy x.npy --indices-raw -o o.npy
usage | take x.npy ids.raw -o o.npy --indices-type int8
usage | take x.npy ids.raw -o o.npy --indices-shape 1
usage | take x.npy ids.raw -o o.npy --indices-offset 1
usage | take x.npy [0] -o o.npy --indices-type int8 --indices-shape 1
# bytes that are not there
file_malformed | take some.bin [2] --type float32 --shape 3x4 --offset 8 -o o.npy
file_malformed | take some.bin [2] --type float32 --shape 3x4 --offset 9223372036854775807 -o o.npy
usage | take some.bin [2] --type float32 --shape 3x4 --offset -1 -o o.npy
overflow | take wide.npy none.raw --type uint8 --shape 4611686018427387904x4 -o o.npy
"""

INDICES = """
# literals
usage | take x.npy [1.5] -o o.npy | '1.5' | not an integer
usage | take x.npy [1e3] -o o.npy | '1e3' | not an integer
usage | take x.npy [true] -o o.npy | 'true' | not an integer
file_not_found | take x.npy 1.5 -o o.npy | indices are integers
file_not_found | take x.npy 1,2 -o o.npy | '[0, 2]'
file_not_found | take x.npy (1,2) -o o.npy | '[0, 2]'
file_not_found | take x.npy 0:3:1:1 -o o.npy | '[0, 2]'
file_not_found | take x.npy ids.txt -o o.npy | INDICES is a file
# slices
usage | take x.npy ::0 -o o.npy | step 0
usage | elements x.npy 1:2 -o o.npy | slice of one axis
usage | nd x.npy 1:2 -o o.npy | slice of one axis
usage | take x.npy 1:2 --indices-type int8 --indices-shape 2 -o o.npy | slice
usage | take many.npy : --memory 2MiB -o o.npy | 300000 indices | input=indices
file_not_found | take x.npy 1:2:3:4 -o o.npy
file_not_found | take x.npy a:2 -o o.npy
file_not_found | take x.npy 1:b -o o.npy
file_not_found | take x.npy 1.5:2 -o o.npy
file_not_found | take x.npy 0x1:2 -o o.npy
# out of range
index_out_of_range | take x.npy 9 -o o.npy | hint: --on-bad
index_out_of_range | take x.npy -1 -o o.npy --rules onnx-1 | --negative on
index_out_of_range | take 3x0.npy [7] -o o.npy
index_out_of_range | nd x.npy "[[0, 1], [2, 7]]" -o o.npy --memory 8MiB | position=[1, 1] | value=7 | axis=1 | bad_count=1
index_out_of_range | nd x.npy "[[0, -1]]" -o o.npy --rules openvino-5 | position=[0, 1] | axis=1 | low=0 | high=3
index_out_of_range | elements x.npy [[0,0],[0,-5],[4,0]] -o o.npy --axis -1 --negative off | op=GatherElements | position=[1, 1] | value=-5 | low=0 | high=3 | axis=1 | bad_count=2
# types, ranks, shapes
type_unsupported | take x.npy floats.npy -o o.npy | input=indices | indices are integers
rank_mismatch | take scalar.npy 0 -o o.npy
rank_mismatch | take scalar.npy ::2 -o o.npy
rank_mismatch | elements scalar.npy 0 -o o.npy
rank_mismatch | elements x.npy [0] -o o.npy | use gather take for whole rows
rank_mismatch | nd x.npy 0 -o o.npy | '[[0, 2]]' is one tuple
axis_out_of_range | take x.npy [[0]] -o o.npy --axis 2
axis_out_of_range | take x.npy [[0]] -o o.npy --axis -3
axis_out_of_range | take x.npy [[0]] -o o.npy --axis 1099511627776
axis_out_of_range | take x.npy [[0]] -o o.npy --axis -9223372036854775808
axis_out_of_range | take x.npy ::2 -o o.npy --axis 7 | axis 7
axis_out_of_range | elements x.npy [[0]] -o o.npy --axis 2
axis_out_of_range | elements x.npy [[0]] -o o.npy --axis -3
axis_out_of_range | elements x.npy [[0]] -o o.npy --axis 1099511627776
axis_out_of_range | elements x.npy [[0]] -o o.npy --axis -9223372036854775808
batch_dims_out_of_range | take x.npy [[0],[0],[0]] --rules openvino-7 -o o.npy --axis 0 --batch-dims 1
batch_dims_out_of_range | nd x.npy [[0]] -o o.npy --batch-dims -1
batch_dims_out_of_range | nd x.npy [[0]] -o o.npy --batch-dims 2
batch_dims_out_of_range | nd x.npy [[0]] -o o.npy --batch-dims 1099511627776
shape_mismatch | take x.npy [[0],[0]] --rules openvino-7 -o o.npy --axis 1 --batch-dims 1
shape_mismatch | elements x.npy 3x2.npy -o o.npy --rules openvino-6
shape_mismatch | elements x.npy 3x5.npy -o o.npy
shape_mismatch | elements 3x0.npy 1x2.npy -o o.npy
shape_mismatch | nd x.npy "[[0, 0, 0]]" -o o.npy
# what is wrong first
axis_out_of_range | take x.npy 0 -o o.npy --axis 2 --memory 8M
usage | take none.npy 0 -o o.npy --memory 8
file_not_found | take none.npy 0 -o o.npy --memory 8M
"""

TREES = """
usage | tree steps.npy parents.npy lengths.npy 1
usage | tree steps.npy parents.npy lengths.npy -o o.npy
usage | tree - - [2] 9 -o o.npy | only one argument can be standard input
file_not_found | tree none.npy parents.npy lengths.npy 1 -o there.npy
type_mismatch | tree steps.npy parents64.npy lengths.npy 1 -o there.npy | input=parent_ids
rank_mismatch | tree steps.npy parents.npy lengths.npy [1] -o there.npy
shape_mismatch | tree steps.npy parents.npy "[3, 3]" 1 -o there.npy
file_exists | tree steps.npy parents.npy lengths.npy 1 -o there.npy
index_out_of_range | tree steps.npy parents.npy lengths.npy 1 -o there.npy -f
type_unsupported | tree flag.npy flag.npy lengths.npy true -o o.npy
"""

SHUFFLES = """
usage | shuffle x.npy
usage | shuffle x.npy -o o.xyz
usage | shuffle x.npy -o -
usage | shuffle - -o o.npy
usage | shuffle x.npy -o o.npy --seed -1
usage | shuffle x.npy -o o.npy --seed 1 --order [1]
usage | shuffle x.npy -o o.npy --order - --resume
usage | shuffle x.npy -o o.npy --memory 1MiB
usage | shuffle x.npy -o o.npy --passes 3
rank_mismatch | shuffle scalar.npy -o o.npy
unsupported | shuffle fortran.npy -o o.npy
file_not_found | shuffle none.npy -o o.npy
file_not_found | shuffle x.npy -o none/o.npy
file_exists | shuffle x.npy -o there.npy
"""

BENCH = """
file_not_found | bench none.npy
usage | bench
usage | bench x.npy another
usage | bench - | pipe
usage | bench x.npy --rows 0
usage | bench x.npy --rows x
usage | bench x.npy --rows 99999999999
usage | bench x.npy --seed -1
usage | bench x.npy --engine x
usage | bench x.npy --depth 0
usage | bench x.npy --memory lots
usage | bench x.npy --order 0
usage | bench x.npy -o y.npy
usage | bench norows.npy
usage | bench 3x0.npy
unsupported | bench fortran.npy | Fortran
rank_mismatch | bench scalar.npy
name_not_found | bench x.npy:other --rows 8
"""

ALIGNED = """
unsupported | take x.npy [1] -o o.pb --align 4096 | the header of a pb file cannot be padded to align the elements; use npy, safetensors or raw
unsupported | shuffle x.npy -o o.pb --align 4096 | the header of a pb file cannot be padded to align the elements; use npy, safetensors or raw
unsupported | take x.npy [1] -o o.npy --align 16384 | aligned to 16384 bytes need a header of .npy of 16384 bytes, and NumPy reads at most 10000; use at most 8192
unsupported | shuffle x.npy -o o.npy --align 16384 | aligned to 16384 bytes need a header of .npy of 16384 bytes, and NumPy reads at most 10000; use at most 8192
unsupported | take x.npy [1] -o o.safetensors --align 1073741824 | header of a safetensors file has at most 100000000 bytes
unsupported | shuffle x.npy -o o.safetensors --align 1073741824 | header of a safetensors file has at most 100000000 bytes
usage | take x.npy [1] -o o.npy --align 3000 | the alignment must be a power of two, not 3000
usage | shuffle x.npy -o o.npy --align 3000 | the alignment must be a power of two, not 3000
usage | take x.npy [1] -o o.npy --align none | --align
usage | shuffle x.npy -o o.npy --align none | --align
usage | take x.npy [1] -o o.npy --align 0 | --align
usage | shuffle x.npy -o o.npy --align 0 | --align
usage | take bytes.npy [1,0] -o o.npy --pad-rows | --pad-rows needs --align
usage | take row.npy [1,0] -o o.npy --pad-rows --align 64 | a row is one element
usage | take bytes.npy [1,0] -o o.npy --pad-rows --align 64 --axis 1 | needs rows of a table
unsupported | take blocks.npy [1,0] -o o.npy --pad-rows --align 4096 | rows of 30 bytes would become more than twice as long
"""

MODELS = """
# run
file_not_found | run bare.xml --input ids=[0,1] | .bin beside .xml | copy bare.bin
file_not_found | take bare.xml:emb 0 -o o.npy | .bin beside .xml | copy bare.bin
file_not_found | run bools.onnx --input w=yes --input ids=[0] | the input is bool: true, false
usage | run bools.onnx --input w=2 --input ids=[0] | a bool is true or false
file_not_found | run m.onnx --test-data nodir | --test-data takes a folder
file_not_found | run m.onnx --test-data folder | --test-data takes a folder
rank_mismatch | run m.onnx --input ids=0 | as many dimensions as brackets
# outputs of run
usage | run two.onnx --input ids=[2,0] -o o.npy | holds one
usage | run two.onnx --input ids=[2,0] --output y=o.npy --output z=o.npy | holds one
usage | run two.onnx --input ids=[2,0] -o o.safetensors --output z=z.npy | for all outputs
usage | run two.onnx --input ids=[2,0] -o o.safetensors:name | NAME=FILE
usage | run two.onnx --input ids=[2,0] --output y | NAME=FILE
usage | run two.onnx --input ids=[2,0] --output y=o.safetensors:t --output z=o.safetensors:t | have the name 't'
usage | run two.onnx --input ids=[2,0] --output y=o.safetensors: | missing
# check
usage | check m.onnx --input ids=1.5 | '1.5' | not an integer
file_not_found | check none.onnx | MODEL is an ONNX model
file_not_found | check embed.onnx --input ids=none.npy | --input takes NAME=FILE
"""

EXPLAINED = """
# arrays
usage | explain --data 3x2 [1] -o x.npy
usage | explain --data 3x [1]
usage | explain --data 3x2 x.npy [1]
usage | explain --data 3x4 "[[0, 1]]" --nd --axis 1 | error: GatherND has no --axis: a tuple indexes the first axes after batch_dims
usage | explain --data 3x4 "[[0, 1]]" --nd --elements | error: --elements and --nd are two operators: give one of them
usage | explain --data 3x4 "[[0, 1]]" --nd --rules openvino-7 | error: GatherND has no rules 'openvino-7'; it has onnx-11, onnx-12, onnx-13, microsoft-1, openvino-5, openvino-8
axis_out_of_range | explain x.npy [1] --axis 2
file_not_found | explain none.npy [1]
file_not_found | explain --data 3x2 [1] -o none/x.svg
rank_mismatch | explain --data "" [1]
# options of the other kind
usage | explain embed.onnx --axis=1
usage | explain embed.onnx --batch-dims=0
usage | explain embed.onnx --rules=onnx-11
usage | explain embed.onnx --elements
usage | explain embed.onnx --nd
usage | explain embed.onnx --type=f32
usage | explain embed.onnx --indices-type=i64
usage | explain x.npy [1] --node=embed
usage | explain x.npy [1] --input=ids=[1]
usage | explain x.npy [1] --dim=N=1
usage | explain --data 3x2 [1] --node=embed
usage | explain --data 3x2 [1] --input=ids=[1]
usage | explain --data 3x2 [1] --dim=N=1
# what is missing
usage | explain embed.onnx | main/embed | --input ids=TENSOR
usage | explain computed.onnx --node y | --input k=TENSOR | --dim N=LENGTH | --dim C=LENGTH
usage | explain branches.onnx --node inner | the indices 'j' are not known: --input i=TENSOR
# names
usage | explain branches.onnx --node pick --input "i=[0, 1]" | 'main/if/then_branch/pick' | 'main/if/else_branch/pick'
name_not_found | explain branches.onnx --node nope | 'main/call/function:twice/inner'
usage | explain computed.onnx | 'main/y' | 'main/q' | 'main/z'
file_not_found | explain none.onnx | MODEL is an ONNX model
file_not_found | explain m.onnx g | --node NAME
name_not_found | explain embed.onnx --node nope | gather check MODEL
name_not_found | explain embed.onnx --input nope=[1]
name_not_found | explain embed.onnx --input ids=[[1]] --dim nope=1
# inputs that do not fit
index_out_of_range | explain embed.onnx --input ids=[[9]]
rank_mismatch | explain embed.onnx --input ids=[1]
usage | explain computed.onnx --node q --input best=[1] --input best=[1]
shape_mismatch | explain computed.onnx --node q --input best=[1] --dim C=2
type_mismatch | explain computed.onnx --node q --input best=f.npy
shape_mismatch | explain computed.onnx --node z --dim N=1 --dim C=2
"""


@pytest.mark.parametrize(("status", "line", "parts"), [
    row for table in (LINE, SUGGESTIONS, FILES, RAW, INDICES, TREES, SHUFFLES, BENCH, ALIGNED, MODELS, EXPLAINED) for row in rows(table)
])  # fmt: skip
def test_a_line_that_is_refused(files, status, line, parts):
    expect(files, status, line, parts)
