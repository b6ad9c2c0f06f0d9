# SPDX-License-Identifier: MIT
#
# test_raised.py: what the caller's own objects raise while they are read comes through as it was raised: KeyboardInterrupt above all,
# which may arrive in any method written in Python. Only what says "I have no such thing" is understood as that.
"""Exceptions of the caller's own code."""
from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import libgather
from capsules import Producer
from support.refusal import refuses


class Own(Exception):
    """Of the caller's own."""


RAISED = [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit, RecursionError, OSError, ZeroDivisionError, Own]
TABLE = np.arange(12.0).reshape(4, 3)
IDS = np.array([0, 1])


def raising(name: str, error: type[BaseException], base: type = object, as_property: bool = False) -> object:
    """An object whose method (or property) `name` raises."""
    def method(self, *_, **__):
        raise error("from within")

    return type("Raising", (base,), {name: property(method) if as_property else method})()


def calls_with(x) -> list:
    """Every place that an array may be passed in."""
    plan = libgather.Plan.take(TABLE, IDS, axis=0)
    return [lambda: libgather.take(x, [0], axis=0), lambda: libgather.take(TABLE, x, axis=0),
            lambda: libgather.take(TABLE, IDS, axis=0, out=x), lambda: libgather.take_along_axis(x, [0]),
            lambda: libgather.take_along_axis(TABLE, x), lambda: libgather.gather_elements(TABLE, x),
            lambda: libgather.Plan.take(x, [0], axis=0), lambda: libgather.Plan.take(TABLE, x, axis=0), lambda: plan(x, IDS),
            lambda: plan(TABLE, x), lambda: plan.check(x)]


def calls_of_tables(table: libgather.Table, x) -> list:
    return [lambda: table[x], lambda: table[x, 1:], lambda: table.take(x), lambda: table.submit(x)]


def passes_on(call, error: type[BaseException]) -> None:
    try:
        call()
    except BaseException as caught:  # noqa: BLE001: of any kind
        assert type(caught) is error and caught.args == ("from within",), repr(caught)
    else:
        pytest.fail("nothing was raised")


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("name", ["__dlpack__", "__array__", "__len__"])
def test_methods(name, error):
    x = raising(name, error)
    if name == "__len__":
        type(x).__getitem__ = lambda self, i: 0
    outputs = name == "__dlpack__"  # the others are no memory, and as out= are not asked
    for i, call in enumerate(calls_with(x)):
        if i != 2 or outputs:
            passes_on(call, error)


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("name", ["__array__", "__len__"])
def test_tables(name, error, tmp_path):
    np.save(tmp_path / "t.npy", TABLE)
    x = raising(name, error)
    type(x).__getitem__ = lambda self, i: 0
    with libgather.open(tmp_path / "t.npy") as table:
        for call in calls_of_tables(table, x):
            passes_on(call, error)
        with pytest.raises(ValueError, match="released"):
            gone = pickle.PickleBuffer(b"abc")
            gone.release()
            table[gone]
        assert table[[]].shape == (0, 3) and table[[], 1:].shape == (0, 2)


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("name", ["__array_interface__", "__array_struct__"])
def test_properties(name, error):
    for call in calls_with(raising(name, error, as_property=True)):
        passes_on(call, error)


@pytest.mark.parametrize("error", RAISED)
def test_getitem(error):
    x = raising("__getitem__", error)
    type(x).__len__ = lambda self: 2
    for i, call in enumerate(calls_with(x)):
        if i != 2:
            passes_on(call, error)


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("first", [TypeError, BufferError])
def test_dlpack_asked_again(first, error):
    """A library from before max_version is asked once more without it: what that raises counts too."""
    class Twice:
        def __dlpack__(self, **keywords):
            if keywords:
                raise first("no max_version")
            raise error("from within")

    def call():
        libgather.take(TABLE, Twice(), axis=0)

    if first is TypeError:
        passes_on(call, error)
    else:
        refuses(libgather.GatherNotSupportedError, call, says="no max_version")


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("name", ["requires_grad", "is_conj", "is_neg"])
def test_what_a_tensor_says_of_itself(name, error):
    x = raising(name, error, as_property=True)
    kind = type("Tensor", (Producer,), {name: getattr(type(x), name)})
    passes_on(lambda: libgather.take(kind(np.zeros(3, "c8")), [0]), error)
    method = type("Tensor", (Producer,), {name: lambda self: getattr(x, name)})
    if name != "requires_grad":
        passes_on(lambda: libgather.take(method(np.zeros(3, "c8")), [0]), error)


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("name", ["__dlpack__", "__dlpack_c_exchange_api__", "__array__", "__array_interface__"])
def test_the_class_of_an_object(name, error):
    """Attributes of classes may be code as well."""
    class Meta(type):
        def __getattr__(cls, asked):
            if asked == name:
                raise error("from within")
            raise AttributeError(asked)

    class Odd(metaclass=Meta):
        def __len__(self):
            return 1

        def __getitem__(self, i):
            return 0

    passes_on(lambda: libgather.take(TABLE, Odd(), axis=0), error)


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("keyword", ["axis", "batch_dims", "threads"])
def test_numbers(keyword, error):
    number = raising("__index__", error)
    keywords = {"axis": 0, keyword: number}
    passes_on(lambda: libgather.take(TABLE, IDS, **keywords), error)
    passes_on(lambda: libgather.Plan.take(TABLE, IDS, **keywords), error)
    if keyword == "threads":
        passes_on(lambda: libgather.set_threads(number), error)
    else:
        passes_on(lambda: libgather.infer_shape((4, 3), (2,), **keywords), error)
    passes_on(lambda: libgather.infer_shape((number, 3), (2,), axis=0), error)


@pytest.mark.parametrize("error", RAISED)
def test_flags_and_fill_values(error):
    passes_on(lambda: libgather.take(TABLE, IDS, axis=0, negative=raising("__bool__", error)), error)
    passes_on(lambda: libgather.take(TABLE, [9], axis=0, mode="fill", fill_value=raising("__float__", error)), error)
    passes_on(lambda: libgather.take(TABLE, [9], axis=0, mode="fill", fill_value=raising("__array__", error)), error)


@pytest.mark.parametrize("error", RAISED)
def test_the_class_of_an_array(error):
    """Whether an array has a mask is asked of its class, which may be a lie of the caller's."""
    np.ma.masked_array([1])  # from here on masks are looked for

    class Odd(np.ndarray):
        @property
        def __class__(self):
            raise error("from within")

    x = np.zeros(3, np.int64).view(Odd)
    passes_on(lambda: libgather.take(x, [0]), error)
    passes_on(lambda: libgather.take(np.zeros(3), x), error)
    passes_on(lambda: libgather.take(np.zeros(3, np.int64), [0, 1, 2], out=x), error)


@pytest.mark.parametrize("error", RAISED)
def test_results_of_a_library(error):
    class Tensor(Producer):
        def __array_namespace__(self, api_version=None):
            raise error("from within")

    passes_on(lambda: libgather.take(Tensor(np.zeros(3, np.int64)), [0]), error)


def test_buffers():
    """NumPy makes an object array of what cannot give its buffer any more."""
    gone = pickle.PickleBuffer(b"abc")
    gone.release()
    for i, call in enumerate(calls_with(gone)):
        if i != 3:
            error = refuses(ValueError, call, says="released")
            assert type(error) is ValueError


if sys.version_info >= (3, 12):  # before, no class written in Python has a buffer

    @pytest.mark.parametrize("error", RAISED)
    def test_buffers_in_python(error):
        for call in calls_with(raising("__buffer__", error)):
            passes_on(call, error)


def test_what_says_no_is_understood():
    """An object without a length, a buffer or an attribute is read otherwise, as before."""
    class NoLength:
        def __len__(self):
            raise TypeError("unsized")

        def __getitem__(self, i):
            raise IndexError

        def __array__(self, dtype=None, copy=None):
            return np.array([1])

    class NoBuffer(NoLength):
        def __buffer__(self, flags):
            raise BufferError("none")

        @property
        def requires_grad(self):
            raise AttributeError("none")

    for kind in (NoLength, NoBuffer):
        assert libgather.take(TABLE, kind(), axis=0).tolist() == TABLE[[1]].tolist()
