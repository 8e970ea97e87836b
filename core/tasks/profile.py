"""Profile: where the time goes, layer by layer, on the given data."""

from __future__ import annotations

from typing import Any

from core.measure.profile import profile_model
from core.progress import Part, Progress
from core.store.workspace import Workspace
from core.tasks.params import Params, Subject, read_seconds, read_whole
from core.tasks.prepare import describe_data, prepare, refuse_findings
from core.tasks.run_limits import run_limits


def profile(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Measures a model: the contract's `profile` document with `data`.

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
    measured = profile_model(
        prepared.model,
        prepared.layers_of_a_run(),
        prepared.dataset,
        settings=subject.settings,
        batch=subject.batch,
        runs=runs,
        seed=subject.seed,
        budget_s=budget_s,
        limits=run_limits(budget_s),
        progress=Part(progress, start=0.1, end=1.0),
    )
    return {**measured.to_dict(), "data": describe_data(prepared)}
