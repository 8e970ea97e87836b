"""How a job ends: what its worker stores, and what is made of a worker that ended without a word.

The first final state wins; nothing overwrites it.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update

from core.errors import CrashedError, MixdeskError, StoppedError, WorkError
from core.jobs.limits import MEMORY_VARIABLE
from core.store.clean import named
from core.store.rows import JobRow, JobState, now
from core.store.strict_json import plain
from core.store.tables import JOBS
from core.store.workspace import Workspace

#: The advice where a job ended without its own doing.
RESUME = "Resume it: what was finished is kept."

_ENDED_BY_OTHERS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class Ending:
    """A final state with the error that explains it."""

    state: JobState
    error: MixdeskError


def finish(workspace: Workspace, job_id: str, result: Mapping[str, Any]) -> bool:
    """Stores the result of a job that is done (NaN and infinity become null); False where it had ended already.

    `result["model"]`, where it is a hash, is the model by which a job that was told of none is found from now on.
    """
    values = {"state": JobState.DONE, "result": plain(result), "fraction": 1.0, "what": "", "error": None}
    model = result.get("model")
    if isinstance(model, str) and named(model):
        values["model_sha256"] = func.coalesce(JOBS.c.model_sha256, model)
    return _end(workspace, job_id, values)


def fail(workspace: Workspace, job_id: str, error: Mapping[str, Any], *, stopped: bool = False) -> bool:
    """Stores why a job failed (an object as in `MixdeskError.to_dict`), or that it stopped.

    A job that was asked to stop is stopped, whatever went wrong in it while its processes were being ended.
    """
    if _is_asked_to_stop(workspace, job_id):
        return end(workspace, job_id, stop_ending())
    state = JobState.STOPPED if stopped else JobState.FAILED
    return _end(workspace, job_id, {"state": state, "error": plain(error), "what": ""})


def end(workspace: Workspace, job_id: str, ending: Ending) -> bool:
    """Stores an ending that the supervisor found; False where the job had ended already."""
    return _end(workspace, job_id, {"state": ending.state, "error": ending.error.to_dict(), "what": ""})


def judge_exit(row: JobRow, exit_code: int) -> Ending:
    """Explains a worker that ended (negative code: by that signal) while its row still says running."""
    if row.stop_requested:
        return stop_ending()
    kept = f"{RESUME} Its log: {row.log}."
    if exit_code >= 0:
        message = f"The worker ended with status {exit_code} and stored neither a result nor an error."
        return Ending(JobState.CRASHED, CrashedError(message, hint=kept))
    number = -exit_code
    cause = _cause(number)
    return Ending(
        JobState.CRASHED,
        CrashedError(f"The worker was killed by signal {number} ({_signal_name(number)}): {cause}.", hint=kept),
    )


def stop_ending() -> Ending:
    """The ending of a job that was stopped on request."""
    return Ending(JobState.STOPPED, StoppedError("Stopped on request.", hint="What was finished is kept."))


def over_memory(row: JobRow, used_bytes: int, limit_bytes: int) -> Ending:
    """The ending of a job that took more memory than it may."""
    used, limit = (f"{size / 2**20:,.0f} MiB" for size in (used_bytes, limit_bytes))
    message = f"The worker used {used} of memory, more than the {limit} that a job may use here, and was ended."
    hint = f"Give smaller inputs or a smaller batch, or allow more with {MEMORY_VARIABLE}."
    return Ending(
        JobState.CRASHED, CrashedError(message, hint=f"{hint} What was finished is kept. Its log: {row.log}.")
    )


def not_started(reason: str) -> Ending:
    """The ending of a job whose worker could not be started."""
    return Ending(JobState.CRASHED, CrashedError(f"The worker could not be started: {reason}."))


def interrupted(reason: str) -> Ending:
    """The ending of a job whose supervisor is gone."""
    return Ending(JobState.INTERRUPTED, WorkError(reason, hint=RESUME))


def _end(workspace: Workspace, job_id: str, values: Mapping[str, Any]) -> bool:
    active = JOBS.c.state.in_([JobState.QUEUED, JobState.RUNNING])
    ending = update(JOBS).where(JOBS.c.id == job_id, active).values(**values, finished_at=now(), eta_s=None)
    with workspace.database.writing() as connection:
        return connection.execute(ending).rowcount == 1


def _is_asked_to_stop(workspace: Workspace, job_id: str) -> bool:
    with workspace.database.reading() as connection:
        return bool(connection.execute(select(JOBS.c.stop_requested).where(JOBS.c.id == job_id)).scalar())


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _cause(number: int) -> str:
    if number == signal.SIGKILL:
        return "the machine ran out of memory, or somebody killed it"
    if number in _ENDED_BY_OTHERS:
        return "somebody ended it"
    return "a fault in a native library, such as the runtime on this model"
