"""Jobs: put in, looked at, stopped and repeated. The work itself is done in child processes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.errors import NotFoundError
from core.jobs import queue
from core.store.rows import JobRow, JobState, Partial
from core.tasks.sweep import expected_s
from dashboard import state
from dashboard.services.server import workspace
from dashboard.services.subjects import DEFAULTS, Subject

ACTIVE = (JobState.QUEUED, JobState.RUNNING)

_ALWAYS = ("model", "data", "seed", "shapes")
_ALL_SETTINGS = ("threads", "batch", "outputs")
#: What a kind of work does not depend on is not asked for again: a model is the same under any number of threads.
_SETTINGS = {"inspect": (), "profile": ("threads", "batch"), "sweep": ()}


def submit(on: Subject, kind: str, *, title: str, **params: Any) -> str:
    """Queues a job on what is on the desk; returns its id at once, or that of the same work that waits or runs."""
    names = {"model_name": on.model.name, "data_name": None if on.data is None else on.data.name}
    return queue.submit(workspace(), kind, {**on.params, **names, **params}, title=title, once=True)


def submit_inspect(on: Subject) -> str:
    """Queues reading, checking and laying out the model."""
    return submit(on, "inspect", title=f"Read {on.model.name}", origin=on.model.origin)


def submit_profile(on: Subject) -> str:
    """Queues measuring where the time goes."""
    return submit(on, "profile", title=f"Profile {on.model.name}")


def submit_sweep(on: Subject, threads: Sequence[int], batches: Sequence[int], limit_ms: float | None) -> str:
    """Queues measuring the model at these numbers of threads and batch sizes."""
    return submit(on, "sweep", title=f"Sweep {on.model.name}", **_swept(threads, batches), limit_ms=limit_ms)


def expected_sweep_s(on: Subject, threads: Sequence[int], batches: Sequence[int]) -> float | None:
    """Seconds that such a sweep will take, by the last profile; None where there is none.

    Raises:
        RequestError: too many cells.
    """
    return expected_s(workspace(), {**on.params, **_swept(threads, batches)})


def _swept(threads: Sequence[int], batches: Sequence[int]) -> dict[str, Any]:
    """Threads and batch of the job are 1: those of its cells are its own."""
    return {"sweep_threads": list(threads), "sweep_batches": list(batches), "threads": 1, "batch": 1}


def submit_build(on: Subject, recipe: Mapping[str, Any], *, name: str, measure: bool = True) -> str:
    """Queues building a candidate by a recipe and, unless told otherwise, measuring it against the original."""
    target = state.TARGET.get()
    return submit(on, "build", title=f"Build {name}", recipe=dict(recipe), name=name, measure=measure, target=target)


def submit_optimize(
    on: Subject, *, target: str | None, time_budget_s: float, pins: Mapping[str, str] | None = None
) -> str:
    """Queues the search for the fastest mix that meets the target; `pins` are layers whose precision is settled."""
    title = f"Auto-mix {on.model.name}"
    return submit(on, "optimize", title=title, target=target, time_budget_s=time_budget_s, pins=dict(pins or {}))


def submit_machine(*, refresh: bool = False) -> str:
    """Queues finding out what this machine executes; with `refresh` even if that is known."""
    return queue.submit(workspace(), "machine", {**DEFAULTS, "refresh": refresh}, title="Probe this machine", once=True)


def submit_bring(title: str, **params: Any) -> str:
    """Queues looking at files that were uploaded (`files`) or lie in a server folder (`folder`, `path`)."""
    return queue.submit(workspace(), "bring", {**DEFAULTS, **params}, title=title, once=True)


def give_to(on: Subject, job_id: str) -> None:
    """Says that a job which opened data did so for this model."""
    queue.assign(workspace(), job_id, on.model.sha256)


def submit_convert(
    on: Subject, source: Mapping[str, Any], preprocessing: Mapping[str, Any], *, limit: int | None
) -> str:
    """Queues making data of images, sound or text; `source` has `source`, `source_name` and `tokenizer`."""
    title = f"Prepare {source['source_name']}"
    return submit(on, "convert", title=title, **source, preprocessing=dict(preprocessing), limit=limit)


def submit_again(row: JobRow) -> str:
    """Queues the same work once more."""
    return queue.resume(workspace(), row.id, once=True)


def job(job_id: str) -> JobRow:
    """A job as it stands now.

    Raises:
        NotFoundError: no such job.
    """
    return queue.job(workspace(), job_id)


def find_job(job_id: str | None) -> JobRow | None:
    """A job as it stands now; None where there is none (any more)."""
    try:
        return None if job_id is None else job(job_id)
    except NotFoundError:
        return None


def jobs(
    on: Subject | None = None,
    *,
    kind: str | None = None,
    states: Collection[JobState] | None = None,
    limit: int = 50,
) -> tuple[JobRow, ...]:
    """Jobs, newest first, without their results; of one model, or of everybody."""
    sha256 = None if on is None else on.model.sha256
    return queue.jobs(workspace(), model=sha256, kind=kind, states=states, limit=limit)


def job_of(on: Subject, kind: str, *, active: bool = True) -> JobRow | None:
    """The newest job of this kind on what is on the desk: only if it still runs or waits, or in any state."""
    states = ACTIVE if active else None
    return next((row for row in jobs(on, kind=kind, states=states) if concerns(row, on)), None)


def partials(job_id: str, *, after: int = 0) -> tuple[Partial, ...]:
    """What a running job already knows."""
    return queue.partials(workspace(), job_id, after=after)


def partial_of(job_id: str, kind: str) -> Mapping[str, Any] | None:
    """The newest piece of that kind that a job has published; None where there is none."""
    found = [piece.value for piece in partials(job_id) if piece.kind == kind]
    return found[-1] if found else None


def stop(job_id: str) -> None:
    """Asks a job to stop; its worker is ended if it does not."""
    queue.stop(workspace(), job_id)


def log_tail(row: JobRow, *, lines: int = 40) -> str:
    """The last lines its worker wrote; empty where it wrote none."""
    path = workspace().logs / row.log
    if not row.log or not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65_536))
        text = file.read().decode("utf-8", errors="replace")
    return "\n".join(text.splitlines()[-lines:])


def concerns(row: JobRow, on: Subject) -> bool:
    """Whether a job worked on just this: model, data, shapes and the settings that its kind of work depends on."""
    params = on.params
    names = (*_ALWAYS, *_SETTINGS.get(row.kind, _ALL_SETTINGS))
    return all((row.params.get(name) or None) == (params.get(name) or None) for name in names)
