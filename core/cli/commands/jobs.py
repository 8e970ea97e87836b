"""`mixdesk jobs`: what the workspace is doing and has done; stop it, or forget it."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.cli import answer, options, work
from core.cli.commands import later

if TYPE_CHECKING:
    from core.store.rows import JobRow

app = typer.Typer(name="jobs", help="List, show, stop and clean the jobs of a workspace.")

JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="A job's id, or how it begins.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, help="The newest so many.")]


@app.callback(invoke_without_command=True)
def jobs(context: typer.Context, workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> int:
    """List the jobs of a workspace, or do something with one."""
    return 0 if context.invoked_subcommand is not None else list_jobs(workspace=workspace, as_json=as_json)


@app.command("list")
def list_jobs(
    limit: LimitOption = 50, workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False
) -> int:
    """List jobs, newest first."""
    started = time.perf_counter()
    from core.cli.documents import complete_now
    from core.cli.reports.jobs import report_list
    from core.jobs import queue

    rows = queue.jobs(work.open_workspace(workspace), limit=limit)
    document = complete_now({"jobs": [_describe(row) for row in rows]}, started)
    answer.give(document, report_list, as_json=as_json)
    return 0


@app.command()
def show(job: JobArgument, workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> int:
    """Show one job with its parameters and its result."""
    started = time.perf_counter()
    from core.cli.documents import complete_now
    from core.cli.reports.jobs import report_one
    from core.jobs import queue

    row = queue.job(work.open_workspace(workspace), job)
    whole = {**_describe(row), "params": dict(row.params), "result": row.result}
    answer.give(complete_now({"job": whole}, started), report_one, as_json=as_json)
    return 0


@app.command()
def stop(job: JobArgument, workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> int:
    """Stop a job that waits or runs."""
    started = time.perf_counter()
    from core.cli.documents import complete_now
    from core.cli.reports.jobs import report_one
    from core.jobs import queue

    row = queue.stop(work.open_workspace(workspace), job)
    document = complete_now({"job": _describe(row)}, started)
    answer.give(document, report_one, as_json=as_json)
    return 0


@app.command()
def clean(workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> int:
    """Forget finished jobs; models, data and candidates stay."""
    started = time.perf_counter()
    from core.cli.documents import complete_now
    from core.cli.reports.jobs import report_cleaned
    from core.jobs import clean as cleaning

    removed = cleaning.clean(work.open_workspace(workspace)).jobs
    answer.give(complete_now({"removed": removed}, started), report_cleaned, as_json=as_json)
    return 0


app.command("resume", hidden=True, context_settings=later.ANYTHING)(later.resume)


def _describe(row: JobRow) -> dict[str, Any]:
    """A job without what it was told and what it found, which may be large."""
    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "state": row.state,
        "fraction": row.fraction,
        "phase": row.phase,
        "what": row.what,
        "eta_s": row.eta_s,
        "created_at": _when(row.created_at),
        "started_at": _when(row.started_at),
        "finished_at": _when(row.finished_at),
        "error": row.error,
        "log": row.log,
    }


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
