"""Auto-mix: solo sensitivities, ladders of groups, and a guard that measures before it calls anything better.

1. Everything in int8, and each group alone, on a few evaluation samples.
2. Along each ladder the highest rung that keeps the target on the evaluation samples.
3. The accepted mixes are timed against the original, interleaved; the best grows group by group while it may, is
   thinned out, and the results are timed once more.
4. What the caller then compares on the holdout samples is one mix, or none.

The same search again goes the same way: what is tried is settled by counts (`core.search.effort`), groups are ranked by
a cost that is computed and not measured, and of mixes that run about as fast the first in a fixed order is taken. Time
spent is the processor's in the units, whether they were computed now or by an earlier job that was killed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from core.intake.dataset import Dataset
from core.measure.noise import sqnr_db
from core.progress import Progress
from core.recipe.recipe import Recipe
from core.search.effort import Effort
from core.search.ladder import highest_rung, ladders
from core.search.mixes import Goal, Ingredients, Mix, MixBench, Scored, lowerable_groups
from core.search.timing import LEAST_GAIN, QuickRatio, Timings, quick_timings
from core.sensitivity.solo import SoloScore, solo_scores
from core.store.units import Codec, Units

_TIMING_SHARE = 0.12
_SOLO_UNTIL = 0.65
_GROWTH_UNTIL = 0.8
_THINNED_TO = (0.75, 0.5, 0.25, 0.12)
_TIMED_FEEDS = 8
#: On a busy machine the search may take this many budgets on the wall.
_PATIENCE = 1.5


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

    @classmethod
    def nothing(cls, why: str, refused: Mapping[str, str]) -> Self:
        """No mix, and nothing was tried."""
        return cls(None, why, (), {}, refused, 0, 0)


def search_mix(
    ingredients: Ingredients,
    dataset: Dataset,
    *,
    goal: Goal,
    effort: Effort,
    gain_ms: Mapping[str, float],
    time_budget_s: float,
    seed: int,
    progress: Progress,
    units: Units | None = None,
) -> SearchResult:
    """Finds the fastest mix of int8 groups that keeps the goal on the evaluation samples.

    Args:
        ingredients: model, ranges and what this machine offers.
        dataset: the samples that `goal.judge` points into.
        goal: acceptance.
        effort: how many samples and mixes it may cost.
        gain_ms: group -> milliseconds that int8 promises.
        time_budget_s: time of its units; where the effort was planned too high, what is left is not tried.
        seed: of the timing order.
        progress: reports; partials "solo" and "mix".
        units: what earlier work has finished; None for nothing.
    """
    groups, refused = lowerable_groups(ingredients)
    if not groups:
        return SearchResult.nothing(nothing_to_lower(refused), refused)
    known = units or Units.unkept()
    bench = MixBench(ingredients, dataset, goal, probe=goal.judge[: effort.probes], units=known)
    search = _Search(ingredients, dataset, goal, effort, groups, gain_ms, time_budget_s, seed, bench, known)
    return search.run(refused, progress)


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
        effort: Effort,
        groups: list[str],
        gain_ms: Mapping[str, float],
        budget_s: float,
        seed: int,
        bench: MixBench,
        units: Units,
    ) -> None:
        self._ingredients, self._dataset, self._goal, self._effort = ingredients, dataset, goal, effort
        self._groups, self._gain_ms = groups, gain_ms
        self._budget_s, self._seed = budget_s, seed
        self._bench, self._units = bench, units
        self._began_s = units.spent_s, units.worked_s
        self._timed: dict[Mix, QuickRatio] = {}

    def run(self, refused: Mapping[str, str], progress: Progress) -> SearchResult:
        progress.phase("Original outputs", start=0.0, end=0.05)
        self._bench.start()
        everything = self._bench.score(frozenset(self._groups))
        self._publish(everything, progress)
        progress.phase("Sensitivity, one group at a time", start=0.05, end=0.45)
        solo = solo_scores(
            self._by_gain(self._groups)[: self._effort.solos],
            self._bench.probe_noise,
            progress=progress,
            time_is_up=lambda: self._spent_share() > _SOLO_UNTIL,
        )
        progress.phase("Mixes", start=0.45, end=0.8)
        accepted = self._climb(everything, solo, progress)
        progress.phase("Timing", start=0.8, end=0.95)
        return self._choose(accepted, solo, refused, progress)

    def _by_gain(self, groups: Iterable[str]) -> list[str]:
        """Most promising first, so that a short budget knows what matters; ties as in the graph."""
        place = {group: number for number, group in enumerate(self._groups)}
        return sorted(groups, key=lambda group: (-self._gain_ms.get(group, 0.0), place[group]))

    def _preferred(self, mixes: Iterable[Mix]) -> list[Mix]:
        """In the order in which mixes that run about as fast are preferred: what promises most first."""
        return sorted(mixes, key=lambda mix: (-self._promise(mix), -len(mix), sorted(mix)))

    def _promise(self, mix: Mix) -> float:
        return math.fsum(self._gain_ms.get(group, 0.0) for group in mix)

    def _spent_share(self) -> float:
        """Of the budget, by processor time: a busy machine changes little then; but not far beyond it on the wall."""
        spent_s, worked_s = self._units.spent_s - self._began_s[0], self._units.worked_s - self._began_s[1]
        return max(worked_s, spent_s / _PATIENCE) / self._budget_s

    def _climb(self, everything: Scored, solo: Mapping[str, SoloScore], progress: Progress) -> list[Mix]:
        """The highest accepted rung of every ladder."""
        if everything.accepted:
            return [everything.mix]
        noise = {group: score.noise for group, score in solo.items() if math.isfinite(score.noise)}
        usable = [group for group in self._groups if group in noise and noise[group] <= self._goal.noise_limit]
        orders = ladders(usable, noise, self._gain_ms)
        found: dict[Mix, None] = {}
        for done, (name, order) in enumerate(orders.items(), 1):
            if self._spent_share() > _GROWTH_UNTIL and found:
                break
            mix = highest_rung(order, self._accepts(progress), noise, self._goal.noise_limit)
            if mix:
                found[mix] = None
            progress.step(done, len(orders), f"ladder: {name}")
        return list(found)

    def _accepts(self, progress: Progress) -> Callable[[Mix], bool]:
        def accepts(mix: Mix) -> bool:
            if self._spent_share() >= 1:
                return False
            scored = self._bench.score(mix)
            self._publish(scored, progress)
            return scored.accepted

        return accepts

    def _publish(self, scored: Scored, progress: Progress) -> None:
        progress.partial("mix", self._point(scored).to_dict())

    def _choose(
        self, accepted: list[Mix], solo: Mapping[str, SoloScore], refused: Mapping[str, str], progress: Progress
    ) -> SearchResult:
        if not accepted:
            return self._result(None, self._why_nothing(solo), solo, refused)
        first = self._fastest(accepted)
        grown = self._grow(first, solo, progress)
        best = self._fastest([first, grown, *self._thinner(grown, progress)], among=first)
        quick = self._timed[best]
        if math.log(quick.ratio) < LEAST_GAIN:
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

    def _fastest(self, mixes: Iterable[Mix], *, among: Mix | None = None) -> Mix:
        """Times mixes side by side and takes the first in order of preference that is not clearly slower than the best.

        Where they are too many, `among` stays.
        """
        ranked = self._preferred(set(mixes))
        kept = {*ranked[: self._effort.finalists], *(() if among is None else (among,))}
        order = [mix for mix in ranked if mix in kept]
        if len(order) == 1 and order[0] in self._timed:
            return order[0]
        names = {str(number): mix for number, mix in enumerate(order)}
        key = {"mixes": [self._ingredients.key(mix) for mix in order], "samples": self._goal.judge[:_TIMED_FEEDS]}
        codec = Codec(Timings.to_dict, Timings.from_dict)
        timings = self._units.get_or("timing", key, lambda: self._time(names), codec=codec)
        self._timed |= {mix: timings.ratio(name) for name, mix in names.items()}
        return names[timings.choose(list(names))]

    def _time(self, names: Mapping[str, Mix]) -> Timings:
        return quick_timings(
            self._ingredients.model.serialize(),
            {name: self._ingredients.build(mix) for name, mix in names.items()},
            [self._dataset.feed(index) for index in self._goal.judge[:_TIMED_FEEDS]],
            self._ingredients.settings,
            budget_s=self._budget_s * _TIMING_SHARE,
            seed=self._seed,
        )

    def _grow(self, best: Mix, solo: Mapping[str, SoloScore], progress: Progress) -> Mix:
        """Adds what the ladder left out, most gain per harm first, while the target is kept."""
        rest = [group for group in self._groups if group not in best and group in solo]
        rest.sort(key=lambda group: solo[group].noise / max(self._gain_ms.get(group, 0.0), 1e-6))
        grown = best
        for done, group in enumerate(rest[: self._effort.growths], 1):
            if self._spent_share() > _GROWTH_UNTIL:
                break
            if solo[group].noise < self._goal.noise_limit and self._accepts(progress)(grown | {group}):
                grown |= {group}
            progress.step(done, len(rest), f"adding {group}")
        return grown

    def _thinner(self, best: Mix, progress: Progress) -> list[Mix]:
        """Mixes of only those groups that promise most: small ones may cost more in conversions than they gain."""
        order = self._by_gain(best)
        thinner = dict.fromkeys(frozenset(order[: max(1, round(len(order) * share))]) for share in _THINNED_TO)
        return [mix for mix in thinner if mix != best and self._accepts(progress)(mix)]

    def _point(self, scored: Scored) -> FrontPoint:
        timed = self._timed.get(scored.mix)
        latency = None if timed is None else timed.median_ms
        return FrontPoint(scored.mix, latency, sqnr_db(scored.noise), scored.size_bytes, scored.accepted)

    def _result(
        self, mix: Mix | None, why: str, solo: Mapping[str, SoloScore], refused: Mapping[str, str]
    ) -> SearchResult:
        front = tuple(self._point(scored) for scored in self._bench.scored() if scored.size_bytes)
        return SearchResult(mix, why, front, solo, refused, self._bench.evaluations, len(self._groups))
