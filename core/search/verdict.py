"""The verdict of a search: builds what was found, compares it once on the holdout, and decides.

The original wins every tie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core.intake.dataset import Dataset, Split
from core.intake.external import sha256_of
from core.intake.model import Serialized
from core.measure.compare import Comparison, compare_models
from core.measure.target import Judgement, Target, TargetVerdict
from core.progress import Progress
from core.recipe.plan import Plan
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe
from core.recipe.resolve import resolve
from core.search.goal import MEASURED_LATER
from core.search.mixes import Ingredients
from core.search.optimize import SearchResult
from core.search.units import COMPARISON, READ_BACK, is_worth_keeping
from core.sensitivity.solo import SoloScore
from core.store.units import Units
from core.transform.build import ReadBack, build_candidate
from core.transform.candidate import Candidate, LayerOutcome


@dataclass(frozen=True)
class Optimized:
    """What auto-mix found: a candidate (the original itself where `unchanged`), its recipe, and the comparison."""

    candidate: Candidate
    recipe: Recipe
    comparison: Comparison
    verdict: TargetVerdict
    search: SearchResult
    unchanged: bool
    why: str
    tried: Comparison | None = None

    def to_dict(self) -> dict[str, Any]:
        """The `optimize` document but for its frame (version, seconds, conditions)."""
        compared = self.comparison
        return {
            "target": self.verdict.to_dict(),
            "speedup": compared.latency.to_dict(),
            "size": {"before_bytes": compared.before_bytes, "after_bytes": compared.after_bytes},
            "memory": {
                "before_bytes": compared.latency.before_memory_bytes,
                "after_bytes": compared.latency.after_memory_bytes,
            },
            "energy": {"before_j": None, "after_j": None, "source": None},
            "fidelity": compared.fidelity.to_dict(),
            "accuracy": compared.accuracy.to_dict(),
            "layers": [outcome.to_dict() for outcome in self.candidate.outcomes],
            "dynamic": {},
            "session": {},
            "front": [point.to_dict() for point in self.search.front],
            "sensitivity": [score.to_dict() for score in self.search.solo.values()],
            "evaluations": self.search.evaluations,
            "unchanged": self.unchanged,
            "why": self.why,
            "tried": None if self.tried is None else self.tried.to_dict(),
        }


@dataclass(frozen=True)
class Verifier:
    """Builds what the search chose, compares it once on the holdout, and decides."""

    ingredients: Ingredients
    original: Serialized
    dataset: Dataset
    target: Target
    batch: int
    seed: int
    budget_s: float
    weights: Mapping[str, float] | None
    units: Units

    def decide(self, found: SearchResult, progress: Progress) -> Optimized:
        """The mix where it is faster and keeps the target on the holdout, else the original."""
        if found.mix is None:
            return self._unchanged(found, found.why, None, progress)
        recipe = found.asked or self.ingredients.recipe(found.mix)
        candidate = self._build(recipe)
        compared = self._compare(candidate.model, progress)
        verdict = self._judge(compared)
        refusal = _refusal(compared, verdict, searched=found.asked is None)
        if refusal is not None:
            return self._unchanged(found, refusal, compared, progress)
        explained = _explain(candidate, found)
        return Optimized(
            explained, recipe, compared, verdict, found, unchanged=False, why=_why(found, compared, verdict)
        )

    def _unchanged(self, found: SearchResult, why: str, tried: Comparison | None, progress: Progress) -> Optimized:
        recipe = Recipe()
        plain = self._build(recipe)
        digest = sha256_of(self.original)
        outcomes = tuple(replace(outcome, why="the original, unchanged") for outcome in plain.outcomes)
        same = replace(plain, model=self.original, sha256=digest, outcomes=outcomes)
        compared = tried.unchanged() if tried is not None else self._compare(self.original, progress).unchanged()
        return Optimized(same, recipe, compared, self._judge(compared), found, unchanged=True, why=why, tried=tried)

    def _build(self, recipe: Recipe) -> Candidate:
        given = self.ingredients
        plan = resolve(recipe, given.table, offered=given.offered)
        return build_candidate(
            given.model,
            given.table,
            plan,
            given.ranges,
            settings=given.settings,
            saturates=given.saturates,
            remember=partial(self._remember, plan),
        )

    def _remember(self, plan: Plan, sha256: str, read: Callable[[], ReadBack]) -> ReadBack:
        key = {"candidate": sha256, "plan": plan.to_dict()}
        return self.units.get_or("read back", key, read, codec=READ_BACK)

    def _compare(self, candidate: Serialized, progress: Progress) -> Comparison:
        key = {
            "original": sha256_of(self.original),
            "candidate": sha256_of(candidate),
            "batch": self.batch,
            "budget_s": self.budget_s,
            "outputs": self.weights,
        }
        return self.units.get_or(
            "comparison",
            key,
            lambda: self._measure(candidate, progress),
            codec=COMPARISON,
            keep=is_worth_keeping,
        )

    def _measure(self, candidate: Serialized, progress: Progress) -> Comparison:
        return compare_models(
            self.original,
            candidate,
            self.dataset,
            split=Split.HOLDOUT,
            settings=self.ingredients.settings,
            batch=self.batch,
            seed=self.seed,
            budget_s=self.budget_s,
            gate=None,
            outputs=self.weights,
            progress=progress,
        )

    def _judge(self, compared: Comparison) -> TargetVerdict:
        return self.target.judge(
            fidelity=compared.fidelity,
            accuracy=compared.accuracy,
            latency=compared.latency,
            size_bytes=compared.after_bytes,
            seed=self.seed,
        )


def _refusal(compared: Comparison, verdict: TargetVerdict, *, searched: bool) -> str | None:
    """Why a mix may not be called better, or None."""
    mix = "best mix" if searched else "mix that was asked for"
    if not compared.latency.trustworthy:
        return f"The machine was too busy to tell whether the {mix} is faster, so the original stays. Try again later."
    low, high = compared.latency.ci95
    if low <= 1.0:
        return (
            f"The {mix} ran at {compared.latency.ratio:.2f}x the speed of the original on the holdout,"
            f" interval [{low:.2f}, {high:.2f}]: not surely faster, so the original stays."
        )
    broken = [each for each in verdict.judgements if not each.met and not _is_about_speed_or_size(each.condition.text)]
    if broken:
        missed = ", ".join(each.condition.text for each in broken)
        before = f"kept {missed} on the evaluation samples but missed it" if searched else f"missed {missed}"
        figures = ", ".join(filter(None, map(_reached, broken)))
        return f"The {mix} {before} on the holdout{figures and f': {figures}'}."
    return None


def _reached(judgement: Judgement) -> str:
    """What a condition that was not met came to: "24.9 dB of 25", with so many digits that it differs."""
    value, required = judgement.value, judgement.required
    if value is None or required is None:
        return ""
    factor, unit = (1.0, " dB") if judgement.condition.metric == "sqnr" else (100.0, " %")
    if value < required:
        return f"{_digits(value * factor, required * factor)}{unit} of {required * factor:.4g}"
    sure = (
        ""
        if judgement.bound is None
        else f", of which {_digits(judgement.bound * factor, value * factor)}{unit} is sure"
    )
    return f"{value * factor:.4g}{unit}{sure}"


def _digits(value: float, other: float) -> str:
    """One decimal, or as many more as tell the two apart."""
    places = next((places for places in range(1, 9) if round(value, places) != round(other, places)), 9)
    return f"{value:.{places}f}"


def _is_about_speed_or_size(condition: str) -> bool:
    return condition.startswith(MEASURED_LATER)


def _why(found: SearchResult, compared: Comparison, verdict: TargetVerdict) -> str:
    """What was found; a speed or size that was asked and not reached does not make a faithful, faster mix worthless."""
    if verdict.met:
        return found.why
    missed = ", ".join(verdict.broken)
    faithful = "the fastest faithful mix found" if found.asked is None else "faithful and faster"
    return f"{found.why}: {faithful}, {compared.latency.ratio:.2f}x, but it misses {missed}"


def _explain(candidate: Candidate, found: SearchResult) -> Candidate:
    """Says for every layer that stays in fp32 what the search knows of it."""
    outcomes = tuple(_explained(outcome, found.solo.get(outcome.group), found) for outcome in candidate.outcomes)
    return replace(candidate, outcomes=outcomes)


def _explained(outcome: LayerOutcome, score: SoloScore | None, found: SearchResult) -> LayerOutcome:
    if outcome.requested == str(Precision.INT8) or outcome.why == "pinned":
        return outcome
    refused = found.refused.get(outcome.group)
    if refused is not None:
        return replace(outcome, why=refused)
    if score is not None:
        return replace(outcome, why=f"left in fp32 by the search: lowered alone it gives {score.sqnr_db:.1f} dB")
    return replace(outcome, why="has no weights, and what feeds it stays in fp32")
