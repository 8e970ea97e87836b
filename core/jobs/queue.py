"""The queue as everybody sees it: put a job in, ask it to stop, look at it, wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping, null, select, update

from core.errors import NotFoundError, RequestError, WorkError, did_you_mean
from core.store.rows import JobRow, JobState, Partial, new_id, now
from core.store.strict_json import plain
from core.store.tables import JOBS, PARTIALS
from core.store.workspace import Workspace

POLL_S = 0.2
SHORTEST_PREFIX = 4
FIRST_TIME_ONLY = ("fresh",)  # parameters that a resumed job does not get: it is to use what was finished


def submit(
    workspace: Workspace,
    kind: str,
    params: Mapping[str, Any],
    *,
    title: str = "",
    resumes: str | None = None,
    once: bool = False,
) -> str:
    """Queues a job and returns its id at once; a `Supervisor` on this workspace will run it.

    `params["model"]`, where there is one, is the hash of the model by which the job is found again. `resumes` is the
    id of the job whose work it does again. With `once`, nothing is queued where the same work (kind and parameters)
    waits or runs already and was not asked to stop: the id is then that job's.
    """
    job_id = new_id()
    given = plain(params)
    model = given.get("model")
    values = {
        "id": job_id,
        "kind": kind,
        "title": title or kind,
        "params": given,
        "model_sha256": model if isinstance(model, str) else None,
        "state": JobState.QUEUED,
        "phase": "",
        "what": "",
        "created_at": now(),
        "log": f"{job_id}.log",
        "stop_requested": False,
        "resumes": resumes,
    }
    with workspace.database.writing() as connection:
        same = _same_work(connection, kind, given) if once else None
        if same is None:
            connection.execute(JOBS.insert().values(values))
    return job_id if same is None else same


def resume(workspace: Workspace, job_id: str, *, once: bool = False) -> str:
    """Queues the same work again as a new job and returns its id; what the old one cached is used.

    With `once`, the id is that of a job that does this work already, where there is one.

    Raises:
        NotFoundError: no such job.
        RequestError: it has not ended.
    """
    old = job(workspace, job_id)
    if not old.is_final:
        raise RequestError(f"The job '{old.title}' is still {old.state}.", hint="There is nothing to resume yet.")
    params = {name: value for name, value in old.params.items() if name not in FIRST_TIME_ONLY}
    return submit(workspace, old.kind, params, title=old.title, resumes=old.id, once=once)


def stop(workspace: Workspace, job_id: str) -> JobRow:
    """Asks a job to stop: a queued one is stopped at once, a running one within a few seconds, an ended one stays.

    Raises:
        NotFoundError: no such job.
    """
    found = job(workspace, job_id)
    this = JOBS.c.id == found.id
    stopped = {"state": JobState.STOPPED, "finished_at": now(), "stop_requested": True, "what": ""}
    with workspace.database.writing() as connection:
        connection.execute(update(JOBS).where(this, JOBS.c.state == JobState.QUEUED).values(stopped))
        connection.execute(update(JOBS).where(this, JOBS.c.state == JobState.RUNNING).values(stop_requested=True))
    return job(workspace, found.id)


def assign(workspace: Workspace, job_id: str, model_sha256: str) -> None:
    """Says to which model a job belongs of which that was not known; it goes when that goes."""
    unknown = JOBS.c.model_sha256.is_(None)
    with workspace.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == job_id, unknown).values(model_sha256=model_sha256))


def job(workspace: Workspace, job_id: str) -> JobRow:
    """The job with this id, or whose id begins so (at least 4 characters, unique).

    Raises:
        NotFoundError: no such job.
    """
    with workspace.database.reading() as connection:
        row = connection.execute(select(JOBS).where(JOBS.c.id == job_id)).mappings().one_or_none()
        if row is None:
            row = _by_prefix(connection, job_id)
    return to_row(row)


def jobs(
    workspace: Workspace,
    *,
    model: str | Collection[str] | None = None,
    kind: str | None = None,
    states: Collection[str] | None = None,
    limit: int = 100,
    results: bool = False,
) -> tuple[JobRow, ...]:
    """Jobs, newest first; their `result` is None here unless asked for (documents can be large).

    `model` is the hash of a model, or several.
    """
    columns = [column for column in JOBS.columns if results or column.name != "result"]
    chosen = columns if results else [*columns, null().label("result")]
    statement = select(*chosen).order_by(JOBS.c.created_at.desc(), JOBS.c.id).limit(limit)
    if model is not None:
        statement = statement.where(JOBS.c.model_sha256.in_([model] if isinstance(model, str) else list(model)))
    if kind is not None:
        statement = statement.where(JOBS.c.kind == kind)
    if states is not None:
        statement = statement.where(JOBS.c.state.in_([str(state) for state in states]))
    with workspace.database.reading() as connection:
        return tuple(to_row(row) for row in connection.execute(statement).mappings())


def partials(workspace: Workspace, job_id: str, *, after: int = 0) -> tuple[Partial, ...]:
    """What a job has published so far, with `seq` above `after`, in order."""
    columns = (PARTIALS.c.seq, PARTIALS.c.kind, PARTIALS.c.value)
    statement = select(*columns).where(PARTIALS.c.job_id == job_id, PARTIALS.c.seq > after).order_by(PARTIALS.c.seq)
    with workspace.database.reading() as connection:
        return tuple(Partial(row.seq, row.kind, row.value) for row in connection.execute(statement))


def wait(
    workspace: Workspace,
    job_id: str,
    on_change: Callable[[JobRow], None] | None = None,
    *,
    poll_s: float = POLL_S,
    timeout_s: float | None = None,
) -> JobRow:
    """Waits until the job has ended and returns it; `on_change` gets each new state of its row.

    Raises:
        NotFoundError: no such job (any more).
        WorkError: it has not ended after `timeout_s`; it goes on.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    last: JobRow | None = None
    while True:
        row = job(workspace, job_id)
        if on_change is not None and (last is None or _visible(row) != _visible(last)):
            on_change(row)
        if row.is_final:
            return row
        if deadline is not None and time.monotonic() > deadline:
            raise WorkError(f"The job '{row.title}' has not ended after {timeout_s:g} s (state: {row.state}).")
        last = row
        time.sleep(poll_s)


def to_row(row: RowMapping | Mapping[str, Any]) -> JobRow:
    """Makes the frozen row of what the table holds."""
    values: dict[str, Any] = {str(name): value for name, value in row.items()}
    return JobRow(**{**values, "state": JobState(values["state"])})


def _visible(row: JobRow) -> tuple[object, ...]:
    return (row.state, row.fraction, row.phase, row.what, row.eta_s, row.stop_requested)


def _same_work(connection: Connection, kind: str, params: Mapping[str, Any]) -> str | None:
    """The oldest job of this kind with these parameters that has not ended and was not asked to stop."""
    goes_on = (JOBS.c.state.in_((JobState.QUEUED, JobState.RUNNING)), JOBS.c.stop_requested.is_(False))
    statement = select(JOBS.c.id, JOBS.c.params).where(JOBS.c.kind == kind, *goes_on).order_by(JOBS.c.created_at)
    return next((str(row.id) for row in connection.execute(statement) if row.params == params), None)


def _by_prefix(connection: Connection, prefix: str) -> RowMapping:
    if len(prefix) >= SHORTEST_PREFIX:
        like = select(JOBS).where(JOBS.c.id.startswith(prefix, autoescape=True)).limit(2)
        found = connection.execute(like).mappings().all()
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFoundError(f"The workspace has several jobs that begin with '{prefix}'.")
    known = connection.execute(select(JOBS.c.id).order_by(JOBS.c.created_at.desc()).limit(1000)).scalars()
    raise NotFoundError(f"The workspace has no job '{prefix}'.{did_you_mean(prefix, known)}")
