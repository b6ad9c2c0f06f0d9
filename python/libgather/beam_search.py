# SPDX-License-Identifier: MIT
#
# beam_search.py: gather_tree: its arguments, as the extension takes them.
"""The sequences of a beam search."""
from __future__ import annotations

from typing import Any

import numpy as np

from libgather import _core
from libgather.errors import refuse


def _is_plain(value: Any) -> bool:
    """A number or a list: it has no type that must be kept."""
    return isinstance(value, (bool, int, float, list, tuple, range, np.generic))


def _like(step_ids: Any, value: Any, name: str) -> Any:
    """Numbers and lists get the type of step_ids, which must be able to represent them."""
    if not _is_plain(value):
        return value
    if not isinstance(step_ids, np.ndarray):
        return step_ids.new_tensor(value) if hasattr(step_ids, "new_tensor") else value
    exact = np.asarray(value)
    if exact.dtype.kind not in "biuf":
        refuse("type_unsupported", f"{name} must be numbers, not {value!r}", name)
    with np.errstate(invalid="ignore", over="ignore"):
        made = exact.astype(step_ids.dtype)
        same = made.astype(exact.dtype) == exact
    if not np.all(same | (exact != exact)):
        refuse("type_mismatch", f"{name} {value!r} does not fit {step_ids.dtype}, the dtype of step_ids", name)
    return made


def gather_tree(
    step_ids: Any,
    parent_ids: Any,
    max_seq_len: Any,
    end_token: Any,
    /,
    *,
    out: Any = None,
    mode: str | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> Any:
    """The sequence of each beam of a beam search: OpenVINO's and TensorFlow's GatherTree.

    >>> import numpy as np, libgather
    >>> steps = np.array([[[1, 2]], [[3, 4]], [[5, 6]]])       # [time, batch, beam]
    >>> parents = np.array([[[0, 0]], [[1, 0]], [[1, 0]]])
    >>> libgather.gather_tree(steps, parents, [3], 9)[:, 0]
    array([[1, 2],
           [4, 3],
           [5, 6]])

    Parameters
    ----------
    step_ids, parent_ids : arrays [time, batch, beam]
        The token that each beam chose at each step, and the beam of the step before that it continues. Any integer or float
        dtype of whole bytes, any strides; the numbers are integers. Read in place, never copied or written.
    max_seq_len : array [batch]
        The number of steps that count in each batch: at most time; below 1 none.
    end_token : scalar
        Every step after the first end_token of a sequence is end_token, and so is every step that does not count.
        All four have one dtype. Numbers and lists get that of step_ids, if it can represent them.
    out : array, optional
        Where the result goes: writable, of step_ids' dtype and shape, not overlapping an input. Not written if a parent out
        of range is an error.
    mode : {'raise', 'wrap', 'clip', 'zero', 'fill', 'promise'}, optional
        Policy for a parent that is not in [0, beam - 1]. 'raise' (the default): an error; 'wrap', 'clip': another beam, modulo or
        the nearest; 'zero', 'fill': zeros or fill_value for this sequence's earlier steps; 'promise': as 'clip'. Only parents
        that a sequence follows matter.
    fill_value : scalar, optional
        Only with mode='fill'.
    negative : bool, optional
        Whether a parent in [-beam, -1] counts from the end. Default: False.
    threads : int, optional
        Maximum number of threads; small calls use one. Default: get_threads(). The result is the same for any number.

    Returns
    -------
    array
        Of step_ids' library, dtype and shape, row-major.

    Raises
    ------
    GatherIndexError (an IndexError)
        The first parent out of range: position [time, batch, beam], value, low, high, axis 2, bad_count. Also for a max_seq_len
        that is not an integer.
    GatherAxisError, GatherValueError, GatherTypeError
        Invalid shapes or types.
    """
    if isinstance(step_ids, (list, tuple)):
        step_ids = np.asarray(step_ids)
    rest = (_like(step_ids, value, name) for value, name in
            ((parent_ids, "parent_ids"), (max_seq_len, "max_seq_len"), (end_token, "end_token")))
    return _core._tree(step_ids, *rest, out, mode, fill_value, negative, threads)
