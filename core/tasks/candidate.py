"""Candidates: a built model is profiled by the layers of the original, and kept as a file and a row with its report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from core.intake.load import load_model
from core.intake.model import Model
from core.intake.pack import put_serialized
from core.jobs.lineage import lineage
from core.jobs.queue import job
from core.measure.profile import profile_model
from core.measure.roofline import Roofline
from core.measure.seen import Known
from core.progress import Part, Progress
from core.recipe.structure import Structure
from core.store.clean import forget_candidate
from core.store.rows import CandidateRow, JobState, new_id
from core.store.units import Units, as_is
from core.store.workspace import Workspace
from core.tasks.documents import complete
from core.tasks.params import Params
from core.tasks.prepare import Prepared
from core.transform.candidate import Candidate

_FEWEST_RUNS, _MOST_RUNS = 3, 30
_PROFILE_MS = 1500.0
"""How long the plain runs of one profile may take beside a comparison that took the exact figures."""


def keep_candidate(
    workspace: Workspace,
    params: Params,
    prepared: Prepared,
    candidate: Candidate,
    document: Mapping[str, Any],
    *,
    name: str,
    started: float,
) -> dict[str, Any]:
    """Stores the candidate's file, and its row with recipe, plan and the completed document.

    Args:
        workspace: where.
        params: the job's; `job` is its id.
        prepared: what it was built from.
        candidate: what was built.
        document: the task's document so far.
        name: how people will find it.
        started: of `time.perf_counter`.

    Returns:
        the completed document with `candidate` (the row's id), `file` (the content hash) and `made_for` (the layers
        that its recipe was made for).
    """
    subject = prepared.subject
    candidate_id = new_id()
    made_for = Structure.of(prepared.table, model=prepared.model.name, sha256=prepared.model.sha256)
    file = put_serialized(workspace.files, candidate.model)
    whole = complete(
        {**document, "candidate": candidate_id, "file": file, "name": name, "made_for": made_for.to_dict()},
        settings=prepared.settings,
        batch=subject.batch,
        seed=subject.seed,
        seconds=time.perf_counter() - started,
    )
    row = CandidateRow(
        id=candidate_id,
        model_sha256=subject.model,
        dataset_sha256=subject.data,
        file_sha256=file,
        recipe=whole["recipe"],
        plan=candidate.plan.to_dict(),
        report=whole,
        job_id=params.get("job"),
        name=name,
    )
    workspace.add_candidate(row)
    _drop_left_behind(workspace, row)
    return whole


def _drop_left_behind(workspace: Workspace, row: CandidateRow) -> None:
    """Removes the same candidate of a job that died between keeping it and its end, and that this job goes on with."""
    if row.job_id is None:
        return
    for before in lineage(workspace, job(workspace, row.job_id)).before:
        if before.state is not JobState.DONE:
            for built in lineage(workspace, before).built:
                if workspace.candidate(built.id).file_sha256 == row.file_sha256:
                    forget_candidate(workspace, built.id)


def profile_both(
    prepared: Prepared,
    candidate: Candidate,
    progress: Progress,
    *,
    run_ms: float,
    units: Units,
    roofline: Roofline | None = None,
    known: Known | None = None,
    key: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where the time of the candidate and of the original goes, both by the layers of the original.

    Args:
        prepared: the original with its data.
        candidate: what was built from it.
        progress: is told how far it is.
        run_ms: time of one run of the original, to see how many runs are affordable.
        units: what is finished already.
        roofline: what this machine can do at most.
        known: what the advice on the candidate counts in: its plan, and what this machine executes.
        key: what tells this measurement from others of the same models.

    Returns:
        parts of the `profile` document: of the candidate, then of the original.
    """
    runs = int(max(_FEWEST_RUNS, min(_MOST_RUNS, _PROFILE_MS / max(run_ms, 1e-3))))

    def profile(model: Callable[[], Model], sha256: str, part: Progress, besides: Known) -> dict[str, Any]:
        told = {**(key or {}), "profiled": sha256, "beside": candidate.sha256, "batch": prepared.subject.batch}
        plan = _Plan(part, runs, roofline, besides)
        return units.get_or("profile", told, lambda: _profile(prepared, model(), plan), codec=as_is())

    def built() -> Model:
        return load_model(candidate.model, name=prepared.model.name)

    besides = known or Known()
    after = profile(built, candidate.sha256, Part(progress, start=0.0, end=0.5), besides)
    original, part = replace(besides, plan={}), Part(progress, start=0.5, end=1.0)
    before = profile(lambda: prepared.model, prepared.model.sha256, part, original)
    return after, before


class _Plan(NamedTuple):
    """How one of the two is profiled, and what its advice counts in."""

    progress: Progress
    runs: int
    roofline: Roofline | None
    known: Known


def _profile(prepared: Prepared, model: Model, plan: _Plan) -> dict[str, Any]:
    measured = profile_model(
        model,
        prepared.layers_of_a_run(),
        prepared.dataset,
        settings=prepared.settings,
        batch=prepared.subject.batch,
        runs=plan.runs,
        seed=prepared.subject.seed,
        roofline=plan.roofline,
        progress=plan.progress,
    )
    profile = measured.knowing(plan.known).to_dict()
    return {name: profile[name] for name in ("wall_ms", "kernel_ms", "layers", "buckets", "advice")}


def conversions(candidate: Candidate, profile: Mapping[str, Any] | None) -> dict[str, Any]:
    """How many conversions between precisions the runtime really runs, and the milliseconds they take per run."""
    ms = None if profile is None else profile["buckets"]["quantize"] + profile["buckets"]["cast"]
    return {"count": candidate.conversions, "ms": ms if candidate.conversions else 0.0}
