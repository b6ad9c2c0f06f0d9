# SPDX-License-Identifier: MIT
"""PyTorch's own samples of its operators (OpInfo of torch.testing), each run twice: without libgather.torch.override() and with it. Bits,
dtype, shape, strides, gradients and errors must be the same.

As a program: everything about the overridden operators, then the samples of all operators of PyTorch's, since some call these.
"""
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import libgather.torch

OPS = ("nn.functional.embedding", "index_select", "gather", "take", "take_along_dim", "__getitem__")
OVERRIDDEN = ("embedding", "index_select", "gather", "take", "index")


class Checked:
    """What was compared, by group, and what was not the same."""

    def __init__(self) -> None:
        self.passed: Counter[str] = Counter()
        self.failures: list[str] = []

    def same(self, group: str, text: str, wrong: str) -> None:
        if wrong:
            self.failures.append(f"{group}: {text}: {wrong}")
        else:
            self.passed[group] += 1


def infos(names: tuple[str, ...] = OPS) -> list[Any]:
    """The OpInfos of these names. All of them if there is no name."""
    found = [op for op in op_db if not names or op.name in names]
    missing = set(names) - {op.name for op in found}
    assert not missing, f"PyTorch has no OpInfo {missing}"
    return found


def bits(tensor: torch.Tensor) -> torch.Tensor:
    plain = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return plain.reshape(-1).view(torch.uint8) if plain.numel() else plain.new_empty(0, dtype=torch.uint8)


def difference(wanted: Any, got: Any) -> str:
    """What is not the same; empty if all is."""
    if isinstance(wanted, tuple | list):
        if type(wanted) is not type(got) or len(wanted) != len(got):
            return f"{type(got).__name__} instead of {type(wanted).__name__}"
        return next((wrong for pair in zip(wanted, got, strict=True) if (wrong := difference(*pair))), "")
    if not isinstance(wanted, torch.Tensor):
        return "" if wanted == got or (wanted != wanted and got != got) else f"{got!r} instead of {wanted!r}"
    if (wanted.dtype, wanted.shape, wanted.layout) != (got.dtype, got.shape, got.layout):
        return f"{got.dtype} {tuple(got.shape)} instead of {wanted.dtype} {tuple(wanted.shape)}"
    if wanted.layout != torch.strided or wanted.is_quantized:
        return "" if torch.equal(wanted.to_dense() if not wanted.is_quantized else wanted.int_repr(),
                                 got.to_dense() if not got.is_quantized else got.int_repr()) else "other values"
    if wanted.stride() != got.stride():
        return f"strides {got.stride()} instead of {wanted.stride()}"
    if wanted.requires_grad != got.requires_grad:
        return f"requires_grad {got.requires_grad}"
    return "" if torch.equal(bits(wanted), bits(got)) else "other bits"


def attempt(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """(result, None), or (None, the error)."""
    try:
        return call(), None
    except Exception as error:
        return None, error


def words(error: Exception) -> str:
    """What an error says first, without numbers: of several bad indices PyTorch's threads name any."""
    return re.sub(r"-?\d+", "N", str(error).split("\n")[0])


def compare(checked: Checked, group: str, text: str, call: Callable[[], Any]) -> None:
    """One case without the override and with it."""
    wanted, refused = attempt(call)
    with libgather.torch.override(*OVERRIDDEN):
        got, error = attempt(call)
    if refused is None and error is None:
        checked.same(group, text, difference(wanted, got))
    elif refused is None or error is None:
        checked.same(group, text, f"PyTorch: {refused!r}; with the override: {error!r}")
    elif type(refused) is not type(error):
        checked.same(group, text, f"{type(error).__name__} instead of {type(refused).__name__}: {error}")
    else:
        checked.same(group, text, "" if words(refused) in words(error) else f"{error} instead of {refused}")


def shown(sample: Any) -> str:
    values = (sample.input, *sample.args, sample.kwargs)
    return str([tuple(v.shape) if isinstance(v, torch.Tensor) else v for v in values])[:200]


def samples(op: Any, dtype: torch.dtype, requires_grad: bool = False) -> Iterator[Any]:
    torch.manual_seed(0)
    yield from op.sample_inputs("cpu", dtype, requires_grad=requires_grad)


def call_of(op: Any, sample: Any) -> Callable[[], Any]:
    """A call that can be repeated: embedding with max_norm changes its weights."""
    def again(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.layout != torch.strided or not sample.kwargs.get("max_norm"):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)
    return lambda: op(again(sample.input), *[again(v) for v in sample.args], **sample.kwargs)


def check_forward(checked: Checked, op: Any, dtypes: list[torch.dtype]) -> None:
    for dtype in dtypes:
        for sample in samples(op, dtype):
            compare(checked, f"{op.name}, forward", f"{dtype} {shown(sample)}", call_of(op, sample))


def check_layouts(checked: Checked, op: Any, dtype: torch.dtype) -> None:
    """The same samples with tensors that are not contiguous."""
    def spread(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dim() == 0:
            return value
        wide = value.new_zeros((*value.shape[:-1], 2 * value.shape[-1]))
        wide[..., ::2] = value
        return wide[..., ::2]

    def turned(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        order = tuple(range(value.dim() - 1, -1, -1))
        return value.permute(order).contiguous().permute(order)

    for change in (spread, turned):
        for sample in samples(op, dtype):
            call = lambda s=sample, c=change: op(c(s.input), *[c(v) for v in s.args], **s.kwargs)  # noqa: E731
            compare(checked, f"{op.name}, other layouts", f"{change.__name__} {shown(sample)}", call)


def check_out(checked: Checked, op: Any, dtype: torch.dtype) -> None:
    """out= of the right shape, of another, of another layout, of another dtype."""
    def outputs(like: torch.Tensor) -> list[Callable[[], torch.Tensor]]:
        return [lambda: torch.full_like(like, 1), lambda: like.new_empty(0), lambda: like.new_ones((*like.shape, 2))[..., 0],
                lambda: like.new_ones((2, *like.shape)), lambda: torch.ones_like(like, dtype=torch.float64 if dtype != torch.float64
                                                                                 else torch.int8)]

    if not op.supports_out:
        return
    for sample in samples(op, dtype):
        like = op(sample.input, *sample.args, **sample.kwargs)
        for number, make in enumerate(outputs(like)):
            def call(s=sample, make=make):
                out = make()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    result = op(s.input, *s.args, **s.kwargs, out=out)
                assert result is out
                return out
            compare(checked, f"{op.name}, out=", f"output {number} {shown(sample)}", call)


def check_errors(checked: Checked, op: Any) -> None:
    if op.error_inputs_func is None:
        return
    for given in op.error_inputs("cpu"):
        sample = given.sample_input
        compare(checked, f"{op.name}, error inputs", given.error_regex, lambda s=sample: op(s.input, *s.args, **s.kwargs))


def tensors_of(result: Any) -> list[torch.Tensor]:
    items = result if isinstance(result, tuple | list) else (result,)
    return [item for item in items if isinstance(item, torch.Tensor) and item.requires_grad]


def gradients(op: Any, sample: Any) -> Callable[[], Any]:
    def call() -> Any:
        leaves = [v for v in (sample.input, *sample.args) if isinstance(v, torch.Tensor) and v.requires_grad]
        outputs = tensors_of(op(sample.input, *sample.args, **sample.kwargs))
        if not leaves or not outputs:
            return ()
        torch.manual_seed(1)
        seeds = [torch.randn_like(output) for output in outputs]
        first = torch.autograd.grad(outputs, leaves, seeds, allow_unused=True, create_graph=op.supports_gradgrad)
        return tuple(g.detach() if g is not None and g.layout == torch.strided else g for g in first)
    return call


def check_backward(checked: Checked, op: Any, dtypes: list[torch.dtype]) -> None:
    for dtype in dtypes:
        for sample in samples(op, dtype, requires_grad=True):
            if sample.kwargs.get("max_norm") is None:
                compare(checked, f"{op.name}, backward", f"{dtype} {shown(sample)}", gradients(op, sample))


def check_gradcheck(checked: Checked, op: Any, dtype: torch.dtype) -> None:
    """PyTorch's numerical check of gradients of both orders, backward and forward mode, while the override is on."""
    for sample in samples(op, dtype, requires_grad=True):
        if sample.kwargs.get("max_norm") is not None or sample.kwargs.get("sparse") or not sample.input.requires_grad:
            continue
        if sample.kwargs.get("scale_grad_by_freq") or (sample.kwargs.get("padding_idx") is not None):  # on purpose no derivatives
            continue
        def fn(x, s=sample):
            return op(x, *s.args, **s.kwargs)
        with libgather.torch.override(*OVERRIDDEN):
            _, error = attempt(lambda s=sample, fn=fn: torch.autograd.gradcheck(fn, (s.input,), check_forward_ad=op.supports_forward_ad))
            if error is None and op.supports_gradgrad:
                _, error = attempt(lambda s=sample, fn=fn: torch.autograd.gradgradcheck(fn, (s.input,)))
        checked.same(f"{op.name}, gradcheck", f"{dtype} {shown(sample)}", "" if error is None else repr(error)[:300])


def check_vmap(checked: Checked, op: Any, dtype: torch.dtype) -> None:
    """Batches of data, of tensor arguments, and of both; jacobians by functorch."""
    def batch(value: Any) -> Any:
        return torch.stack([value, value.flip(0) if value.dim() else value]) if isinstance(value, torch.Tensor) else value

    for sample in samples(op, dtype):
        if sample.kwargs.get("max_norm") is not None:
            continue
        args = list(sample.args)
        which = [0 if isinstance(v, torch.Tensor) else None for v in args]
        data, ids = batch(sample.input), [batch(v) for v in args]
        def fn(x, *rest, s=sample):
            return op(x, *rest, **s.kwargs)
        cases = {"data": (lambda: torch.vmap(fn, (0, *[None] * len(args)))(data, *args))}
        if any(place == 0 for place in which):
            cases["args"] = lambda: torch.vmap(fn, (None, *which))(sample.input, *ids)
            cases["both"] = lambda: torch.vmap(fn, (0, *which))(data, *ids)
        for name, call in cases.items():
            compare(checked, f"{op.name}, vmap", f"{name} {shown(sample)}", call)
        if dtype.is_floating_point and sample.input.numel() < 30:
            compare(checked, f"{op.name}, jacobians", shown(sample), lambda: torch.func.jacrev(fn)(sample.input, *args))
            if op.supports_forward_ad:
                compare(checked, f"{op.name}, jacobians", shown(sample), lambda: torch.func.jacfwd(fn)(sample.input, *args))


def check_elsewhere(checked: Checked, op: Any, dtype: torch.dtype) -> None:
    """Meta tensors and fake tensors: never the override's."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    def moved(call: Callable[[Any], Any], sample: Any) -> Callable[[], Any]:
        def run() -> Any:
            values = [call(v) if isinstance(v, torch.Tensor) else v for v in (sample.input, *sample.args)]
            result = op(*values, **sample.kwargs)
            return tuple(result.shape), result.stride(), result.dtype
        return run

    for sample in samples(op, dtype):
        if sample.kwargs.get("max_norm") is None and not (isinstance(sample.args[0] if sample.args else None, tuple)):
            compare(checked, f"{op.name}, meta", shown(sample), moved(lambda v: v.to("meta"), sample))
            mode = FakeTensorMode()
            compare(checked, f"{op.name}, fake", shown(sample), moved(mode.from_tensor, sample))


def check_all(checked: Checked, op: Any, few: bool = False) -> None:
    """Everything about one operator. few: of some dtypes."""
    forward = sorted(op.supported_dtypes("cpu"), key=str)
    backward = sorted(op.supported_backward_dtypes("cpu"), key=str)
    some = (torch.float32, torch.bool, torch.bfloat16, torch.int64, torch.complex64)
    check_forward(checked, op, [dtype for dtype in forward if dtype in some or not few])
    check_layouts(checked, op, torch.float32)
    check_out(checked, op, torch.float32)
    check_errors(checked, op)
    check_backward(checked, op, [torch.float32] if few else backward)
    for dtype in (torch.float64, torch.complex128):
        if dtype in backward and not few:
            check_gradcheck(checked, op, dtype)
    check_vmap(checked, op, torch.float32)
    check_elsewhere(checked, op, torch.float32)


RANDOM = ("empty", "rand", "dropout", "bernoulli", "multinomial", "normal", "exponential", "cauchy", "geometric", "uniform")


def check_callers(checked: Checked) -> list[str]:
    """The float32 samples of every operator with a result that is not random: which of them call an overridden one."""
    scope = libgather.torch.override(*OVERRIDDEN)
    callers = []
    for op in infos(()):
        if torch.float32 in op.supported_dtypes("cpu") and not any(word in op.name for word in RANDOM):
            before = scope.counts
            check_forward(checked, op, [torch.float32])
            if scope.counts != before:
                callers.append(op.name)
    return callers


def main() -> int:
    warnings.simplefilter("ignore")
    checked = Checked()
    for op in infos():
        check_all(checked, op)
    print("\n".join([f"{group}: {count} the same" for group, count in checked.passed.items()] + checked.failures))
    print(f"overridden operators: {sum(checked.passed.values())} cases, {len(checked.failures)} not the same", flush=True)
    callers = check_callers(checked)
    print(f"{sum(checked.passed.values())} cases with PyTorch {torch.__version__}, {len(checked.failures)} not the same")
    print(f"operators that call an overridden one: {', '.join(callers)}")
    print("\n".join(checked.failures))
    return 1 if checked.failures else 0


if __name__ == "__main__":
    sys.exit(main())
