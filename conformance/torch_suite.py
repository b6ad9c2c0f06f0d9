# SPDX-License-Identifier: MIT
"""PyTorch's OpInfo samples and error inputs, from the installed package, for every dtype that it lists on the CPU:
libgather takes the same tensors and must give the same bits, or an error where PyTorch gives one. Each sample also runs
with out=, and with tensors that are not contiguous; and each function is asked about bad indices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from report import NotRun, Report, main, require_cases, version_of

LEAST = 10000


def bits(tensor):
    """A tensor's elements as bytes."""
    import torch

    plain = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return plain.reshape(-1).view(torch.uint8) if plain.numel() else plain.new_empty(0, dtype=torch.uint8)


def same(wanted, got) -> str:
    """What is not the same; empty if all is."""
    import torch

    if not isinstance(got, torch.Tensor):
        return f"not a tensor: {type(got).__name__}"
    if (wanted.dtype, wanted.shape) != (got.dtype, got.shape):
        return f"{got.dtype} {tuple(got.shape)} instead of {wanted.dtype} {tuple(wanted.shape)}"
    return "" if torch.equal(bits(wanted), bits(got)) else "other bits"


def attempt(call: Callable):
    """(result, None), or (None, the error)."""
    try:
        return call(), None
    except Exception as error:
        return None, error


def spread(value):
    """The same tensor with room between its elements."""
    import torch

    if not isinstance(value, torch.Tensor) or value.dim() == 0:
        return value
    wide = value.new_zeros((*value.shape[:-1], 2 * value.shape[-1]))
    wide[..., ::2] = value
    return wide[..., ::2]


def turned(value):
    """The same tensor with its first dimension varying fastest."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    order = tuple(range(value.dim() - 1, -1, -1))
    return value.permute(order).contiguous().permute(order)


def fresh(value):
    import torch

    return value.clone() if isinstance(value, torch.Tensor) else value


VARIANTS = {"as given": fresh, "spread": spread, "turned": turned}


def known(op: str, sample, variant: str) -> str | None:
    """The difference that a sample meets by its arguments, where one of us refuses what the other takes."""
    if op == "gather" and sample.args[1].numel() == 0 and sample.args[1].dim() != sample.input.dim():
        return "torch-gather-empty-index"
    if op == "take_along_dim" and len(sample.args) == 1 and variant == "turned":
        return "torch-take-along-dim-view"
    adds = op == "index_add" or (op == "index_put" and sample.kwargs.get("accumulate"))
    if adds and str(sample.input.dtype) == "torch.complex32":
        return "torch-complex32-sum"
    if op == "scatter" and isinstance(sample.args[-1], float) and not (sample.input.dtype.is_floating_point or sample.input.dtype.is_complex):
        return "torch-scatter-number"
    return None


def compare(report: Report, group: str, text: str, difference: str | None, wanted, refused, got, error) -> None:
    """One case: PyTorch's result or error against ours."""
    import libgather

    if error is not None and not isinstance(error, libgather.GatherError):
        report.failed(group, f"{text}: libgather raised {type(error).__name__}: {error}")
    elif refused is None and error is None:
        wrong = same(wanted, got)
        if not wrong and difference is None:
            report.passed(group)
        else:
            report.failed(group, f"{text}: {wrong or 'no difference any more: ' + str(difference)}")
    elif refused is not None and error is not None:
        report.passed(group)
    elif difference:
        report.different(group, difference)
    else:
        report.failed(group, f"{text}: PyTorch {refused or 'gives a result'}; libgather {error or 'gives a result'}")


def run_sample(report: Report, op, ours: Callable, sample, label: str) -> None:
    """A sample in every layout, with and without out=."""
    import torch
    from torch_bags import BAG, rounding

    for variant, change in VARIANTS.items():
        arguments = [change(value) for value in (sample.input, *sample.args)]
        shown = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in arguments]
        text = f"{label} {variant} {shown} {sample.kwargs}"
        theirs = [change(sample.input), *arguments[1:]]
        wanted, refused = attempt(lambda theirs=theirs: op(*theirs, **sample.kwargs))
        mine = [change(sample.input), *arguments[1:]]
        got, error = attempt(lambda mine=mine: ours(*mine, **sample.kwargs))
        if op.name == BAG and refused is None and error is None and same(wanted, got) and (name := rounding(mine, sample.kwargs, wanted)):
            report.different(op.name, name)
            continue
        compare(report, op.name, text, known(op.name, sample, variant), wanted, refused, got, error)
        if op.supports_out and wanted is not None:
            out = torch.empty_like(wanted)
            got, error = attempt(lambda mine=mine, out=out: ours(*mine, **sample.kwargs, out=out))
            if error is None and got is not out:
                report.failed(op.name, f"{text}: the result is not out")
            compare(report, f"{op.name}, out=", text, known(op.name, sample, variant), wanted, None, got, error)


def run_errors(report: Report, op, ours: Callable) -> None:
    """The error inputs: an error from both."""
    for given in op.error_inputs("cpu"):
        sample = given.sample_input
        _, refused = attempt(lambda sample=sample: op(sample.input, *sample.args, **sample.kwargs))
        got, error = attempt(lambda sample=sample: ours(sample.input, *sample.args, **sample.kwargs))
        text = f"error input: {given.error_regex}"
        rank_3 = op.name == "nn.functional.embedding" and sample.input.dim() > 2
        difference = "torch-embedding-rank" if rank_3 else None
        compare(report, f"{op.name}, error inputs", text, difference, None, refused, got, error)


WRITES = ("index_add", "index_copy", "index_fill", "index_put", "index_reduce", "put", "scatter", "scatter_add", "scatter_reduce")


def write_call(op: str, x, rows):
    """The arguments of a call that writes by these rows, one of which is bad, and out."""
    import torch

    new, index = torch.ones(3, 3), rows.reshape(3, 1).expand(3, 3).contiguous()
    out = torch.full((4, 3), -9.0)
    more = {"index_reduce": ("amax",), "scatter_reduce": ("sum",)}.get(op, ())
    if op == "index_put":
        return (x, (rows,), new), None
    if op == "put":
        return (x, rows, new[0]), None
    if op == "index_fill":
        return (x, 0, rows, 1.0), None
    return (x, 0, index if op.startswith("scatter") else rows, new, *more), out


def bad_index_calls(op: str):
    """(the call's arguments, out) with one bad index."""
    import torch

    x = torch.arange(12.0).reshape(4, 3)
    for value in (4 if op != "take" else 12, -5 if op != "take" else -13, -1, 2**40):
        rows = torch.tensor([0, value, 1])
        if op in WRITES:
            yield value, *write_call(op, x, rows)
        elif op in ("gather", "take_along_dim"):
            index = rows.reshape(3, 1).expand(3, 3).contiguous()
            yield value, ((x, 0, index) if op == "gather" else (x, index, 0)), torch.full((3, 3), -9.0)
        elif op == "take":
            yield value, (x, rows), torch.full((3,), -9.0)
        elif op == "index_select":
            yield value, (x, 0, rows), torch.full((3, 3), -9.0)
        else:
            yield value, (x, rows), None


def run_bad_indices(report: Report, op, ours: Callable) -> None:
    """One bad index: an error from both, and the output as it was."""
    import torch

    group = f"{op.name}, indices out of range"
    for value, arguments, out in bad_index_calls(op.name):
        extra = {} if out is None else {"out": out.clone()}
        mine = {} if out is None else {"out": out.clone()}
        wanted, refused = attempt(lambda a=arguments, extra=extra: op(*a, **extra))
        got, error = attempt(lambda a=arguments, mine=mine: ours(*a, **mine))
        if error is not None and mine and not torch.equal(mine["out"], out):
            report.failed(group, f"index {value}: out was written before the error")
        if op.name == "take_along_dim" and refused is None and error is not None:
            report.different(group, "torch-take-along-dim-modulo")
        elif refused is not None and extra and not torch.equal(extra["out"], out) and error is not None:
            report.different(group, "torch-out-half-written")
        else:
            compare(report, group, f"index {value}", None, wanted, refused, got, error)


def run() -> Report:
    report = Report("torch", "torch")
    version_of("expecttest")
    warnings.simplefilter("ignore")
    try:
        import torch
        from torch.testing._internal.common_methods_invocations import op_db
        from torch_adapter import OURS
    except ImportError as missing:
        raise NotRun(str(missing)) from None
    torch.manual_seed(0)
    found = [op for op in op_db if op.name in OURS]
    for name in OURS.keys() - {op.name for op in found}:
        report.failed(name, "PyTorch has no OpInfo of that name any more")
    for op in found:
        dtypes = sorted(op.supported_dtypes("cpu"), key=str)
        for dtype in dtypes:
            for number, sample in enumerate(op.sample_inputs("cpu", dtype)):
                run_sample(report, op, OURS[op.name], sample, f"{dtype} sample {number}")
        if op.error_inputs_func is not None:
            run_errors(report, op, OURS[op.name])
        run_bad_indices(report, op, OURS[op.name])
        report.remark(f"{op.name}: {', '.join(str(dtype).removeprefix('torch.') for dtype in dtypes)}")
    require_cases(report, LEAST)
    return report


if __name__ == "__main__":
    main("torch", run)
