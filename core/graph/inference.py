"""Inference: types, shapes and small values of a graph, one node after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from core.graph import inference_bodies, inference_contrib
from core.graph.constants import stored_tensor
from core.graph.known import Array, Known, says_shape

#: Larger tensors carry weights, smaller ones may carry shapes, axes and pads that inference must read.
_SHAPE_CARRYING_ELEMENTS = 1024
#: Operators of which exporters build shape arithmetic; they are computed when all they read is known and small.
_SHAPE_ARITHMETIC = frozenset({
    "Abs", "Add", "And", "Cast", "Ceil", "Concat", "ConstantOfShape", "Div", "Equal", "Expand", "Flatten", "Floor",
    "Gather", "GatherElements", "Greater", "GreaterOrEqual", "Identity", "Less", "LessOrEqual", "Max", "Min", "Mod",
    "Mul", "Neg", "NonZero", "Not", "Or", "Pow", "Range", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum",
    "Reshape", "ScatterElements", "ScatterND", "Sign", "Slice", "Split", "Sqrt", "Squeeze", "Sub", "Tile",
    "Transpose", "Trilu", "Unsqueeze", "Where",
})  # fmt: skip
_FAILURES = (
    *(onnx.shape_inference.InferenceError, onnx.defs.SchemaError, onnx.checker.ValidationError, ir.serde.SerdeError),
    *(RuntimeError, ValueError, TypeError, KeyError),
)


class Inference:
    """The knowledge gathered while walking a model; values of all scopes share it."""

    def __init__(self, model: ir.Model) -> None:
        self._opsets = dict(model.opset_imports)
        self._opset_ids = [onnx.helper.make_opsetid(domain, version) for domain, version in self._opsets.items()]
        self._ir_version = model.ir_version
        self._functions = model.functions
        self._known: dict[ir.Value, Known] = {}

    def fix_shape(self, value: ir.Value, shape: Sequence[int]) -> None:
        """Sets the size of an input."""
        proto = declared_type(value)
        del proto.tensor_type.shape.dim[:]
        proto.tensor_type.shape.SetInParent()
        for size in shape:
            proto.tensor_type.shape.dim.add().dim_value = size
        self._known[value] = Known(proto)

    def learn(self, value: ir.Value, known: Known) -> None:
        """Records what is known of a value."""
        self._known[value] = known

    def lookup(self, value: ir.Value) -> Known:
        """What is known of a value: inferred, stored in the model, or as the file declares it."""
        if value not in self._known:
            self._known[value] = _stored(value) or Known(declared_type(value))
        return self._known[value]

    def run(self, graph: ir.Graph | ir.Function) -> None:
        """Infers all nodes of a graph in order, and those nested in them."""
        for node in graph:
            for value, known in zip(node.outputs, self._infer(node), strict=False):
                self._known[value] = known if says_shape(known.type) else _declared_static(value, known)

    def infer_operator(
        self, op_type: str, inputs: Sequence[Known | None], attributes: Mapping[str, Any], outputs: int = 1
    ) -> list[Known]:
        """Infers an ONNX operator that is not in the graph: what a fused operator computes at its core."""
        names = ["" if known is None else f"i{position}" for position, known in enumerate(inputs)]
        proto = onnx.helper.make_node(op_type, names, [f"o{position}" for position in range(outputs)], **attributes)
        return self._infer_proto(proto, {name: known for name, known in zip(names, inputs, strict=True) if known})

    def _infer(self, node: ir.Node) -> list[Known]:
        """What a node writes; empty types where its operator's rule does not fit the node."""
        try:
            return self._by_rule(node)
        except (*_FAILURES, IndexError, StopIteration):
            return [Known(onnx.TypeProto()) for _ in node.outputs]

    def _by_rule(self, node: ir.Node) -> list[Known]:
        if node.op_type == "Constant" and node.domain == "":
            return [_stored(node.outputs[0]) or Known(onnx.TypeProto())]
        function = self._functions.get(node.op_identifier())
        if function is not None:
            return inference_bodies.infer_function(self, node, function)
        if node.domain == "" and node.op_type in inference_bodies.CONTAINERS:
            return inference_bodies.infer_container(self, node)
        if node.domain not in ("", "ai.onnx.ml"):
            return inference_contrib.infer_contrib(self, node)
        known = {value.name or "": self.lookup(value) for value in node.inputs if value is not None}
        found = self._infer_proto(ir.to_proto(node), known)
        # the runtime has operators in ONNX's domain that ONNX does not know, or knows from a later set on
        return (
            found if any(one.type.WhichOneof("value") for one in found) else inference_contrib.infer_contrib(self, node)
        )

    def _infer_proto(self, proto: onnx.NodeProto, known: Mapping[str, Known]) -> list[Known]:
        types = self._onnx_types(proto, known)
        if proto.op_type == "Shape" and proto.domain == "":
            arrays = _shape_values(proto, known[proto.input[0]].type)
        else:
            arrays = self._values(proto, known, types)
        return [Known(types.get(name) or onnx.TypeProto(), arrays.get(name)) for name in proto.output]

    def _onnx_types(self, proto: onnx.NodeProto, known: Mapping[str, Known]) -> dict[str, onnx.TypeProto]:
        data = {name: onnx.numpy_helper.from_array(k.array, name) for name, k in known.items() if k.array is not None}
        opset = self._opsets.get(proto.domain, self._opsets.get("", onnx.defs.onnx_opset_version()))
        try:
            schema = onnx.defs.get_schema(proto.op_type, opset, proto.domain)
            return onnx.shape_inference.infer_node_outputs(
                schema, proto, {n: k.type for n, k in known.items()}, data, {}, self._opset_ids, self._ir_version
            )
        except _FAILURES:
            return {}

    def _values(
        self, proto: onnx.NodeProto, known: Mapping[str, Known], types: Mapping[str, onnx.TypeProto]
    ) -> dict[str, Array]:
        """The numbers a node writes, where it is shape arithmetic on known numbers."""
        arrays = {name: known[name].array for name in proto.input if name}
        computable = proto.domain == "" and proto.op_type in _SHAPE_ARITHMETIC
        if not computable or any(array is None for array in arrays.values()):
            return {}
        if proto.op_type != "NonZero" and not (types and all(_is_small(kind) for kind in types.values())):
            return {}
        try:
            results = _compute(proto, [arrays[name] for name in proto.input if name], self._opsets)
        except (*_FAILURES, IndexError, NotImplementedError):
            return {}
        return {name: np.asarray(result) for name, result in zip(proto.output, results, strict=False)}


def _compute(proto: onnx.NodeProto, arrays: Sequence[Array | None], opsets: Mapping[str, int]) -> Sequence[Array]:
    axes = next((attribute.ints for attribute in proto.attribute if attribute.name == "axes"), None)
    if proto.op_type == "Unsqueeze" and axes is not None:  # the reference fails on the form with an attribute
        return [np.expand_dims(np.asarray(arrays[0]), tuple(axes))]
    evaluator = ReferenceEvaluator(proto, opsets=dict(opsets))
    names = filter(None, proto.input)
    results = evaluator.run(None, dict(zip(names, arrays, strict=True)))
    return results if isinstance(results, list) else list(results.values())


def declared_type(value: ir.Value) -> onnx.TypeProto:
    """The type that the file states for a value; empty where it states none."""
    proto = onnx.TypeProto()
    if value.type is not None:
        proto.CopyFrom(ir.serde.serialize_value(value).type)
    return proto


def _stored(value: ir.Value) -> Known | None:
    """What a weight or a `Constant` says of itself."""
    tensor = value.const_value or stored_tensor(value)
    if tensor is None:
        return None
    proto = onnx.helper.make_tensor_type_proto(tensor.dtype.value, tensor.shape.numpy())
    small = tensor.size <= _SHAPE_CARRYING_ELEMENTS and not value.is_graph_input()
    return Known(proto, tensor.numpy() if small and not isinstance(tensor, ir.ExternalTensor) else None)


def _declared_static(value: ir.Value, known: Known) -> Known:
    """The declared type where inference gave up and the file states a shape without symbols."""
    declared = declared_type(value)
    static = declared.HasField("tensor_type") and declared.tensor_type.HasField("shape")
    if static and all(size.HasField("dim_value") for size in declared.tensor_type.shape.dim):
        return Known(declared)
    if not known.type.WhichOneof("value") and declared.HasField("tensor_type"):
        declared.tensor_type.ClearField("shape")
        return Known(declared)
    return known


def _shape_values(proto: onnx.NodeProto, kind: onnx.TypeProto) -> dict[str, Array]:
    """The numbers of a `Shape` node, where the asked part of the shape is known."""
    if not kind.tensor_type.HasField("shape"):
        return {}
    asked = {attribute.name: attribute.i for attribute in proto.attribute}
    sizes = list(kind.tensor_type.shape.dim)[slice(asked.get("start"), asked.get("end"))]
    if not all(size.HasField("dim_value") for size in sizes):
        return {}
    return {proto.output[0]: np.array([size.dim_value for size in sizes], np.int64)}


def _is_small(kind: onnx.TypeProto) -> bool:
    """Whether a value is known to have few elements."""
    if not kind.tensor_type.HasField("shape"):
        return False
    sizes = [size.dim_value if size.HasField("dim_value") else -1 for size in kind.tensor_type.shape.dim]
    return min(sizes, default=0) >= 0 and math.prod(sizes) <= _SHAPE_CARRYING_ELEMENTS
