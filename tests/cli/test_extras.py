"""The page and the table beside an answer are checked before the work and written after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli.extras import Extras
from core.errors import RequestError
from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal
from tests.report.profiles import inspection, profile

PROFILE = {"layers": [{"id": "a", "group": "a", "op": "Conv", "ms": 1.5}]}


@pytest.mark.parametrize(
    ("extras", "says"),
    [
        (Extras(report=Path("page.pdf")), r"does not end in \.html"),
        (Extras(csv=Path("table.xlsx")), r"does not end in \.csv"),
        (Extras(csv=Path("nowhere/table.csv")), "There is no folder"),
        (Extras(trace=Path("run.pftrace")), r"does not end in \.json"),
        (Extras(netron=Path("figures.txt")), r"does not end in \.json"),
        (Extras(model_explorer=Path("data")), r"does not end in \.json"),
        (Extras(trace=Path("a.json"), netron=Path("./a.json")), "--trace and --netron would both write"),
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


def test_a_profile_is_written_for_other_programs(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json" for name in ("trace", "netron", "explorer")]
    extras = Extras(trace=paths[0], netron=paths[1], model_explorer=paths[2])
    extras.write_profile(profile(), name="m", inspect=inspection)
    trace, netron, explorer = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    assert trace["displayTimeUnit"] == "ms"
    assert netron["signature"] == "netron:attachment"
    assert explorer["main_graph"]["results"]["conv"] == {"value": 0.0}


def test_the_model_is_inspected_only_where_names_of_its_nodes_are_needed(tmp_path: Path) -> None:
    asked: list[str] = []

    def inspect() -> dict[str, Any]:
        asked.append("inspect")
        return inspection()

    Extras(trace=tmp_path / "t.json", csv=tmp_path / "t.csv").write_profile(profile(), name="m", inspect=inspect)
    assert asked == []
    Extras(netron=tmp_path / "n.json").write_profile(profile(), name="m", inspect=inspect)
    assert asked == ["inspect"]


def test_the_options_of_profile_reach_their_files(
    mixdesk: Terminal, noted: NotedJobs, tiny: Path, tmp_path: Path
) -> None:
    noted.result = {**profile(), **inspection(), "layers": []}
    names = {"--trace": "t.json", "--netron": "n.json", "--model-explorer": "m.json"}
    given = [part for option, name in names.items() for part in (option, str(tmp_path / name))]
    mixdesk("profile", str(tiny), *given, "--json")
    assert [kind for kind, _ in noted.asked] == ["profile", "inspect"]
    assert sorted(path.name for path in tmp_path.glob("?.json")) == ["m.json", "n.json", "t.json"]


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
