# SPDX-License-Identifier: MIT
#
# scatter_plan.py: ScatterPlan: the extension's plan, with the arguments of the functions.
"""Scatters with every decision made."""
from __future__ import annotations

from typing import Any

from libgather import _core
from libgather.scatters import as_data, as_updates


class ScatterPlan:
    """A scatter with every decision made in advance, for any tensors of the same layouts (dtype, shape, strides).

    Made from data, indices and updates of these layouts: ScatterPlan("scatter", data, indices, updates, axis=0, reduction="add"). The
    name is 'scatter', 'scatter_elements', 'scatter_nd' or 'put_along_axis'; the keywords are those of the function.
    plan(data, indices, updates, out=None) then scatters. Any number of threads may call one plan at once.

    >>> import numpy as np, libgather
    >>> data, ids, rows = np.zeros((4, 2)), np.array([3, 0, 3]), np.ones((3, 2))
    >>> plan = libgather.ScatterPlan("scatter", data, ids, rows, reduction="add")
    >>> plan.keep(ids)                     # sorts them, once
    >>> plan(data, None, rows)[3]
    array([2., 2.])
    """

    __slots__ = ("_plan",)

    def __init__(
        self,
        name: str,
        data: Any,
        indices: Any,
        updates: Any,
        *,
        axis: int | None = None,
        reduction: str = "none",
        rules: str | None = None,
        mode: str = "raise",
        negative: bool | None = None,
        threads: int | None = None,
        accumulate: str | None = None,
        unique: bool = False,
        use_init_val: bool = True,
    ) -> None:
        if axis is None:
            axis = -1 if name == "put_along_axis" else 0
        data = as_data(data)
        updates = as_updates(data, updates)
        options = (axis, reduction, rules, mode, negative, threads, accumulate, unique, use_init_val)
        self._plan = _core.ScatterPlan._create(name, data, indices, updates, *options)

    def __call__(self, data: Any, indices: Any, updates: Any, *, out: Any = None) -> Any:
        """Scatters. indices: None = those of keep(). out: in row-major order; it may be data."""
        return self._plan(data, indices, updates, out=out)

    def keep(self, indices: Any) -> None:
        """Validates these indices and sorts them by where they write.

        Later calls use them and ignore their indices argument. While it runs, calls in other threads raise a GatherValueError.
        After an error the plan is unchanged.
        """
        self._plan.keep(indices)

    def check(self, indices: Any) -> None:
        """Validates indices as a call would (with unique=True also repeated ones), without writing."""
        self._plan.check(indices)

    @property
    def text(self) -> str:
        """The plan in one line for people. The wording may change."""
        return self._plan.text

    def __repr__(self) -> str:
        return f"<libgather.ScatterPlan: {self.text}>"
