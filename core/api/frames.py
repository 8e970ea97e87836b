"""Frames: rows of documents as pandas tables, one row per layer, group, operator or point, in the documents' own words.

Columns that hold lists (shapes, inputs) stay lists; absent values stay None or NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

_EMPTY: tuple[Mapping[str, Any], ...] = ()


def frame(
    rows: Iterable[Mapping[str, Any]] | None, *, index: str | None = None, columns: Sequence[str] = ()
) -> pd.DataFrame:
    """One row per mapping; `index` names the column that becomes the index, where it is there.

    `columns` are those that a table without rows has as well, so that code which reads them need not ask first.
    """
    made = pd.DataFrame([dict(row) for row in (rows if rows is not None else _EMPTY)])
    made = made.reindex(columns=list(columns)) if made.empty and columns else made
    return made.set_index(index) if index is not None and index in made.columns else made
