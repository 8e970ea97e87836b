"""Runs: every job and candidate with what came of it, their family, what they take on disk, and how to delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from core.jobs import clean as jobs_clean
from core.jobs import queue
from core.jobs.clean import Cleaned
from core.jobs.lineage import Lineage
from core.jobs.lineage import lineage as family_of
from core.store import clean
from core.store.disk_use import DiskUse
from core.store.disk_use import disk_use as measure
from core.store.parts import candidate_parts, candidates_in_brief, job_parts
from core.store.rows import JobRow, JobState, MixRow, ModelRow, now
from dashboard.run_rows import OUTCOME_PATHS, RunRow, run_rows
from dashboard.services.documents import result_of
from dashboard.services.library import candidate
from dashboard.services.server import workspace

#: More than this many jobs are not listed; the newest are.
MOST_RUNS = 2000

#: What ended documents say never changes: read once per server. (workspace, id) -> parts.
_KNOWN: dict[tuple[str, str], Mapping[str, Any]] = {}


def all_runs() -> tuple[RunRow, ...]:
    """All jobs and candidates, newest first."""
    jobs = queue.jobs(workspace(), limit=MOST_RUNS)
    built = candidates_in_brief(workspace())
    listed = {job.id for job in jobs}
    done = [job.id for job in jobs if job.state is JobState.DONE]
    with_line, without_line = set[str](), []
    for row in built:
        if row.job_id in listed and row.job_id not in with_line:
            with_line.add(str(row.job_id))
        else:
            without_line.append(row.id)
    models = workspace().models()
    data = {row.sha256: row.name for model in models for row in workspace().datasets(model.sha256)}
    return run_rows(
        jobs,
        built,
        _parts(done, of_jobs=True),
        _parts(without_line, of_jobs=False),
        models={model.sha256: model.name for model in models},
        data=data,
    )


def document_of(run: RunRow) -> Mapping[str, Any] | None:
    """The whole document of a run: of its job, else of its candidate; None where it has none."""
    if run.job is not None and run.job.state is JobState.DONE:
        return result_of(run.job.id)
    return None if run.candidate is None else candidate(run.candidate.id).report


def lineage(row: JobRow) -> Lineage:
    """The jobs it goes on with, those that went on with it, what it built."""
    return family_of(workspace(), row)


def delete_run(run: RunRow, *, with_candidate: bool) -> int:
    """Forgets a job and, if asked, deletes the candidate on its line; returns the bytes freed.

    Raises:
        RequestError: it still runs or waits, or another job needs the candidate.
    """
    freed = 0
    if run.candidate is not None and (with_candidate or run.job is None):
        freed += clean.remove_candidate(workspace(), run.candidate.id)
    return freed + (0 if run.job is None else jobs_clean.remove(workspace(), run.job.id))


def delete_model(sha256: str) -> int:
    """Deletes a model with all that belongs to it; returns the bytes freed.

    Raises:
        RequestError: a job that waits or runs needs it.
    """
    return clean.remove_model(workspace(), sha256)


def clean_jobs(*, older_than: timedelta, candidates: bool) -> Cleaned:
    """Forgets the jobs that ended longer ago than that; with `candidates`, what they built too."""
    return jobs_clean.clean(workspace(), before=now() - older_than, candidates=candidates)


def free_unused() -> int:
    """Deletes stored files that nothing refers to; returns the bytes freed."""
    return clean.sweep_files(workspace())


def disk_use() -> DiskUse:
    """The room that the workspace takes, in all and per model."""
    return measure(workspace())


def unbuilt_mixes(was_built: Any) -> tuple[tuple[ModelRow, MixRow], ...]:
    """Saved mixes and drafts, of all models, of which `was_built(recipe, recipes of its candidates)` says no."""
    found = []
    for model in workspace().models():
        mixes = [mix for mix in workspace().mixes(model.sha256) if mix.recipe.get("rules") or mix.recipe.get("pins")]
        recipes = [dict(row.recipe) for row in workspace().candidates(model.sha256)] if mixes else []
        found += [(model, mix) for mix in mixes if not was_built(mix.recipe, recipes)]
    return tuple(sorted(found, key=lambda entry: entry[1].updated_at, reverse=True))


def _parts(ids: Sequence[str], *, of_jobs: bool) -> dict[str, Mapping[str, Any]]:
    place = str(workspace().path)
    unknown = [each for each in ids if (place, each) not in _KNOWN]
    if unknown:
        read = job_parts if of_jobs else candidate_parts
        _KNOWN.update({(place, each): parts for each, parts in read(workspace(), unknown, OUTCOME_PATHS).items()})
    return {each: _KNOWN[place, each] for each in ids if (place, each) in _KNOWN}
