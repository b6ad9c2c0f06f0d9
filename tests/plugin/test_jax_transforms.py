# SPDX-License-Identifier: MIT
#
# test_jax_transforms.py: derivatives, vmap, scan, export and the platforms other than the CPU, against jax.numpy.
"""libgather.jax under JAX's transformations."""

from __future__ import annotations

import os

import numpy as np
import pytest

import libgather
from jax_support import jax, needs_jax, same, x64  # noqa: F401

if jax is not None:
    import jax.numpy as jnp

    import libgather.jax as lj
    from libgather import _jax_reference as reference
    from libgather._jax_request import ELEMENTS, GATHER, ND, POLICIES, Request

SEED = int(os.environ.get("GATHER_TEST_SEED", 16))
X = np.random.default_rng(1).standard_normal((6, 4, 3)).astype(np.float32)
# A function of x and indices of libgather.jax; the same in jax.numpy; the shape of the indices; the length of the axis.
PAIRS = {
    "take": (lambda x, i: lj.take(x, i, 1), lambda x, i: jnp.take(x, i, 1), (2, 5), 4),
    "take 0-d": (lambda x, i: lj.take(x, i, -1), lambda x, i: jnp.take(x, i, -1), (), 3),
    "batches": (lambda x, i: lj.take(x, i, 2, batch_dims=1), lambda x, i: jax.vmap(lambda a, b: jnp.take(a, b, 1))(x, i), (6, 5), 3),
    "along": (lambda x, i: lj.take_along_axis(x, i, 1), lambda x, i: jnp.take_along_axis(x, i, 1), (6, 7, 3), 4),
    "along, broadcast": (lambda x, i: lj.take_along_axis(x, i, 0), lambda x, i: jnp.take_along_axis(x, i, 0), (7, 1, 3), 6),
    "elements": (lambda x, i: lj.gather_elements(x, i, axis=2), lambda x, i: jnp.take_along_axis(x[:5, :2], i, 2), (5, 2, 9), 3),
    "tuples": (lambda x, i: lj.gather_nd(x, i), lambda x, i: x[i[..., 0], i[..., 1]], (5, 2, 2), 4),
    "tuples, batches": (lambda x, i: lj.gather_nd(x, i, batch_dims=1), lambda x, i: jax.vmap(lambda a, b: a[b[..., 0], b[..., 1]])(x, i), (6, 5, 2), 3),
}
def _windows():
    """jax.lax.gather: windows of [1, 2, 3] at tuples (row, column)."""
    numbers = jax.lax.GatherDimensionNumbers(offset_dims=(1, 3), collapsed_slice_dims=(0,), start_index_map=(0, 1))
    return (lambda x, i: lj.gather(x, i % 3, numbers, (1, 2, 3)), lambda x, i: jax.lax.gather(x, i % 3, numbers, (1, 2, 3), mode="clip"), (5, 2, 2), 3)


if jax is not None:
    PAIRS["windows"] = _windows()
each = pytest.mark.parametrize("name", PAIRS)


def close(result, wanted) -> bool:
    return np.asarray(result).shape == np.asarray(wanted).shape and np.allclose(result, wanted, rtol=1e-5, atol=1e-6)


def case(name: str, lead: tuple = ()):
    ours, theirs, shape, length = PAIRS[name]
    return ours, theirs, np.random.default_rng(len(name)).integers(-length, length, (*lead, *shape)).astype(np.int32)


# ---- derivatives ----


@each
def test_gradients(name):
    """Reverse, forward, second order."""
    ours, theirs, ids = case(name)
    weights = np.random.default_rng(3).standard_normal(ours(X, ids).shape).astype(np.float32)
    losses = [lambda x, f=f: (jnp.sin(f(x, ids)) * weights).sum() for f in (ours, theirs)]
    for transform in (jax.grad, lambda f: lambda x: jax.jvp(f, (x,), (x * 2 + 1,))[1], lambda f: jax.grad(lambda y: (jax.grad(f)(y) ** 2).sum())):
        assert close(jax.jit(transform(losses[0]))(X), jax.jit(transform(losses[1]))(X))


@pytest.mark.parametrize("mode", ["clip", "wrap", "zero", "fill", "promise"])
def test_gradients_of_policies(mode):
    """Rows that were filled have none; clipped and wrapped ones have theirs."""
    ids = np.array([0, -1, 5, 5] if mode == "promise" else [0, -1, 5, 99, -99, 5], np.int32)
    keywords = {"fill_value": 3} if mode == "fill" else {}
    gradient = jax.grad(lambda x: lj.take(x, ids, 0, mode=mode, **keywords).sum())(X)
    rows = {"clip": [0, 5, 5, 5, 0, 5], "wrap": [0, 5, 5, 99 % 6, -99 % 6, 5], "promise": [0, 5, 5, 5]}.get(mode, [0, 5, 5, 5])
    assert close(gradient, np.bincount(rows, minlength=6)[:, None, None] * np.ones_like(X))
    tangent = jax.jvp(lambda x: lj.take(x, ids, 0, mode=mode, **keywords), (X,), (np.ones_like(X),))[1]
    assert float(tangent.sum()) == 12 * len(rows)


def test_a_gradient_alone_is_checked():
    """The gather itself is not needed there; its error still comes."""
    gradient = jax.jit(jax.grad(lambda x, i: lj.take(x, i, 0).sum()))
    assert close(gradient(X, jnp.array([1, -1])), np.isin(np.arange(6), [1, 5])[:, None, None] * np.ones_like(X))
    with pytest.raises(lj.RUN_ERRORS, match=r"OUT_OF_RANGE: indices\[1\] = 6 is outside \[-6, 5\] of axis 0"):
        jax.block_until_ready(gradient(X, jnp.array([1, 6])))


def test_random_gradients():
    """Many index types and policies: the transpose is the sum over the rows that were taken."""
    random = np.random.default_rng(SEED)
    for _ in range(30):
        n, mode, negative = int(random.integers(1, 9)), str(random.choice(["clip", "wrap", "zero", "raise"])), bool(random.integers(2))
        index = np.dtype(str(random.choice(["int8", "uint8", "int32", "uint32", "int16", "uint16"])))
        low, high = (-n if negative and index.kind == "i" else 0, n) if mode == "raise" else (-2 * n if index.kind == "i" else 0, 3 * n)
        ids = random.integers(low, high, 12).astype(index)
        x = random.standard_normal((n, 3)).astype(np.float32)
        taken, transpose = jax.vjp(lambda x: lj.take(x, ids, 0, mode=mode, negative=negative), x)
        weights = random.standard_normal(taken.shape).astype(np.float32)
        matrix = libgather.take(np.eye(n, dtype=np.float32), ids, axis=0, mode=mode, negative=negative)
        assert close(transpose(weights)[0], matrix.T @ weights)


# ---- vmap ----


@each
def test_vmap(name):
    """Over x, over the indices, over both, at every place; twice; of a gradient."""
    ours, theirs, ids = case(name)
    many_x = np.stack([X, X + 1, 2 * X])
    many_ids = np.stack([ids, ids // 2, ids])
    last = ids.ndim - ("tuples" in name or name == "windows")
    for of_x, of_ids in ((0, None), (2, None), (None, 0), (None, last), (0, 0), (1, last)):
        arguments = X if of_x is None else np.moveaxis(many_x, 0, of_x), ids if of_ids is None else np.moveaxis(many_ids, 0, of_ids)
        results = [jax.jit(jax.vmap(f, (of_x, of_ids)))(*arguments) for f in (ours, theirs)]
        assert same(results[0], np.asarray(results[1])), (of_x, of_ids)
    twice = [jax.jit(jax.vmap(jax.vmap(f, (0, None)), (None, 0)))(many_x, many_ids) for f in (ours, theirs)]
    assert same(twice[0], np.asarray(twice[1]))
    for dims, x in (((0, 0), many_x), ((None, 0), X)):
        gradients = [jax.jit(jax.vmap(jax.grad(lambda x, i, f=f: (f(x, i) ** 2).sum()), dims))(x, many_ids) for f in (ours, theirs)]
        assert close(*gradients)


def test_vmap_against_a_loop():
    """The policies too, and an empty batch."""
    ids = np.random.default_rng(SEED).integers(-20, 20, (7, 5)).astype(np.int32)
    for mode in ("clip", "wrap", "zero", "fill"):
        result = jax.vmap(lambda i, mode=mode: lj.take(X, i, 0, mode=mode))(ids)
        assert same(result, np.stack([np.asarray(lj.take(X, row, 0, mode=mode)) for row in ids]))
        assert jax.vmap(lambda i, mode=mode: lj.take_along_axis(X[:, 0], i[:, None], 0, mode=mode))(ids[:0]).shape == (0, 5, 3)


# ---- control flow, donation, export, other platforms ----


def test_control_flow():
    ids = np.array([[1, 2], [0, -1], [5, 5]], np.int32)
    summed = jax.jit(lambda x: jax.lax.scan(lambda total, i: (total + lj.take(x, i, 0).sum(), lj.take(x, i, 0)), 0.0, ids))(X)
    assert np.isclose(summed[0], X[ids].sum(), rtol=1e-5) and same(summed[1], X[ids])
    chosen = jax.jit(lambda p, x: jax.lax.cond(p, lambda x: lj.take(x, 1, 0), lambda x: x[0], x))
    assert same(chosen(True, X), X[1]) and same(chosen(False, X), X[0])
    assert same(jax.jit(lambda x, i: lj.take(x, i, 0), donate_argnums=0)(jnp.asarray(X), np.array([2, 2])), X[[2, 2]])
    assert same(jax.checkpoint(lambda x: lj.take(x, ids, 0))(X), X[ids])


def test_export():
    """A program with a symbolic length is written and read back; the check of JAX's for custom calls must be told."""
    from jax import export

    if not hasattr(export, "symbolic_shape"):
        pytest.skip("export: this JAX has no symbolic shapes")
    length = export.symbolic_shape("n")
    shapes = (jax.ShapeDtypeStruct(X.shape, np.float32), jax.ShapeDtypeStruct((*length, 2), np.int32))
    allowed = [export.DisabledSafetyCheck.custom_call("libgather_jax_gather")]
    exported = export.export(jax.jit(lambda x, i: lj.take(x, i, 0)), disabled_checks=allowed)(*shapes)
    try:
        again = export.deserialize(exported.serialize())
    except ImportError:  # flatbuffers
        again = exported
    ids = np.array([[1, 2], [3, -1], [0, 0]], np.int32)
    assert same(again.call(X, ids), X[ids])
    with pytest.raises(lj.RUN_ERRORS, match=r"indices\[0, 1\] = 7"):
        np.asarray(again.call(X, np.array([[1, 7]], np.int32)))


def test_other_platforms():
    """There the other policies are jax.numpy, and mode='raise' is refused in words."""
    from jax import export

    shapes = (jax.ShapeDtypeStruct(X.shape, np.float32), jax.ShapeDtypeStruct((2,), np.int32))
    with pytest.raises(libgather.GatherNotSupportedError, match="only on the CPU"):
        export.export(jax.jit(lambda x, i: lj.take(x, i, 0)), platforms=["cuda"])(*shapes)
    exported = export.export(jax.jit(lambda x, i: lj.take(x, i, 0, mode="clip")), platforms=["cuda"])(*shapes)
    assert "@libgather" not in exported.mlir_module()


@pytest.mark.parametrize("mode", ["raise", "clip", "zero", "fill"])
def test_windows(mode):
    """Batching dimensions of XLA's gather, windows that do not fit, and their gradients."""
    numbers = jax.lax.GatherDimensionNumbers((1, 2), (), (1,), operand_batching_dims=(0,), start_indices_batching_dims=(0,))
    ids = np.array([[0], [1], [2], [3], [-1], [9]], np.int32)
    function = jax.jit(lambda x, i: lj.gather(x, i, numbers, (1, 2, 3), mode=mode, **({"fill_value": 7} if mode == "fill" else {})))
    if mode == "raise":
        with pytest.raises(lj.RUN_ERRORS, match=r"OUT_OF_RANGE: indices\[3, 0\] = 3, component 0 of tuple \[3\], is outside \[0, 2\] of axis 1"):
            np.asarray(function(X, ids))
        with pytest.raises(lj.RUN_ERRORS, match=r"\[3, 0\] = 3"):
            jax.block_until_ready(jax.jit(jax.grad(lambda x: function(x, ids).sum()))(X))
        with pytest.raises(ValueError, match="wrap"):
            lj.gather(X, ids, numbers, (1, 2, 3), mode="wrap")
        with pytest.raises((TypeError, ValueError)):
            lj.gather(X, ids, numbers, (1, 9, 3))
        ids = ids % 3
    theirs = {"clip": {"mode": "clip"}, "raise": {"mode": "clip"}, "zero": {"mode": "fill", "fill_value": 0}, "fill": {"mode": "fill", "fill_value": 7}}[mode]
    wanted = lambda x, i: jax.lax.gather(x, i, numbers, (1, 2, 3), **theirs)  # noqa: E731
    assert same(function(X, ids), np.asarray(wanted(X, ids)))
    assert close(jax.grad(lambda x: (function(x, ids) ** 2).sum())(X), jax.grad(lambda x: (wanted(x, ids) ** 2).sum())(X))
    if mode != "raise":
        from libgather._jax_primitive import gather_p

        request = next(e.params["request"] for e in jax.make_jaxpr(function)(X, ids).eqns[0].params["jaxpr"].eqns if e.primitive is gather_p)
        assert same(reference.gather(jnp.asarray(X), jnp.asarray(ids), request=request), np.asarray(wanted(X, ids)))


@pytest.mark.parametrize("family", ["GATHER", "ELEMENTS", "ND"])
def test_the_reference(x64, family):
    """What other platforms compute is what the CPU's handler does: every policy, all index types."""
    random = np.random.default_rng(SEED)
    for number in range(16):
        mode = str(random.choice(["clip", "wrap", "zero", "fill"]))
        index = np.dtype(str(random.choice(["int8", "uint8", "int32", "uint32", "int64", "uint64"])))
        fill = np.float32(7).tobytes().ljust(16, b"\0") if mode == "fill" else b""
        common = {"on_bad": POLICIES[{"clip": "clamp"}.get(mode, mode)], "negative": bool(number % 2), "fill": fill}
        shape = {"GATHER": (6, 2), "ELEMENTS": (6, 5, 3), "ND": (6, 3, 2)}[family]
        ids = random.integers(-9 if index.kind == "i" else 0, 9, shape).astype(index)
        ids.reshape(-1)[0] = np.iinfo(index).max
        request = {"GATHER": Request(GATHER, 2, 1, **common), "ELEMENTS": Request(ELEMENTS, 1, broadcast=number % 3 == 0, **common),
                   "ND": Request(ND, 0, 1, **common)}[family]  # fmt: skip
        from libgather._jax_primitive import gather_p

        result = gather_p.bind(jnp.asarray(X), jnp.asarray(ids), request=request)
        assert same(reference.gather(jnp.asarray(X), jnp.asarray(ids), request=request), np.asarray(result)), (request, ids)
