"""Optimize: the fastest mix that keeps the target, or the original with the reason, kept as a candidate."""

from __future__ import annotations

import time
from typing import Any

from core.measure.target import parse_target
from core.progress import Part, Progress
from core.recipe.precision import Precision
from core.recipe.recipe import read_precision
from core.search.auto_mix import Optimized
from core.search.auto_mix import optimize as search
from core.search.goal import default_target
from core.store.units import Units
from core.store.workspace import Workspace
from core.tasks.candidate import conversions, keep_candidate, profile_both
from core.tasks.capability import capability_grid
from core.tasks.known import known_besides
from core.tasks.params import Params, Subject, read_pins, read_seconds, read_text
from core.tasks.permissions import check_objective, dynamic_part, session_part
from core.tasks.prepare import Prepared, describe_data, prepare, require_runnable
from core.tasks.roofline import machine_roofline
from core.tasks.units import open_units

DEFAULT_SEARCH_S = 120.0
"""How long a search may take where nobody says otherwise."""
MIXED = "mixed"


def optimize(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Searches and keeps what was found: the contract's `optimize` document with `candidate`, `recipe`, `comparison`.

    Raises:
        TargetError: the target cannot be read, or this data cannot judge it.
        RecipeError: a pin names a layer that the model does not have, or no precision.
        UnavailableError: a precision, an objective or a cache that this version does not have.
        ModelError, DataError, RunError: as in `prepare`, or the runtime fails on the original.
    """
    started = time.perf_counter()
    subject = Subject.read(params)
    budget_s = read_seconds(params, "time_budget_s", default=DEFAULT_SEARCH_S)
    text = read_text(params, "target")
    target = None if text is None else parse_target(text)
    pins = read_pins(params)
    precision = _precision(params)
    check_objective(params)
    allowed = {"dynamic": dynamic_part(params), "session": session_part(params)}
    progress.phase("Read model and data", start=0.0, end=0.02)
    prepared = prepare(workspace, subject)
    require_runnable(prepared)
    for layer in pins:
        prepared.table.layer(layer)
    progress.phase("Ask what this machine executes", start=0.02, end=0.05)
    grid = capability_grid(workspace, prepared.settings, Part(progress, start=0.02, end=0.05))
    units = open_units(workspace, params, prepared)
    counted = [spec for spec in prepared.model.outputs if not subject.outputs or spec.name in subject.outputs]
    found = search(
        prepared.model,
        prepared.original,
        prepared.table,
        prepared.dataset,
        target=target or default_target(prepared.dataset, counted),
        grid=grid,
        settings=prepared.settings,
        progress=Part(progress, start=0.05, end=0.95),
        batch=subject.batch,
        seed=subject.seed,
        time_budget_s=budget_s,
        pins=pins,
        precision=precision,
        outputs=subject.weights,
        units=units,
    )
    document = _document(workspace, prepared, found, Part(progress, start=0.95, end=1.0), units) | allowed
    progress.partial("units", units.to_dict())
    name = read_text(params, "name") or f"{'auto-mix' if precision is None else precision} {found.verdict.text}"
    return keep_candidate(workspace, params, prepared, found.candidate, document, name=name, started=started)


def _document(
    workspace: Workspace, prepared: Prepared, found: Optimized, progress: Progress, units: Units
) -> dict[str, Any]:
    """Like `build`, this document has the file, its layers and the comparison; unlike it, what the search saw."""
    profile, original = None, None
    if not found.unchanged:
        run_ms = found.comparison.latency.before_ms
        roofline = machine_roofline(workspace, prepared.settings, Part(progress, start=0.0, end=0.1))
        part = Part(progress, start=0.1, end=1.0)
        known = known_besides(workspace, prepared.subject, found.candidate.plan)
        profile, original = profile_both(
            prepared, found.candidate, part, run_ms=run_ms, units=units, roofline=roofline, known=known
        )
    return {
        "output": None,
        "output_data": None,
        **found.candidate.to_dict(),
        "model": prepared.model.name,
        **found.to_dict(),
        "conversions": conversions(found.candidate, profile),
        "recipe": found.recipe.to_dict(),
        "plan": found.candidate.plan.to_dict(),
        "comparison": found.comparison.to_dict(),
        "profile": profile,
        "original_profile": original,
        "data": describe_data(prepared),
        "units": units.to_dict(),
        "conditions": found.comparison.conditions.to_dict(),
    }


def _precision(params: Params) -> Precision | None:
    """None where the precisions are to be searched: "mixed", or nothing said."""
    name = read_text(params, "precision") or MIXED
    return None if name == MIXED else read_precision(name)
