"""Ladders: orders in which groups are lowered, and the highest rung of each that keeps the target.

Least harm per gain finds the scattered mixes; contiguous tails and heads pay fewer conversions at their borders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from core.search.mixes import Mix


def ladders(groups: Sequence[str], noise: Mapping[str, float], gain_ms: Mapping[str, float]) -> dict[str, list[str]]:
    """Name -> order of groups.

    Args:
        groups: in graph order.
        noise: group -> noise power when it alone is lowered.
        gain_ms: group -> milliseconds that lowering it promises (0 or more).
    """
    smallest = 1e-6
    return {
        "least harm per gain": sorted(groups, key=lambda group: noise[group] / max(gain_ms.get(group, 0.0), smallest)),
        "least harm": sorted(groups, key=lambda group: noise[group]),
        "from the end": list(reversed(groups)),
        "from the start": list(groups),
    }


def highest_rung(order: Sequence[str], accepts: Callable[[Mix], bool], noise: Mapping[str, float], limit: float) -> Mix:
    """The longest prefix that is accepted, by bisection that starts where the summed noise predicts.

    Acceptance is taken to fall with length, as it does up to the samples' scatter; what is returned was accepted.

    Args:
        order: groups, to be lowered from the first on.
        accepts: builds and measures a mix.
        noise: group -> noise power alone.
        limit: noise power that the target allows; infinite where it says nothing of noise.
    """
    low, high = 0, len(order) + 1
    step = _predicted(order, noise, limit)
    while high - low > 1:
        middle = step if low < step < high else (low + high) // 2
        if accepts(frozenset(order[:middle])):
            low, step = middle, middle + max(1, len(order) // 16)
        else:
            high, step = middle, middle - max(1, len(order) // 16)
    return frozenset(order[:low])


def _predicted(order: Sequence[str], noise: Mapping[str, float], limit: float) -> int:
    total, rung = 0.0, 0
    for group in order:
        total += noise[group]
        if total > limit:
            break
        rung += 1
    return max(1, min(rung, len(order)))
