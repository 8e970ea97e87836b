"""Transfer: a recipe onto another model of the same structure, such as a retrained one; every difference is listed.

Rules that name a layer follow it where it was renamed. A rule whose layer or operator is not there is dropped and said,
unless `strict`. Ranges are no part of a recipe: building calibrates afresh, on the new weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.errors import RecipeError, did_you_mean
from core.graph.layer import LayerTable
from core.recipe.matching import match_layers
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import LEAVE_OUT, check_matches
from core.recipe.structure import Place, Structure


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was: of a layer, or (None) of the recipe as a whole.

    `what` is "renamed", "missing", "new", "changed", or "rule dropped" / "rule added" for what became of the rules.
    """

    layer: str | None
    what: str
    why: str

    def to_dict(self) -> dict[str, str | None]:
        """One row of the document's `differences`."""
        return {"layer": self.layer, "what": self.what, "why": self.why}


@dataclass(frozen=True, slots=True)
class Transfer:
    """A recipe that fits the model at hand, and how that model differs from the one it was made for."""

    recipe: Recipe
    differences: tuple[Difference, ...]


def transfer(
    recipe: Recipe, source: LayerTable | Structure | None, table: LayerTable, *, strict: bool = False
) -> Transfer:
    """Fits a recipe to a model.

    Args:
        recipe: the rules.
        source: the layers of the model they were made for; None where nobody knows: then names must be the same.
        table: the layers of the model at hand.
        strict: refuse a rule whose layer or operator is not there, instead of dropping it.

    Raises:
        RecipeError: only where `strict`; the nearest name is suggested.
    """
    here = Structure.of(table)
    before = Structure.of(source) if isinstance(source, LayerTable) else source
    matched = {place.id: place.id for place in here} if before is None else match_layers(before, here)
    layers = () if before is None else tuple(_layer_differences(before, here, matched))
    rules: list[Rule] = []
    told: list[Difference] = []
    for rule in recipe.rules:
        kept, differences = _fit(rule, before, table, matched, strict=strict)
        rules += kept
        told += differences
    fitted = Recipe(tuple(rules), recipe.structure, recipe.dynamic, recipe.session, recipe.calibration)
    return Transfer(fitted, (*layers, *told))


def _layer_differences(before: Structure, here: Structure, matched: dict[str, str]) -> Iterator[Difference]:
    now = {place.id: place for place in here}
    for place in before:
        if place.id not in matched:
            yield Difference(place.id, "missing", f"the model has no such {place.op}")
            continue
        new = now[matched[place.id]]
        if new.id != place.id:
            yield Difference(place.id, "renamed", f"is called '{new.id}' here: the same operator in the same place")
        change = _change(place, new)
        if change is not None:
            yield Difference(new.id, "changed", change)
    known = set(matched.values())
    for place in here:
        if place.id not in known:
            yield Difference(place.id, "new", f"the recipe's model has no such {place.op}")


def _change(was: Place, now: Place) -> str | None:
    if was.op != now.op:
        return f"was {was.op}, is {now.op}"
    if was.parameters is not None and was.parameters != now.parameters:
        return f"had {was.parameters:,} weights, has {now.parameters:,}"
    return None


def _fit(
    rule: Rule, before: Structure | None, table: LayerTable, matched: dict[str, str], *, strict: bool
) -> tuple[list[Rule], list[Difference]]:
    """The rule as it reads here (none, one, or one with additions), and what had to be said of it."""
    kind, _, name = rule.match.partition(":")
    if kind in {"layer", "group"}:
        return _fit_named(rule, kind, name, table, matched, strict=strict)
    known = {layer.op_type for layer in table}
    if kind == "op" and name not in known:
        if strict:
            raise RecipeError(f"The model has no operator '{name}'.{did_you_mean(name, known)}", hint=LEAVE_OUT)
        return [], [Difference(None, "rule dropped", f"'{rule.match}' = {rule.precision}: the model has no {name}")]
    if kind == "name":
        return _fit_pattern(rule, name, before, table, matched, strict=strict)
    return [rule], []


def _fit_named(
    rule: Rule, kind: str, name: str, table: LayerTable, matched: dict[str, str], *, strict: bool
) -> tuple[list[Rule], list[Difference]]:
    new = matched.get(name) or (name if name in table else None)
    if new is None:
        if strict:
            table.layer(name)  # says what is missing, and the nearest name
        return [], [Difference(name, "rule dropped", f"'{rule.match}' = {rule.precision}: no layer to match it")]
    place = table.layer(new).group if kind == "group" else new
    return [rule if place == name else Rule(f"{kind}:{place}", rule.precision, rule.options, rule.why)], []


def _fit_pattern(
    rule: Rule, pattern: str, before: Structure | None, table: LayerTable, matched: dict[str, str], *, strict: bool
) -> tuple[list[Rule], list[Difference]]:
    """A pattern keeps what it meant: layers whose new name it misses get a rule of their own, right after it."""
    rules, told = [rule], []
    former = before or ()
    meant = {matched[place.id] for place in former if place.id in matched and re.search(pattern, place.id)}
    hit = {layer.id for layer in table if re.search(pattern, layer.id)}
    for layer in (layer.id for layer in table if layer.id in meant - hit):
        rules.append(Rule(f"layer:{layer}", rule.precision, rule.options, rule.why))
        told.append(Difference(layer, "rule added", f"'{rule.match}' meant it under its old name"))
    why = f"'{rule.match}' matches its new name and did not match the old one"
    if before is not None:
        told.extend(Difference(layer, "changed", why) for layer in sorted((hit - meant) & set(matched.values())))
    if not hit and not meant:
        if strict:
            check_matches(Recipe((rule,)), table)
        told.append(Difference(None, "rule dropped", f"'{rule.match}' = {rule.precision}: it matches no layer here"))
        return [], told
    return rules, told
