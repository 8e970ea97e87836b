"""Guard: a job's work is done in a child of the worker, so that somebody is left to say on which layer it crashed.

A fault in native code (SIGFPE, SIGSEGV ...) ends the process that meets it. The worker that started it survives, runs
the job's model once more in a process of its own, step by step where it crashes again, and stores what it finds.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.errors import CrashedError, MixdeskError
from core.jobs.outcome import Ending, end
from core.jobs.progress import JobProgress
from core.jobs.queue import job
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace

#: Signals by which the system ends a process that did what cannot be done.
FAULTS = frozenset({signal.SIGFPE, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL})
#: Kinds of work that open or run a model which nobody may have run before.
RUNS_A_MODEL = frozenset({"inspect", "profile", "sweep", "build", "optimize", "compare"})
#: The model is run on its samples for this long to see it crash again.
_AGAIN_S = 20.0
_PR_SET_PDEATHSIG = 1

_log = logging.getLogger("core.tasks")


def guarded(work: Callable[[], int], workspace_path: Path, job_id: str) -> int:
    """Does the work in a child process and returns its exit status; dies as the child did where it was killed.

    Where a fault killed it, the layer to blame is looked for and stored as the job's error first.
    """
    child = os.fork()
    if child == 0:
        _end_with_parent()
        os._exit(work())
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the child gets it too, and ends itself
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    if -code in FAULTS:
        try:
            with Workspace.open(workspace_path) as workspace:
                explain(workspace, job_id)
        except Exception:  # noqa: BLE001 - the crash is told in any case
            _log.exception("Why job %s crashed could not be found out", job_id)
    return _end_like(-code)


def explain(workspace: Workspace, job_id: str) -> CrashedError | None:
    """Looks for the layer on which a job crashed, and ends the job with it; None where it does not crash again."""
    row = job(workspace, job_id)
    if row.is_final or row.kind not in RUNS_A_MODEL or not row.params.get("model"):
        return None
    with JobProgress(workspace, job_id) as progress:
        progress.step(0, 1, "look for the layer on which it crashed")
        error = _crash_again(workspace, row, progress)
    if error is not None:
        end(workspace, job_id, Ending(JobState.CRASHED, error))
    return error


def _crash_again(workspace: Workspace, row: JobRow, progress: JobProgress) -> CrashedError | None:
    """The crash of the job's model on its samples, told with its layer."""
    from core.measure.first_run import run_first  # noqa: PLC0415 - slow to import: only a crash needs it
    from core.measure.profile import choose_feeds  # noqa: PLC0415
    from core.tasks.params import Subject  # noqa: PLC0415
    from core.tasks.prepare import prepare  # noqa: PLC0415
    from core.tasks.run_limits import run_limits  # noqa: PLC0415

    try:
        prepared = prepare(workspace, Subject.read(row.params))
        feeds = choose_feeds(prepared.dataset, prepared.subject.batch)
        limits = replace(run_limits(_AGAIN_S), more_s=_AGAIN_S)
        run_first(prepared.model, feeds, prepared.settings, limits, progress)
    except CrashedError as error:
        return error
    except MixdeskError as error:
        _log.info("%s: %s", error.kind, error.message)
    return None


def _end_with_parent() -> None:
    """Linux only; elsewhere the leash ends the whole group."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _end_like(number: int) -> int:
    """Ends this process by the same signal, so that whoever watches sees what happened."""
    logging.shutdown()
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number
