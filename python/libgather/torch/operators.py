# SPDX-License-Identifier: MIT
#
# operators.py: the operators as functions of tensors. They call torch.ops.libgather, and raise libgather's errors.
"""libgather's operators on PyTorch's tensors."""

from __future__ import annotations

from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from libgather.errors import refuse
from libgather.table import Table
from libgather.torch import batching, dataset, gradients, loading, shapes

__all__ = ["dequantize", "gather_elements", "gather_nd", "gather_tree", "take", "take_quantized"]


def _register() -> torch.library.Library | None:
    """Loads the operators, once. The returned object keeps their Python side alive."""
    if not loading.load():
        return None
    fragment = torch.library.Library("libgather", "FRAGMENT")
    shapes.register(fragment)
    gradients.register(fragment)
    batching.register(fragment)
    return fragment


_FRAGMENT = _register()


def _operator(name: str, overload: str = "default") -> Any:
    """torch.ops.libgather.NAME.OVERLOAD; without the library, a function that says why there is none."""
    if _FRAGMENT is not None:
        return getattr(getattr(torch.ops.libgather, name), overload)

    def missing(*arguments: Any, **options: Any) -> NoReturn:
        raise ImportError(f"libgather's operators for PyTorch are not loaded: {loading.failure()}")

    return missing


_TAKE, _TAKE_OUT, _TAKE_PLAIN = (_operator("take", overload) for overload in ("default", "out", "no_grad"))
_ELEMENTS, _ELEMENTS_OUT, _ELEMENTS_PLAIN = (_operator("gather_elements", overload) for overload in ("default", "out", "no_grad"))
_ND, _ND_OUT, _ND_PLAIN = (_operator("gather_nd", overload) for overload in ("default", "out", "no_grad"))
_TREE, _TAKE_QUANTIZED, _DEQUANTIZE = _operator("gather_tree"), _operator("take_quantized"), _operator("dequantize")
# What an OpOverload calls: a tenth of the time of a small gather less.
_TAKE_SHORT, _ELEMENTS_SHORT, _ND_SHORT = (getattr(operator, "_op", operator) for operator in (_TAKE_PLAIN, _ELEMENTS_PLAIN, _ND_PLAIN))
_PLAIN = (Tensor, torch.nn.Parameter)
_transforms = torch._C._functorch.peek_interpreter_stack  # vmap, grad, jvp
_watchers = torch._C._len_torch_dispatch_stack  # make_fx and others that see operators


def _transformed() -> bool:
    """Whether torch.vmap, torch.func or forward mode is active."""
    return _transforms() is not None or forward_ad._current_level >= 0


def _plain(data: Tensor) -> bool:
    """Whether a call can take the short path: no gradient is needed, and nothing traces or transforms it. PyTorch calls gradients in
    Python, which takes longer than a small gather even if none is needed."""
    return (
        not is_compiling()
        and type(data) in _PLAIN
        and not (data.requires_grad and torch.is_grad_enabled())
        and forward_ad._current_level < 0
        and _transforms() is None
        and not _watchers()
    )


def _call(operator: Any, *arguments: Any, **options: Any) -> Tensor:
    """Calls an operator; its error becomes libgather's exception. torch.compile and torch.export trace only the operator."""
    if is_compiling():
        return operator(*arguments, **options)
    try:
        return operator(*arguments, **options)
    except RuntimeError as error:
        raise loading.translate(error) from None


def _gather(name: str, operator: Any, data: Tensor, indices: Tensor, numbers: tuple, *policy: Any) -> Tensor:
    """An operator that has gradients."""
    if is_compiling() or not _transformed():
        return _call(operator, data, indices, *numbers, *policy)
    return _call(gradients.Transformed.apply, name, data, indices, numbers, *policy)


def _into(operator: Any, functional: Any, out: Tensor, *arguments: Any) -> Tensor:
    if torch.is_grad_enabled() and any(isinstance(a, Tensor) and a.requires_grad for a in (*arguments, out)):
        refuse("unsupported", "out= has no gradient: call it under torch.no_grad(), or without out=", "output")
    if is_compiling():  # PyTorch traces no operator of others whose result is one of its arguments
        return out.copy_(functional(*arguments))
    return _call(operator, *arguments, out=out)


def _fill(fill_value: Any, data: Tensor) -> Tensor | None:
    if fill_value is None or isinstance(fill_value, Tensor):
        return fill_value
    return torch.as_tensor(fill_value, dtype=data.dtype)


def _rows(table: Table, ids: Any, axis: int, batch_dims: int, **options: Any) -> Tensor:
    """Rows of a table in a file, along axis 0 only."""
    if axis or batch_dims:
        refuse("unsupported", "rows of a table are taken along its first axis, without batch dimensions", "axis")
    return dataset.take(table, ids, **options)


def take(
    data: Any,
    indices: Any,
    axis: int = 0,
    *,
    batch_dims: int = 0,
    mode: str = "raise",
    negative: bool = True,
    fill_value: Any = None,
    out: Tensor | None = None,
    **options: Any,
) -> Tensor:
    """Rows of data by number: out[b, o, i, ..] = data[b, o, indices[b, i], ..], with o for the dimensions before the axis.

    Parameters
    ----------
    data : Tensor, or Table
        Of any dtype, on the CPU. A table of libgather.open(): rows of a file (`table.take(indices, **options)`, as a tensor of the
        table's dtype).
    indices : Tensor of integers
        Any shape.
    axis : int
        In [-r, r-1].
    batch_dims : int, default 0
        Leading dimensions that data and indices share (tensors only).
    mode : {'raise', 'clip', 'wrap', 'zero', 'fill'}
        Policy for an index out of range.
    negative : bool, default True
        Whether an index in [-n, -1] counts from the end.
    fill_value : number or Tensor of one element, optional
        For mode='fill'.
    out : Tensor, optional
        Where the result goes: of its shape and of data's dtype. After an error it is unchanged.

    Gradients of data and fill_value, torch.vmap, torch.compile and torch.export are supported.
    Raises GatherIndexError with position, value and range; GatherValueError, GatherTypeError, GatherAxisError.
    """
    if _plain(data) and mode == "raise" and negative and out is fill_value is None and not batch_dims and not options:
        try:
            return _TAKE_SHORT(data, indices, axis)
        except RuntimeError as error:
            raise loading.translate(error) from None
    if isinstance(data, Table):
        return _rows(data, indices, axis, batch_dims, mode=mode, negative=negative, fill_value=fill_value, out=out, **options)
    if options:
        raise TypeError(f"take() of a tensor has no parameter {', '.join(options)}")
    numbers, policy = (axis, batch_dims), (mode, negative, _fill(fill_value, data))
    if out is not None:
        return _into(_TAKE_OUT, _TAKE, out, data, indices, *numbers, *policy)
    return _gather("take", _TAKE, data, indices, numbers, *policy)


def gather_elements(
    data: Tensor, indices: Tensor, axis: int = 0, *, mode: str = "raise", negative: bool = True, fill_value: Any = None, out: Tensor | None = None
) -> Tensor:
    """One element per index: out[i, j] = data[indices[i, j], j] for axis 0.

    It is torch.gather with all dtypes, negative indices and exact errors. indices: of data's rank, off the axis at most as long as
    data. The other parameters: as for take().
    """
    if _plain(data) and mode == "raise" and negative and out is fill_value is None:
        try:
            return _ELEMENTS_SHORT(data, indices, axis)
        except RuntimeError as error:
            raise loading.translate(error) from None
    policy = (mode, negative, _fill(fill_value, data))
    if out is not None:
        return _into(_ELEMENTS_OUT, _ELEMENTS, out, data, indices, axis, *policy)
    return _gather("gather_elements", _ELEMENTS, data, indices, (axis,), *policy)


def gather_nd(
    data: Tensor, indices: Tensor, batch_dims: int = 0, *, mode: str = "raise", negative: bool = True, fill_value: Any = None, out: Tensor | None = None
) -> Tensor:
    """Slices of data by tuples of indices: out[t, ..] = data[indices[t, 0], indices[t, 1], ..].

    The last dimension of indices has the numbers of a tuple, or none. The other parameters: as for take().
    """
    if _plain(data) and mode == "raise" and negative and out is fill_value is None and not batch_dims:
        try:
            return _ND_SHORT(data, indices)
        except RuntimeError as error:
            raise loading.translate(error) from None
    policy = (mode, negative, _fill(fill_value, data))
    if out is not None:
        return _into(_ND_OUT, _ND, out, data, indices, batch_dims, *policy)
    return _gather("gather_nd", _ND, data, indices, (batch_dims,), *policy)


def gather_tree(
    step_ids: Tensor,
    parent_ids: Tensor,
    max_seq_len: Tensor,
    end_token: Tensor,
    *,
    mode: str = "raise",
    negative: bool = False,
    fill_value: Any = None,
) -> Tensor:
    """The complete sequence of each beam of a beam search: libgather.gather_tree().

    step_ids and parent_ids are [time, batch, width], max_seq_len is [batch], end_token 0-D; all have one dtype.
    """
    return _call(_TREE, step_ids, parent_ids, max_seq_len, end_token, mode, negative, _fill(fill_value, step_ids))


def _texts(layout: dict[str, Any]) -> dict[str, Any]:
    """The layout of a quantised tensor as the operator takes it, without the items that are None."""
    return {name: (list(value) if isinstance(value, tuple) else value) for name, value in layout.items() if value is not None}


def take_quantized(
    data: Tensor,
    indices: Tensor,
    codec: str,
    *,
    dtype: torch.dtype = torch.float32,
    axis: int = 0,
    batch_dims: int = 0,
    mode: str = "raise",
    negative: bool = True,
    **layout: Any,
) -> Tensor:
    """Decoded rows of a quantised tensor: take() of the values, of which only these rows are decoded.

    Parameters
    ----------
    data : Tensor
        Codes or blocks; bytes of blocks are uint8.
    codec : str
        A name of libgather.codecs(): 'Q4_K', 'affine', 'float', 'nf4', ...
    dtype : torch.dtype
        Of the result: float32, float16 or bfloat16.
    mode : {'raise', 'clip', 'wrap', 'zero'}
    layout
        scale, zero_point, bias, table, code_type, group_len and so on, as for libgather.Quantized (docs/use/quantised.md). Tensors.

    The other parameters: as for take(). It has no gradient. torch.vmap works over the indices.
    """
    name = str(dtype).removeprefix("torch.")
    return _call(_TAKE_QUANTIZED, data, indices, codec, name, axis, batch_dims, mode, negative, **_texts(layout))


def dequantize(data: Tensor, codec: str, *, dtype: torch.dtype = torch.float32, **layout: Any) -> Tensor:
    """All values of a quantised tensor. The parameters are those of take_quantized()."""
    return _call(_DEQUANTIZE, data, codec, str(dtype).removeprefix("torch."), **_texts(layout))
