"""Resolving: recipe + layers -> plan. The last matching rule wins, a group decides as one, followers follow.

A *follower* group (residual add, pooling, reshape, free-standing activation) has no weights. Left without a rule, it is
int8 where everything that feeds it is int8, since a conversion in between would cost both time and fidelity.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import RecipeError, did_you_mean
from core.graph.layer import Group, Layer, LayerTable
from core.recipe.plan import Decision, Plan
from core.recipe.precision import Precision, Support
from core.recipe.recipe import Recipe, Rule

#: Operators whose int8 form keeps the scale of its input: the bytes are only moved or compared.
SCALE_KEEPING = frozenset(
    {"MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Identity", "Resize"}
)
#: Operators without weights that have an int8 kernel with a scale of its own for the output.
RESCALING = frozenset({"Add", "Mul", "AveragePool", "GlobalAveragePool", "Concat", "LeakyRelu", "Sigmoid"})
#: Activations that vanish into the rounding of an int8 output.
ABSORBED = frozenset({"Relu", "Clip"})
#: Operators with weights that have a static int8 kernel.
WEIGHTED = frozenset({"Conv", "Gemm", "MatMul"})
#: All that this version can place in int8; whether the machine executes it, the capability grid tells.
BUILDABLE = WEIGHTED | SCALE_KEEPING | RESCALING | ABSORBED

Offered = Mapping[str, Support]

LEAVE_OUT = "Correct the rule, or take it out of the recipe."


def resolve(recipe: Recipe, table: LayerTable, *, offered: Offered | None = None) -> Plan:
    """Decides the precision of every layer.

    Args:
        recipe: the rules.
        table: the layers of the model.
        offered: operator -> what this machine does with it in int8 (from the capability grid); None: not asked.

    Raises:
        RecipeError: a rule names a layer or group that the model does not have.
    """
    for rule in recipe.rules:
        _check_names(rule, table)
    chosen = {group.id: _last_match(recipe, group, table) for group in table.groups}
    by_group: dict[str, _Choice] = {}
    for group in _feeders_first(table):
        by_group[group.id] = _decide(group, chosen[group.id], table, by_group, offered)
    return Plan(tuple(_decision(layer, by_group[layer.group]) for layer in table))


@dataclass(frozen=True, slots=True)
class _Choice:
    requested: Precision
    precision: Precision
    why: str
    rule: int | None
    options: Mapping[str, Any] = field(default_factory=dict)


def check_matches(recipe: Recipe, table: LayerTable) -> None:
    """Refuses a rule that means nothing on this model: most likely a slip of the pen.

    Raises:
        RecipeError: no layer, group or operator of that name, or nothing that its pattern finds; names the nearest.
    """
    for rule in recipe.rules:
        _check_names(rule, table)
        kind, _, pattern = rule.match.partition(":")
        if kind == "name" and not any(_matches(rule, layer) for layer in table):
            near = did_you_mean(pattern, [layer.id for layer in table])
            raise RecipeError(f"No layer of the model has a name that '{pattern}' finds.{near}", hint=LEAVE_OUT)


def _check_names(rule: Rule, table: LayerTable) -> None:
    kind, _, name = rule.match.partition(":")
    if kind == "layer":
        table.layer(name)
    elif kind == "group":
        table.group(name)
    elif kind == "op":
        known = {layer.op_type for layer in table}
        if name not in known:
            raise RecipeError(f"The model has no operator '{name}'.{did_you_mean(name, known)}")


def _last_match(recipe: Recipe, group: Group, table: LayerTable) -> tuple[int, Rule] | None:
    layers = [table.layer(layer_id) for layer_id in group.layers]
    for number in range(len(recipe.rules) - 1, -1, -1):
        if any(_matches(recipe.rules[number], layer) for layer in layers):
            return number, recipe.rules[number]
    return None


def _matches(rule: Rule, layer: Layer) -> bool:
    kind, _, text = rule.match.partition(":")
    match kind:
        case "op":
            return layer.op_type == text
        case "layer":
            return layer.id == text
        case "group":
            return layer.group == text
        case "name":
            return re.search(text, layer.id) is not None
        case _:
            return True


def _feeders_first(table: LayerTable) -> list[Group]:
    """Groups in the order of their last layer, so that what feeds a group is decided before it."""
    last = {group.id: max(table.layer(layer_id).index for layer_id in group.layers) for group in table.groups}
    return sorted(table.groups, key=lambda group: last[group.id])


def _decide(
    group: Group,
    match: tuple[int, Rule] | None,
    table: LayerTable,
    decided: Mapping[str, _Choice],
    offered: Offered | None,
) -> _Choice:
    if match is None:
        return _without_rule(group, table, decided)
    number, rule = match
    if rule.precision is not Precision.INT8:
        return _Choice(rule.precision, rule.precision, rule.why or f"rule {number + 1}: {rule.match}", number)
    refusal = _refusal(group, table, offered) or _island(group, table, decided)
    if refusal is not None:
        return _Choice(Precision.INT8, Precision.FP32, refusal, number, rule.options)
    why = rule.why or f"rule {number + 1}: {rule.match}"
    return _Choice(Precision.INT8, Precision.INT8, why, number, rule.options)


def _without_rule(group: Group, table: LayerTable, decided: Mapping[str, _Choice]) -> _Choice:
    if _refusal(group, table, None) is None and group.kind == "follower" and _fed_by_int8(group, table, decided):
        why = "no rule of its own: keeps the int8 of what feeds it"
        return _Choice(Precision.INT8, Precision.INT8, why, None)
    return _Choice(Precision.FP32, Precision.FP32, "no rule matches", None)


def _refusal(group: Group, table: LayerTable, offered: Offered | None) -> str | None:
    """Why this group cannot be int8, or None where it can."""
    op_type = table.layer(group.anchor).op_type
    if op_type not in BUILDABLE:
        return f"{op_type} has no static int8 kernel in this runtime"
    support = None if offered is None else offered.get(op_type)
    if support is not None and support is not Support.EXECUTED:
        return f"{op_type} in int8 is {support} on this machine"
    return None


def _island(group: Group, table: LayerTable, decided: Mapping[str, _Choice]) -> str | None:
    """A follower whose feeders stay in fp32 would only gain two conversions."""
    if group.kind != "follower" or _fed_by_int8(group, table, decided):
        return None
    op_type = table.layer(group.anchor).op_type
    return f"what feeds this {op_type} stays in fp32: int8 would only add conversions"


def _fed_by_int8(group: Group, table: LayerTable, decided: Mapping[str, _Choice]) -> bool:
    members = set(group.layers)
    feeders = {
        table.layer(source).group
        for layer_id in group.layers
        for source in table.predecessors[layer_id]
        if source not in members and _is_data(table.layer(source))
    }
    anchors_inputs = _graph_fed(group, table)
    known = [decided[feeder].precision for feeder in feeders if feeder in decided]
    return bool(known) and len(known) == len(feeders) and not anchors_inputs and set(known) == {Precision.INT8}


def _is_data(layer: Layer) -> bool:
    """Shapes and indices (integers) that feed a Reshape or Slice do not decide its precision."""
    return layer.dtype in {"", "float32", "float16", "float64"}


def _graph_fed(group: Group, table: LayerTable) -> bool:
    """Whether an elementwise group reads more than its feeders give: a graph input or a constant."""
    anchor = table.layer(group.anchor)
    if anchor.op_type not in {"Add", "Mul", "Concat"}:
        return False
    produced = {output for source in table.predecessors[anchor.id] for output in table.layer(source).outputs}
    return any(name and name not in produced for name in anchor.inputs)


def _decision(layer: Layer, choice: _Choice) -> Decision:
    return Decision(
        layer=layer.id,
        group=layer.group,
        requested=choice.requested,
        precision=choice.precision,
        why=choice.why,
        rule=choice.rule,
        options=choice.options,
    )
