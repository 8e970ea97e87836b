"""Arriving: what a finished job brought goes onto the desk - a model, its data, or data that has yet to be prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.errors import DataError
from core.intake.members import held
from core.store.rows import JobRow
from dashboard import loading, services, state
from dashboard.services import Subject

_SHOWN = 4


def opened(row: JobRow) -> None:
    """Takes what a finished `bring` job found; nothing is done where a model still waits for its weights.

    The run that does this may be ended by the next click, so that it is safe to repeat until `OPENING` is cleared.
    """
    result: Mapping[str, Any] = row.result or {}
    if result.get("missing"):
        return
    data: Mapping[str, Any] = result.get("data") or {}
    on = _model(result) or services.subject()
    if on is None:
        error = DataError(_without_model(data), hint=loading.MODEL_FIRST)
        state.NOTICE.set(error.to_dict())
        state.OPENING.set(None)
        return
    services.give_to(on, row.id)
    _tell_unused(result.get("unused") or ())
    ready = data.get("kind") == "npz"
    then: dict[state.LinkKey, str | None] = {state.PREPARING: row.id} if data and not ready else {}
    if not data and result.get("tokenizer"):
        _keep_tokenizer(str(result["tokenizer"]))
    then[state.OPENING] = None
    if ready:
        on = replace(on, data=loading.data_row(data["name"], data["sha256"], _size(data["sha256"]), on.model))
    if ready or result.get("model"):
        loading.put_on_desk(on, afresh=True, then=then)
    else:
        state.set_in_order(then)


def _without_model(data: Mapping[str, Any]) -> str:
    """That there is no model yet; of an archive also that it holds none, and what it does hold."""
    name = loading.shown_name(str(data.get("name") or ""))
    if data.get("kind") == "npz" or not name.lower().endswith(".zip") or not data.get("names"):
        return "There is no model to use this data with."
    found = held([loading.shown_name(each) for each in data["names"]], int(data["files"]))
    return f"'{name}' holds no .onnx, but {found}; there is no model to use this data with."


def converted(row: JobRow) -> None:
    """Judges the model on data that a finished `convert` job made; safe to repeat until `PREPARING` is cleared."""
    result: Mapping[str, Any] = row.result or {}
    on = services.subject()
    if on is None or row.params.get("model") != on.model.sha256:
        state.PREPARING.set(None)
        return
    data = loading.data_row(str(result["name"]), str(result["data"]), 0, on.model)
    known = next((each for each in services.datasets(on.model) if each.sha256 == data.sha256), data)
    loading.put_on_desk(replace(on, data=known, shapes={}), then={state.PREPARING: None})


def _model(result: Mapping[str, Any]) -> Subject | None:
    if not result.get("model"):
        return None
    name, origin = str(result["name"]), str(result["origin"])
    row = loading.model_row(name, str(result["model"]), int(result["bytes"] or 0), origin)
    return Subject(row, data=None, threads=state.threads())


def _keep_tokenizer(sha256: str) -> None:
    preparing = state.PREPARING.get()
    if preparing is None:
        state.TOLD.set("A tokenizer is used with texts: drop it together with them.")
    else:
        state.TOKENIZERS.get()[preparing] = sha256


def _tell_unused(names: Any) -> None:
    if names:
        shown = ", ".join(f"'{loading.shown_name(name)}'" for name in names[:_SHOWN])
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        state.TOLD.set(f"Not used, since the model asks for no such file: {shown}{more}.")


def _size(sha256: str) -> int:
    files = services.workspace().files
    return files.stat(sha256).size_bytes if files.has(sha256) else 0
