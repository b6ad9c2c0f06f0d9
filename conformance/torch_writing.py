# SPDX-License-Identifier: MIT
"""PyTorch's OpInfo samples of its functions that write, and of embedding_bag: the part of torch_suite.py about them."""

from __future__ import annotations

import libgather
import torch
from report import Report
from torch_writes import WRITES

BAG = "nn.functional.embedding_bag"
BAG_DIFFERENCES = {"fused": "torch-bag-fused", "ties away": "torch-bag-ties-away", "rounded twice": "torch-bag-rounded-twice"}


def ties_away(values):
    """float32 to bfloat16, halfway cases away from zero."""
    bits = values.contiguous().view(torch.int32) + 0x8000 & ~0xFFFF
    return bits.view(torch.float32).to(torch.bfloat16)


def one_bag(rows, weights, mean: bool, how: str):
    """The sum of rows of one bag as PyTorch may compute it: with the product and the sum rounded once; or the sum rounded otherwise than to
    even, or before it is divided.
    """
    total = torch.zeros(rows.shape[1:])
    for i, row in enumerate(rows):
        if how == "fused" and weights is not None:
            total = (total.double() + row.double() * weights[i].double()).float()
        else:
            total = total + row.float() * (1 if weights is None else weights[i].float())
    if how == "ties away" and len(rows):
        total = ties_away(total)
    elif how == "rounded twice":
        total = total.to(rows.dtype)
    return (total / len(rows) if mean and len(rows) else total).to(rows.dtype)


def bags_as_theirs(weight, input, offsets=None, *, mode="mean", per_sample_weights=None, include_last_offset=False, padding_idx=None, how, **_):
    """All bags, one way. The rows were scaled to max_norm before."""
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


def explained(op, arguments, keywords, wanted) -> str | None:
    """The difference that makes these bits."""
    from torch_suite import same

    if op.name != BAG or keywords.get("mode") == "max":
        return None
    weight = arguments[0].detach().clone()
    if keywords.get("max_norm") is not None:
        torch.embedding_renorm_(weight, arguments[1].contiguous(), keywords["max_norm"], keywords.get("norm_type", 2.0))
    for how, name in BAG_DIFFERENCES.items():
        if not same(wanted, bags_as_theirs(weight, *arguments[1:], **keywords, how=how)):
            return name
    return None


def run_samples(report: Report, op, dtype) -> None:
    """A sample in every layout, with and without out=."""
    from torch_suite import VARIANTS, attempt, compare, same

    group, ours = f"{op.name} {op.variant_test_name}".strip(), WRITES[op.name]
    for number, sample in enumerate(op.sample_inputs("cpu", dtype)):
        for variant, change in VARIANTS.items():
            shown = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in (sample.input, *sample.args)]
            text = f"{dtype} sample {number} {variant} {shown} {sample.kwargs}"
            arguments = [change(value) for value in sample.args]
            wanted, refused = attempt(lambda s=sample, a=arguments, c=change: op(c(s.input), *a, **s.kwargs))
            got, error = attempt(lambda s=sample, a=arguments, c=change: ours(c(s.input), *a, **s.kwargs))
            if isinstance(error, libgather.GatherTypeError) and dtype == torch.complex32:
                report.different(group, "torch-complex32-sums")
                continue
            if error is None and refused is None and same(wanted, got) == "other bits":
                if name := explained(op, (change(sample.input), *arguments), sample.kwargs, wanted):
                    report.different(group, name)
                    continue
            compare(report, group, text, None, wanted, refused, got, error)
            if op.supports_out and wanted is not None:
                out = torch.empty_like(wanted)
                got, error = attempt(lambda s=sample, a=arguments, c=change, out=out: ours(c(s.input), *a, **s.kwargs, out=out))
                compare(report, f"{group}, out=", text, None, wanted, None, got, error)


def run_errors(report: Report, op) -> None:
    """The error inputs: an error from both."""
    from torch_suite import attempt, compare

    for given in op.error_inputs("cpu"):
        sample = given.sample_input
        _, refused = attempt(lambda s=sample: op(s.input, *s.args, **s.kwargs))
        got, error = attempt(lambda s=sample: WRITES[op.name](s.input, *s.args, **s.kwargs))
        difference = "torch-scatter-types" if refused is not None and error is None and "type" in str(refused) else None
        compare(report, f"{op.name}, error inputs", f"error input: {given.error_regex}", difference, None, refused, got, error)


def bad_calls(name: str, value: int):
    """The arguments after the data, one row of which has a bad index; data has the shape (4, 3)."""
    rows, ones = torch.tensor([0, value, 1]), torch.ones(3, 3)
    wide = rows.reshape(3, 1).expand(3, 3).contiguous()
    return {"scatter": (0, wide, ones), "scatter_add": (0, wide, ones), "scatter_reduce": (0, wide, ones, "sum"), "index_add": (0, rows, ones),
            "index_copy": (0, rows, ones), "index_fill": (0, rows, 1.0), "index_reduce": (0, rows, ones, "amax"),
            "index_put": ((rows,), ones), "put": (rows, torch.ones(3))}[name]  # fmt: skip


def run_bad_indices(report: Report, name: str) -> None:
    """One bad index: an error from both, and what is written as it was."""
    from torch_suite import attempt, compare

    x, group = torch.arange(12.0).reshape(4, 3), f"{name}, indices out of range"
    no_out = ("index_fill", "index_put", "put")
    for value in (12, -13, -1, 2**40):
        if value == -1 and name in no_out:
            continue
        arguments, theirs, mine = bad_calls(name, value), x.clone(), x.clone()
        wanted, refused = attempt(lambda n=name, t=theirs, a=arguments: getattr(t, f"{n}_")(*a))
        extra = {} if name in no_out else {"out": mine}
        got, error = attempt(lambda n=name, m=mine, a=arguments, e=extra: WRITES[n](m, *a, **e))
        if error is not None and not torch.equal(mine, x):
            report.failed(group, f"index {value}: out was written before the error")
        elif refused is not None and error is not None and not torch.equal(theirs, x):
            report.different(group, "torch-scatter-half-written")
        else:
            compare(report, group, f"index {value}", None, wanted, refused, got, error)


def run_writes(report: Report, op_db) -> None:
    """All of them."""
    found = [op for op in op_db if op.name in WRITES]
    for name in WRITES.keys() - {op.name for op in found}:
        report.failed(name, "PyTorch has no OpInfo of that name any more")
    for op in found:
        for dtype in sorted(op.supported_dtypes("cpu"), key=str):
            run_samples(report, op, dtype)
        if op.error_inputs_func is not None:
            run_errors(report, op)
    for name in WRITES.keys() - {BAG}:
        run_bad_indices(report, name)
