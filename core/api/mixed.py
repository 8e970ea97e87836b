"""A mixed model in Python: run it, read what was measured, take it away."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.api.answers import Answer, Document
from core.api.desk import Place, open_desk
from core.api.frames import frame
from core.errors import DataError, RequestError, did_you_mean
from core.intake.pack import write_stored
from core.recipe.recipe import Recipe
from core.report.recipe_file import recipe_document
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.store.atomic import written_whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_FRONT = ("latency_ms", "sqnr_db", "bytes", "measured", "accepted", "groups")


class Mixed(Answer):
    """A model that was optimized or built, with everything that was measured on the way.

    It lies in the workspace as the candidate `id`, where the dashboard shows it too.
    """

    def __init__(self, document: Document, *, place: Place = None) -> None:
        super().__init__(document)
        self._place = place

    def __repr__(self) -> str:
        return f"<Mixed {self.name!r}, candidate {self.id}>"

    @property
    def id(self) -> str:
        """The candidate's id in the workspace."""
        return str(self.document["candidate"])

    @property
    def name(self) -> str:
        """The candidate's name."""
        return str(self.document["name"])

    @property
    def unchanged(self) -> bool:
        """Whether this is the original, because nothing that was tried is surely faster and faithful enough."""
        return bool(self.document.get("unchanged", False))

    @property
    def why(self) -> str | None:
        """What was found, or why the original stays; None where the model was built as asked."""
        return self.document.get("why")

    @property
    def target(self) -> dict[str, Any] | None:
        """The target with `met`, `value`, `bound`, `required`; None without one."""
        comparison = self.document.get("comparison") or {}
        return self.document.get("target") or comparison.get("gate")

    @property
    def speedup(self) -> dict[str, Any] | None:
        """Ratio (above 1 is faster) with its ci95, before_ms, after_ms, how; None where nothing was timed."""
        comparison = self.document.get("comparison") or {}
        return self.document.get("speedup") or comparison.get("latency")

    @property
    def fidelity(self) -> dict[str, Any]:
        """SQNR in dB (the worst output), cosine, KL divergence, agreement of the top answer."""
        return dict(self.document["fidelity"])

    @property
    def accuracy(self) -> dict[str, Any] | None:
        """Metric before and after with the interval of the change; None or `before` None without labels."""
        return self.document.get("accuracy")

    @property
    def recipe(self) -> Recipe:
        """The rules this model was built by."""
        return Recipe.from_dict(self.document["recipe"])

    @property
    def plan(self) -> pd.DataFrame:
        """One decision per layer, by its id: requested, precision, why, the rule's number."""
        return frame(self.document["plan"]["layers"], index="layer")

    @property
    def layers(self) -> pd.DataFrame:
        """What became of each layer, by its id: group, op, requested, produced, executed, why."""
        return frame(self.document["layers"], index="id")

    @property
    def front(self) -> pd.DataFrame:
        """The mixes that were tried: latency_ms, sqnr_db, bytes, measured; empty where nothing was searched."""
        return frame(self.document.get("front"), columns=_FRONT)

    @property
    def sensitivity(self) -> pd.DataFrame:
        """What lowering each group alone costs; empty where nothing was searched."""
        return frame(self.document.get("sensitivity"), columns=("group", "precision", "sqnr_db"))

    @property
    def differences(self) -> pd.DataFrame:
        """Where a recipe met a model that differs from the one it was made for: layer, what, why."""
        return frame(self.document.get("differences"), columns=("layer", "what", "why"))

    def summary(self) -> str:
        """What was gained, at what cost, how many layers were lowered and why no more, under which conditions."""
        from core.report.summary import summarize  # noqa: PLC0415 - only a reader needs it

        return summarize(self.document)

    def run(self, feeds: Mapping[str, ArrayLike]) -> dict[str, Any]:
        """Runs the model once, in this process.

        Args:
            feeds: input name -> array of the shape and element type that the model takes.

        Returns:
            output name -> array.

        Raises:
            DataError: an input is missing or unknown.
            RunError: the runtime failed on these inputs.
        """
        known = [given.name for given in self._session.get_inputs()]
        for name in feeds:
            if name not in known:
                message = f"The model has no input '{name}'.{did_you_mean(name, known)}"
                raise DataError(message, hint=f"Inputs: {', '.join(known) or 'none'}.")
        missing = [name for name in known if name not in feeds]
        if missing:
            raise DataError(f"The input '{missing[0]}' is missing.", hint=f"Inputs: {', '.join(known)}.")
        return run_session(self._session, {name: np.asarray(value) for name, value in feeds.items()})

    def save(self, path: str | Path, *, data: bool = True, original: bool = True) -> Path:
        """Writes a file whose suffix says what it holds.

        `.o3`: the bundle (model, recipe, plan, measurements, report, holdout samples); `.onnx`: the model alone, with
        its weights in a file beside it where the original has them so; `.json`: the recipe; `.html`: the report;
        `.csv`: the layers.

        Args:
            path: where; an existing file is replaced in one step.
            data: whether a bundle holds the holdout samples, by which others can verify it.
            original: whether a bundle holds the original model (left out above 200 MB).

        Raises:
            RequestError: another suffix, or a folder that is not there.
        """
        out = Path(path).expanduser()
        writers: dict[str, Callable[[Path], None]] = {
            ".o3": lambda target: self._bundle(target, data=data, original=original),
            ".onnx": self._model,
            ".json": lambda target: _write(target, json.dumps(recipe_document(self.document), indent=1)),
            ".html": self._report,
            ".csv": lambda target: _write(target, self.layers.to_csv()),
        }
        if out.suffix not in writers:
            known = ", ".join(writers)
            raise RequestError(f"'{out.name}' says nothing of what to write.", hint=f"End the name in one of {known}.")
        if not out.parent.is_dir():
            raise RequestError(f"There is no folder '{out.parent}' to write '{out.name}' in.", hint="Create it first.")
        writers[out.suffix](out)
        return out

    @cached_property
    def _session(self) -> Any:
        with open_desk(self._place) as desk:
            path = desk.workspace.files.path(self.document["file"])
            return open_session(path, SessionSettings(threads=self.document["conditions"]["threads"]))

    def _bundle(self, out: Path, *, data: bool, original: bool) -> None:
        from core.tasks.bundle import bundle_candidate  # noqa: PLC0415 - heavy, and only this needs it

        with open_desk(self._place) as desk:
            bundle_candidate(desk.workspace, self.id, out=out, data=data, original=original)

    def _model(self, out: Path) -> None:
        with open_desk(self._place) as desk:
            write_stored(desk.workspace.files, self.document["file"], out)

    def _report(self, out: Path) -> None:
        from core.report.html import report_html  # noqa: PLC0415 - heavy, and only this needs it

        _write(out, report_html(self.document, name=self.name))


def _write(out: Path, text: str) -> None:
    with written_whole(out) as target:
        target.write(text.encode())
