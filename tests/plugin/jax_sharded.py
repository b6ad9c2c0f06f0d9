# SPDX-License-Identifier: MIT
"""What test_jax_sharding.py runs with eight devices."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import libgather.jax as lj

if sys.argv[1:] == ["gspmd"]:
    try:
        jax.config.update("jax_use_shardy_partitioner", False)
    except Exception as error:  # noqa: BLE001
        print("no gspmd:", error)
        sys.exit()

DEVICES = np.array(jax.devices())
assert len(DEVICES) == 8
MESH = Mesh(DEVICES.reshape(4, 2), ("a", "b"))
X = np.random.default_rng(1).standard_normal((16, 8, 4)).astype(np.float32)
IDS = np.random.default_rng(2).integers(-16, 16, (8, 6)).astype(np.int32)


def put(x, *spec):
    return jax.device_put(x, NamedSharding(MESH, P(*spec)))


def collectives(function, *arguments) -> list:
    text = function.lower(*arguments).compile().as_text()
    return [name for name in ("all-gather", "all-reduce", "all-to-all", "collective-permute") if name in text]


def check(name, function, x, ids, wanted, spec=None, moves=False):
    with MESH:
        function = jax.jit(function)
        result = function(x, ids)
        assert np.array_equal(np.asarray(result), wanted), name
        if spec is not None:
            have = result.sharding
            assert have.is_equivalent_to(NamedSharding(MESH, P(*spec)), result.ndim), f"{name}: {have}"
        found = collectives(function, x, ids)
        assert bool(found) == moves, f"{name}: {found}"
    print("ok", name)


def take(axis, **options):
    return lambda x, i: lj.take(x, i, axis, **options)


check("replicated table, sharded ids", take(0), put(X), put(IDS, "a"), X[IDS], ("a",))
check("ids over both axes of the mesh", take(0), put(X), put(IDS, ("a", "b")), X[IDS], (("a", "b"),))
check("ids in two dimensions", take(0), put(X), put(IDS, "a", "b"), X[IDS], ("a", "b"))
check("sharded columns", take(0), put(X, None, "a"), put(IDS), X[IDS], (None, None, "a"))
check("both", take(0), put(X, None, "a"), put(IDS, "b"), X[IDS], ("b", None, "a"))
check("axis 1", take(1), put(X, "a"), put(IDS % 8, "b"), np.take(X, IDS % 8, 1), ("a", "b"))
check("one axis of the mesh twice", take(0), put(X, None, "a"), put(IDS, "a"), X[IDS], moves=True)
check("a sharded axis is collected", take(0), put(X, "a"), put(IDS), X[IDS], moves=True)
check("batches", take(1, batch_dims=1), put(X[:8], "a"), put(IDS % 8, "a"), np.take_along_axis(X[:8], (IDS % 8)[..., None], 1), ("a",))
ALONG = np.random.default_rng(3).integers(0, 8, (16, 5, 4)).astype(np.int32)
check("along", lambda x, i: lj.take_along_axis(x, i, 1), put(X, "a"), put(ALONG, "a"), np.take_along_axis(X, ALONG, 1), ("a",))
check("along, broadcast", lambda x, i: lj.take_along_axis(x, i, 1), put(X, "a"), put(ALONG[:1]), np.take_along_axis(X, ALONG[:1] + 0 * ALONG[:, :1], 1), ("a",))
PAIRS = np.stack([IDS, IDS % 8], -1)
check("tuples", lambda x, i: lj.gather_nd(x, i), put(X), put(PAIRS, "a"), X[IDS, IDS % 8], ("a",))
check("a length that does not divide", take(0), put(X), put(IDS[:, :5], "a"), X[IDS[:, :5]], ("a",))


# ---- gradients, shard_map ----

with MESH:
    gradient = jax.jit(jax.grad(lambda x, i: (lj.take(x, i, 0) ** 2).sum()))(put(X, None, "a"), put(IDS, "b"))
wanted = jax.grad(lambda x, i: (jnp.take(x, i, 0) ** 2).sum())(X, IDS)
assert np.allclose(gradient, wanted, rtol=1e-5)
print("ok gradient")

shard_map = getattr(jax, "shard_map", None)
if shard_map is not None:
    mapped = shard_map(take(0), mesh=MESH, in_specs=(P(), P("a")), out_specs=P("a"))
    assert np.array_equal(np.asarray(jax.jit(mapped)(X, IDS)), X[IDS])
    summed = jax.jit(jax.grad(lambda x: (mapped(x, IDS) ** 2).sum()))(X)
    assert np.allclose(summed, wanted, rtol=1e-5)
    print("ok shard_map")


# ---- errors: last, since JAX before 0.7 may report an error on several devices again in the next program ----

for spec, shown in ((("a",), "[5, 2]"), ((("a", "b"),), "[5, 2]"), (("a", "b"), "[5, 2]"), ((None, "b"), "[5, 2]")):
    bad = IDS.copy()
    bad[5, 2] = 16
    try:
        with MESH:
            jax.block_until_ready(jax.jit(take(0))(put(X), put(bad, *spec)))
    except lj.RUN_ERRORS as error:
        # Where the mesh is not known to the partitioner, the ids are collected, and the error is that of the whole.
        assert f"indices{shown} = 16 is outside [-16, 15] of axis 0" in str(error), error
        print("ok position", spec)
    else:
        raise AssertionError("no error")
print("all good")
