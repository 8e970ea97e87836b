"""Samples: the models that come with Mixdesk, each with real data, read from sample_models/catalogue.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import NotFoundError, did_you_mean

FOLDER = Path(__file__).resolve().parents[2] / "sample_models"


@dataclass(frozen=True, slots=True)
class Sample:
    """A bundled model with its data.

    Attributes:
        name: by which every command knows it.
        model: its file.
        data: its input set, an .npz.
        tokenizer: the tokenizer.json of a model of text, else None.
        task: what it does.
        metric: of its task; None without labels.
        accuracy: its share of right answers on the holdout samples; None without labels.
        licence: of model and data.
        origin: where both are from.
        shows: why it is here.
    """

    name: str
    model: Path
    data: Path
    tokenizer: Path | None
    task: str
    metric: str | None
    accuracy: float | None
    licence: str
    origin: str
    shows: str


def list_samples() -> tuple[Sample, ...]:
    """All samples in the order of the catalogue; none where the folder was left out of the installation."""
    catalogue = FOLDER / "catalogue.json"
    if not catalogue.is_file():
        return ()
    return tuple(_sample(entry) for entry in json.loads(catalogue.read_text(encoding="utf-8"))["samples"])


def find_sample(name: str) -> Sample:
    """The sample of that name.

    Raises:
        NotFoundError: there is none; the nearest name is suggested.
    """
    samples = {sample.name: sample for sample in list_samples()}
    if name not in samples:
        known = ", ".join(samples) or "none are installed"
        raise NotFoundError(f"There is no sample '{name}'.{did_you_mean(name, samples)}", hint=f"Samples: {known}.")
    return samples[name]


def _sample(entry: dict[str, Any]) -> Sample:
    return Sample(
        name=entry["name"],
        model=FOLDER / entry["model"],
        data=FOLDER / entry["data"],
        tokenizer=None if entry["tokenizer"] is None else FOLDER / entry["tokenizer"],
        task=entry["task"],
        metric=entry["metric"],
        accuracy=entry["accuracy"],
        licence=entry["licence"],
        origin=entry["origin"],
        shows=entry["shows"],
    )
