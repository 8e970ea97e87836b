"""Auto-mix, whole: calibrate, search, build, and one comparison on the holdout that decides.

The original wins every tie: what comes back is a mix whose speed-up's interval lies above 1 and whose target is met on
samples that the search never saw, or the original with the reason. Every step is a unit (`core.store.units`): asked
again, it does only what is not finished.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.capability.grid import CapabilityGrid
from core.graph.layer import LayerTable
from core.intake.dataset import Dataset, Split
from core.intake.model import Model, Serialized
from core.measure.outputs import float_shapes
from core.measure.target import Target
from core.progress import Part, Progress
from core.recipe.precision import Precision
from core.recipe.recipe import Rule
from core.runtime.machine import cpu_features
from core.runtime.settings import SessionSettings
from core.search.effort import Effort, final_s, plan_effort, planned_gains, planned_run_ms, settled_run_ms
from core.search.goal import Acceptance, check_target
from core.search.mixes import Goal, Ingredients, lowerable_groups
from core.search.one_precision import one_precision
from core.search.optimize import SearchResult, nothing_to_lower, search_mix
from core.search.timing import quick_run_ms
from core.search.units import MILLISECONDS, RANGES
from core.search.verdict import Optimized, Verifier
from core.store.units import Units
from core.transform.calibrate import Ranges, calibrate

__all__ = ["Optimized", "optimize"]

_SEARCH_SHARE, _LEAST_SEARCH_SHARE = 0.6, 0.2
_COMPARE_SHARE = 0.15
_TRIED_RUNS = 5

_NO_SAMPLES = (
    "The data has no {split} samples ({samples} in all), so no mix can be searched for. Give more samples, or a"
    " __split__ with 0, 1 and 2."
)


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
    outputs: Mapping[str, float] | None = None,
    units: Units | None = None,
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
        time_budget_s: wall time for all, that of reused units included; the search gets most of it.
        pins: layer id -> precision that the search must not change.
        precision: everything in this precision instead of a search; it is judged in the same way.
        outputs: those that count, with their weights; None for all.
        units: what earlier work on the same has finished; None for nothing.

    Raises:
        TargetError: the data cannot judge the target.
        RecipeError, RunError, CrashedError: a pin names an unknown layer; the runtime fails on the original.
    """
    check_target(target, dataset)
    known = units or Units.unkept()
    progress.partial("units", known.to_dict())
    ranges = _calibrated(model, table, dataset, known, settings=settings, progress=progress)
    ingredients = Ingredients(model, table, ranges, grid.offered(), grid.saturates, settings, _rules(pins or {}))
    if precision is not None:
        found = one_precision(ingredients, precision)
    else:
        search = _Search(ingredients, dataset, target, outputs, seed, time_budget_s, known)
        found = search.run(Part(progress, start=0.1, end=0.82))
    progress.partial("units", known.to_dict())
    budget_s = time_budget_s * _COMPARE_SHARE
    verifier = Verifier(ingredients, original, dataset, target, batch, seed, budget_s, outputs, known)
    return verifier.decide(found, Part(progress, start=0.82, end=1.0))


def _calibrated(
    model: Model, table: LayerTable, dataset: Dataset, units: Units, *, settings: SessionSettings, progress: Progress
) -> Ranges:
    progress.phase("Calibrate", start=0.0, end=0.1)
    return units.get_or(
        "ranges",
        {},
        lambda: calibrate(model, table, dataset, settings=settings, progress=progress),
        codec=RANGES,
    )


def _rules(pins: Mapping[str, Precision]) -> tuple[Rule, ...]:
    return tuple(Rule(f"layer:{layer}", precision, why="pinned") for layer, precision in pins.items())


class _Search:
    """Plans the effort of a search and runs it."""

    def __init__(  # noqa: PLR0917 - the arguments of `optimize`, handed on
        self,
        ingredients: Ingredients,
        dataset: Dataset,
        target: Target,
        outputs: Mapping[str, float] | None,
        seed: int,
        time_budget_s: float,
        units: Units,
    ) -> None:
        self._ingredients, self._dataset, self._target, self._outputs = ingredients, dataset, target, outputs
        self._seed, self._time_budget_s, self._units = seed, time_budget_s, units

    def run(self, progress: Progress) -> SearchResult:
        groups, refused = lowerable_groups(self._ingredients)
        if not groups:
            return SearchResult.nothing(nothing_to_lower(refused), refused)
        for split in (Split.CALIBRATION, Split.EVALUATION):
            if not self._dataset.indices(split):
                why = _NO_SAMPLES.format(split=split.name.lower(), samples=len(self._dataset))
                return SearchResult.nothing(why, refused)
        run_ms, table = self._run_ms(), self._ingredients.table
        budget_s = self._budget_s(run_ms)
        effort = plan_effort(table, groups, run_ms=run_ms, budget_s=budget_s)
        return search_mix(
            self._ingredients,
            self._dataset,
            goal=self._goal(effort),
            effort=effort,
            gain_ms=planned_gains(table),
            time_budget_s=budget_s,
            seed=self._seed,
            progress=progress,
            units=self._units,
        )

    def _run_ms(self) -> float:
        """Cost of one run: that of the layers, corrected where a measurement says that it is far off."""
        settings = self._ingredients.settings
        indices = self._dataset.indices(Split.EVALUATION)[:_TRIED_RUNS]
        measured = self._units.get_or(
            "run time",
            {"samples": indices},
            lambda: quick_run_ms(
                self._ingredients.model.serialize(), [self._dataset.feed(index) for index in indices], settings
            ),
            codec=MILLISECONDS,
        )
        wide = "avx512f" in cpu_features()
        return settled_run_ms(planned_run_ms(self._ingredients.table, threads=settings.threads, wide=wide), measured)

    def _budget_s(self, run_ms: float) -> float:
        """What is left for the search when the calibration, the last comparison and the profiles have their time."""
        whole_s = self._time_budget_s
        calibration_s = run_ms * len(self._dataset.indices(Split.CALIBRATION)) / 1e3
        last_s = whole_s * _COMPARE_SHARE + final_s(len(self._dataset.indices(Split.HOLDOUT)), run_ms)
        affordable_s = min(whole_s * _SEARCH_SHARE, whole_s - calibration_s - last_s)
        return max(affordable_s, whole_s * _LEAST_SEARCH_SHARE)

    def _goal(self, effort: Effort) -> Goal:
        target, dataset = self._target, self._dataset
        judges = dataset.indices(Split.EVALUATION)[: effort.judges]
        holdout = len(dataset.indices(Split.HOLDOUT))
        shapes = float_shapes(dataset)
        acceptance = Acceptance(target, dataset, judges, holdout, self._seed, self._outputs, shapes)
        key = {"target": target.text, "holdout": holdout}
        return Goal(acceptance, acceptance.noise_limit, judges, self._outputs, key)
