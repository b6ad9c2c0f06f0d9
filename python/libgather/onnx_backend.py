# SPDX-License-Identifier: MIT
#
# onnx_backend.py: ONNX's interface for backends, for models of gather nodes and the nodes around them. Needs
# the package onnx.
"""A backend for ONNX: prepare, run_model, run_node, supports_device, is_compatible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

try:
    import onnx
    from onnx.backend.base import Backend as _Backend
    from onnx.backend.base import BackendRep as _BackendRep
    from onnx.backend.base import Device, DeviceType
except ImportError as error:
    raise ImportError(f"libgather.onnx_backend needs the package onnx ({error}): pip install onnx") from error

from libgather.errors import GatherError, GatherNotSupportedError, refuse
from libgather.model import Model

__all__ = ["Backend", "BackendRep", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]


_MOST_MADE_UP = 1 << 20  # elements


def _refusal(error: GatherNotSupportedError) -> Exception:
    """The error that ONNX's test suite expects if a backend does not implement a model."""
    try:
        from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt
    except ImportError:
        return error

    class NotSupported(BackendIsNotSupposedToImplementIt, GatherNotSupportedError):
        """A model has nodes that libgather does not run."""

    NotSupported.__qualname__ = "NotSupported"
    return NotSupported(error.message, status=error.status, code=error.code, op=error.op)


def _made_up(model: Any) -> dict[str, np.ndarray]:
    """Zeros for the inputs of a ModelProto, if they are declared and small: unknown lengths are 1."""
    graph = getattr(model, "graph", None)
    initialized = {tensor.name for tensor in graph.initializer} if graph is not None else set()
    inputs = {}
    for value in graph.input if graph is not None else ():
        kind = value.type.tensor_type
        shape = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in kind.shape.dim]
        if (
            value.name in initialized
            or kind.elem_type == onnx.TensorProto.UNDEFINED
            or np.prod(shape, dtype=float) > _MOST_MADE_UP
        ):
            continue
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        inputs[value.name] = np.full(shape, "", object) if dtype.kind == "O" else np.zeros(shape, dtype)
    return inputs


def _refused(model: Any, opened: Model) -> GatherNotSupportedError | None:
    """The error of a model that it cannot run: an unsupported operator, which is reported first, or a cast of types that are known
    only in a run.
    """
    for inputs in ({}, _made_up(model)):
        try:
            opened.run(inputs)
        except GatherNotSupportedError as error:
            return error
        except GatherError:
            pass  # inputs are missing, or zeros are not valid inputs
    return None


def _model_of(model: Any) -> Model:
    return model if isinstance(model, Model) else Model(model)


def _input_names(model: Any, opened: Model, count: int) -> Sequence[str]:
    """The inputs in order: without those that have an initializer, unless there is a value for each of them."""
    graph = getattr(model, "graph", None)
    if graph is not None and count > len(opened.inputs) and count <= len(graph.input):
        return [value.name for value in graph.input]
    return opened.inputs


class BackendRep(_BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: Any) -> None:
        self._proto, self.model = model, _model_of(model)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """Runs the model and returns the outputs in order.

        inputs: a list in the order of the model's inputs, one tensor, or a dict by name.
        """
        if not isinstance(inputs, Mapping):
            values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
            names = _input_names(self._proto, self.model, len(values))
            if len(values) > len(names):
                refuse("usage", f"{len(values)} inputs for a model that has {len(names)}")
            inputs = dict(zip(names, values, strict=False))
        try:
            return tuple(self.model.run(inputs).values())
        except GatherNotSupportedError as error:
            raise _refusal(error) from None


def _need_cpu(device: str) -> None:
    if not Backend.supports_device(device):
        refuse("usage", f"libgather runs on the CPU, not on {device!r}")


def _prepared(model: Any) -> BackendRep:
    try:
        prepared = BackendRep(model)
        error = _refused(model, prepared.model)
    except GatherNotSupportedError as refused:
        error = refused
    if error is not None:
        raise _refusal(error) from None
    return prepared


class Backend(_Backend):
    """libgather as a backend on the CPU.

    It runs models of Gather, GatherElements, GatherND, the operators that write (ScatterND ...) and the nodes around them (see
    libgather.run).
    """

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether libgather runs every node of the model."""
        try:
            return cls.supports_device(device) and _refused(model, _model_of(model)) is None
        except GatherNotSupportedError:
            return False

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **kwargs: Any) -> BackendRep:
        """Prepares a model to run.

        Other operators raise an error that is both a BackendIsNotSupposedToImplementIt and a GatherNotSupportedError.
        """
        _need_cpu(device)
        if not isinstance(model, Model):
            super().prepare(model, device, **kwargs)  # checks it
        return _prepared(model)

    @classmethod
    def run_model(cls, model: Any, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[np.ndarray, ...]:
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[np.ndarray, ...]:
        """Runs one node.

        inputs: a list in the order of the node's inputs, or a dict by name. opset_version: selects the operator version.
        """
        _need_cpu(device)
        super().run_node(node, inputs, device, outputs_info, **kwargs)  # checks it
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        names = [name for name in node.input if name]
        if not isinstance(inputs, Mapping):
            values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
            if len(values) != len(names):
                refuse("usage", f"{len(values)} inputs for a node that has {len(names)}")
            inputs = dict(zip(names, values, strict=False))
        arrays = {name: np.asarray(value) for name, value in inputs.items()}
        return _prepared(_one_node(node, arrays, int(opset))).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """'CPU', with or without a number."""
        try:
            return Device(device).type == DeviceType.CPU
        except (AttributeError, TypeError, ValueError):
            return False


def _one_node(node: onnx.NodeProto, arrays: dict[str, np.ndarray], opset: int) -> onnx.ModelProto:
    """A model of one node. Its outputs have no shapes, which only a run computes, so it would not pass the checker."""
    inputs = [
        onnx.helper.make_tensor_value_info(name, _element_type(array), list(array.shape))
        for name, array in arrays.items()
    ]
    first = inputs[0].type.tensor_type.elem_type if inputs else onnx.TensorProto.FLOAT
    outputs = [
        onnx.helper.make_tensor_value_info(name, _output_type(node, first), None) for name in node.output if name
    ]
    graph = onnx.helper.make_graph([node], "node", inputs, outputs)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])


def _element_type(array: np.ndarray) -> int:
    if array.dtype.kind in "OSUT":
        return onnx.TensorProto.STRING
    return onnx.helper.np_dtype_to_tensor_dtype(array.dtype)


def _output_type(node: onnx.NodeProto, first: int) -> int:
    if node.op_type == "Shape":
        return onnx.TensorProto.INT64
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type == "Cast":
        return attributes["to"].i
    if node.op_type == "Constant" and "value" in attributes:
        return attributes["value"].t.data_type
    if node.op_type == "Constant":
        kinds = {"f": onnx.TensorProto.FLOAT, "s": onnx.TensorProto.STRING}
        return next((kinds[name[6]] for name in attributes if name[6:7] in kinds), onnx.TensorProto.INT64)
    return first


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
