"""Compare: one model against another on the same data, measured in pairs."""

from __future__ import annotations

from typing import Any

from core.errors import NotFoundError, RequestError
from core.intake.dataset import Split
from core.intake.load import load_model
from core.intake.model import Serialized
from core.measure.compare import compare_models
from core.measure.target import parse_target
from core.progress import Part, Progress
from core.store.workspace import Workspace
from core.tasks.params import DEFAULT_BUDGET_S, Params, Subject, read_seconds, read_text
from core.tasks.prepare import (
    Prepared,
    describe_data,
    prepare,
    refuse_unrunnable,
    require_runnable,
    runnable_form,
)


def compare(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Measures B (`candidate_file`) against A (`model`): the contract's `compare` document with `data`.

    Where `baseline_file` names the file of another candidate of that model, B is measured against it instead: latency,
    size and memory are then of the two, and so is fidelity (how far B's answers are from A's).

    Raises:
        RequestError: the models have different inputs or outputs.
        ModelError, DataError, TargetError: as in the other tasks.
    """
    subject = Subject.read(params)
    budget_s = read_seconds(params, "time_budget_s", default=DEFAULT_BUDGET_S)
    target = read_text(params, "target")
    if target is not None:
        parse_target(target)
    progress.phase("Read both models", start=0.0, end=0.1)
    prepared = prepare(workspace, subject)
    require_runnable(prepared)
    first = prepared.original
    if read_text(params, "baseline_file") is not None:
        first = _stored(workspace, params, prepared, "baseline")
    comparison = compare_models(
        first,
        _stored(workspace, params, prepared, "candidate"),
        prepared.dataset,
        split=Split.HOLDOUT,
        settings=prepared.settings,
        batch=subject.batch,
        seed=subject.seed,
        budget_s=budget_s,
        gate=target,
        outputs=subject.weights,
        progress=Part(progress, start=0.1, end=1.0),
    )
    return {**comparison.to_dict(), "data": describe_data(prepared)}


def _stored(workspace: Workspace, params: Params, prepared: Prepared, which: str) -> Serialized:
    """The "candidate" or the "baseline", once it is known to run and to take and give what the original does."""
    called = "the second model" if which == "candidate" else "the baseline"
    sha256 = read_text(params, f"{which}_file")
    if sha256 is None or not workspace.files.has(sha256):
        raise NotFoundError(f"The workspace has no file for {called}.", hint="Give the file again.")
    name = read_text(params, f"{which}_name") or called
    path = workspace.files.path(sha256)
    other = load_model(path, name=name)
    refuse_unrunnable(other, prepared.settings)
    for direction in ("inputs", "outputs"):
        ours = {spec.name for spec in getattr(prepared.model, direction)}
        theirs = {spec.name for spec in getattr(other, direction)}
        if ours != theirs:
            message = f"{prepared.model.name} and {name} have different {direction}: {_list(ours)} and {_list(theirs)}."
            raise RequestError(message, hint="Only models with the same inputs and outputs can be compared.")
    return runnable_form(path, other, prepared.settings)


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
