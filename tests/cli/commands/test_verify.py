"""`mixdesk verify` passes on what was given, tells the answer by its status, and holds on a real bundle of a sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal
from tests.report.bundles import make_bundle, rewrite

ANSWER: dict[str, Any] = {
    "agrees": True,
    "why": "It agrees.",
    "name": "mix",
    "model": "net",
    "format": 1,
    "hashes": "ok",
    "target": {"text": "sqnr>=30", "met": True, "metric": "sqnr", "value": 40.0},
    "figures": [],
    "notes": [],
    "data": None,
    "stored_conditions": None,
}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 0),
        ({"target": None}, 0),
        ({"agrees": False}, 1),
        ({"target": {**ANSWER["target"], "met": False}}, 1),
        ({"agrees": False, "hashes": "model.onnx was changed.", "target": None}, 1),
    ],
)
def test_the_status_tells_whether_it_agrees_and_meets_its_target(
    mixdesk: Terminal, noted: NotedJobs, tmp_path: Path, changes: dict[str, Any], status: int
) -> None:
    noted.result = {**ANSWER, **changes}
    path = make_bundle(tmp_path)
    assert mixdesk("verify", str(path), "--json").status == status
    told = mixdesk("verify", str(path))
    assert told.status == status
    assert told.out.startswith("Agrees" if noted.result["agrees"] else "Does NOT agree")


def test_what_is_not_said_is_left_to_the_bundle(mixdesk: Terminal, noted: NotedJobs, tmp_path: Path) -> None:
    noted.result = ANSWER
    path = make_bundle(tmp_path)
    assert mixdesk("verify", str(path), "--json").status == 0
    assert noted.params == {
        "bundle": str(path),
        "original": None,
        "outputs": {},
        "target": None,
        "time_budget_s": None,
    }


def test_what_is_said_is_passed_on(mixdesk: Terminal, noted: NotedJobs, tmp_path: Path) -> None:
    noted.result = ANSWER
    path = make_bundle(tmp_path)
    original = tmp_path / "source" / "model.onnx"
    data = tmp_path / "holdout-source.npz"
    said = ("--original", str(original), "--data", str(data), "--threads", "2", "--batch", "3", "--seed", "4")
    assert mixdesk("verify", str(path), *said, "--target", "sqnr>=3", "--output", "y=2", "--json").status == 0
    params = noted.params
    assert (params["original"], params["threads"], params["batch"], params["seed"]) == (str(original), 2, 3, 4)
    assert (params["target"], params["outputs"]) == ("sqnr>=3", {"y": 2.0})
    assert len(params["data"]) == 64


@pytest.mark.parametrize("which", ["bundle", "original", "data"])
def test_a_missing_file_is_named_before_any_work(
    mixdesk: Terminal, noted: NotedJobs, tmp_path: Path, which: str
) -> None:
    path = make_bundle(tmp_path)
    missing = str(tmp_path / "nothing")
    said = {
        "bundle": (missing,),
        "original": (str(path), "--original", missing),
        "data": (str(path), "--data", missing),
    }
    answer = mixdesk("verify", *said[which], "--json")
    assert (answer.status, answer.error["kind"]) == (2, "not-found")
    assert noted.asked == []


def test_a_file_that_is_no_bundle_is_status_2_and_one_sentence(
    mixdesk: Terminal, noted: NotedJobs, tmp_path: Path
) -> None:
    path = tmp_path / "x.o3"
    path.write_bytes(b"no zip")
    answer = mixdesk("verify", str(path), "--json")
    assert (answer.status, answer.error["kind"]) == (2, "bundle")
    assert answer.error["message"] == "'x.o3' is no bundle: it is not a zip archive."
    assert noted.asked == []


@pytest.mark.xdist_group("timing")
def test_an_optimized_sample_is_taken_away_and_verified(mixdesk: Terminal, tmp_path: Path) -> None:
    out, page, table = (tmp_path / name for name in ("digits.o3", "digits.html", "digits.csv"))
    said = ("--time-budget", "4", "--target", "sqnr>=20", "-o", str(out), "--report", str(page), "--csv", str(table))
    optimized = mixdesk("optimize", "digits-cnn", *said, "--json")
    assert optimized.status == 0, optimized.out
    assert optimized.document["output"] == str(out)
    assert "<!doctype html>" in page.read_text(encoding="utf-8")
    assert len(table.read_text(encoding="utf-8").splitlines()) == 1 + len(optimized.document["layers"])
    document = mixdesk("verify", str(out), "--time-budget", "2", "--json").document
    assert document["hashes"] == "ok"
    found = {row["figure"]: row for row in document["figures"]}
    steady = [name for name, row in found.items() if row["decides"] and name != "speedup"]
    assert [name for name in steady if found[name]["agrees"] is False] == []
    assert document["agrees"] is (found["speedup"]["agrees"] is not False)  # a busy machine may time otherwise
    assert document["layers"]["differ"] == []
    rewrite(out, lambda members: members.update({"plan.json": b"{}"}))
    answer = mixdesk("verify", str(out), "--json")
    assert answer.status == 1
    assert answer.document["hashes"].startswith("plan.json was changed")
