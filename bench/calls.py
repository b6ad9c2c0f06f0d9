# SPDX-License-Identifier: MIT
"""The calls from Python that are measured: a table of cases, and the ways in which each library's users write them.

A form is the Python statement itself. The first one of a peer is the function that a user would look for; "new" makes
its result, "out" writes into memory that is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

OURS, NUMPY, TORCH, C = "libgather", "NumPy", "PyTorch", "C"
NEW, OUT = "new", "out"


@dataclass(frozen=True)
class Form:
    who: str
    text: str
    kind: str = NEW
    plan: bool = False


@dataclass(frozen=True)
class Case:
    """x, i and o are arrays of `library`; where i is None the statements name a number or a list themselves."""

    name: str
    library: str
    x: np.ndarray
    i: np.ndarray | None
    expected: np.ndarray
    forms: tuple[Form, ...]
    plan: str = ""  # makes `plan`
    names: dict = field(default_factory=dict)

    def title(self) -> str:
        return f"{self.name}, {self.library}"

    def globals(self, more: dict) -> dict:
        """What the statements see; more: libgather, np and torch."""
        out = np.empty_like(self.expected)
        arrays = {"x": self.x, "i": self.i, "o": out}
        if self.library == TORCH:
            arrays = {name: more["torch"].from_numpy(a) for name, a in arrays.items() if isinstance(a, np.ndarray)}
        names = {**more, **arrays, **self.names, "out_memory": out}
        if self.plan:
            names["plan"] = eval(self.plan, names)
        return names


def ours(call: str, out: bool = True, plan: bool = True) -> list[Form]:
    """call: without its closing bracket."""
    found = [Form(OURS, f"{call})"), *([Form(OURS, f"{call}, out=o)", OUT)] if out else ())]
    if plan:
        found += [Form(OURS, "plan(x, i)", plan=True), Form(OURS, "plan(x, i, out=o)", OUT, True)]
    return found


def peer(who: str, new: tuple[str, ...], out: tuple[str, ...] = ()) -> list[Form]:
    return [Form(who, text) for text in new] + [Form(who, text, OUT) for text in out]


TAKE = "libgather.take(x, i, axis=0"
TAKE_PLAN = "libgather.Plan.take(x, i, axis=0)"
NUMPY_TAKE = peer(NUMPY, ("np.take(x, i, 0)", "x.take(i, 0)", "x[i]"),
                  ("np.take(x, i, 0, o)", "np.take(x, i, 0, o, 'clip')", "x.take(i, 0, o)", "x.take(i, 0, o, 'clip')"))
TORCH_TAKE = peer(TORCH, ("torch.index_select(x, 0, i)", "x.index_select(0, i)", "x[i]"), ("torch.index_select(x, 0, i, out=o)",))
TORCH_FLAT = peer(TORCH, ("torch.gather(x, 0, i)", "torch.take(x, i)"), ("torch.gather(x, 0, i, out=o)", "torch.take(x, i, out=o)"))
TORCH_ROWS = peer(TORCH, ("torch.embedding(x, i)",))


def takes(name: str, x: np.ndarray, i: np.ndarray):
    """The same take for both libraries."""
    flat = TORCH_FLAT if x.ndim == 1 else TORCH_ROWS
    for library, others in ((NUMPY, NUMPY_TAKE), (TORCH, TORCH_TAKE + flat)):
        yield Case(name, library, x, i, np.take(x, i, 0), (*ours(TAKE), *others), TAKE_PLAN)


def elements(name: str, x: np.ndarray, i: np.ndarray):
    forms = ours("libgather.gather_elements(x, i, axis=1")
    forms[1:1] = [Form(OURS, "libgather.take_along_axis(x, i, axis=1)")]
    rows = {"rows": np.arange(x.shape[0])[:, None]}
    others = {NUMPY: peer(NUMPY, ("np.take_along_axis(x, i, 1)", "x[rows, i]")),
              TORCH: peer(TORCH, ("torch.gather(x, 1, i)", "x.gather(1, i)", "torch.take_along_dim(x, i, 1)"),
                          ("torch.gather(x, 1, i, out=o)", "torch.take_along_dim(x, i, 1, out=o)"))}
    for library, found in others.items():
        yield Case(name, library, x, i, np.take_along_axis(x, i, 1), (*forms, *found),
                   "libgather.Plan.gather_elements(x, i, axis=1)", rows if library == NUMPY else {})


def plain(name: str, x: np.ndarray, index, text: str):
    """An index that is no array: a number or a list of them."""
    call = f"libgather.take(x, {text}, axis=0"
    ids = {"ids": index} if isinstance(index, list) else {}
    selected = "torch.index_select(x, 0, torch.tensor(ids))" if ids else "x.select(0, 3)"
    others = {NUMPY: (f"np.take(x, {text}, 0)", f"x.take({text}, 0)", f"x[{text}]"), TORCH: (selected, f"x[{text}]")}
    for library, found in others.items():
        forms = (*ours(call, False, False), *peer(library, found))
        yield Case(name, library, x, None, np.asarray(np.take(x, index, 0)), forms, names=ids)


def cases() -> list[Case]:
    random = np.random.default_rng(5)
    few, table = np.arange(8, dtype=np.float32), random.random((64, 16), np.float32)
    grid, many = random.random((2, 4), np.float32), random.random(16 << 10, np.float32)
    return [
        *takes("take 8 of 8 float32", few, np.array([3, 1, 2, 0, 7, 5, 6, 4])),
        *takes("take 4 rows of 16 float32", table, np.array([3, 60, 1, 7])),
        *elements("GatherElements 2 x 4 float32", grid, np.array([[3, 0, 1, 1], [2, 2, 0, 3]])),
        *plain("take 4 rows by a list", table, [3, 60, 1, 7], "ids"),
        *plain("take one float32 by a number", few, 3, "3"),
        *takes("take 1024 of 16 Ki float32", many, random.integers(0, many.size, 1024)),
    ]
