# SPDX-License-Identifier: MIT
# Type stubs of the extension.
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, Self, TypeAlias, TypedDict, TypeVar, overload

import numpy as np
import numpy.typing as npt

__version__: str

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Out = TypeVar("_Out")

class _Dlpack(Protocol):
    """A tensor of another library, such as torch.Tensor: results are of its kind."""

    def __dlpack_device__(self) -> Any: ...

_Tensor = TypeVar("_Tensor", bound=_Dlpack)
Mode: TypeAlias = Literal["raise", "error", "wrap", "clip", "clamp", "zero", "fill", "promise"]
TakeRules: TypeAlias = Literal["onnx-1", "onnx-11", "onnx-13", "openvino-1", "openvino-7", "openvino-8"]
ElementsRules: TypeAlias = Literal["onnx-11", "onnx-13", "openvino-6"]
NdRules: TypeAlias = Literal["onnx-11", "onnx-12", "onnx-13", "microsoft-1", "openvino-5", "openvino-8"]
Dim: TypeAlias = int | str | tuple[int, int | None] | None

class Op(TypedDict):
    rules: str
    name: str
    dialect: str
    version: int
    negative: bool
    mode: str
    batch_dims: bool
    off_axis: str
    axis_is_input: bool
    types: list[str]
    index_types: list[str]
    document: str

class Codec(TypedDict):
    name: str
    kind: str
    block_len: int
    block_bytes: int
    bits: int
    value: str
    source: str

class Info(TypedDict):
    version: str
    isa: str
    features: str
    pool: str
    cpus: int
    formats: list[str]
    engines: dict[str, str | None]
    limited_api: bool
    free_threaded: bool

@overload
def take(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int | None = None,
    batch_dims: int = 0,
    out: _Out,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: TakeRules | None = None,
    threads: int | None = None,
) -> _Out: ...
@overload
def take(
    x: npt.NDArray[_Scalar],
    indices: Any,
    /,
    *,
    axis: int | None = None,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: TakeRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[_Scalar]: ...
@overload
def take(
    x: Table,
    indices: Any,
    /,
    *,
    axis: int | None = None,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: TakeRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def take(
    x: _Tensor,
    indices: Any,
    /,
    *,
    axis: int | None = None,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: TakeRules | None = None,
    threads: int | None = None,
) -> _Tensor: ...
@overload
def take(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int | None = None,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: TakeRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def take_along_axis(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int | None = -1,
    out: _Out,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> _Out: ...
@overload
def take_along_axis(
    x: npt.NDArray[_Scalar],
    indices: Any,
    /,
    *,
    axis: int | None = -1,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> npt.NDArray[_Scalar]: ...
@overload
def take_along_axis(
    x: _Tensor,
    indices: Any,
    /,
    *,
    axis: int | None = -1,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> _Tensor: ...
@overload
def take_along_axis(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int | None = -1,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def gather_elements(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int = 0,
    out: _Out,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: ElementsRules | None = None,
    threads: int | None = None,
) -> _Out: ...
@overload
def gather_elements(
    x: npt.NDArray[_Scalar],
    indices: Any,
    /,
    *,
    axis: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: ElementsRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[_Scalar]: ...
@overload
def gather_elements(
    x: _Tensor,
    indices: Any,
    /,
    *,
    axis: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: ElementsRules | None = None,
    threads: int | None = None,
) -> _Tensor: ...
@overload
def gather_elements(
    x: Any,
    indices: Any,
    /,
    *,
    axis: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: ElementsRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def gather_nd(
    x: Any,
    indices: Any,
    /,
    *,
    batch_dims: int = 0,
    out: _Out,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: NdRules | None = None,
    threads: int | None = None,
) -> _Out: ...
@overload
def gather_nd(
    x: npt.NDArray[_Scalar],
    indices: Any,
    /,
    *,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: NdRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[_Scalar]: ...
@overload
def gather_nd(
    x: Table,
    indices: Any,
    /,
    *,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: NdRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def gather_nd(
    x: _Tensor,
    indices: Any,
    /,
    *,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: NdRules | None = None,
    threads: int | None = None,
) -> _Tensor: ...
@overload
def gather_nd(
    x: Any,
    indices: Any,
    /,
    *,
    batch_dims: int = 0,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    rules: NdRules | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def index(
    x: Any,
    key: Any,
    /,
    *,
    out: _Out,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> _Out: ...
@overload
def index(
    x: npt.NDArray[_Scalar],
    key: Any,
    /,
    *,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> npt.NDArray[_Scalar]: ...
@overload
def index(
    x: Table,
    key: Any,
    /,
    *,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def index(
    x: _Tensor,
    key: Any,
    /,
    *,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> _Tensor: ...
@overload
def index(
    x: Any,
    key: Any,
    /,
    *,
    out: None = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> npt.NDArray[Any]: ...
@overload
def infer_shape(
    x: Sequence[Dim] | None,
    indices: Sequence[Dim] | None,
    /,
    *,
    axis: int | None,
    batch_dims: int = 0,
    op: Literal["take", "gather_elements"] = "take",
    rules: str | None = None,
    updates: None = None,
) -> tuple[Dim, ...] | None: ...
@overload
def infer_shape(
    x: Sequence[Dim] | None,
    indices: Sequence[Dim] | None,
    /,
    *,
    axis: None = None,
    batch_dims: int = 0,
    op: Literal["gather_nd"],
    rules: str | None = None,
    updates: None = None,
) -> tuple[Dim, ...] | None: ...
@overload
def infer_shape(
    x: Sequence[Dim] | None,
    indices: Sequence[Dim] | None,
    /,
    *,
    axis: int | None,
    batch_dims: int = 0,
    op: Literal["scatter", "scatter_elements"],
    rules: str | None = None,
    updates: Sequence[Dim] | None = None,
) -> tuple[Dim, ...] | None: ...
@overload
def infer_shape(
    x: Sequence[Dim] | None,
    indices: Sequence[Dim] | None,
    /,
    *,
    axis: None = None,
    batch_dims: int = 0,
    op: Literal["scatter_nd"],
    rules: str | None = None,
    updates: Sequence[Dim] | None = None,
) -> tuple[Dim, ...] | None: ...
def set_threads(n: int | None, /) -> None: ...
def get_threads() -> int: ...
def ops() -> list[Op]: ...
def _split_path(path: bytes, /) -> tuple[bytes, bytes]: ...
def _is_url(name: bytes, /) -> bool: ...
def types() -> list[str]: ...
def codecs() -> list[Codec]: ...
def info() -> Info: ...
def _quantized_shape(spec: tuple[Any, ...], /) -> tuple[int, ...]: ...
def _take_quantized(
    spec: tuple[Any, ...],
    like: npt.NDArray[Any],
    indices: Any,
    /,
    *,
    axis: int | None = 0,
    out: Any = None,
    mode: Mode | None = None,
    fill_value: Any = None,
    negative: bool | None = None,
    threads: int | None = None,
) -> Any: ...
def _dequantize(spec: tuple[Any, ...], like: npt.NDArray[Any], out: Any, threads: int | None, /) -> Any: ...
def _capsule(array: npt.NDArray[Any], shape: tuple[int, ...], code: int, bits: int, lanes: int, /) -> Any: ...
def _read_ids(
    path: bytes, name: str, head: bytes, remote: tuple[Any, ...] | None, /
) -> tuple[str, bool, tuple[int, ...], tuple[int, ...] | None, bytearray]: ...
def _shuffle(
    paths: tuple[bytes, ...],
    output: bytes | None,
    name: str | None,
    order: Any,
    seed: int,
    memory: int,
    passes: int,
    engine: str,
    depth: int,
    replace: bool,
    resume: bool,
    threads: int,
    dry_run: bool,
    raw_type: str | None,
    raw_shape: tuple[int, ...],
    raw_offset: int,
    raw_as_is: bool,
    links: bool,
    progress: Callable[[str, int, int], object] | None,
    align: int,
    in_place: bool,
    tensor: str | None,
    /,
) -> tuple[int, int, str, tuple[int, ...], int | None, int, int, int, int, bool]: ...
def _probe(object: Any, /) -> None: ...
def _visible(text: str, /) -> str: ...
def _write(path: str | os.PathLike, content: bytes, replace: bool, sync: bool, /) -> None: ...
def _explain(
    items: list[Any],
    op: str,
    rules: str,
    axis: int,
    batch_dims: int,
    mode: str | None,
    negative: bool | None,
    data_type: str | None,
    fill_text: str | None,
    width: int,
    /,
) -> tuple[Any, ...]: ...
def _stablehlo(
    operand: Any,
    start_indices: Any,
    offset_dims: tuple[int, ...],
    collapsed_slice_dims: tuple[int, ...],
    operand_batching_dims: tuple[int, ...],
    start_indices_batching_dims: tuple[int, ...],
    start_index_map: tuple[int, ...],
    slice_sizes: tuple[int, ...],
    index_vector_dim: int,
    out: Any,
    mode: str | None,
    fill_value: Any,
    negative: bool | None,
    threads: int | None,
    /,
) -> Any: ...
def _tree(
    step_ids: Any,
    parent_ids: Any,
    max_seq_len: Any,
    end_token: Any,
    out: Any,
    mode: str | None,
    fill_value: Any,
    negative: bool | None,
    threads: int | None,
    /,
) -> Any: ...
def _stablehlo_scatter(
    inputs: Any,
    scatter_indices: Any,
    updates: Any,
    update_window_dims: tuple[int, ...],
    inserted_window_dims: tuple[int, ...],
    input_batching_dims: tuple[int, ...],
    scatter_indices_batching_dims: tuple[int, ...],
    scatter_dims_to_operand_dims: tuple[int, ...],
    index_vector_dim: int,
    reduction: str | None,
    mode: str | None,
    negative: bool | None,
    out: Any,
    threads: int | None,
    accumulate: str | None,
    unique: bool,
    whole_windows: bool,
    /,
) -> Any: ...
def _scatter(
    name: str,
    data: Any,
    indices: Any,
    updates: Any,
    axis: int,
    reduction: str | None,
    rules: str | None,
    mode: str | None,
    negative: bool | None,
    out: Any,
    threads: int | None,
    accumulate: str | None,
    unique: bool,
    use_init_val: bool,
    /,
) -> Any: ...
def _backward(
    op: str,
    grad: Any,
    indices: Any,
    data_shape: tuple[int, ...],
    axis: int,
    batch_dims: int,
    mode: str | None,
    negative: bool | None,
    out: Any,
    add: bool,
    threads: int | None,
    accumulate: str | None,
    /,
) -> Any: ...
def _sparse_backward(
    op: str,
    grad: Any,
    indices: Any,
    data_shape: tuple[int, ...],
    axis: int,
    batch_dims: int,
    mode: str | None,
    negative: bool | None,
    threads: int | None,
    accumulate: str | None,
    /,
) -> tuple[Any, Any]: ...
def _unique_rows(ids: Any, rows: Any, threads: int | None, accumulate: str | None, /) -> tuple[Any, Any]: ...
def _bag(
    table: Any,
    indices: Any,
    offsets: Any,
    segment_ids: Any,
    segments: int | None,
    weights: Any,
    default_index: int,
    last_offset: bool,
    reduction: str | None,
    rules: str | None,
    mode: str | None,
    negative: bool | None,
    out: Any,
    threads: int | None,
    accumulate: str | None,
    /,
) -> Any: ...
def _fail(status: str, input: str | None, message: str, /) -> None: ...

class Plan:
    @classmethod
    def take(
        cls,
        x: Any,
        indices: Any,
        /,
        *,
        axis: int | None = None,
        batch_dims: int = 0,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        rules: TakeRules | None = None,
        threads: int | None = None,
    ) -> Plan: ...
    @classmethod
    def take_along_axis(
        cls,
        x: Any,
        indices: Any,
        /,
        *,
        axis: int = -1,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> Plan: ...
    @classmethod
    def gather_elements(
        cls,
        x: Any,
        indices: Any,
        /,
        *,
        axis: int = 0,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        rules: ElementsRules | None = None,
        threads: int | None = None,
    ) -> Plan: ...
    @classmethod
    def gather_nd(
        cls,
        x: Any,
        indices: Any,
        /,
        *,
        batch_dims: int = 0,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        rules: NdRules | None = None,
        threads: int | None = None,
    ) -> Plan: ...
    @overload
    def __call__(self, x: Any, indices: Any, /, *, out: _Out) -> _Out: ...
    @overload
    def __call__(self, x: npt.NDArray[_Scalar], indices: Any, /, *, out: None = None) -> npt.NDArray[_Scalar]: ...
    @overload
    def __call__(self, x: _Tensor, indices: Any, /, *, out: None = None) -> _Tensor: ...
    @overload
    def __call__(self, x: Any, indices: Any, /, *, out: None = None) -> npt.NDArray[Any]: ...
    def check(self, indices: Any, /) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def text(self) -> str: ...

class Model:
    def __new__(cls, source: str | bytes, links: bool, remote: tuple[Any, ...] | None, /) -> Model: ...
    @property
    def dialect(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def node_count(self) -> int: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def not_checked(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def unreadable(self) -> list[tuple[str, str]]: ...
    def value_type(self, name: str, node: str | None, /) -> str | None: ...
    def reads(self, path: str | os.PathLike[str], /) -> bool: ...
    def check(self, inputs: list[Any], dims: list[tuple[str, int]], threads: int | None, /) -> Check: ...
    def explain(
        self, node: str | None, inputs: list[Any], dims: list[tuple[str, int]], name: bytes, width: int, /
    ) -> tuple[Any, ...]: ...
    def run(self, inputs: list[Any], node: str | None, threads: int | None, memory: int, /) -> list[tuple[str, str, bool, tuple[int, ...], Any]]: ...

class Check:
    def nodes(self) -> list[dict[str, Any]]: ...
    def contradictions(self) -> list[str]: ...
    def advice(self) -> list[tuple[str, list[str]]]: ...
    def text(self, name: bytes, node: int, /) -> str: ...

class Table:
    def __new__(
        cls,
        paths: tuple[bytes, ...],
        engine: str,
        memory: int,
        cache: int,
        depth: int,
        buffered: bool,
        keep_signals: bool,
        raw_type: str | None,
        raw_shape: tuple[int, ...],
        raw_offset: int,
        dtype: np.dtype[Any] | None,
        raw_as_is: bool,
        links: bool,
        decode_as: str | None,
        codec: str | None,
        remote: tuple[Any, ...] | None,
        tensor: str | None,
        /,
    ) -> Self: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> npt.NDArray[Any]: ...
    @overload
    def take(
        self,
        indices: Any,
        /,
        *,
        axis: int | None = 0,
        out: _Out,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> _Out: ...
    @overload
    def take(
        self,
        indices: Any,
        /,
        *,
        axis: int | None = 0,
        out: None = None,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> npt.NDArray[Any]: ...
    @overload
    def gather_nd(
        self,
        indices: Any,
        /,
        *,
        out: _Out,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> _Out: ...
    @overload
    def gather_nd(
        self,
        indices: Any,
        /,
        *,
        out: None = None,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
        threads: int | None = None,
    ) -> npt.NDArray[Any]: ...
    def submit(
        self,
        indices: Any,
        /,
        *,
        axis: int | None = 0,
        out: Any = None,
        mode: Mode | None = None,
        fill_value: Any = None,
        negative: bool | None = None,
    ) -> TableJob: ...
    def close(self) -> None: ...
    def cancel_jobs(self) -> None: ...
    def reset_stats(self) -> None: ...
    def _stats(self) -> dict[str, Any]: ...
    def _take_part(self, indices: Any, first: int, count: int, /) -> npt.NDArray[Any]: ...
    def _devices(self) -> list[tuple[int, str, int, bool, int, int, int, int, float]]: ...
    def _remote_stats(self) -> dict[str, Any] | None: ...
    def _parts(self) -> tuple[tuple[str, int, int, int], ...]: ...
    @property
    def closed(self) -> bool: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def type(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def row_bytes(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def format(self) -> str: ...
    @property
    def codec(self) -> str | None: ...
    @property
    def name(self) -> str: ...

class ScatterPlan:
    @classmethod
    def _create(
        cls,
        name: str,
        data: Any,
        indices: Any,
        updates: Any,
        axis: int,
        reduction: str | None,
        rules: str | None,
        mode: str | None,
        negative: bool | None,
        threads: int | None,
        accumulate: str | None,
        unique: bool,
        use_init_val: bool,
        /,
    ) -> ScatterPlan: ...
    def __call__(self, data: Any, indices: Any, updates: Any, *, out: Any = None) -> Any: ...
    def keep(self, indices: Any, /) -> None: ...
    def check(self, indices: Any, /) -> None: ...
    @property
    def text(self) -> str: ...

class TableJob:
    def wait(self) -> npt.NDArray[Any]: ...
    def cancel(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: Any) -> None: ...
    @property
    def done(self) -> bool: ...
