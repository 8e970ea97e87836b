"""Opening: what a job that looks at files found, and which of its weights a model still waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from core.store.rows import JobRow, JobState
from dashboard import services, state

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Waiting:
    """A model whose weights are missing: what it is called, what was given of it (name -> hash), and what was not."""

    name: str
    files: Mapping[str, str]
    missing: tuple[str, ...]

    def asks_for(self, file_name: str) -> bool:
        """Whether a file of this name is one of the missing ones; browsers leave folders out of names."""
        return any(PurePosixPath(name).name == file_name for name in self.missing)


@dataclass(frozen=True, slots=True)
class Source:
    """Data that is about to be prepared: the job that knows it, and its parameters for previews and for the job."""

    job: str
    kind: str
    params: Mapping[str, Any]
    begin_with: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """What the file is called."""
        return str(self.params["source_name"])


def waiting() -> Waiting | None:
    """The model that was opened last and waits for its weights; None where none does."""
    return waits_for(services.find_job(state.OPENING.get()))


def waits_for(row: JobRow | None) -> Waiting | None:
    """What the model of a finished `bring` job waits for; None where nothing is missing."""
    result = None if row is None or row.state is not JobState.DONE else row.result
    if row is None or not result or not result.get("missing"):
        return None
    files = {str(each["name"]): str(each["sha256"]) for each in row.params.get("files") or ()}
    name = next((each for each in files if each.lower().endswith((".onnx", ".zip"))), str(result["name"]))
    return Waiting(name, files, tuple(result["missing"]))


def told_missing(missing: Sequence[str], *, on_server: bool = False) -> str:
    """What is missing and what to do: "weights.bin is missing: drop it together with the model"."""
    shown = _listed(missing)
    one = len(missing) == 1
    if on_server:
        put = "put it" if one else "put them"
        return f"{shown} {'is' if one else 'are'} missing: {put} beside the model in its folder and open it again."
    told = "drop it together with the model, or alone" if one else "drop them together with the model, or alone"
    return f"{shown} {'is' if one else 'are'} missing: {told} into this field."


def told_not_asked_for(names: Sequence[str], missing: Sequence[str]) -> str:
    """What was given for nothing: "notes.txt is not one of the missing files: weights.bin"; empty without `names`."""
    if not names:
        return ""
    told = "is not one" if len(names) == 1 else "are none"
    return f"{_listed(names)} {told} of the missing files: {_listed(missing)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def source_of(row: JobRow | None) -> Source | None:
    """The data that a job looked at, or tried to prepare; None where it is none that has to be prepared."""
    if row is None:
        return None
    if row.kind == "convert":
        how = row.params.get("preprocessing") or {}
        params = {name: row.params.get(name) for name in ("source", "source_name", "tokenizer")}
        params["tokenizer"] = state.TOKENIZERS.get().get(row.id) or params["tokenizer"]
        return Source(row.id, str(how.get("kind")), params, begin_with=state.BEGINNINGS.get().get(row.id) or how)
    result = row.result or {}
    data = result.get("data")
    if row.kind != "bring" or not data or data["kind"] == "npz":
        return None
    tokenizer = state.TOKENIZERS.get().get(row.id) or result.get("tokenizer")
    params = {"source": data["sha256"], "source_name": data["name"], "tokenizer": tokenizer}
    return Source(row.id, str(data["kind"]), params, begin_with=state.BEGINNINGS.get().get(row.id))
