"""Building: model + plan + ranges -> candidate, checked by loading it, with every layer read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from core.errors import UnavailableError
from core.graph.layer import LayerTable
from core.intake.external import sha256_of
from core.intake.model import Model, serialize
from core.recipe.plan import Decision, Plan
from core.recipe.precision import Precision
from core.runtime.attribute import read_executed
from core.runtime.settings import SessionSettings
from core.transform.body import Body, find_body
from core.transform.calibrate import Ranges, ranges_by_value
from core.transform.candidate import Candidate, LayerOutcome
from core.transform.lift import lift_opset
from core.transform.place import Placed, place_int8
from core.transform.prune import drop_unused_constants
from core.transform.readback import read_back
from core.transform.values import mark_layers

#: Older models are not tried: onnx's converter begins at 7.
OLDEST_OPSET = 7
_NO_SAMPLE = "there is no calibration sample to take its range from: give more samples, or some the split 0"
_SATURATES = "Weights are 7-bit: this CPU has no VNNI and its u8 x s8 multiply saturates with 8-bit ones."


@dataclass(frozen=True, slots=True)
class ReadBack:
    """What the runtime makes of a file: what became of every layer, and how many conversions it really runs."""

    outcomes: tuple[LayerOutcome, ...]
    conversions: int


Remember = Callable[[str, Callable[[], ReadBack]], ReadBack]


def build_candidate(
    model: Model,
    table: LayerTable,
    plan: Plan,
    ranges: Ranges | None,
    *,
    settings: SessionSettings,
    saturates: bool,
    remember: Remember | None = None,
) -> Candidate:
    """Builds the model that a plan asks for.

    Args:
        model: the original; it is not changed.
        table: its layers.
        plan: one decision per layer.
        ranges: from `calibrate`; may be None where the plan asks for no int8.
        settings: how the candidate is opened to read it back.
        saturates: whether this CPU's u8 x s8 multiply saturates (see core.capability).
        remember: maps (hash of the file, how to read it back) to what was read back, perhaps earlier; None: reads.

    Raises:
        UnavailableError: the model's opset is too old for Q/DQ and cannot be lifted.
        RunError: the runtime refuses the built model.
    """
    built, placed, int8_layers, notes = place_plan(model, table, plan, ranges, saturates=saturates)
    serialized = serialize(built)

    def read() -> ReadBack:
        executed = read_executed(built, settings)
        outcomes = read_back(plan, table, executed, int8_layers=int8_layers, refused=placed.refused)
        return ReadBack(outcomes, sum(1 for node in executed.nodes if node.bucket == "quantize"))

    sha256 = sha256_of(serialized)
    found = read() if remember is None else remember(sha256, read)
    return Candidate(
        model=serialized,
        sha256=sha256,
        plan=plan,
        outcomes=found.outcomes,
        conversions=found.conversions,
        notes=notes,
    )


def place_plan(
    model: Model, table: LayerTable, plan: Plan, ranges: Ranges | None, *, saturates: bool
) -> tuple[ir.Model, Placed, dict[str, str], tuple[str, ...]]:
    """Rewrites a copy of the model to the plan, without opening it.

    Returns:
        the rewritten model, what was placed, layer id -> group id of the layers in int8 bodies, and notes.
    """
    decisions = plan.groups(Precision.INT8)
    copy = model.copy_ir()
    if not decisions or ranges is None:
        mark_layers(copy, table)
        return copy, Placed(frozenset(), {}), {}, ()
    _refuse_old_opset(model)
    lifted, note = lift_opset(copy)
    nodes = mark_layers(lifted, table)
    bodies, refused = _find_bodies(nodes, table, decisions)
    if ranges.samples == 0:
        refused, bodies = refused | {body.group: _NO_SAMPLE for body in bodies}, []
    placed = place_int8(bodies, decisions, ranges_by_value(lifted, ranges), saturates=saturates)
    refused = {**refused, **placed.refused}
    if not placed.groups:
        untouched = model.copy_ir()
        mark_layers(untouched, table)
        return untouched, Placed(placed.groups, refused), {}, ()
    drop_unused_constants(lifted)
    notes = tuple(text for text in (note, _SATURATES if saturates else None) if text is not None)
    int8_layers = {layer: body.group for body in bodies if body.group in placed.groups for layer in body.layers}
    return lifted, Placed(placed.groups, refused), int8_layers, notes


def _refuse_old_opset(model: Model) -> None:
    if model.opset is not None and model.opset < OLDEST_OPSET:
        message = f"int8 needs opset {OLDEST_OPSET} or newer; this model has opset {model.opset}."
        raise UnavailableError(message, hint="Export it again with opset 13 or newer.")


def _find_bodies(
    nodes: Mapping[str, ir.Node], table: LayerTable, decisions: Mapping[str, Decision]
) -> tuple[list[Body], dict[str, str]]:
    bodies: list[Body] = []
    refused: dict[str, str] = {}
    for group in table.groups:
        if group.id in decisions:
            body = find_body(group, table, nodes)
            if isinstance(body, Body):
                bodies.append(body)
            else:
                refused[group.id] = body
    bodies.sort(key=lambda body: max(table.layer(layer).index for layer in body.layers))
    return bodies, refused
