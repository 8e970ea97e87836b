"""Names of candidates in boxes that would cut a longer text without saying so: short, and no two alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.store.rows import CandidateRow
from dashboard import conditions
from dashboard.figures.labels import shorten

#: As many letters as a box of the page Compare shows of a name alone, and of one with a time after it.
NAME_LENGTH, NAME_BEFORE_TIME = 26, 30
_ID_DIGITS = 6


def names(known: Sequence[CandidateRow]) -> dict[str, str]:
    """Candidate id -> its name; the beginning of the id after it where another would be called the same."""
    return _apart(known, {row.id: _short(row, NAME_LENGTH) for row in known})


def names_and_times(known: Sequence[CandidateRow]) -> dict[str, str]:
    """Candidate id -> its name and when it was built, without the year: "Conv int8 · 1 Dec 11:10 UTC"."""
    built = {row.id: conditions.moment(row.created_at.isoformat(), year=False) for row in known}
    return _apart(known, {row.id: f"{_short(row, NAME_BEFORE_TIME)} · {built[row.id]}" for row in known})


def _apart(known: Sequence[CandidateRow], called: dict[str, str]) -> dict[str, str]:
    times = Counter(called.values())
    short = NAME_LENGTH - _ID_DIGITS
    return {
        row.id: called[row.id] if times[called[row.id]] == 1 else f"{_short(row, short)} · {row.id[:_ID_DIGITS]}"
        for row in known
    }


def _short(row: CandidateRow, length: int) -> str:
    return shorten(row.name or row.id, length)
