# SPDX-License-Identifier: MIT
#
# model.py: models (ONNX, OpenVINO IR): open, check, run, explain.
"""The gather nodes of a model: check their indices, run them, draw them."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from libgather import _core
from libgather.check_report import Check
from libgather.check_text import visible
from libgather.model_types import from_item, to_item
from libgather.remote import is_url, shown, url_options
from libgather.table import bytes_of

if TYPE_CHECKING:
    from libgather.explain_picture import Picture

Inputs = Mapping[str, Any]
Dims = Mapping[str, int]


def _source_of(model: Any) -> str | bytes:
    if isinstance(model, bytes | bytearray | memoryview):
        return bytes(model)
    serialize = getattr(model, "SerializeToString", None)
    if serialize is not None:  # an onnx.ModelProto
        return serialize()
    if not isinstance(model, str | os.PathLike):
        raise TypeError(
            f"a model is a path, bytes, an onnx.ModelProto or a libgather.Model, not {type(model).__name__}"
        )
    path = os.fsdecode(os.fspath(model))
    like_url = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path)  # the error names it as it was given
    return path if is_url(path) or like_url else os.path.abspath(path)


class Model:
    """An ONNX or OpenVINO IR model and its gather nodes.

    Parameters
    ----------
    source : str, os.PathLike, bytes or onnx.ModelProto
        A path (an .onnx file, or the .xml of OpenVINO IR beside its .bin), or a model in memory, which cannot
        have external data. Files are mapped, not read. From a URL only the graph and its small tensors are read. Nodes
        that need large ones cannot run.
    links : bool
        Whether the files with its tensors (external data, the .bin) may be symbolic links.

    A model never changes: any number of threads may check and run one.
    """

    def __init__(self, source: str | os.PathLike | bytes | Any, *, links: bool = True) -> None:
        self.source = _source_of(source)
        self._links = bool(links)
        url = self.source if isinstance(self.source, str) and is_url(self.source) else None
        self._core = _core.Model(self.source, self._links, url and url_options(url))

    @property
    def dialect(self) -> str:
        """'onnx' or 'openvino'."""
        return self._core.dialect

    @property
    def format(self) -> str:
        """The format of its file."""
        return self._core.format

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs of its main graph that have no initializer."""
        return self._core.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs of its main graph."""
        return self._core.outputs

    @property
    def node_count(self) -> int:
        """The number of gather nodes, including subgraphs and functions."""
        return self._core.node_count

    @property
    def not_checked(self) -> dict[str, int]:
        """The number of nodes of each other operator that takes indices (MaxUnpool, ...). These are not checked."""
        return dict(self._core.not_checked)

    @property
    def unreadable(self) -> dict[str, str]:
        """The tensors that cannot be read because a file is missing or too short, by name, and why."""
        return dict(self._core.unreadable)

    @property
    def name(self) -> str:
        """Its path, a URL without user and query; '<bytes>' if it came from memory."""
        return shown(self.source) if isinstance(self.source, str) else "<bytes>"

    def __repr__(self) -> str:
        return (
            f"<libgather.Model {visible(self.name)}: {self.dialect}, {self.node_count} gather node{'s'[: self.node_count != 1]}>"
        )

    def __reduce__(self) -> tuple:
        return _reopen, (type(self), self.source, self._links)

    def value_type(self, name: str, node: str | None = None) -> str | None:
        """The type that the model declares for a value; None if it declares none."""
        return self._core.value_type(name, node)

    def _items(self, inputs: Inputs | None, node: str | None = None) -> list:
        pairs = _pairs(inputs, "inputs", "array")
        return [to_item(name, value, self.value_type(name, node)) for name, value in pairs]

    def check(self, inputs: Inputs | None = None, dims: Dims | None = None, *, threads: int | None = None) -> Check:
        """Validates the indices of every gather node whose indices and axis length are known; see libgather.check."""
        lengths = [(name, _length(name, value)) for name, value in _pairs(dims, "dims", "length")]
        found = self._core.check(self._items(inputs), lengths, threads)
        return Check(self, found, dict(inputs or {}), dict(dims or {}))

    def run(
        self,
        inputs: Inputs | None = None,
        *,
        node: str | None = None,
        threads: int | None = None,
        memory: int | str | None = None,
    ) -> dict[str, np.ndarray]:
        """Runs the model, or one gather node of it; see libgather.run."""
        limit = 0 if memory is None else bytes_of(memory, "memory")
        if memory is not None and limit == 0:
            raise ValueError(f"memory must be at least 1 byte, not {memory!r}")
        outputs = self._core.run(self._items(inputs, node), node, threads, limit)
        return {name: from_item(name, *rest) for name, *rest in outputs}

    def explain(
        self,
        node: str | None = None,
        inputs: Inputs | None = None,
        dims: Dims | None = None,
    ) -> Picture:
        """Draws one gather node: which cell comes from where.

        node: its name, with or without the path of its graph; None if there is only one. inputs, dims: values that
        are not in the file. An input may also be any value of the node's graph, which is then not computed.
        """
        from libgather.explain_picture import explain_node

        lengths = [(name, operator.index(length)) for name, length in _pairs(dims, "dims", "length")]
        return explain_node(self, node, _pairs(inputs, "inputs", "array"), lengths)


def _reopen(kind: type[Model], source: str | bytes, links: bool) -> Model:
    return kind(source, links=links)


def _pairs(given: Mapping[str, Any] | None, argument: str, what: str) -> list[tuple[str, Any]]:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a dict of name and {what}, not {type(given).__name__}")
    return list((given or {}).items())


def _length(name: str, value: Any) -> int:
    length = operator.index(value)
    if not 0 <= length < 2**63:
        raise ValueError(f"dims: '{name}' must have a length of at least 0, not {length}")
    return length


def _model_of(model: Any) -> Model:
    return model if isinstance(model, Model) else Model(model)


def check(
    model: str | os.PathLike | bytes | Any,
    inputs: Inputs | None = None,
    dims: Dims | None = None,
    *,
    threads: int | None = None,
) -> Check:
    """Checks the indices of every gather node of a model.

    Parameters
    ----------
    model : str, os.PathLike, bytes, onnx.ModelProto or Model
    inputs : dict of str to array, optional
        Tensors for inputs of the model. Values computed from them are then known too.
    dims : dict of str to int, optional
        Lengths of named dimensions.
    threads : int, optional
        Maximum number of threads; None is the process' default.

    Returns
    -------
    Check
        A sequence with one NodeCheck for each gather node. An index out of range does not raise: see Check.bad and
        NodeCheck.error.
    """
    return _model_of(model).check(inputs, dims, threads=threads)


def run(
    model: str | os.PathLike | bytes | Any,
    inputs: Inputs | None = None,
    *,
    node: str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
) -> dict[str, np.ndarray]:
    """Runs a model of gather nodes and the nodes around them, or one gather node of any model.

    Parameters
    ----------
    model : str, os.PathLike, bytes, onnx.ModelProto or Model
        Besides Gather, GatherElements and GatherND it may have Constant, Identity, Cast between integers, Shape, Reshape,
        Squeeze, Unsqueeze, Transpose, Concat and Mod of integers; com.microsoft GatherBlockQuantized; and nodes that dequantise
        constants: DequantizeLinear, or Convert, Subtract and Multiply of OpenVINO.
    inputs : dict of str to array
        A tensor for each input: anything that take() accepts. Numbers and lists get the type that the model
        declares. Strings are arrays of str or bytes. With node: any of the node's values by name.
    node : str, optional
        Run only this node.
    threads : int, optional
        Maximum number of threads; None is the process' default.
    memory : int or str, optional
        Memory limit for values that nodes compute for other nodes, in bytes or as '2GiB', '500MB'. Outputs do not
        count. None is an eighth of the usable memory, at most 512 MiB.

    Returns
    -------
    dict of str to ndarray
        The outputs in the model's order. They are read-only: their memory belongs to the run or the model. Types that
        NumPy does not have are dtypes of ml_dtypes, those below a byte with one element per byte. Strings are arrays of
        str objects (bytes if they are not valid UTF-8).

    Raises
    ------
    GatherError
        Of any kind. Its attribute `node` names the node that failed.
    """
    return _model_of(model).run(inputs, node=node, threads=threads, memory=memory)
