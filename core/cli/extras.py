"""Extras: the files that a command writes beside its answer, checked before any work begins."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli import answer
from core.cli.files import BUNDLE, check_writable
from core.errors import RequestError, WorkError

if TYPE_CHECKING:
    from core.cli.answer import Document

_ENDINGS = {
    "--report": (".html", ".htm"),
    "--csv": (".csv",),
    "--trace": (".json",),
    "--netron": (".json",),
    "--model-explorer": (".json",),
}


@dataclass(frozen=True, slots=True)
class Extras:
    """Where to write the HTML report, the CSV table and a profile for other programs (None: nowhere).

    `data` and `original` say what goes into a bundle.
    """

    report: Path | None = None
    csv: Path | None = None
    data: bool = True
    original: bool = True
    trace: Path | None = None
    netron: Path | None = None
    model_explorer: Path | None = None

    def check(self, out: Path | None, *inputs: Path | None) -> None:
        """Makes sure that all can be written; what has no effect without a bundle as `out` is told.

        Raises:
            RequestError: a wrong ending, no such folder, no permission, an input of the command, or one file for two.
        """
        if out is None or out.suffix != BUNDLE:
            for option, left_out in (("--no-data", not self.data), ("--no-original", not self.original)):
                if left_out:
                    answer.note(f"{option} has no effect without -o NAME{BUNDLE}.")
        taken: dict[Path, str] = {} if out is None else {out.resolve(): "-o"}
        for option, path in self._files().items():
            if path.suffix.lower() not in _ENDINGS[option]:
                ending = _ENDINGS[option][0]
                raise RequestError(f"'{path}' does not end in {ending}.", hint=f"Write {option} NAME{ending}.")
            check_writable(path, *inputs)
            other = taken.setdefault(path.resolve(), option)
            if other != option:
                raise RequestError(f"{other} and {option} would both write '{path}'.", hint="Give each its own file.")

    def _files(self) -> dict[str, Path]:
        """Option -> the file that it asks for."""
        paths = (self.report, self.csv, self.trace, self.netron, self.model_explorer)
        return {option: path for option, path in zip(_ENDINGS, paths, strict=True) if path is not None}

    def write(self, document: Document) -> None:
        """Writes report and table where they were asked for, each file in one step.

        Raises:
            WorkError: a file cannot be written any more.
        """
        if self.report is not None:
            from core.report.html import report_html

            _write(self.report, report_html(document))
        if self.csv is not None:
            from core.report.layer_csv import document_csv

            _write(self.csv, document_csv(document))

    def write_profile(self, document: Document, *, name: str, inspect: Callable[[], Document]) -> None:
        """Writes everything that was asked for of a profile.

        Args:
            document: the `profile` document.
            name: of the model.
            inspect: makes its `inspect` document; called only where something needs it.

        Raises:
            WorkError: a file cannot be written any more.
        """
        self.write(document)
        if self.trace is not None:
            from core.report.trace import trace_events

            _write(self.trace, json.dumps(trace_events(document, name=name)))
        inspection = inspect() if self.netron or self.model_explorer else {}
        if self.netron is not None:
            from core.report.netron_attachment import netron_attachment

            _write(self.netron, json.dumps(netron_attachment(document, inspection)))
        if self.model_explorer is not None:
            from core.report.model_explorer import node_data

            _write(self.model_explorer, json.dumps(node_data(document, inspection)))


def _write(path: Path, text: str) -> None:
    from core.store.atomic import written_whole

    try:
        with written_whole(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise WorkError(f"'{path}' cannot be written: {error.strerror or error}.") from error
