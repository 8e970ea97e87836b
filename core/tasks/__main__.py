"""`python -m core.tasks --workspace DIR --job ID`: a job's worker, which stores result or error in the job's row."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import MixdeskError, StoppedError, WorkError
from core.jobs.outcome import fail, finish
from core.jobs.progress import JobProgress
from core.jobs.queue import job
from core.store.workspace import Workspace
from core.tasks.guard import guarded

_log = logging.getLogger("core.tasks")


def main(arguments: Sequence[str] | None = None) -> int:
    """Does one job; returns 0, or the exit status of the error that it stored."""
    options = _read(arguments)
    with Workspace.open(options.workspace) as workspace:
        return work(workspace, options.job)


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m core.tasks", description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--job", required=True)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    return parser.parse_args(arguments)


def work(workspace: Workspace, job_id: str) -> int:
    """Runs the job's task and stores how it ended; never raises, whatever the task does.

    Returns:
        0, or the exit status of the error.
    """
    try:
        row = job(workspace, job_id)
        with JobProgress(workspace, job_id) as progress:
            from core.tasks.registry import run_task  # noqa: PLC0415 - slow to import: the job shows as running before

            document = run_task(workspace, row.kind, {**row.params, "job": job_id}, progress)
        finish(workspace, job_id, document)
        return 0
    except MixdeskError as error:
        _log.info("%s: %s", error.kind, error.message, exc_info=isinstance(error, WorkError))
        return _fail(workspace, job_id, error)
    except MemoryError:
        _log.exception("out of memory")
        hint = "Try a smaller batch, smaller shapes or fewer samples."
        return _fail(workspace, job_id, WorkError("There was not enough memory for this work.", hint=hint))
    except Exception as error:  # noqa: BLE001 - the last resort: a defect of ours must still reach the user
        _log.exception("unexpected")
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        hint = f"The details are in its log {job_id}.log."
        return _fail(workspace, job_id, WorkError(f"Something went wrong inside Mixdesk ({what}).", hint=hint))


def _fail(workspace: Workspace, job_id: str, error: MixdeskError) -> int:
    fail(workspace, job_id, error.to_dict(), stopped=isinstance(error, StoppedError))
    return error.exit_status


if __name__ == "__main__":
    asked = _read(None)
    status = guarded(main, asked.workspace, asked.job)
    logging.shutdown()
    os._exit(status)  # native thread pools may hang or crash while they are torn down: everything is stored by now
