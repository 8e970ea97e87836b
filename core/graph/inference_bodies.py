"""Inference through containers: the branches of `If`, the bodies of `Loop` and `Scan`, and model functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import onnx
import onnx_ir as ir

from core.graph.known import Known, forget_values, merge, says_shape, scalar, stack
from core.intake.scopes import bodies

if TYPE_CHECKING:
    from core.graph.inference import Inference

CONTAINERS = ("If", "Loop", "Scan")


def infer_container(inference: Inference, node: ir.Node) -> list[Known]:
    """Infers the bodies of a container and what it writes."""
    if node.op_type == "If":
        return _infer_if(inference, node)
    if node.op_type == "Loop":
        return _infer_loop(inference, node)
    return _infer_scan(inference, node)


def infer_function(inference: Inference, node: ir.Node, function: ir.Function) -> list[Known]:
    """Infers a call of a model function: its body with the call's inputs."""
    for formal, actual in zip(function.inputs, node.inputs, strict=False):
        if actual is not None:
            inference.learn(formal, inference.lookup(actual))
    inference.run(function)
    return [inference.lookup(value) for value in function.outputs]


def _infer_if(inference: Inference, node: ir.Node) -> list[Known]:
    """Each output is what both branches agree on, or the taken branch's where the condition is known.

    Where nothing is known of one branch (it does not fit these inputs), the other speaks for both.
    """
    results = {}
    for label, body in bodies(node):
        inference.run(body)
        results[label] = [inference.lookup(value) for value in body.outputs]
    condition = inference.lookup(node.inputs[0]).array if node.inputs[0] is not None else None
    if condition is not None and condition.size == 1:
        return results["then" if bool(condition.reshape(())) else "else"]
    return [
        merge(one, other)
        if says_shape(one.type) and says_shape(other.type)
        else (one if says_shape(one.type) else other)
        for one, other in zip(results["then"], results["else"], strict=True)
    ]


def _infer_loop(inference: Inference, node: ir.Node) -> list[Known]:
    body = next(graph for _, graph in bodies(node))
    carried = [forget_values(inference.lookup(value)) for value in node.inputs[2:] if value is not None]
    leading = [scalar(onnx.TensorProto.INT64), scalar(onnx.TensorProto.BOOL)]
    carried = _run_body(inference, body, carried, leading=leading, first_output=1)
    trips = inference.lookup(node.inputs[0]).array if node.inputs[0] is not None else None
    length = int(trips.reshape(())) if trips is not None and trips.size == 1 else None
    scanned = [inference.lookup(value) for value in body.outputs[1 + len(carried) :]]
    return carried + [stack(known, length) for known in scanned]


def _infer_scan(inference: Inference, node: ir.Node) -> list[Known]:
    body = next(graph for _, graph in bodies(node))
    scanned_inputs = node.attributes["num_scan_inputs"].as_int()
    known = [inference.lookup(value) for value in node.inputs if value is not None]
    states, sequences = known[: len(known) - scanned_inputs], known[len(known) - scanned_inputs :]
    given = node.attributes.get("scan_input_axes")
    axes = [0] * len(sequences) if given is None else given.as_ints()
    states = _run_body(inference, body, [forget_values(state) for state in states], trailing=_slices(sequences, axes))
    length = _size(sequences[0].type, axes[0])
    return states + [stack(inference.lookup(value), length) for value in body.outputs[len(states) :]]


def _run_body(
    inference: Inference,
    body: ir.Graph,
    carried: list[Known],
    *,
    leading: Sequence[Known] = (),
    trailing: Sequence[Known] = (),
    first_output: int = 0,
) -> list[Known]:
    """Runs a loop body until its carried shapes repeat: sizes that change from turn to turn become open."""
    for _ in range(2):
        for value, known in zip(body.inputs, [*leading, *carried, *trailing], strict=False):
            inference.learn(value, known)
        inference.run(body)
        after = body.outputs[first_output : first_output + len(carried)]
        merged = [merge(before, inference.lookup(value)) for before, value in zip(carried, after, strict=True)]
        if [known.type for known in merged] == [known.type for known in carried]:
            break
        carried = merged
    return carried


def _size(kind: onnx.TypeProto, axis: int) -> int | None:
    sizes = kind.tensor_type.shape.dim
    if not -len(sizes) <= axis < len(sizes) or not sizes[axis].HasField("dim_value"):
        return None
    return int(sizes[axis].dim_value)


def _slices(sequences: Sequence[Known], axes: Sequence[int]) -> list[Known]:
    """What a `Scan` body sees of its sequences: one step, without the scanned axis."""
    steps = []
    for known, axis in zip(sequences, axes, strict=False):
        step = onnx.TypeProto()
        step.CopyFrom(known.type)
        if -len(step.tensor_type.shape.dim) <= axis < len(step.tensor_type.shape.dim):
            del step.tensor_type.shape.dim[axis]
        steps.append(Known(step))
    return steps
