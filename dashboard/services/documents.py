"""Documents: what finished jobs found, as the contract describes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from core.jobs import queue
from core.runtime.settings import SessionSettings
from core.store.rows import JobRow, JobState
from core.tasks.capability import BUILT, cache_key
from core.tasks.machine import known_machine
from dashboard.services import work
from dashboard.services.library import candidate
from dashboard.services.server import workspace
from dashboard.services.subjects import DEFAULTS, Subject
from dashboard.settled import settle

Document = Mapping[str, Any]


def inspection(on: Subject) -> Document | None:
    """The newest `inspect` document of what is on the desk; do not change it, all visitors share it."""
    return _newest(on, "inspect")


def profile(on: Subject) -> Document | None:
    """The newest `profile` document of what is on the desk; do not change it, all visitors share it."""
    return _newest(on, "profile")


def sweep(on: Subject) -> Document | None:
    """The newest `sweep` document of what is on the desk, whatever threads and batch are set."""
    return _newest(on, "sweep")


def ensure_inspected(on: Subject, *, afresh: bool = False) -> JobRow | None:
    """Sees to it that the model gets read; returns the job while it is not done, or the one that failed.

    Where the last reading failed it is repeated only if asked for: `afresh`.
    """
    if inspection(on) is not None:
        return None
    known = work.job_of(on, "inspect", active=False)
    again = known is None or (afresh and known.is_final)
    return work.job(work.submit_inspect(on)) if again else known


def machine() -> Document | None:
    """What this machine executes, and how fast, as the `machine` document has it; None where nobody asked yet.

    Whichever job probed it (a build does, too) has kept it for this machine and these versions.
    """
    known = machine_so_far()
    asked = {row["precision"] for row in known["capability"]}
    return known if asked.issuperset(BUILT) else None


def machine_so_far() -> Document:
    """The same while it is probed, or where a profile only measured its highest speeds: what is not known is empty."""
    return known_machine(workspace(), SessionSettings(threads=int(DEFAULTS["threads"])))


def probed_at() -> datetime | None:
    """When this machine was probed with these versions; None where nobody asked yet."""
    return workspace().cached_at(cache_key(SessionSettings(threads=int(DEFAULTS["threads"]))))


def build(candidate_id: str) -> Document | None:
    """What was built: the candidate's `build` or `optimize` document."""
    report: Document = candidate(candidate_id).report
    return report or None


def comparison(candidate_id: str) -> Document | None:
    """The measured comparison of a candidate with its original; None where it was not measured."""
    report = candidate(candidate_id).report
    found: Document | None = report.get("comparison")
    return found


def _newest(on: Subject, kind: str) -> Document | None:
    done = next((row for row in work.jobs(on, kind=kind, states=(JobState.DONE,)) if work.concerns(row, on)), None)
    return None if done is None else _document(str(workspace().path), done.id)


def result_of(job_id: str) -> Document | None:
    """The document of a job that is done; do not change it, all visitors share it."""
    return _document(str(workspace().path), job_id)


@lru_cache(maxsize=64)
def _document(workspace_path: str, job_id: str) -> Document | None:
    """A finished job's result never changes: read once per server."""
    del workspace_path
    found: Document | None = queue.job(workspace(), job_id).result
    settle()
    return found
