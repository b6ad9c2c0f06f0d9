# SPDX-License-Identifier: MIT
"""embedding_bag as PyTorch rounds it: where its bits differ from libgather's, they must be these."""

from __future__ import annotations

import torch

BAG = "nn.functional.embedding_bag"
DIFFERENCES = {"fused": "torch-bag-fused", "ties away": "torch-bag-ties-away", "rounded twice": "torch-bag-rounded-twice"}


def ties_away(values):
    """float32 to bfloat16, halfway cases away from zero."""
    bits = values.contiguous().view(torch.int32) + 0x8000 & ~0xFFFF
    return bits.view(torch.float32).to(torch.bfloat16)


def one_bag(rows, weights, mean: bool, how: str):
    """The sum of the rows of one bag: the product and the sum rounded once; or the sum rounded otherwise than to even, or before it is
    divided.
    """
    total = torch.zeros(rows.shape[1:])
    for i, row in enumerate(rows):
        if weights is None:
            total = total + row.float()
        elif how == "fused":
            total = (total.double() + row.double() * weights[i].double()).float()
        else:
            total = total + row.float() * weights[i].float()
    if how == "ties away" and len(rows):
        total = ties_away(total)
    elif how == "rounded twice":
        total = total.to(rows.dtype)
    return (total / len(rows) if mean and len(rows) else total).to(rows.dtype)


def bags(how: str, weight, input, offsets=None, *, mode="mean", per_sample_weights=None, include_last_offset=False, padding_idx=None, **_):
    """All bags, in one of these ways. Rows are scaled to max_norm already."""
    ids, length = input.reshape(-1), weight.shape[0]
    starts = torch.arange(0, ids.numel(), input.shape[1]) if input.dim() == 2 else offsets
    ends = torch.cat([starts[1:], torch.tensor([ids.numel()])])
    starts, ends = (starts[:-1], starts[1:]) if include_last_offset else (starts, ends)
    made = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        kept = torch.tensor([at for at in range(start, end) if padding_idx is None or ids[at] != padding_idx % length], dtype=torch.int64)
        weights = None if per_sample_weights is None else per_sample_weights.detach().reshape(-1)[kept]
        made.append(one_bag(weight.detach()[ids[kept].long()], weights, mode == "mean", how))
    return torch.stack(made)


def rounding(arguments, keywords, wanted) -> str | None:
    """The difference that makes PyTorch's bits. arguments: as they were in a call, after which the rows are scaled."""
    from torch_suite import same

    if keywords.get("mode") == "max":
        return None
    return next((name for how, name in DIFFERENCES.items() if not same(wanted, bags(how, *arguments, **keywords))), None)
