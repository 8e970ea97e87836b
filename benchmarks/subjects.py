"""Subjects of benchmarks: a sample or a model of the zoo by name, with its data, ready to be measured."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.graph.layer import LayerTable
from core.graph.read import read_layers
from core.intake.dataset import Dataset, dataset_for, synthetic_dataset
from core.intake.load import load_model
from core.intake.model import Model
from core.intake.samples import list_samples
from core.runtime.settings import SessionSettings
from core.runtime.trial import shapes_that_run

ROOT = Path(__file__).resolve().parent.parent
#: Models whose data is in the file of another one, since they are its variants.
_DATA_OF = dict.fromkeys(("efficientnet_lite0_qdq_pc", "efficientnet_lite0_qoperator"), "efficientnet_lite0")


@dataclass(frozen=True)
class Subject:
    """A model, data for it, and its layers with the costs of one run."""

    name: str
    model: Model
    dataset: Dataset
    table: LayerTable


def zoo_folder() -> Path:
    """Where the zoo is looked for."""
    return Path(os.environ.get("MIXDESK_ZOO") or ROOT.parent / "shared" / "zoo")


def zoo_entries(zoo: Path, status: str = "ok") -> list[Mapping[str, Any]]:
    """Entries of the zoo's index; none where there is no zoo."""
    index = zoo / "index.json"
    if not index.is_file():
        return []
    return [entry for entry in json.loads(index.read_text(encoding="utf-8")) if entry["status"] == status]


def subject_names() -> list[str]:
    """All samples, then all sound models of the zoo."""
    return [sample.name for sample in list_samples()] + [entry["name"] for entry in zoo_entries(zoo_folder())]


def open_subject(name: str) -> Subject:
    """Loads a subject: with the data that belongs to it, else with synthetic samples of sizes that run.

    Raises:
        KeyError: there is no such sample and no such model of the zoo.
    """
    sample = next((found for found in list_samples() if found.name == name), None)
    if sample is not None:
        path, data = sample.model, sample.data
    else:
        zoo = zoo_folder()
        entry = {found["name"]: found for found in zoo_entries(zoo)}[name]
        path, data = zoo / entry["file"], zoo / "data" / f"{_DATA_OF.get(name, name)}.npz"
    model = load_model(path, name=name)
    dataset = dataset_for(model, data) if data.is_file() else _made_up(model)
    return Subject(name, model, dataset, read_layers(model, shapes=dataset.shapes()))


def _made_up(model: Model) -> Dataset:
    return synthetic_dataset(model, shapes=shapes_that_run(model, SessionSettings(), {}).shapes)
