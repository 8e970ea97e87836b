"""`mixdesk jobs`: what the workspace is doing and has done; stop it, go on with it, or forget it."""

from __future__ import annotations

import time
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.cli import answer, options, work
from core.cli.jobs_described import describe, describe_whole
from core.errors import NotFoundError, RequestError, did_you_mean

if TYPE_CHECKING:
    from core.store.rows import JobState
    from core.store.workspace import Workspace

app = typer.Typer(name="jobs", help="List, show, stop, resume and clean the jobs of a workspace.")

JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="A job's id, or its first four letters or more.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, help="The newest so many.")]
StateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        metavar="STATE",
        help="Only queued, running, done, failed, stopped, crashed, interrupted. Repeatable.",
    ),
]
KindOption = Annotated[str | None, typer.Option("--kind", metavar="KIND", help="Only this kind: optimize, build, ...")]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Only of this model: its name, or how its hash begins.")
]
AgeOption = Annotated[
    str | None, typer.Option("--older-than", metavar="AGE", help="Only those that ended that long ago: 30d, 12h, 90m.")
]
CandidatesOption = Annotated[bool, typer.Option("--candidates", help="With what they built.")]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _open(workspace: Path | None) -> Workspace:
    """The workspace, its jobs told truly: those of a program that was killed are interrupted, not queued or running."""
    from core.jobs.supervisor import end_orphans

    store = work.open_workspace(workspace)
    end_orphans(store)
    return store


@app.callback(invoke_without_command=True)
def jobs(context: typer.Context, workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> int:
    """List the jobs of a workspace, or do something with one."""
    return 0 if context.invoked_subcommand is not None else list_jobs(workspace=workspace, as_json=as_json)


@app.command("list")
def list_jobs(
    limit: LimitOption = 50,
    state: StateOption = None,
    kind: KindOption = None,
    model: ModelOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """List jobs, newest first."""
    started = time.perf_counter()
    states = _states(state)
    from core.jobs import queue

    store = _open(workspace)
    models = None if model is None else _models(store, model)
    rows = queue.jobs(store, limit=limit, states=states, kind=_kind(kind), model=models)
    return _give({"jobs": [describe(row) for row in rows]}, "report_list", started, as_json=as_json)


@app.command()
def show(job: JobArgument, workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> int:
    """Show one job: what it was told and found, where it comes from, how it ended, the end of its log."""
    started = time.perf_counter()
    from core.jobs import queue
    from core.jobs.lineage import lineage

    store = _open(workspace)
    row = queue.job(store, job)
    whole = describe_whole(row, lineage(store, row), store.logs, queue.partials(store, row.id))
    return _give({"job": whole}, "report_one", started, as_json=as_json)


@app.command()
def stop(job: JobArgument, workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> int:
    """Stop a job that waits or runs."""
    started = time.perf_counter()
    from core.jobs import queue

    store = _open(workspace)
    before = queue.job(store, job)
    row = queue.stop(store, before.id)
    if before.is_final:
        answer.note(f"The job '{row.title}' has ended already ({row.state}); there was nothing to stop.")
    return _give({"job": describe(row)}, "report_one", started, as_json=as_json)


@app.command()
def resume(
    job: JobArgument,
    out: options.OutOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Go on with a job that ended early, to its end; what it had finished is not done again."""
    started = time.perf_counter()
    from core.cli.results import COMMANDS, give_result, write_result
    from core.jobs import queue
    from core.store.rows import JobState

    store = _open(workspace)
    old = queue.job(store, job)
    if old.state == JobState.DONE:
        message = f"The job '{old.title}' is done; there is nothing to go on with."
        raise RequestError(message, hint=f"'mixdesk jobs show {old.id}' tells what it found.")
    write = write_result(store, old, out)
    new_id = queue.resume(store, old.id)
    document = write(work.show_job(store, new_id, title=old.title))
    if old.kind in COMMANDS or as_json:
        return give_result(old.kind, document, as_json=as_json)
    return _give({"job": describe(queue.job(store, new_id))}, "report_one", started, as_json=False)


@app.command()
def clean(
    older_than: AgeOption = None,
    state: StateOption = None,
    candidates: CandidatesOption = False,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Forget ended jobs; models and data stay, candidates too unless asked for."""
    started = time.perf_counter()
    age, states = _age(older_than), _states(state)
    from core.jobs import clean as cleaning
    from core.store.rows import FINAL_STATES, now

    before = None if age is None else now() - age
    store = _open(workspace)
    done = cleaning.clean(store, before=before, states=states or FINAL_STATES, candidates=candidates)
    document = {
        "removed": done.jobs,
        "candidates": done.candidates,
        "freed_bytes": done.freed_bytes,
        "kept": list(done.kept),
    }
    return _give(document, "report_cleaned", started, as_json=as_json)


def _give(document: dict[str, Any], report: str, started: float, *, as_json: bool) -> int:
    from core.cli.documents import complete_now
    from core.cli.reports import jobs as reports

    answer.give(complete_now(document, started), getattr(reports, report), as_json=as_json)
    return 0


def _states(given: Collection[str] | None) -> tuple[JobState, ...] | None:
    from core.store.rows import JobState

    known = [str(state) for state in JobState]
    for state in given or ():
        if state not in known:
            hint = f"It takes {', '.join(known)}."
            raise RequestError(f"--state cannot be '{state}'.{did_you_mean(state, known)}", hint=hint)
    return tuple(JobState(state) for state in given) if given else None


def _kind(given: str | None) -> str | None:
    from core.tasks.registry import KINDS

    if given is not None and given not in KINDS:
        raise RequestError(
            f"--kind cannot be '{given}'.{did_you_mean(given, KINDS)}", hint=f"It takes {', '.join(KINDS)}."
        )
    return given


def _models(store: Workspace, wanted: str) -> tuple[str, ...]:
    """The hashes of all models of that name, or whose hash begins so."""
    rows = store.models()
    found = tuple(row.sha256 for row in rows if row.name == wanted or row.sha256.startswith(wanted))
    if not found:
        raise NotFoundError(f"The workspace has no model '{wanted}'.{did_you_mean(wanted, [row.name for row in rows])}")
    return found


def _age(text: str | None) -> timedelta | None:
    if text is None:
        return None
    number, unit = text[:-1], _UNITS.get(text[-1:])
    if unit is None or not number.isascii() or not number.isdecimal():
        raise RequestError(f"--older-than cannot be '{text}'.", hint="For example 30d, 12h or 90m.")
    try:
        return timedelta(**{unit: int(number)})
    except OverflowError as error:
        raise RequestError(f"--older-than {text} is longer than time can tell.", hint="For example 30d.") from error
