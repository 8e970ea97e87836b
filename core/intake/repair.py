"""Repairs: harmless changes to the loaded graph, each listed with its reason. The caller's file is never touched."""

from __future__ import annotations

import onnx_ir as ir

from core.intake.limits import newest_opset
from core.intake.model import Repair
from core.intake.names import name_nodes
from core.intake.scopes import is_constant, walk_scopes

#: Before this format version every weight had to be listed as an input too.
_IR_WITH_PLAIN_WEIGHTS = 4


def repair_graph(model: ir.Model) -> tuple[Repair, ...]:
    """Repairs a graph in place.

    Returns:
        What was done, why, and how often.
    """
    return (*_free_weights(model), *_state_opset(model), *name_nodes(model), *_constant_weights(model))


def _free_weights(model: ir.Model) -> tuple[Repair, ...]:
    """Takes weights off the list of inputs: the runtime neither folds nor packs what may be fed from outside."""
    inputs = model.graph.inputs
    listed = [value for value in inputs if value.is_initializer()]
    for value in listed:
        inputs.remove(value)
    model.ir_version = max(model.ir_version, _IR_WITH_PLAIN_WEIGHTS)
    why = "They have a value in the file; as inputs the runtime could neither fold nor fuse them."
    return (Repair("took weights off the list of inputs", why, len(listed)),) if listed else ()


def _state_opset(model: ir.Model) -> tuple[Repair, ...]:
    """States the operator set where ONNX operators are used and none is stated; the runtime takes its newest then."""
    if "" in model.opset_imports or not any(node.domain == "" for _, node in walk_scopes(model.graph)):
        return ()
    newest = newest_opset("")
    if newest is None:
        return ()
    model.opset_imports[""] = newest
    return (Repair(f"stated operator set {newest}", "The file names none; the runtime takes its newest.", 1),)


def _constant_weights(model: ir.Model) -> tuple[Repair, ...]:
    """Counts weights that are stored as `Constant` nodes; nothing is changed, they count as weights everywhere."""
    count = sum(_is_weight(node) for _, node in walk_scopes(model.graph))
    why = "Some exporters write weights as nodes; here they are weights, not layers."
    return (Repair("took Constant nodes for weights", why, count),) if count else ()


def _is_weight(node: ir.Node) -> bool:
    attribute = node.attributes.get("value")
    if not is_constant(node) or attribute is None or attribute.type != ir.AttributeType.TENSOR:
        return False
    tensor = attribute.as_tensor()
    return tensor.size > 1 and tensor.dtype.is_floating_point()
