"""Auto-mix, whole: profile, calibrate, search, build, and one comparison on the holdout that decides.

The original wins every tie: what comes back is a mix whose speed-up's interval lies above 1 and whose target is met on
samples that the search never saw, or the original with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.capability.grid import CapabilityGrid
from core.graph.layer import LayerTable
from core.intake.dataset import Dataset, Split
from core.intake.external import sha256_of
from core.intake.model import Model, Serialized
from core.measure.compare import Comparison, compare_models
from core.measure.profile import profile_model
from core.measure.target import Target, TargetVerdict
from core.progress import Part, Progress
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import resolve
from core.runtime.settings import SessionSettings
from core.search.goal import MEASURED_LATER, Acceptance, check_target
from core.search.mixes import Ingredients
from core.search.one_precision import one_precision
from core.search.optimize import Goal, SearchResult, search_mix
from core.sensitivity.solo import SoloScore
from core.transform.build import build_candidate
from core.transform.calibrate import calibrate
from core.transform.candidate import Candidate, LayerOutcome

_PROFILE_RUNS = 20
_SEARCH_SHARE = 0.6
_COMPARE_SHARE = 0.15
_MOST_JUDGES = 200
_FEWEST_JUDGES = 8
_EXPECTED_EVALUATIONS = 40


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


def optimize(
    model: Model,
    original: Serialized,
    table: LayerTable,
    dataset: Dataset,
    *,
    target: Target,
    grid: CapabilityGrid,
    settings: SessionSettings,
    progress: Progress,
    batch: int = 1,
    seed: int = 0,
    time_budget_s: float = 120.0,
    pins: Mapping[str, Precision] | None = None,
    precision: Precision | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Optimized:
    """Finds the fastest mix of precisions that keeps a target.

    Args:
        model: the model as loaded.
        original: the model file that is compared against and handed back where nothing is better.
        table: its layers.
        dataset: calibration sets ranges, evaluation steers, holdout decides.
        target: what must be kept.
        grid: what this machine executes.
        settings: threads and provider of every run.
        progress: phases and partial results.
        batch: samples per run in the final comparison.
        seed: of orders and resampling.
        time_budget_s: wall time for all; the search gets most of it.
        pins: layer id -> precision that the search must not change.
        precision: everything in this precision instead of a search; it is judged in the same way.
        clock: monotonic seconds.

    Raises:
        TargetError: the data cannot judge the target.
        RecipeError, RunError, CrashedError: a pin names an unknown layer; the runtime fails on the original.
    """
    started = clock()
    check_target(target, dataset)
    if precision is None:
        gain_ms, run_ms = _gains(model, table, dataset, grid=grid, settings=settings, progress=progress, seed=seed)
    progress.phase("Calibrate", start=0.06, end=0.12)
    ranges = calibrate(model, table, dataset, settings=settings, progress=progress)
    ingredients = Ingredients(model, table, ranges, grid.offered(), grid.saturates, settings, _rules(pins or {}))
    if precision is not None:
        found = one_precision(ingredients, precision)
    else:
        found = search_mix(
            ingredients,
            dataset,
            goal=_goal(target, dataset, run_ms, time_budget_s, seed),
            gain_ms=gain_ms,
            run_ms=run_ms,
            time_budget_s=max(time_budget_s * _SEARCH_SHARE - (clock() - started), 1.0),
            seed=seed,
            progress=Part(progress, start=0.12, end=0.82),
        )
    verifier = _Verifier(ingredients, original, dataset, target, batch, seed, time_budget_s * _COMPARE_SHARE)
    return verifier.decide(found, Part(progress, start=0.82, end=1.0))


def _rules(pins: Mapping[str, Precision]) -> tuple[Rule, ...]:
    return tuple(Rule(f"layer:{layer}", precision, why="pinned") for layer, precision in pins.items())


def _gains(
    model: Model,
    table: LayerTable,
    dataset: Dataset,
    *,
    grid: CapabilityGrid,
    settings: SessionSettings,
    progress: Progress,
    seed: int,
) -> tuple[dict[str, float], float]:
    """Group -> milliseconds that int8 promises by the grid's kernel speeds, and milliseconds of one run."""
    profile = profile_model(
        model, table, dataset, settings=settings, runs=_PROFILE_RUNS, seed=seed, progress=progress
    ).to_dict()
    speed = {row.op: row.speedup for row in grid.rows if row.speedup is not None}
    gains: dict[str, float] = {}
    for row in profile["layers"]:
        faster = speed.get(row["op"])
        if faster is not None and faster > 0:
            gains[row["group"]] = gains.get(row["group"], 0.0) + (row["ms"] or 0.0) * (1 - 1 / faster)
    return gains, float(profile["wall_ms"]["mean"])


def _goal(target: Target, dataset: Dataset, run_ms: float, time_budget_s: float, seed: int) -> Goal:
    """As many evaluation samples as the time affords for the mixes that a search usually builds."""
    affordable = int(time_budget_s * 1e3 * 0.4 / max(run_ms * _EXPECTED_EVALUATIONS, 1e-3))
    judges = dataset.indices(Split.EVALUATION)[: max(_FEWEST_JUDGES, min(_MOST_JUDGES, affordable))]
    acceptance = Acceptance(target, dataset, judges, len(dataset.indices(Split.HOLDOUT)), seed)
    return Goal(acceptance, acceptance.noise_limit, judges)


@dataclass(frozen=True)
class _Verifier:
    """Builds what the search chose, compares it once on the holdout, and decides."""

    ingredients: Ingredients
    original: Serialized
    dataset: Dataset
    target: Target
    batch: int
    seed: int
    budget_s: float

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
            given.model, given.table, plan, given.ranges, settings=given.settings, saturates=given.saturates
        )

    def _compare(self, candidate: Serialized, progress: Progress) -> Comparison:
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
    unfaithful = [text for text in verdict.broken if not _is_about_speed_or_size(text)]
    if unfaithful:
        missed = ", ".join(unfaithful)
        before = f"kept {missed} on the evaluation samples but missed it" if searched else f"missed {missed}"
        return f"The {mix} {before} on the holdout."
    return None


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
