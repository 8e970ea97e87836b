"""Propose: a preprocessing from model and files, its sizes tried and its scale of pixels asked of labelled images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.intake.convert import propose_preprocessing
from core.intake.model import Model
from core.intake.preprocessing import ImagePreprocessing, Preprocessing
from core.progress import Progress, Silent
from core.runtime.settings import SessionSettings
from core.runtime.trial import shapes_that_run
from core.tasks.normalisation import settle_normalisation


def propose(
    model: Model,
    source: Path,
    *,
    tokenizer: Path | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    proposal: Mapping[str, tuple[int, ...]] | None = None,
    name: str | None = None,
    settings: SessionSettings | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Preprocessing:
    """A preprocessing whose open sizes run and whose scale suits the labels, as far as that can be found out.

    Args:
        model: whose inputs are to be fed.
        source: folder, archive or file.
        tokenizer: the model's tokenizer.json, for texts.
        shapes: sizes of inputs that are decided.
        proposal: sizes that are known to run; None: they are tried now.
        name: how the source is called, where its path does not say it.
        settings: how the model is run.
        seed: of the choice of images.
        progress: is told what is tried.

    Raises:
        DataError: the source holds no images, sound or text, or no input takes such.
    """
    settings = settings or SessionSettings()
    if proposal is None:
        proposal = shapes_that_run(model, settings, shapes or {}, seed=seed).shapes
    how = propose_preprocessing(model, source, tokenizer=tokenizer, shapes=shapes, proposal=proposal, name=name)
    if not isinstance(how, ImagePreprocessing):
        return how
    called, told = name or source.name, progress or Silent()
    return settle_normalisation(how, model, source, name=called, settings=settings, seed=seed, progress=told)
