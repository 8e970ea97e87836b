"""Advice: what a profile shows that somebody can do something about: evidence, consequence, remedy, and the change.

Each rule is a function of `Seen` that yields what it found with the milliseconds that it is about. No rule tells a
figure that was not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.measure import advice_precision, advice_running, advice_time
from core.measure.advised import Advice, Change
from core.measure.seen import Seen

__all__ = ["RULES", "Advice", "Change", "Seen", "advise"]

Rule = Callable[[Seen], Iterator[tuple[float, Advice]]]

RULES: tuple[Rule, ...] = (
    advice_time.layout_changes,
    advice_time.conversion_share,
    advice_precision.fp32_islands,
    advice_precision.int8_islands,
    advice_precision.round_trips,
    advice_time.one_layer_dominates,
    advice_time.far_below_the_roof,
    advice_precision.fp32_convolutions_left,
    advice_precision.signed_activations,
    advice_precision.dynamic_convolutions,
    advice_time.many_small_kernels,
    advice_precision.too_small_for_int8,
    advice_running.more_threads_than_processors,
    advice_running.slower_with_more_threads,
    advice_running.first_run_stalls,
    advice_running.slow_to_open,
    advice_time.time_without_a_layer,
    advice_time.busy_machine,
)


def advise(seen: Seen) -> tuple[Advice, ...]:
    """All that applies, the costliest first."""
    found = [entry for rule in RULES for entry in rule(seen)]
    return tuple(advice for _, advice in sorted(found, key=lambda entry: -entry[0]))
