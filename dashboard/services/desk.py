"""What is on the desk: the model and data that the link names, and what else there is to choose from."""

from __future__ import annotations

from core.jobs import queue
from core.store.rows import DatasetRow, ModelRow
from dashboard import state
from dashboard.services.server import workspace
from dashboard.services.subjects import Subject


def subject() -> Subject | None:
    """The model and data that the link names; None where it names no model that is known here."""
    wanted = state.MODEL.get()
    model = None if wanted is None else find_model(wanted)
    if model is None:
        return None
    return Subject(
        model=model,
        data=_data_of(model),
        shapes=state.shapes(),
        threads=state.threads(),
        batch=state.batch(),
        outputs=state.outputs(),
    )


def find_model(sha256: str) -> ModelRow | None:
    """The model whose hash begins so: loaded ones first, then one that is being loaded."""
    for row in workspace().models():
        if row.sha256.startswith(sha256):
            return row
    for job in queue.jobs(workspace(), kind="inspect"):
        given = str(job.params.get("model") or "")
        if given.startswith(sha256):
            return ModelRow(
                sha256=given,
                name=str(job.params.get("model_name") or given[: state.LINK_DIGITS]),
                size_bytes=workspace().files.path(given).stat().st_size if workspace().files.has(given) else 0,
                origin=str(job.params.get("origin") or ""),
                created_at=job.created_at,
            )
    return None


def datasets(model: ModelRow) -> tuple[DatasetRow, ...]:
    """Data sets that were given for a model and fit it, newest first."""
    return workspace().datasets(model.sha256)


def models() -> tuple[ModelRow, ...]:
    """All models that could be loaded, newest first."""
    return workspace().models()


def _data_of(model: ModelRow) -> DatasetRow | None:
    wanted = state.DATA.get()
    known = datasets(model)
    if wanted == state.SYNTHETIC:
        return None
    if wanted is None:
        return known[0] if known else None
    for row in known:
        if row.sha256.startswith(wanted):
            return row
    return _data_being_loaded(model, wanted)


def _data_being_loaded(model: ModelRow, sha256: str) -> DatasetRow | None:
    for job in queue.jobs(workspace(), model=model.sha256, kind="inspect"):
        given = str(job.params.get("data") or "")
        if given.startswith(sha256):
            name = str(job.params.get("data_name") or given[: state.LINK_DIGITS])
            return DatasetRow(
                sha256=given,
                model_sha256=model.sha256,
                name=name,
                size_bytes=0,
                synthetic=False,
                created_at=job.created_at,
            )
    return None
