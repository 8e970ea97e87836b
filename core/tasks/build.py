"""Build: recipe -> plan -> candidate, read back, and compared with the original on holdout."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from core.errors import RecipeError
from core.intake.dataset import Split
from core.measure.compare import compare_models
from core.measure.fidelity import fidelity
from core.measure.outputs import run_outputs
from core.measure.target import parse_target
from core.progress import Part, Progress
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe
from core.recipe.resolve import resolve
from core.store.workspace import Workspace
from core.tasks.candidate import conversions, keep_candidate, profile_both
from core.tasks.capability import capability_grid
from core.tasks.params import DEFAULT_BUDGET_S, Params, Subject, read_seconds, read_text
from core.tasks.prepare import Prepared, describe_data, prepare, require_runnable
from core.transform.build import build_candidate
from core.transform.calibrate import calibrate
from core.transform.candidate import Candidate


def build(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Builds a candidate and keeps it: the contract's `build` document with `candidate`, `recipe` and `comparison`.

    Raises:
        RecipeError: the recipe cannot be read, or names what the model does not have.
        TargetError: the target cannot be read.
        ModelError, DataError, RunError: as in `prepare`, or the runtime refuses what was built.
    """
    started = time.perf_counter()
    subject = Subject.read(params)
    recipe = _recipe(params)
    budget_s = read_seconds(params, "time_budget_s", default=DEFAULT_BUDGET_S)
    target = read_text(params, "target")
    if target is not None:
        parse_target(target)
    progress.phase("Read model and data", start=0.0, end=0.05)
    prepared = prepare(workspace, subject)
    require_runnable(prepared)
    candidate = _build(workspace, prepared, recipe, Part(progress, start=0.05, end=0.45))
    document = _document(prepared, candidate, recipe)
    if params.get("measure", True):
        measured = Part(progress, start=0.45, end=1.0)
        document |= _measure(prepared, candidate, measured, budget_s=budget_s, gate=target)
    else:
        document |= dict.fromkeys(("comparison", "accuracy", "profile", "original_profile"))
        document["fidelity"] = _fidelity(prepared, candidate)
    name = read_text(params, "name") or "candidate"
    return keep_candidate(workspace, params, prepared, candidate, document, name=name, started=started)


def _recipe(params: Params) -> Recipe:
    given = params.get("recipe")
    if not isinstance(given, Mapping):
        raise RecipeError("The job has no recipe.", hint='A recipe is a JSON object with a list "rules".')
    return Recipe.from_dict(given)


def _build(workspace: Workspace, prepared: Prepared, recipe: Recipe, progress: Progress) -> Candidate:
    progress.phase("Ask what this machine executes", start=0.0, end=0.3)
    grid = capability_grid(workspace, prepared.settings, progress, seed=prepared.subject.seed)
    plan = resolve(recipe, prepared.table, offered=grid.offered())
    ranges = None
    if plan.groups(Precision.INT8):
        progress.phase("Calibrate", start=0.3, end=0.8)
        ranges = calibrate(
            prepared.model, prepared.table, prepared.dataset, settings=prepared.settings, progress=progress
        )
    progress.phase("Build and read back", start=0.8, end=1.0)
    return build_candidate(
        prepared.model, prepared.table, plan, ranges, settings=prepared.settings, saturates=grid.saturates
    )


def _document(prepared: Prepared, candidate: Candidate, recipe: Recipe) -> dict[str, Any]:
    return {
        "output": None,
        **candidate.to_dict(),
        "recipe": recipe.to_dict(),
        "plan": candidate.plan.to_dict(),
        "data": describe_data(prepared),
    }


def _measure(
    prepared: Prepared, candidate: Candidate, progress: Progress, *, budget_s: float, gate: str | None
) -> dict[str, Any]:
    subject = prepared.subject
    progress.phase("Compare with the original", start=0.0, end=0.8)
    comparison = compare_models(
        prepared.original,
        candidate.model,
        prepared.dataset,
        split=Split.HOLDOUT,
        settings=prepared.settings,
        batch=subject.batch,
        seed=subject.seed,
        budget_s=budget_s,
        gate=gate,
        progress=Part(progress, start=0.0, end=0.8),
    ).to_dict()
    run_ms = comparison["latency"]["before_ms"]
    profile, original = profile_both(prepared, candidate, Part(progress, start=0.8, end=1.0), run_ms=run_ms)
    return {
        "comparison": comparison,
        "accuracy": comparison["accuracy"],
        "fidelity": comparison["fidelity"],
        "conversions": conversions(candidate, profile),
        "profile": profile,
        "original_profile": original,
    }


def _fidelity(prepared: Prepared, candidate: Candidate) -> dict[str, Any]:
    indices = prepared.dataset.indices(Split.HOLDOUT)
    before = run_outputs(prepared.original, prepared.dataset, indices, prepared.settings)
    after = run_outputs(candidate.model, prepared.dataset, indices, prepared.settings)
    return fidelity(before, after).to_dict()
