"""Applying an advice: its change as rules at the end of the mix, and in words what that did and what it did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.graph.layer import LayerTable
from core.recipe.plan import Plan
from core.recipe.precision import Precision, Support
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import resolve
from core.report.names import shorten
from core.report.quantities import counted
from dashboard import mixing
from dashboard.mixing import Mix

Offered = Mapping[str, Support] | None

_MOST_NAMED = 3
_NAME_LENGTH = 48


def rules_of(change: Mapping[str, Any] | None) -> tuple[Rule, ...]:
    """The rules of a change, read as those of a recipe are.

    Raises:
        RecipeError, UnavailableError: a rule that cannot be read, or that this version does not build.
    """
    rules = (change or {}).get("rules") or []
    return Recipe.from_dict({"version": 1, "rules": list(rules)}).rules


def asks_for_int8(change: Mapping[str, Any] | None) -> bool:
    """Whether it can only be applied once it is known what this machine executes."""
    return any(rule["precision"] == str(Precision.INT8) for rule in (change or {}).get("rules") or ())


def applied(mix: Mix, change: Mapping[str, Any]) -> Mix:
    """The mix with the rules of a change at its end; errors as `rules_of`."""
    return mixing.add_rules(mix, rules_of(change))


def told(before: Mix, after: Mix, table: LayerTable, offered: Offered) -> str:
    """What a change made of the mix: the groups that are different now, and those that are not, with the reason.

    Raises:
        RecipeError: a rule names what the model does not have.
    """
    old, new = (resolve(mix.recipe(), table, offered=offered) for mix in (before, after))
    was, now = _by_group(old), _by_group(new)
    added = {rule.match for rule in after.rules} - {rule.match for rule in before.rules}
    changed: dict[str, list[str]] = {}
    for group, precision in now.items():
        if was[group] != precision:
            changed.setdefault(str(precision), []).append(group)
    lines = [f"{counted(len(groups), 'group')} now in {name}: {_named(groups)}." for name, groups in changed.items()]
    pinned = [group for group in after.pins if f"group:{group}" in added]
    if pinned:
        lines.append(f"Pinned, and kept as they are: {_named(pinned)}.")
    lines += _refused(new, added)
    if lines:
        return " ".join(lines)
    return "No group changes now; the rules are in the mix." if added else "The mix on the desk has this already."


def _refused(plan: Plan, added: set[str]) -> list[str]:
    """Groups that one of the new rules asked for something else than was decided, each with the reason."""
    reasons: dict[str, list[str]] = {}
    for decision in plan.decisions:
        refused = decision.requested is not decision.precision
        if refused and f"group:{decision.group}" in added and decision.layer == decision.group:
            reasons.setdefault(decision.why, []).append(decision.group)
    return [f"Not changed: {_named(groups)} ({why})." for why, groups in reasons.items()]


def _by_group(plan: Plan) -> dict[str, Precision]:
    return {decision.group: decision.precision for decision in plan.decisions}


def _named(groups: Sequence[str]) -> str:
    more = len(groups) - _MOST_NAMED
    names = ", ".join(shorten(group, _NAME_LENGTH) for group in groups[:_MOST_NAMED])
    return names + (f" and {more} more" if more > 0 else "")
