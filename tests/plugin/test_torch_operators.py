# SPDX-License-Identifier: MIT
#
# test_torch_operators.py: libgather's PyTorch operators: errors with every field, what is refused, views, quantised rows, beams, threads, fork.
# Random gathers: test_torch_random.py. Gradients, vmap, compilation: test_torch_transforms.py, test_torch_compile.py.
"""PyTorch's operators: errors, inputs, threads."""
from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import libgather
from support.torch_package import lt, needs_operators, needs_torch, torch  # noqa: F401  fixtures of the whole file


def child(program: str, **environment: str) -> str:
    """What a program prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- errors ----


def test_error_fields():
    data = torch.zeros(10, 4)
    with pytest.raises(libgather.GatherIndexError) as caught:
        lt.take(data, torch.tensor([[1, 2], [3, 10]]))
    error = caught.value
    assert str(error) == "indices[1, 1] = 10 is outside [-10, 9] of axis 0 (take); 1 of 4 indices is bad"
    assert (error.position, error.value, error.low, error.high, error.axis, error.bad_count) == ((1, 1), 10, -10, 9, 0, 1)
    assert (error.status, error.code, error.op, error.input) == ("index_out_of_range", 5, "take", "indices")
    assert isinstance(error, IndexError) and pickle.loads(pickle.dumps(error)).position == (1, 1)


def test_error_of_the_operator_itself():
    """torch.ops raises RuntimeError, with the same text."""
    for data in (torch.zeros(10, 4), torch.zeros(10, 4, requires_grad=True)):
        with pytest.raises(RuntimeError, match=re.escape("indices[0] = -11 is outside [-10, 9] of axis 0 (take); 1 of 1 indices is bad")):
            torch.ops.libgather.take(data, torch.tensor([-11]))
    with pytest.raises(libgather.GatherIndexError, match="-11"):
        lt.take(data, torch.tensor([-11]))  # with a gradient


def test_error_of_unsigned_index():
    with pytest.raises(libgather.GatherIndexError) as caught:
        lt.take(torch.zeros(3), torch.tensor([2**64 - 1], dtype=torch.uint64))
    assert caught.value.value == 2**64 - 1


CALLS = {
    "axis": (lambda d, i: lt.take(d, i, 2), "GatherAxisError", "axis 2 is outside [-2, 1]"),
    "axis below": (lambda d, i: lt.take(d, i, -3), "GatherAxisError", "axis -3 is outside [-2, 1]"),
    "batch_dims": (lambda d, i: lt.take(d, i, 0, batch_dims=1), "GatherValueError", "batch_dims"),
    "float indices": (lambda d, i: lt.take(d, i.float()), "GatherTypeError", "integers"),
    "bool indices": (lambda d, i: lt.take(d, i.bool()), "GatherTypeError", "integers"),
    "0-D data": (lambda d, i: lt.take(d[0, 0], i), "GatherValueError", "rank"),
    "mode": (lambda d, i: lt.take(d, i, mode="clamp"), "GatherValueError", "mode must be 'raise', 'clip', 'wrap', 'zero' or 'fill', not 'clamp'"),
    "no fill": (lambda d, i: lt.take(d, i, mode="fill"), "GatherValueError", "mode='fill' needs a fill_value"),
    "fill for nothing": (lambda d, i: lt.take(d, i, fill_value=1), "GatherValueError", "fill_value is for mode='fill' only"),
    "fill dtype": (lambda d, i: lt.take(d, i, mode="fill", fill_value=torch.tensor(1)), "GatherTypeError", "different dtypes"),
    "fill shape": (lambda d, i: lt.take(d, i, mode="fill", fill_value=torch.ones(2)), "GatherValueError", "one element, not 2"),
    "elements rank": (lambda d, i: lt.gather_elements(d, i), "GatherValueError", "rank"),
    "elements length": (lambda d, i: lt.gather_elements(d, torch.zeros(1, 9, dtype=int)), "GatherValueError", "9"),
    "nd tuple": (lambda d, i: lt.gather_nd(d, torch.zeros(2, 3, dtype=int)), "GatherValueError", "3"),
    "out dtype": (lambda d, i: lt.take(d, i, out=torch.zeros(2, 4, dtype=torch.float64)), "GatherTypeError", "different dtypes"),
    "out shape": (lambda d, i: lt.take(d, i, out=torch.zeros(2, 5)), "GatherValueError", "5"),
    "out overlaps": (lambda d, i: lt.take(d, i, out=d[:2]), "GatherValueError", "overlap"),
    "out repeats": (lambda d, i: lt.take(d, i, out=torch.zeros(1, 4).expand(2, 4)), "GatherValueError", "output"),
    "out gradient": (lambda d, i: lt.take(d.requires_grad_(), i, out=torch.zeros(2, 4)), "GatherNotSupportedError", "gradient"),
    "meta": (lambda d, i: lt.take(d, i.to("meta")), "GatherNotSupportedError", "indices is on the device meta"),
    "sparse": (lambda d, i: lt.take(d.to_sparse(), i), "GatherNotSupportedError", "data is sparse"),
    "sparse csr": (lambda d, i: lt.take(d.to_sparse_csr(), i), "GatherNotSupportedError", "data is sparse"),
    "codec": (lambda d, i: lt.take_quantized(d, i, "Q9"), "GatherValueError", "unknown codec 'Q9'"),
    "quantised fill": (lambda d, i: lt.take_quantized(d.to(torch.int8), i, "affine", scale=torch.ones(10, 1), mode="fill"), "GatherValueError", "mode='fill' is not supported for quantised rows"),
    "dtype": (lambda d, i: lt.take_quantized(torch.zeros(5, 34, dtype=torch.uint8), i, "Q8_0", dtype=torch.int8), "GatherTypeError", "'int8'"),
    "blocks": (lambda d, i: lt.take_quantized(torch.zeros(5, 33, dtype=torch.uint8), i, "Q8_0"), "GatherValueError", "34"),
    "no scale": (lambda d, i: lt.take_quantized(d.to(torch.int8), i, "affine", groups=(1, 2, 3)), "GatherValueError", "groups has 3"),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name):
    call, kind, text = CALLS[name]
    with pytest.raises(getattr(libgather, kind), match=re.escape(text)):
        call(torch.ones(10, 4), torch.tensor([1, 2]))


@pytest.mark.filterwarnings("ignore")
def test_quantised_tensors_of_torch():
    made = torch.quantize_per_tensor(torch.ones(4, 3), 0.1, 0, torch.qint8)
    with pytest.raises(libgather.GatherTypeError, match=r"data is a quantised tensor of PyTorch's \(torch.qint8\)"):
        lt.take(made, torch.tensor([1]))
    assert torch.equal(lt.take(made.int_repr(), torch.tensor([1])), made.int_repr()[[1]])


def test_refused_in_threads():
    """Each thread has its own error."""
    wrong = []

    def work(number: int) -> None:
        for _ in range(200):
            try:
                lt.take(torch.zeros(5), torch.tensor([0, 100 + number]))
            except libgather.GatherIndexError as error:
                if error.value != 100 + number:
                    wrong.append((number, error.value))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- inputs ----


def test_views():
    data = torch.randn(6, 5, dtype=torch.complex64)
    ids = torch.tensor([5, 0, -1])
    for view in (data.conj(), data.T, data[::2, 1:], data.imag, data.conj().imag, data[:, :0], data[:0], torch._neg_view(data)):
        n = view.shape[0]
        if n:
            where = ids.clamp(-n, n - 1)
            assert torch.equal(lt.take(view, where), view[where])
        assert lt.take(view, ids[:0]).shape == (0, *view.shape[1:])
    out = torch.zeros(3, 5, dtype=torch.complex64)
    assert torch.equal(lt.take(data, ids, out=out.conj()), data[ids]) and torch.equal(out, data[ids].conj())


def test_scalars_and_requires_grad_indices():
    data = torch.arange(12.0).reshape(3, 4)
    assert torch.equal(lt.take(data, torch.tensor(-1)), data[2]) and torch.equal(lt.take(data, torch.tensor(2), 1), data[:, 2])
    assert lt.take(data[:, 0], torch.tensor(1)).item() == 4
    assert torch.equal(lt.take(data, torch.tensor([[0]]), fill_value=9, mode="fill"), data[:1].unsqueeze(0))
    assert lt.take(data, torch.tensor([3]), mode="fill", fill_value=9).tolist() == [[9] * 4]


def test_table(tmp_path):
    """take() takes rows of tables in files as well."""
    path = tmp_path / "t.npy"
    np.save(path, np.arange(20, dtype=np.float32).reshape(10, 2))
    with libgather.open(path) as table:
        assert lt.take(table, torch.tensor([1, -1])).tolist() == [[2, 3], [18, 19]]
        assert lt.take(table, [1, 10], mode="zero").tolist() == [[2, 3], [0, 0]]
        with pytest.raises(libgather.GatherIndexError):
            lt.take(table, [-1], negative=False)
        with pytest.raises(libgather.GatherNotSupportedError):
            lt.take(table, [0], 1)
    with pytest.raises(TypeError, match="priority"):
        lt.take(torch.ones(2), torch.tensor([0]), priority=1)


def test_tree():
    rng = np.random.default_rng(5)
    steps, parents = rng.integers(0, 9, (7, 3, 4)), rng.integers(0, 4, (7, 3, 4))
    lengths, end = np.array([7, 4, 0]), np.array(2)
    wanted = libgather.gather_tree(steps, parents, lengths, end)
    for dtype in (torch.int64, torch.int32, torch.float32):
        got = lt.gather_tree(*(torch.from_numpy(a).to(dtype) for a in (steps, parents, lengths, end)))
        assert got.dtype == dtype and np.array_equal(got.numpy(), wanted)
    parents[6, 0, 0] = 4
    with pytest.raises(libgather.GatherIndexError, match=re.escape("parent_ids[6, 0, 0] = 4 is outside [0, 3]")):
        lt.gather_tree(*(torch.from_numpy(a) for a in (steps, parents, lengths, end)))


# ---- quantised rows ----


def quantised(seed: int) -> list[tuple[str, dict]]:
    """Codecs with their tensors, as keywords of libgather.Quantized and of take_quantized."""
    rng = np.random.default_rng(seed)
    half = lambda *shape: rng.standard_normal(shape).astype(np.float16)  # noqa: E731
    blocks = rng.integers(0, 256, (6, 2, 34), np.uint8)
    blocks[:, :, :2] = half(6, 2, 1).view(np.uint8)
    int4 = rng.integers(0, 256, (6, 16), np.uint8)
    return [
        ("Q8_0", {"data": blocks.reshape(6, 68)}),
        ("affine", {"data": rng.integers(-128, 128, (6, 32)).astype(np.int8), "scale": half(6, 1).astype(np.float32), "zero_point": rng.integers(-9, 9, (6, 1)).astype(np.int8)}),
        ("affine", {"data": int4, "code_type": "uint4", "order": "high", "scale": half(6, 4), "group_len": 8}),
        ("affine", {"data": int4, "code_type": "int4", "shape": (6, 31), "scale": half(3, 4), "groups": (2, 8), "code_offset": 1}),
        ("rowwise8", {"data": np.concatenate([rng.integers(0, 256, (6, 12), np.uint8), rng.standard_normal((6, 2)).astype(np.float32).view(np.uint8)], 1)}),
    ]


@pytest.mark.parametrize("number", range(5))
def test_quantised(number):
    codec, given = quantised(3)[number]
    tensors = {name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value for name, value in given.items()}
    data = tensors.pop("data")
    reference = libgather.Quantized(codec, **given)
    ids = np.array([[5, -1], [0, 2]])
    for dtype, kind in ((torch.float32, np.float32), (torch.float16, np.float16)):
        got = lt.take_quantized(data, torch.from_numpy(ids), codec, dtype=dtype, **tensors)
        assert np.array_equal(got.numpy(), reference.take(ids, dtype=kind), equal_nan=True)
        assert np.array_equal(lt.dequantize(data, codec, dtype=dtype, **tensors).numpy(), reference.dequantize(dtype=kind), equal_nan=True)
    assert lt.take_quantized(data, torch.tensor([9]), codec, mode="zero", **tensors).abs().sum() == 0
    with pytest.raises(libgather.GatherIndexError, match=re.escape("indices[0] = 9 is outside [-6, 5]")):
        lt.take_quantized(data, torch.tensor([9]), codec, **tensors)
    columns = lt.take_quantized(data, torch.tensor([3, 0]), codec, axis=1, dtype=torch.bfloat16, **tensors)
    assert torch.equal(columns, lt.dequantize(data, codec, dtype=torch.bfloat16, **tensors)[:, [3, 0]].contiguous())


# ---- threads and processes ----


def test_threads_share_plans_safely():
    """Many threads at once, each with shapes of its own and PyTorch's threads below."""
    data, wrong = torch.randn(50_000, 8), []

    def work(number: int) -> None:
        generator = torch.Generator().manual_seed(number)
        for round in range(30):
            ids = torch.randint(-50_000, 50_000, (1 + round * number * 50,), generator=generator)
            if not torch.equal(lt.take(data, ids), data[ids]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_number_of_threads(threads):
    program = f"""
import torch, libgather.torch as lt
torch.set_num_threads({threads})
data = torch.randn(300_000, 3); ids = torch.randint(-300_000, 300_000, (400_000,))
print(torch.equal(lt.take(data, ids), data[ids]))
"""
    assert child(program) == "True\n"


def test_fork():
    """A child of a process that has run its threads gathers on one thread, where OpenMP's would wait for ever."""
    program = """
import os, torch, libgather.torch as lt
data = torch.randn(300_000, 3); ids = torch.randint(-300_000, 300_000, (400_000,))
wanted = data[ids]
print(torch.equal(lt.take(data, ids), wanted), flush=True)
process = os.fork()
if process == 0:
    right = True
    got = lt.take(data, ids)
    os._exit(7 if got.numpy().tobytes() == wanted.numpy().tobytes() else 8)
print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""
    assert child(program) == "True\n7\n"


def test_many_plans_and_threads_that_end():
    """More shapes than a thread keeps, and threads that end with kept plans."""
    def work() -> None:
        for n in range(1, 200):
            assert torch.equal(lt.take(torch.arange(n), torch.tensor([n - 1, -n])), torch.tensor([n - 1, 0]))

    for _ in range(20):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    for axis in (0, 1, 0, 1):  # plans of one shape and several rules
        data = torch.arange(9).reshape(3, 3)
        assert torch.equal(lt.take(data, torch.tensor([1]), axis), data.index_select(axis, torch.tensor([1])))
        assert lt.take(data, torch.tensor([-4]), axis, mode="clip").flatten()[0] == 0
        with pytest.raises(IndexError):
            lt.take(data, torch.tensor([-4]), axis)
        with pytest.raises(IndexError):
            lt.take(data, torch.tensor([-1]), axis, negative=False)


def test_without_python_side():
    """The library alone, as a C++ program has it: operators, and their errors, without libgather's Python."""
    program = f"""
import torch
torch.ops.load_library({lt.library_path()!r})
data = torch.randn(5, 2)
print(torch.equal(torch.ops.libgather.take(data, torch.tensor([4, -5])), data[[4, 0]]))
try:
    torch.ops.libgather.gather_elements(data, torch.tensor([[7]]))
except RuntimeError as error:
    print(error)
"""
    assert child(program).splitlines() == ["True", "indices[0, 0] = 7 is outside [-5, 4] of axis 0 (gather_elements); 1 of 1 indices is bad"]


def test_loaded_twice():
    """Another copy of the library refuses politely: the operators are registered already."""
    program = f"""
import ctypes, shutil, tempfile, torch, libgather.torch as lt
with tempfile.TemporaryDirectory() as folder:
    copy = shutil.copy(lt.library_path(), folder + "/copy.so")
    torch.ops.load_library(copy)
    library = ctypes.CDLL(copy)
    library.gather_torch_failure.restype = ctypes.c_char_p
    print(library.gather_torch_failure().decode())
print(lt.take(torch.tensor([3, 4]), torch.tensor([1])).item())
"""
    lines = child(program).splitlines()
    assert lines[-2].startswith("PyTorch refused the schemas") and lines[-1] == "4"


def test_old_torch():
    """A PyTorch that is too old is refused in words, when an operator is called; tables work."""
    program = """
import torch
torch.__version__ = "2.9.1"
import libgather.torch as lt
try:
    lt.take(torch.ones(3), torch.tensor([0]))
except ImportError as error:
    print(error)
"""
    assert child(program) == "libgather's operators for PyTorch are not loaded: libgather's operators need PyTorch 2.11 or newer; this is 2.9.1\n"
