"""Labels of files: the folder a file lies in, a table that lists it, or how its name begins; numbered by class."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from core.errors import DataError
from core.intake.feeds import Array
from core.intake.members import TABLE_SUFFIXES, Members
from core.intake.preprocessing import Preprocessing

_FILE_COLUMNS = ("file", "filename", "file_name", "name", "image", "path", "id")
_LABEL_COLUMNS = ("label", "labels", "class", "y", "target", "category", "class_id")
_ENCODING = "utf-8-sig"


def file_labels(members: Members, names: Sequence[str], how: Preprocessing) -> dict[str, str]:
    """The label of each file as text; a file that a table does not list is left out of the answer.

    Raises:
        DataError: a file has no folder, no such beginning of its name, or there is no table.
    """
    if how.labels == "folder":
        return {name: _folder(name) for name in names}
    if how.labels in ("prefix", "file"):
        return {name: _prefix(name, how.label_pattern) for name in names}
    if how.labels == "csv":
        return _listed(members, names, how.labels_file)
    return dict.fromkeys(names, "")


def number_labels(
    labels: Sequence[str], all_labels: Iterable[str], how: Preprocessing
) -> tuple[Array, tuple[str, ...]]:
    """Labels as numbers, and the classes they number where they are names.

    Args:
        labels: of the samples that were chosen.
        all_labels: of every sample: a choice of some must not change the numbers.
        how: `classes` gives the order of names.

    Raises:
        DataError: a label is none of the declared classes.
    """
    if how.classes:
        index = {name: number for number, name in enumerate(how.classes)}
        for label in labels:
            if label not in index:
                message = f"The label '{label}' is none of the {len(index)} declared classes."
                raise DataError(message, hint="Add it to 'classes' of the preprocessing.")
        return np.array([index[label] for label in labels], np.int64), how.classes
    known = set(all_labels)
    if all(re.fullmatch(r"[+-]?\d{1,18}", label) for label in known):
        return np.array([int(label) for label in labels], np.int64), ()
    if all(_is_number(label) for label in known):
        return np.array([float(label) for label in labels], np.float32), ()
    classes = tuple(sorted(known))
    index = {name: number for number, name in enumerate(classes)}
    return np.array([index[label] for label in labels], np.int64), classes


def propose_labels(members: Members, names: Sequence[str]) -> tuple[str, str | None]:
    """Where the labels of files probably are, and a sentence that says so (None where there are none)."""
    tables = members.having(TABLE_SUFFIXES)
    if len(tables) == 1:
        return "csv", f"labels are those of '{tables[0]}'"
    folders = {PurePosixPath(name).parent for name in names}
    if len(folders) > 1 and len({folder.name for folder in folders}) == len(folders):
        return "folder", f"labels are the {len(folders)} folders' names"
    if len(names) > 1 and all(re.match(r"\d+[_-]", PurePosixPath(name).name) for name in names):
        return "prefix", "labels are the numbers that file names begin with"
    return "none", None


def read_table(data: bytes, name: str) -> list[list[str]]:
    """The rows of a .csv or .tsv that are not empty.

    Raises:
        DataError: it is no text, or a row is broken.
    """
    text, _ = decode(data, name)
    limit = csv.field_size_limit(max(len(text), 131_072))
    try:
        dialect = "excel-tab" if name.lower().endswith(".tsv") else _dialect(text)
        return [row for row in csv.reader(io.StringIO(text, newline=""), dialect) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise DataError(f"The table '{name}' cannot be read: {error}.", hint="Save it as UTF-8 CSV.") from error
    finally:
        csv.field_size_limit(limit)


def decode(data: bytes, name: str) -> tuple[str, bool]:
    """Text of a file's bytes, and whether it is UTF-8; what is not is read as Latin-1: there, every byte is a letter.

    Raises:
        DataError: it is no text.
    """
    if b"\x00" in data[:4096]:
        message = f"'{name}' is no text file: what is in it is binary, or text in UTF-16."
        raise DataError(message, hint="Give plain text, saved as UTF-8.")
    try:
        return data.decode(_ENCODING), True
    except UnicodeDecodeError:
        return data.decode("latin-1"), False


def find_column(header: Sequence[str], wanted: Sequence[str]) -> int | None:
    """The place of the first column of one of these names, whatever their case."""
    named = [cell.strip().lower() for cell in header]
    return next((named.index(name) for name in wanted if name in named), None)


def _folder(name: str) -> str:
    parent = PurePosixPath(name).parent.name
    if not parent:
        message = f"The file '{name}' lies in no folder that could be its label."
        raise DataError(message, hint="Put each class into a folder of its name, or take other labels.")
    return parent


def _prefix(name: str, pattern: str | None) -> str:
    stem = PurePosixPath(name).name
    if pattern is None:
        return stem.split("_", 1)[0] if "_" in stem else stem.split(".", 1)[0]
    found = re.search(pattern, stem)
    if found is None:
        message = f"The pattern {pattern!r} finds no label in the file name '{stem}'."
        raise DataError(message, hint="Correct 'label_pattern' of the preprocessing.")
    return found.group(found.re.groups) or ""


def _listed(members: Members, names: Sequence[str], table: str | None) -> dict[str, str]:
    tables = [table] if table is not None else list(members.having(TABLE_SUFFIXES))
    if len(tables) != 1 or tables[0] not in members.names:
        found = f"no table '{table}'" if table else f"{len(tables)} tables"
        message = f"'{members.label}' holds {found} of labels."
        raise DataError(message, hint="Name it as 'labels_file' of the preprocessing.")
    rows = read_table(members.read(tables[0]), tables[0])
    listed = _pairs(rows, tables[0])
    by_name = {name: listed.get(name, listed.get(PurePosixPath(name).name)) for name in names}
    return {name: label for name, label in by_name.items() if label is not None}


def _pairs(rows: Sequence[Sequence[str]], table: str) -> Mapping[str, str]:
    """File name -> label, by the columns' names or else the first two columns."""
    if not rows or min(len(row) for row in rows) < 2:
        raise DataError(f"The table '{table}' needs two columns: file and label.", hint="One row per file.")
    file, label = find_column(rows[0], _FILE_COLUMNS), find_column(rows[0], _LABEL_COLUMNS)
    has_header = file is not None or label is not None
    file = file if file is not None else int(label == 0)
    label = label if label is not None else int(file == 0)
    return {row[file].strip().removeprefix("./"): row[label].strip() for row in rows[has_header:]}


def _dialect(text: str) -> type[csv.Dialect] | str:
    first = text.split("\n", 1)[0]
    if "," not in first and ";" in first:
        return _Semicolon
    return "excel-tab" if "," not in first and "\t" in first else "excel"


class _Semicolon(csv.excel):
    """What spreadsheets write where the comma is the decimal sign."""

    delimiter = ";"


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
