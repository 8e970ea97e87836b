"""The page and the table beside an answer are checked before the work and written after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli.extras import Extras
from core.errors import RequestError
from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal

PROFILE = {"layers": [{"id": "a", "group": "a", "op": "Conv", "ms": 1.5}]}


@pytest.mark.parametrize(
    ("extras", "says"),
    [
        (Extras(report=Path("page.pdf")), r"does not end in \.html"),
        (Extras(csv=Path("table.xlsx")), r"does not end in \.csv"),
        (Extras(csv=Path("nowhere/table.csv")), "There is no folder"),
    ],
)
def test_what_cannot_be_written_is_refused_at_once(extras: Extras, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        extras.check(None)


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    given = tmp_path / "data.csv"
    given.write_text("x")
    with pytest.raises(RequestError, match="is not overwritten"):
        Extras(csv=given).check(None, given)


def test_the_table_is_written(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    Extras(csv=out).write(PROFILE)
    assert out.read_text().splitlines()[1].startswith("a,a,Conv,1.5")


def test_leaving_parts_out_of_no_bundle_is_told(
    mixdesk: Terminal, noted: NotedJobs, tiny: Path, tmp_path: Path
) -> None:
    said = ("optimize", str(tiny), "--no-data", "--no-original", "--csv", str(tmp_path / "x.pdf"))
    answer = mixdesk(*said)
    assert answer.status == 2
    assert "note: --no-data has no effect without -o NAME.o3." in answer.err
    assert "note: --no-original has no effect without -o NAME.o3." in answer.err
    assert noted.asked == []


def test_a_wrong_ending_is_refused_before_any_work(mixdesk: Terminal, noted: NotedJobs, tiny: Path) -> None:
    for command in ("profile", "optimize"):
        answer = mixdesk(command, str(tiny), "--csv", "x.txt", "--json")
        assert answer.status == 2
        assert "does not end in .csv" in answer.error["message"]
    assert noted.asked == []
