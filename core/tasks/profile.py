"""Profile: where the time goes, layer by layer, on the given data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import RequestError
from core.measure.growth import GrowthPlan, NamedShapes, check_points, measure_growth, try_points
from core.measure.profile import profile_model
from core.measure.so_far import KIND
from core.progress import Part, Progress
from core.store.workspace import Workspace
from core.tasks.known import known_besides
from core.tasks.params import Params, Subject, read_seconds, read_shapes, read_whole
from core.tasks.prepare import describe_data, prepare, refuse_findings
from core.tasks.roofline import machine_roofline
from core.tasks.run_limits import run_limits


def profile(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Measures a model: the contract's `profile` document with `data`, and `growth` where `named_shapes` are given.

    Raises:
        ModelError: the file is no model, or the runtime refuses it.
        DataError: the data does not fit.
        RunError: a run failed, or took more time or memory than it may.
        CrashedError: the runtime crashed.
        All name the layer where it is known.
    """
    subject = Subject.read(params)
    runs = None if params.get("runs") is None else read_whole(params, "runs", default=1, least=1)
    budget_s = None if params.get("time_budget_s") is None else read_seconds(params, "time_budget_s", default=0.0)
    progress.phase("Read model and data", start=0.0, end=0.1)
    prepared = prepare(workspace, subject)
    refuse_findings(prepared.model)
    points, limits = _named_shapes(params), run_limits(budget_s)
    if points:
        points = check_points(prepared.model, points)
        try_points(prepared.model, points, subject.settings, limits, progress)
    roofline = machine_roofline(workspace, subject.settings, Part(progress, start=0.1, end=0.2))
    measured = profile_model(
        prepared.model,
        prepared.layers_of_a_run(),
        prepared.dataset,
        settings=subject.settings,
        batch=subject.batch,
        runs=runs,
        seed=subject.seed,
        budget_s=budget_s,
        limits=limits,
        roofline=roofline,
        progress=Part(progress, start=0.2, end=0.6 if points else 1.0),
    )
    measured = measured.knowing(known_besides(workspace, subject))
    document = {**measured.to_dict(), "data": describe_data(prepared), "growth": None}
    if points:
        progress.partial(KIND, document)
        plan = GrowthPlan(runs, budget_s, subject.seed)
        part = Part(progress, start=0.6, end=1.0)
        document["growth"] = measure_growth(prepared.model, points, subject.settings, plan, part).to_dict()
    return document


def _named_shapes(params: Params) -> tuple[NamedShapes, ...]:
    given = params.get("named_shapes") or []
    if not isinstance(given, list) or not all(isinstance(entry, Mapping) and entry.get("name") for entry in given):
        raise RequestError("'named_shapes' must be a list of objects with a name and shapes.")
    return tuple(NamedShapes(str(entry["name"]), read_shapes(entry)) for entry in given)
