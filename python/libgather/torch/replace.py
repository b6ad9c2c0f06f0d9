# SPDX-License-Identifier: MIT
#
# replace.py: puts a DiskEmbedding where a model has an nn.Embedding.
"""A model's embedding replaced by a table in a file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch

from libgather.errors import refuse
from libgather.table import Path, Table
from libgather.torch.embedding import DiskEmbedding

__all__ = ["replace_embedding"]


def _others(model: torch.nn.Module, name: str) -> list[str]:
    """The other names of the embedding's weights: an output layer that shares them."""
    weight = model.get_submodule(name).weight
    return [other for other, value in model.named_parameters(remove_duplicate=False) if value is weight and other != f"{name}.weight"]


def replace_embedding(
    model: torch.nn.Module,
    name: str,
    table: Table | Path | Sequence[Path],
    *,
    verify: bool = False,
    **options: Any,
) -> DiskEmbedding:
    """Replaces an nn.Embedding of the model by a DiskEmbedding, and returns the DiskEmbedding.

    Parameters
    ----------
    model : torch.nn.Module
        Changed in place. It may be on the device meta, so that the weights never exist in memory.
    name : str
        The nn.Embedding's name in model.named_modules(), such as 'encoder.embed_tokens'.
    table, options
        What DiskEmbedding takes. dtype and device default to those of the weights (for weights on meta: the CPU, or the ids'), padding_idx
        to the nn.Embedding's.
    verify : bool
        Compare the first, the last and 14 other rows with the weights.

    Raises
    ------
    GatherNameError
        The model has no such module.
    GatherValueError, GatherTypeError
        The shape differs, the module is not an nn.Embedding, or verify found different rows.
    GatherNotSupportedError
        An nn.Embedding with max_norm, which writes its weights.

    Warns if the weights have another name in the model, which keeps them in memory. The embedding has no gradients any more.
    """
    parent_name, _, last = name.rpartition(".")
    try:
        parent, old = model.get_submodule(parent_name), model.get_submodule(name)
    except AttributeError as error:
        refuse("name_not_found", f"the model has no module {name!r}: {error}")
    if not isinstance(old, torch.nn.Embedding) or not last:
        refuse("type_mismatch", f"{name!r} is a {type(old).__name__}, not an nn.Embedding")
    if old.max_norm is not None:
        refuse("unsupported", f"{name!r} has max_norm={old.max_norm}, which scales its weights in place")
    options.setdefault("padding_idx", old.padding_idx)
    options.setdefault("dtype", old.weight.dtype)
    if old.weight.device.type not in ("meta", "cpu"):
        options.setdefault("device", old.weight.device)
    new = DiskEmbedding(table, **options)
    if tuple(new.table.shape) != tuple(old.weight.shape):
        refuse("shape_mismatch", f"{name!r} has the shape {tuple(old.weight.shape)}, but the table has {tuple(new.table.shape)}", "data")
    if verify:
        _verify(name, old, new)
    if others := _others(model, name):
        warnings.warn(f"the weights of {name!r} stay in memory: the model has them as {', '.join(others)} too", stacklevel=2)
    new.train(old.training)
    setattr(parent, last, new)
    return new


def _verify(name: str, old: torch.nn.Embedding, new: DiskEmbedding) -> None:
    if old.weight.device.type == "meta":
        refuse("usage", f"verify: the weights of {name!r} are on meta, without values")
    rows = torch.linspace(0, old.num_embeddings - 1, min(16, old.num_embeddings)).long()
    wanted, found = old.weight.detach()[rows].cpu(), new(rows).cpu()
    equal = (wanted == found) | (wanted.isnan() & found.isnan())
    if not bool(equal.all()):
        row, column = (int(i) for i in (~equal).nonzero()[0])
        refuse(
            "mismatch",
            f"row {int(rows[row])} of {name!r} has {wanted[row, column].item()} in column {column}, but the table has "
            f"{found[row, column].item()}",
        )
