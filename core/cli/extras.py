"""Extras: the page and the table that a command writes beside its answer, checked before any work begins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli import answer
from core.cli.files import BUNDLE, check_writable
from core.errors import RequestError, WorkError

if TYPE_CHECKING:
    from core.cli.answer import Document

_ENDINGS = {"--report": (".html", ".htm"), "--csv": (".csv",)}


@dataclass(frozen=True, slots=True)
class Extras:
    """Where to write the HTML report and the CSV table (None: nowhere), and what goes into a bundle."""

    report: Path | None = None
    csv: Path | None = None
    data: bool = True
    original: bool = True

    def check(self, out: Path | None, *inputs: Path | None) -> None:
        """Makes sure that both can be written; what has no effect without a bundle as `out` is told.

        Raises:
            RequestError: a wrong ending, no such folder, no permission, or an input of the command.
        """
        if out is None or out.suffix != BUNDLE:
            for option, left_out in (("--no-data", not self.data), ("--no-original", not self.original)):
                if left_out:
                    answer.note(f"{option} has no effect without -o NAME{BUNDLE}.")
        for option, path in (("--report", self.report), ("--csv", self.csv)):
            if path is None:
                continue
            if path.suffix.lower() not in _ENDINGS[option]:
                ending = _ENDINGS[option][0]
                raise RequestError(f"'{path}' does not end in {ending}.", hint=f"Write {option} NAME{ending}.")
            check_writable(path, out, *inputs)

    def write(self, document: Document) -> None:
        """Writes what was asked for, each file in one step.

        Raises:
            WorkError: a file cannot be written any more.
        """
        if self.report is not None:
            from core.report.html import report_html

            _write(self.report, report_html(document))
        if self.csv is not None:
            from core.report.layer_csv import document_csv

            _write(self.csv, document_csv(document))


def _write(path: Path, text: str) -> None:
    from core.store.atomic import written_whole

    try:
        with written_whole(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise WorkError(f"'{path}' cannot be written: {error.strerror or error}.") from error
