"""Names of candidates in narrow boxes: shortened with a sign, told apart, with the time they were built."""

from __future__ import annotations

from datetime import UTC, datetime

from core.store.rows import CandidateRow
from dashboard.candidate_names import NAME_BEFORE_TIME, NAME_LENGTH, names, names_and_times
from tests.dashboard.faked import SHA

BUILT = datetime(2026, 12, 1, 11, 10, tzinfo=UTC)


def row(row_id: str, name: str, built: datetime = BUILT) -> CandidateRow:
    return CandidateRow(
        id=row_id, model_sha256=SHA, file_sha256="ef" * 32, recipe={}, plan={}, report={}, name=name, created_at=built
    )


def test_a_short_name_stands_whole_with_its_time_and_without_a_year() -> None:
    assert names([row("a1", "all int8")]) == {"a1": "all int8"}
    assert names_and_times([row("a1", "all int8")]) == {"a1": "all int8 · 1 Dec 11:10 UTC"}


def test_a_long_name_is_cut_in_the_middle_so_that_the_box_shows_all_of_the_label() -> None:
    long = row("a1", "Conv+MatMul int8, 36 of 338 groups and whatever else")
    assert len(names([long])["a1"]) == NAME_LENGTH
    told = names_and_times([long])["a1"]
    assert len(told) <= NAME_BEFORE_TIME + len(" · 31 Dec 11:10 UTC")
    assert "…" in told
    assert told.endswith("11:10 UTC")


def test_those_that_would_be_called_the_same_carry_their_ids() -> None:
    long = "a name that somebody made long, {} of them, which alone tells them apart"
    rows = [row("abcdef01", long.format(1)), row("123456ff", long.format(2))]
    for called in (names(rows), names_and_times(rows)):
        assert len(set(called.values())) == 2
        assert called["abcdef01"].endswith(" · abcdef")
        assert max(map(len, called.values())) <= NAME_LENGTH + len(" · ")
    later = [row("abcdef01", "same"), row("123456ff", "same", BUILT.replace(day=2))]
    assert list(names_and_times(later).values()) == ["same · 1 Dec 11:10 UTC", "same · 2 Dec 11:10 UTC"]
