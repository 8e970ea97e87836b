"""Running one job to its end for somebody who waits: in a child process that may die alone, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import MixdeskError, StoppedError, WorkError
from core.jobs import queue
from core.jobs.supervisor import Supervisor
from core.measure.target import parse_target
from core.store.rows import JobRow
from core.store.workspace import Workspace
from core.tasks import command
from core.tasks.params import DEFAULT_BUDGET_S, read_pins, read_seconds, read_text, read_whole

_POLL_S = 0.1


def run_job(
    workspace: Workspace,
    kind: str,
    params: Mapping[str, Any],
    *,
    title: str,
    on_change: Callable[[JobRow], None] | None = None,
) -> dict[str, Any]:
    """Queues one job, waits until it has ended and returns its document.

    Args:
        workspace: where it is queued and kept.
        kind: of work, see `core.tasks.registry.KINDS`.
        params: what the task is told.
        title: how people recognize it.
        on_change: gets each new state of the job's row; an error it raises stops the job.

    Raises:
        MixdeskError: what the job said went wrong, or how it ended.
        KeyboardInterrupt: Ctrl-C was pressed; the job is stopped by then, and what it had found is kept.
    """
    return finish_job(workspace, begin_job(workspace, kind, params, title=title), on_change=on_change)


def begin_job(workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str) -> str:
    """Queues one job for this process to run, once all is refused that needs no look at the model.

    Raises:
        TargetError, RequestError, RecipeError: a target, a time or a pin cannot be read.
    """
    target = read_text(params, "target")
    if target is not None:
        parse_target(target)
    read_seconds(params, "time_budget_s", default=DEFAULT_BUDGET_S)
    for name in ("threads", "batch"):
        read_whole(params, name, default=1, least=1)
    read_whole(params, "seed", default=0, least=0)
    read_pins(params)
    return queue.submit(workspace, kind, params, title=title)


def finish_job(
    workspace: Workspace, job_id: str, *, on_change: Callable[[JobRow], None] | None = None
) -> dict[str, Any]:
    """Runs this queued job, and no other, to its end; as `run_job`."""
    supervisor = Supervisor(workspace, command.child_command(workspace.path), only=job_id)
    supervisor.start()
    try:
        row = queue.wait(workspace, job_id, on_change, poll_s=_POLL_S)
    except BaseException:
        queue.stop(workspace, job_id)
        queue.wait(workspace, job_id, poll_s=_POLL_S)
        raise
    finally:
        supervisor.close()
    return outcome(row, workspace.logs)


def outcome(row: JobRow, logs: Path) -> dict[str, Any]:
    """A finished job's document.

    Args:
        row: the job in its final state.
        logs: the folder of its log.

    Raises:
        MixdeskError: of the kind that the job ended with.
    """
    if row.state == "done" and row.result is not None:
        return dict(row.result)
    if row.state == "stopped":
        raise StoppedError(f"Stopped: {row.title}.")
    error = row.error or {"message": f"The job '{row.title}' ended without a result (state: {row.state})."}
    raise _error_of(error, logs / row.log)


def _error_of(error: Mapping[str, Any], log: Path) -> MixdeskError:
    """The stored error as an exception again; what went wrong while working names the log by its full path."""
    of_kind = {known.kind: known for known in _tree(MixdeskError)}.get(str(error.get("kind")), WorkError)
    hint = error.get("hint")
    if issubclass(of_kind, WorkError):
        hint = str(hint).replace(log.name, str(log)) if hint else f"Its log: {log}."
    return of_kind(str(error.get("message")), hint=hint, layer=error.get("layer"))


def _tree(of_kind: type[MixdeskError]) -> Iterator[type[MixdeskError]]:
    yield of_kind
    for below in of_kind.__subclasses__():
        yield from _tree(below)
