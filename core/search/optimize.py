"""Auto-mix: solo sensitivities, ladders of groups, and a guard that measures before it calls anything better.

1. Everything in int8, and each group alone, on a few evaluation samples.
2. Along each ladder the highest rung that keeps the target on the evaluation samples.
3. The accepted mixes are timed against the original, interleaved; the fastest grows group by group while it may.
4. What the caller then compares on the holdout samples is one mix, or none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.intake.dataset import Dataset
from core.measure.outputs import Outputs
from core.progress import Progress
from core.recipe.recipe import Recipe
from core.search.ladder import highest_rung, ladders
from core.search.mixes import Ingredients, Mix, MixBench, Scored, lowerable_groups
from core.search.timing import QuickRatio, quick_ratios
from core.measure.noise import sqnr_db
from core.sensitivity.solo import SoloScore, solo_scores

_MOST_FINALISTS = 6
_TIMING_SHARE = 0.12
_PROBE_SHARE = 0.35
_SOLO_UNTIL = 0.6
_GROWTH_UNTIL = 0.75
_THINNED_TO = (0.12, 0.25, 0.5, 0.75)
_FEWEST_PROBES, _MOST_PROBES = 2, 16


@dataclass(frozen=True, slots=True)
class Goal:
    """What a mix must keep on the judge samples, and the noise power that this allows (infinite: no such limit)."""

    accepts: Callable[[Sequence[Outputs], Sequence[Outputs], float], bool]
    noise_limit: float
    judge: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One mix of the front: quick latency where it was timed, SQNR on the evaluation samples, size."""

    mix: Mix
    latency_ms: float | None
    sqnr_db: float
    size_bytes: int
    accepted: bool

    def to_dict(self) -> dict[str, Any]:
        """One row of the `optimize` document's front."""
        return {
            "latency_ms": self.latency_ms,
            "sqnr_db": self.sqnr_db,
            "bytes": self.size_bytes,
            "measured": self.latency_ms is not None,
            "accepted": self.accepted,
            "groups": len(self.mix),
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The mix to verify, or None with the reason; everything that was tried; why groups could not be lowered.

    `asked` is the recipe where nothing was searched because one precision was asked for everything.
    """

    mix: Mix | None
    why: str
    front: tuple[FrontPoint, ...]
    solo: Mapping[str, SoloScore]
    refused: Mapping[str, str]
    evaluations: int
    lowerable: int
    asked: Recipe | None = None


def search_mix(
    ingredients: Ingredients,
    dataset: Dataset,
    *,
    goal: Goal,
    gain_ms: Mapping[str, float],
    run_ms: float,
    time_budget_s: float,
    seed: int,
    progress: Progress,
    clock: Callable[[], float] = time.monotonic,
) -> SearchResult:
    """Finds the fastest mix of int8 groups that keeps the goal on the evaluation samples.

    Args:
        ingredients: model, ranges and what this machine offers.
        dataset: the samples that `goal.judge` points into.
        goal: acceptance.
        gain_ms: group -> milliseconds that int8 promises (profile times measured kernel speed).
        run_ms: time of one run of the original, to see how many samples a sensitivity may cost.
        time_budget_s: wall time for the whole search; every step looks at it.
        seed: of the timing order.
        progress: reports; partials "solo" and "mix".
        clock: monotonic seconds.
    """
    groups, refused = lowerable_groups(ingredients)
    if not groups:
        return SearchResult(None, nothing_to_lower(refused), (), {}, refused, 0, 0)
    search = _Search(ingredients, dataset, goal, groups, gain_ms, clock() + time_budget_s, time_budget_s, clock, seed)
    return search.run(refused, run_ms, progress)


def nothing_to_lower(refused: Mapping[str, str]) -> str:
    """Why a model has no group that can be int8 here, from the reasons of its groups with weights."""
    if not refused:
        return "The model has no Conv, Gemm or MatMul with stored weights: there is nothing that int8 could speed up."
    reasons = "; ".join(sorted(set(refused.values()))[:3])
    return f"None of the {len(refused)} groups with weights can be int8 here: {reasons}."


class _Search:
    """One search while it runs."""

    def __init__(  # noqa: PLR0917 - one search is one bundle of all these
        self,
        ingredients: Ingredients,
        dataset: Dataset,
        goal: Goal,
        groups: list[str],
        gain_ms: Mapping[str, float],
        deadline: float,
        budget_s: float,
        clock: Callable[[], float],
        seed: int,
    ) -> None:
        self._ingredients, self._dataset, self._goal = ingredients, dataset, goal
        self._groups, self._gain_ms = groups, gain_ms
        self._deadline, self._budget_s, self._clock, self._seed = deadline, budget_s, clock, seed
        self._timed: dict[Mix, QuickRatio] = {}
        self._bench: MixBench

    def run(self, refused: Mapping[str, str], run_ms: float, progress: Progress) -> SearchResult:
        progress.phase("Original outputs", start=0.0, end=0.05)
        self._bench = MixBench(
            self._ingredients,
            self._dataset,
            probe=self._probes(run_ms),
            judge=self._goal.judge,
            accepts=self._goal.accepts,
        )
        everything = self._bench.score(frozenset(self._groups))
        self._publish(everything, progress)
        progress.phase("Sensitivity, one group at a time", start=0.05, end=0.45)
        solo = solo_scores(
            self._by_gain(),
            self._bench.probe_noise,
            progress=progress,
            time_is_up=lambda: self._spent_share() > _SOLO_UNTIL,
        )
        progress.phase("Mixes", start=0.45, end=0.8)
        accepted = self._climb(everything, solo, progress)
        progress.phase("Timing", start=0.8, end=0.95)
        return self._choose(accepted, solo, refused, progress)

    def _probes(self, run_ms: float) -> tuple[int, ...]:
        """As many evaluation samples as a sensitivity of every group affords in its share of the time."""
        affordable = int(self._budget_s * 1e3 * _PROBE_SHARE / max(run_ms * len(self._groups), 1e-3)) - 2
        return self._goal.judge[: max(_FEWEST_PROBES, min(_MOST_PROBES, affordable))]

    def _by_gain(self) -> list[str]:
        """Most promising first, so that a short budget knows what matters."""
        return sorted(self._groups, key=lambda group: self._gain_ms.get(group, 0.0), reverse=True)

    def _left(self) -> float:
        return self._deadline - self._clock()

    def _spent_share(self) -> float:
        return 1.0 - self._left() / self._budget_s

    def _climb(self, everything: Scored, solo: Mapping[str, SoloScore], progress: Progress) -> list[Scored]:
        """The highest accepted rung of every ladder."""
        if everything.accepted:
            return [everything]
        noise = {group: score.noise for group, score in solo.items()}
        usable = [group for group in self._groups if noise.get(group, math.inf) <= self._goal.noise_limit]
        orders = ladders(usable, noise, self._gain_ms)
        found: dict[Mix, Scored] = {}
        for done, (name, order) in enumerate(orders.items(), 1):
            if self._spent_share() > _GROWTH_UNTIL and found:
                break
            mix = highest_rung(order, self._accepts(progress), noise, self._goal.noise_limit)
            if mix:
                found[mix] = self._bench.score(mix)
            progress.step(done, len(orders), f"ladder: {name}")
        return list(found.values())

    def _accepts(self, progress: Progress) -> Callable[[Mix], bool]:
        def accepts(mix: Mix) -> bool:
            if self._left() <= 0:
                return False
            scored = self._bench.score(mix)
            self._publish(scored, progress)
            return scored.accepted

        return accepts

    def _publish(self, scored: Scored, progress: Progress) -> None:
        progress.partial("mix", self._point(scored).to_dict())

    def _choose(
        self, accepted: list[Scored], solo: Mapping[str, SoloScore], refused: Mapping[str, str], progress: Progress
    ) -> SearchResult:
        if not accepted:
            why = self._why_nothing(solo)
            return self._result(None, why, solo, refused)
        self._time([scored.mix for scored in accepted])
        best = max((scored.mix for scored in accepted), key=lambda mix: self._timed[mix].ratio)
        best = self._thin(self._grow(best, solo, progress), progress)
        quick = self._timed[best]
        if quick.ratio <= 1.0:
            why = (
                f"The fastest mix that kept the target ran at {quick.ratio:.2f}x the speed of the original"
                f" ({len(best)} of {len(self._groups)} groups in int8), so the original stays."
            )
            return self._result(None, why, solo, refused)
        why = f"{len(best)} of {len(self._groups)} groups with weights in int8"
        return self._result(best, why, solo, refused)

    def _why_nothing(self, solo: Mapping[str, SoloScore]) -> str:
        if not solo:
            return "The time was over before the first group was tried; give the search more of it."
        best = max(solo.values(), key=lambda score: score.sqnr_db)
        return (
            "No mix kept the target on the evaluation samples; the most faithful single group,"
            f" '{best.group}', gives {best.sqnr_db:.1f} dB on its own."
        )

    def _time(self, mixes: Sequence[Mix], *, again: bool = False) -> None:
        """Times mixes side by side (those timed before only if `again`), the most lowered first where they are many."""
        wanted = {mix for mix in mixes if again or mix not in self._timed}
        fresh = sorted(wanted, key=len, reverse=True)[:_MOST_FINALISTS]
        named = {str(number): mix for number, mix in enumerate(fresh)}
        feeds = [self._dataset.feed(index) for index in self._goal.judge[:8]]
        ratios = quick_ratios(
            self._ingredients.model.to_bytes(),
            {name: self._ingredients.build(mix) for name, mix in named.items()},
            feeds,
            self._ingredients.settings,
            budget_s=min(self._budget_s * _TIMING_SHARE, max(self._left() * 0.5, 0.5)),
            seed=self._seed,
        )
        self._timed |= {named[name]: ratio for name, ratio in ratios.items()}

    def _grow(self, best: Mix, solo: Mapping[str, SoloScore], progress: Progress) -> Mix:
        """Tries to add what the ladder left out, most gain per harm first; keeps what is accepted and not slower."""
        rest = [group for group in self._groups if group not in best and group in solo]
        rest.sort(key=lambda group: solo[group].noise / max(self._gain_ms.get(group, 0.0), 1e-6))
        grown = best
        for done, group in enumerate(rest, 1):
            if self._spent_share() > _GROWTH_UNTIL:
                break
            if solo[group].noise < self._goal.noise_limit and self._accepts(progress)(grown | {group}):
                grown |= {group}
            progress.step(done, len(rest), f"adding {group}")
        if grown == best:
            return best
        self._time([grown])
        return grown if self._timed[grown].ratio > self._timed[best].ratio else best

    def _thin(self, best: Mix, progress: Progress) -> Mix:
        """Tries to keep only the groups that promise most: small ones may cost more in conversions than they gain."""
        order = sorted(best, key=lambda group: self._gain_ms.get(group, 0.0), reverse=True)
        thinner = {frozenset(order[: max(1, round(len(order) * share))]) for share in _THINNED_TO}
        kept = [mix for mix in thinner if mix != best and self._left() > 0 and self._accepts(progress)(mix)]
        if not kept:
            return best
        self._time([best, *kept], again=True)
        return max([best, *kept], key=lambda mix: self._timed[mix].ratio)

    def _point(self, scored: Scored) -> FrontPoint:
        timed = self._timed.get(scored.mix)
        latency = None if timed is None else timed.median_ms
        return FrontPoint(scored.mix, latency, sqnr_db(scored.noise), scored.size_bytes, scored.accepted)

    def _result(
        self,
        mix: Mix | None,
        why: str,
        solo: Mapping[str, SoloScore],
        refused: Mapping[str, str],
    ) -> SearchResult:
        front = tuple(self._point(scored) for scored in self._bench.scored() if scored.size_bytes)
        return SearchResult(mix, why, front, solo, refused, self._bench.evaluations, len(self._groups))
