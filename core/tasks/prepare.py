"""Preparation that all tasks share: load model and data from the workspace, read the layers, ask the runtime."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import DataError, ModelError, NotFoundError, RunError
from core.graph.layer import LayerTable
from core.graph.read import read_layers
from core.intake.dataset import Dataset, Split, dataset_for, synthetic_dataset
from core.intake.load import load_model
from core.intake.model import Finding, Model, Serialized
from core.measure.fidelity import choose_outputs
from core.runtime.session import open_session
from core.runtime.settings import SessionSettings
from core.runtime.tags import tag_model
from core.runtime.told import retell
from core.store.workspace import Workspace
from core.tasks.params import Subject
from core.tasks.shapes import tried_shapes

#: Up to here samples are repeated to fill a batch.
_LARGEST_REPEATED_BATCH = 256


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model, its data and its layers, ready to work on. `path` is the file as it was given."""

    subject: Subject
    model: Model
    path: Path
    table: LayerTable
    dataset: Dataset

    @property
    def settings(self) -> SessionSettings:
        """How its sessions are opened."""
        return self.subject.settings

    def layers_of_a_run(self) -> LayerTable:
        """The layers with the costs of one run, which may be of several samples; those of `table` are of one sample."""
        if self.subject.batch == 1:
            return self.table
        return read_layers(self.model, shapes=self.dataset.shapes(self.subject.batch))

    @property
    def original(self) -> Serialized:
        """The model that candidates are measured against: the file as given, or as repaired where only that runs."""
        return runnable_form(self.path, self.model, self.settings)


def prepare(workspace: Workspace, subject: Subject) -> Prepared:
    """Loads model and data, and registers both in the workspace.

    Raises:
        NotFoundError: the workspace has no such file.
        ModelError, DataError: the file is no model, or the data does not fit it; the model has no such output.
    """
    model, path = load(workspace, subject)
    choose_outputs([spec.name for spec in model.outputs], subject.weights)
    dataset = load_data(workspace, subject, model)
    _check_batch(subject, dataset)
    table = read_layers(model, shapes=dataset.shapes())
    return Prepared(subject=subject, model=model, path=path, table=table, dataset=dataset)


def _check_batch(subject: Subject, dataset: Dataset) -> None:
    """A batch may repeat a few samples, but not grow without bound."""
    most = max(len(dataset), _LARGEST_REPEATED_BATCH)
    if subject.batch > most:
        message = f"A batch of {subject.batch} is more than the {len(dataset)} samples of the data."
        raise DataError(message, hint=f"Ask for a batch of {most} at the most.")


def load(workspace: Workspace, subject: Subject, *, strict: bool = True) -> tuple[Model, Path]:
    """The model and its file; the model becomes a row of the workspace.

    Where not `strict`, a file that parses is loaded even if it cannot run; an error finding then says why.
    """
    path = _file(workspace, subject.model, "model")
    known_name, known_origin = _known(workspace, subject.model)
    model = load_model(path, name=subject.model_name or known_name or subject.model[:12], strict=strict)
    workspace.add_model(model.name, subject.model, model.size_bytes, subject.origin or known_origin)
    return model, path


def load_data(workspace: Workspace, subject: Subject, model: Model) -> Dataset:
    """The data, or seeded synthetic inputs where none is given; real data becomes a row of the workspace."""
    if subject.data is None:
        trial = tried_shapes(workspace, subject, model)
        return replace(synthetic_dataset(model, shapes=trial.shapes, seed=subject.seed), remarks=trial.remarks)
    path = _file(workspace, subject.data, "data")
    content, name = path.read_bytes(), subject.data_name  # not the path: errors would name it by its hash
    dataset = dataset_for(model, content, shapes=subject.shapes or None, seed=subject.seed, name=name)
    workspace.add_dataset(subject.data_name or dataset.name, subject.data, subject.model, path.stat().st_size)
    return dataset


def require_runnable(prepared: Prepared) -> None:
    """Stops work on a model that the runtime refuses; errors as `refuse_unrunnable`."""
    refuse_unrunnable(prepared.model, prepared.settings)


def refuse_unrunnable(model: Model, settings: SessionSettings) -> None:
    """Raises the finding that keeps a model from being run, if there is one.

    Raises:
        ModelError: the first error finding of intake, or the runtime's refusal.
    """
    refuse_findings(model)
    error = _refused(model, settings)
    if error is not None:
        raise ModelError(error.message, hint=error.hint, layer=error.layer)


def refuse_findings(model: Model) -> None:
    """Stops work on a model in which intake found what keeps it from being run.

    Raises:
        ModelError: the first error finding.
    """
    finding = next((finding for finding in model.findings if finding.severity == "error"), None)
    if finding is not None:
        raise ModelError(finding.message, hint=finding.hint)


def runtime_refusal(model: Model, settings: SessionSettings) -> Finding | None:
    """Why the runtime does not open this model here, as an error finding; None where it does."""
    error = _refused(model, settings)
    return None if error is None else Finding("error", error.message, error.hint)


def _refused(model: Model, settings: SessionSettings) -> RunError | None:
    """The runtime's refusal, with the layer where it names one; None where it opens the model."""
    try:
        open_session(model.serialize(), settings, timed=False)
    except RunError as error:
        broken = any(finding.severity == "error" for finding in model.findings)
        return error if broken else retell(error, tag_model(model.ir))
    return None


def runnable_form(path: Path, model: Model, settings: SessionSettings) -> Serialized:
    """The file as it was given or, where the runtime opens only what intake repaired, the repaired model."""
    given = Serialized(path.read_bytes(), model.folder)
    if not model.repairs:
        return given
    try:
        open_session(given, settings, timed=False)
    except RunError:
        return model.serialize()
    return given


def describe_data(prepared: Prepared) -> dict[str, Any]:
    """The `data` object of documents.

    Name, samples, synthetic or not, size of each split, labels or none, shape of one feed per input, why samples cannot
    run together (null: they can), remarks.
    """
    dataset = prepared.dataset
    return {
        "name": prepared.subject.data_name or dataset.name,
        "sha256": prepared.subject.data,
        "samples": len(dataset),
        "synthetic": dataset.synthetic,
        "splits": {split.name.lower(): len(dataset.indices(split)) for split in Split},
        "labels": dataset.labels is not None,
        "shapes": {name: list(shape) for name, shape in dataset.shapes().items()},
        "batch_obstacle": dataset.batch_obstacle,
        "remarks": list(dataset.remarks),
        "preprocessing": None if dataset.preprocessing is None else dict(dataset.preprocessing),
    }


def _file(workspace: Workspace, sha256: str, what: str) -> Path:
    if not workspace.files.has(sha256):
        raise NotFoundError(f"The workspace has no {what} file {sha256[:12]}.", hint="Give the file again.")
    return workspace.files.path(sha256)


def _known(workspace: Workspace, sha256: str) -> tuple[str, str]:
    """Name and origin under which the workspace knows this model; empty where it does not."""
    try:
        row = workspace.model(sha256)
    except NotFoundError:
        return "", ""
    return row.name, row.origin
