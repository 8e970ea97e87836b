"""Build: recipe -> plan -> candidate, read back, and compared with the original on holdout."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from core.intake.dataset import Split
from core.measure.compare import Comparison, compare_models
from core.measure.fidelity import fidelity
from core.measure.outputs import float_shapes, run_outputs
from core.measure.roofline import Roofline
from core.measure.seen import Known
from core.measure.target import parse_target
from core.progress import Part, Progress
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe
from core.recipe.resolve import resolve
from core.recipe.transfer import Transfer
from core.search.units import COMPARISON, RANGES, READ_BACK, is_worth_keeping
from core.store.units import Units
from core.store.workspace import Workspace
from core.tasks.asked_recipe import AskedRecipe
from core.tasks.candidate import conversions, keep_candidate, profile_both
from core.tasks.capability import capability_grid
from core.tasks.known import known_besides
from core.tasks.params import DEFAULT_BUDGET_S, Params, Subject, read_seconds, read_text
from core.tasks.prepare import Prepared, describe_data, prepare, require_runnable
from core.tasks.roofline import machine_roofline
from core.tasks.units import open_units, work_id
from core.transform.build import build_candidate
from core.transform.calibrate import calibrate
from core.transform.candidate import Candidate


def build(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Builds a candidate and keeps it: the contract's `build` document with `candidate`, `recipe` and `comparison`.

    A recipe that says which model it was `made_for` is transferred: `differences` lists what is not as it was there.
    With `strict` true a rule whose layer is missing is refused instead of dropped; false drops it in any recipe.

    Raises:
        RecipeError: the recipe cannot be read, or names what the model does not have.
        TargetError: the target cannot be read.
        ModelError, DataError, RunError: as in `prepare`, or the runtime refuses what was built.
    """
    started = time.perf_counter()
    subject = Subject.read(params)
    asked = AskedRecipe.read(params)
    budget_s = read_seconds(params, "time_budget_s", default=DEFAULT_BUDGET_S)
    target = read_text(params, "target")
    if target is not None:
        parse_target(target)
    progress.phase("Read model and data", start=0.0, end=0.05)
    prepared = prepare(workspace, subject)
    require_runnable(prepared)
    units = open_units(workspace, params, prepared)
    progress.partial("units", units.to_dict())
    fitted = asked.fit(prepared.table)
    candidate = _build(workspace, prepared, fitted.recipe, Part(progress, start=0.05, end=0.45), units)
    document = _document(prepared, candidate, fitted)
    if params.get("measure", True):
        roofline = machine_roofline(workspace, prepared.settings, Part(progress, start=0.45, end=0.5))
        measured = Part(progress, start=0.5, end=1.0)
        work, known = work_id(workspace, params), known_besides(workspace, subject, candidate.plan)
        measure = _Measuring(prepared, candidate, measured, units, work, budget_s, roofline, known)
        document |= measure.all(target)
    else:
        document |= dict.fromkeys(("comparison", "accuracy", "profile", "original_profile"))
        document["fidelity"] = _fidelity(prepared, candidate)
    document["units"] = units.to_dict()
    progress.partial("units", units.to_dict())
    name = read_text(params, "name") or "candidate"
    return keep_candidate(workspace, params, prepared, candidate, document, name=name, started=started)


def _build(workspace: Workspace, prepared: Prepared, recipe: Recipe, progress: Progress, units: Units) -> Candidate:
    progress.phase("Ask what this machine executes", start=0.0, end=0.3)
    grid = capability_grid(workspace, prepared.settings, Part(progress, start=0.0, end=0.3))
    plan = resolve(recipe, prepared.table, offered=grid.offered())
    ranges = None
    if plan.groups(Precision.INT8):
        progress.phase("Calibrate", start=0.3, end=0.8)
        ranges = units.get_or(
            "ranges",
            {},
            lambda: calibrate(
                prepared.model, prepared.table, prepared.dataset, settings=prepared.settings, progress=progress
            ),
            codec=RANGES,
        )
    progress.phase("Build and read back", start=0.8, end=1.0)
    return build_candidate(
        prepared.model,
        prepared.table,
        plan,
        ranges,
        settings=prepared.settings,
        saturates=grid.saturates,
        remember=lambda sha256, read: units.get_or(
            "read back", {"candidate": sha256, "plan": plan.to_dict()}, read, codec=READ_BACK
        ),
    )


def _document(prepared: Prepared, candidate: Candidate, fitted: Transfer) -> dict[str, Any]:
    return {
        "output": None,
        "output_data": None,
        **candidate.to_dict(),
        "recipe": fitted.recipe.to_dict(),
        "differences": [difference.to_dict() for difference in fitted.differences],
        "plan": candidate.plan.to_dict(),
        "data": describe_data(prepared),
    }


@dataclass(frozen=True, slots=True)
class _Measuring:
    """Measures a candidate.

    A build is asked for its figures, so only those of the same work (`work`) are used again: a job that resumes it goes
    on, another one measures anew.
    """

    prepared: Prepared
    candidate: Candidate
    progress: Progress
    units: Units
    work: str
    budget_s: float
    roofline: Roofline
    known: Known

    def all(self, gate: str | None) -> dict[str, Any]:
        """The measured part of the document."""
        compared = self._compared(gate)
        found = compared if gate is None else replace(compared, gate=compared.judge(parse_target(gate)))
        comparison = found.to_dict()
        profile, original = profile_both(
            self.prepared,
            self.candidate,
            Part(self.progress, start=0.8, end=1.0),
            run_ms=comparison["latency"]["before_ms"],
            units=self.units,
            roofline=self.roofline,
            known=self.known,
            key={"work": self.work},
        )
        return {
            "comparison": comparison,
            "conditions": comparison["conditions"],
            "accuracy": comparison["accuracy"],
            "fidelity": comparison["fidelity"],
            "conversions": conversions(self.candidate, profile),
            "profile": profile,
            "original_profile": original,
        }

    def _compared(self, gate: str | None) -> Comparison:
        subject = self.prepared.subject
        key = {"work": self.work, "candidate": self.candidate.sha256, "batch": subject.batch}
        return self.units.get_or(
            "comparison",
            {**key, "budget_s": self.budget_s, "outputs": subject.weights},
            lambda: self._measure(gate),
            codec=COMPARISON,
            keep=is_worth_keeping,
        )

    def _measure(self, gate: str | None) -> Comparison:
        self.progress.phase("Compare with the original", start=0.0, end=0.8)
        subject = self.prepared.subject
        return compare_models(
            self.prepared.original,
            self.candidate.model,
            self.prepared.dataset,
            split=Split.HOLDOUT,
            settings=self.prepared.settings,
            batch=subject.batch,
            seed=subject.seed,
            budget_s=self.budget_s,
            gate=gate,
            outputs=subject.weights,
            progress=Part(self.progress, start=0.0, end=0.8),
        )


def _fidelity(prepared: Prepared, candidate: Candidate) -> dict[str, Any]:
    indices = prepared.dataset.indices(Split.HOLDOUT)
    before = run_outputs(prepared.original, prepared.dataset, indices, prepared.settings)
    after = run_outputs(candidate.model, prepared.dataset, indices, prepared.settings)
    shapes = float_shapes(prepared.dataset)
    return fidelity(before, after, outputs=prepared.subject.weights, input_shapes=shapes).to_dict()
