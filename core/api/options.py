"""Options that all functions of the Python face share, each told once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

from core.api.desk import Desk, Place, Watch, open_desk
from core.api.given import DataGiven, ModelGiven, OutputsGiven, PreprocessingGiven, Subject
from core.errors import RequestError, did_you_mean


class Options(TypedDict, total=False):
    """How data is read, how models are run, where results are kept, and who is told of progress.

    labels: one per sample, beside arrays or feeds (a file holds its own).
    preprocessing: how images, sound or text become inputs, as a declared value, JSON or a .json file; without it a
        proposal is taken, and the remarks of the data say what it guessed.
    tokenizer: the model's tokenizer.json, for texts; without it one that lies beside the model or the data.
    limit: at most so many images, sounds or texts.
    shapes: input -> shape of one feed, for synthetic inputs of a model with open dimensions.
    outputs: the outputs whose fidelity counts, by name or with weights `{name: weight}`; without it all, alike.
    threads: of the runtime; 1 unless told.
    batch: samples per run of a measurement; 1 unless told.
    seed: of everything that is drawn by chance; 0 unless told.
    workspace: the folder where models and results are kept, or an open `Workspace`; without it that of the command
        line (MIXDESK_WORKSPACE, else the user's data folder).
    progress: True (unless told otherwise) writes lines to standard error, False nothing; a function gets the job's row
        (`fraction`, `phase`, `what`, `eta_s`) whenever it changes.
    """

    labels: Any
    preprocessing: PreprocessingGiven | None
    tokenizer: str | Path | None
    limit: int | None
    shapes: Mapping[str, Sequence[int]] | None
    outputs: OutputsGiven | None
    threads: int
    batch: int
    seed: int
    workspace: Place
    progress: Watch


@contextmanager
def at_desk(
    model: ModelGiven, data: DataGiven | None, options: Options, *, without: Sequence[str] = ()
) -> Iterator[tuple[Desk, dict[str, Any]]]:
    """Opens the workspace, stores model and data in it, and gives the parameters of a job on them.

    Args:
        model: as it was given.
        data: likewise.
        options: likewise.
        without: options that this work has no use for.

    Raises:
        RequestError: an option that is not known or of no use here; errors of `Subject.put`.
    """
    known = [name for name in Options.__annotations__ if name not in without]
    for name in options:
        if name not in known:
            message = f"There is no option '{name}' here.{did_you_mean(name, known)}"
            raise RequestError(message, hint=f"Options: {', '.join(known)}.")
    given: dict[str, Any] = dict(options)
    place, watch = given.pop("workspace", None), given.pop("progress", True)
    subject = Subject(model=model, data=data, **given)
    with open_desk(place, watch) as desk:
        yield desk, subject.put(desk)


def place_of(options: Options, desk: Desk) -> Place:
    """How the workspace is found again later: as it was given, but independent of today's environment."""
    given = options.get("workspace")
    return desk.workspace.path if given is None else given
