"""One precision for everything: no search, but the same proof. What the machine or the graph cannot lower stays."""

from __future__ import annotations

from core.recipe.precision import Precision
from core.recipe.recipe import Recipe
from core.search.mixes import Ingredients, lowerable_groups
from core.search.optimize import SearchResult, nothing_to_lower


def one_precision(ingredients: Ingredients, precision: Precision) -> SearchResult:
    """The mix that has every group in this precision, pins excepted; no mix where that would be the original."""
    if precision is Precision.FP32:
        return SearchResult.nothing("fp32 was asked, and the original is in fp32.", {})
    groups, refused = lowerable_groups(ingredients)
    if not groups:
        return SearchResult.nothing(nothing_to_lower(refused), refused)
    rules = (*Recipe.uniform(precision).rules, *ingredients.pins)
    of_how_many = len(groups) + len(refused)
    why = f"everything in {precision} as asked: {len(groups)} of {of_how_many} groups with weights"
    return SearchResult(frozenset(groups), why, (), {}, refused, 0, len(groups), asked=Recipe(rules=rules))
