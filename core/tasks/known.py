"""Known besides a profile, for its advice: what this machine executes, what a sweep measured, what a plan decided."""

from __future__ import annotations

from core.capability.grid import CapabilityGrid
from core.jobs import queue
from core.measure.seen import Known, Planned, SweptTime
from core.recipe.plan import Plan
from core.recipe.precision import Precision
from core.runtime.settings import SessionSettings
from core.store.rows import JobState
from core.store.workspace import Workspace
from core.tasks.capability import known_grid
from core.tasks.params import Subject

_DONE = (JobState.DONE,)


def known_besides(workspace: Workspace, subject: Subject, plan: Plan | None = None) -> Known:
    """All of it that the workspace has; nothing is measured.

    Args:
        workspace: where it is kept.
        subject: model, data and how they are run.
        plan: of a candidate; None for a model as it is.
    """
    grid = _grid(workspace, subject.settings)
    decisions = () if plan is None else plan.decisions
    return Known(
        offered=None if grid is None else grid.offered(),
        plan={row.layer: Planned(str(row.requested), str(row.precision), row.why) for row in decisions},
        swept=_swept(workspace, subject),
    )


def _grid(workspace: Workspace, settings: SessionSettings) -> CapabilityGrid | None:
    """What int8 is here; whether a kernel exists does not depend on threads, so that of one thread will do."""
    return known_grid(workspace, settings, Precision.INT8) or known_grid(
        workspace, SessionSettings(provider=settings.provider), Precision.INT8
    )


def _swept(workspace: Workspace, subject: Subject) -> tuple[SweptTime, ...]:
    """The cells of the newest sweep of this model and data."""
    for row in queue.jobs(workspace, model=subject.model, kind="sweep", states=_DONE):
        swept = Subject.read(row.params)
        if (swept.data, dict(swept.shapes)) == (subject.data, dict(subject.shapes)):
            cells = (queue.job(workspace, row.id).result or {}).get("cells") or ()
            return tuple(
                SweptTime(
                    threads=int(cell["threads"]),
                    batch=int(cell["batch"]),
                    mean_ms=float(cell["latency_ms"]["mean"]),
                    ci95_ms=(float(cell["latency_ms"]["ci95"][0]), float(cell["latency_ms"]["ci95"][1])),
                    throughput=float(cell["throughput"]),
                )
                for cell in cells
                if cell["latency_ms"] is not None
            )
    return ()
