"""Sweep: threads x batch, which of them gives the most samples per second, and how long finding that out takes."""

from __future__ import annotations

from typing import Any

from core.errors import RequestError
from core.jobs import queue
from core.measure.sweep import sweep_model
from core.measure.sweep_plan import BATCHES, Cell, estimate_s, grid, usual_threads
from core.progress import Part, Progress
from core.runtime.cores import usable_cores
from core.store.rows import JobState
from core.store.workspace import Workspace
from core.tasks.params import Params, Subject
from core.tasks.prepare import describe_data, prepare, require_runnable

#: What a latency that was measured before must have been measured on.
_SAME = ("model", "data", "shapes")
_DONE = (JobState.DONE,)


def sweep(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Measures a model at several thread counts and batch sizes: the `sweep` document.

    `sweep_threads` and `sweep_batches` are lists of whole numbers (absent: 1, 2, 4 ... up to the processors; 1, 2, 4,
    8), `limit_ms` is what 95 of 100 runs must keep (absent: no limit).

    Raises:
        RequestError: a number or the limit cannot be read.
        ModelError, DataError: as in the other tasks.
        RunError, CrashedError: the model fails on one sample with one thread.
    """
    subject = Subject.read(params)
    cells, limit_ms = read_cells(params), read_limit(params)
    progress.phase("Read model and data", start=0.0, end=0.05)
    prepared = prepare(workspace, subject)
    require_runnable(prepared)
    found = sweep_model(
        prepared.original,
        prepared.dataset,
        cells,
        settings=subject.settings,
        limit_ms=limit_ms,
        seed=subject.seed,
        progress=Part(progress, start=0.05, end=1.0),
    )
    return {**found.to_dict(), "data": describe_data(prepared)}


def expected_s(workspace: Workspace, params: Params) -> float | None:
    """Seconds that such a job will take, by the latency that a profile found; None where none was made.

    Raises:
        RequestError: a number cannot be read.
    """
    sample_ms = known_sample_ms(workspace, params)
    return None if sample_ms is None else estimate_s(read_cells(params), sample_ms)


def known_sample_ms(workspace: Workspace, params: Params) -> float | None:
    """Milliseconds of one sample with one thread, as the newest profile of this model and data found; None: none did.

    A profile with several threads is taken for one whose threads all gained what they can.
    """
    model = params.get("model")
    for row in queue.jobs(workspace, model=None if model is None else str(model), kind="profile", states=_DONE):
        if all((row.params.get(name) or None) == (params.get(name) or None) for name in _SAME):
            result = queue.job(workspace, row.id).result or {}
            mean = (result.get("wall_ms") or {}).get("mean")
            if mean:
                threads, batch = (int(row.params.get(name) or 1) for name in ("threads", "batch"))
                return float(mean) * threads / batch
    return None


def read_cells(params: Params) -> tuple[Cell, ...]:
    """The cells that are asked for.

    Raises:
        RequestError: no list of whole numbers above 0, or too many cells.
    """
    threads = _read_list(params, "sweep_threads") or usual_threads(usable_cores())
    return grid(threads, _read_list(params, "sweep_batches") or BATCHES)


def read_limit(params: Params) -> float | None:
    """The latency limit in milliseconds; None where there is none.

    Raises:
        RequestError: no number above 0.
    """
    value = params.get("limit_ms")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise RequestError(f"The latency limit must be a number of milliseconds above 0, not {value!r}.")
    return float(value)


def _read_list(params: Params, name: str) -> tuple[int, ...] | None:
    value = params.get(name)
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(type(number) is int for number in value):
        raise RequestError(f"'{name}' must be a list of whole numbers, not {value!r}.")
    return tuple(value)
