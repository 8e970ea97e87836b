"""`mixdesk sweep MODEL` measures threads x batch; how long that takes is told before it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.tasks import sweep
from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal

SPOT = {"threads": 1, "batch": 2, "throughput": 900.0, "latency_ms": {}}


def test_numbers_and_limit_become_the_jobs(mixdesk: Terminal, noted: NotedJobs, tiny: Path) -> None:
    noted.result = {"limit_ms": 20.0, "sweet_spot": SPOT}
    options = ("--threads", "1,2", "--batch", "1, 8", "--latency-limit", "20", "--json")
    assert mixdesk("sweep", str(tiny), *options).status == 0
    assert noted.asked[0][0] == "sweep"
    assert noted.params["sweep_threads"] == [1, 2]
    assert noted.params["sweep_batches"] == [1, 8]
    assert noted.params["limit_ms"] == 20.0


def test_a_limit_that_no_cell_keeps_is_status_1(mixdesk: Terminal, noted: NotedJobs, tiny: Path) -> None:
    noted.result = {"limit_ms": 1.0, "sweet_spot": None}
    assert mixdesk("sweep", str(tiny), "--latency-limit", "1", "--json").status == 1
    noted.result = {"limit_ms": None, "sweet_spot": None}
    assert mixdesk("sweep", str(tiny), "--json").status == 0


def test_how_long_it_takes_is_told_on_standard_error(
    mixdesk: Terminal, noted: NotedJobs, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted.result = {"limit_ms": None, "sweet_spot": SPOT}
    unknown = mixdesk("sweep", str(tiny), "--threads", "1,2", "--json").err
    assert "8 cells; a quick run will tell how long they take" in unknown

    def known(store: Any, params: dict[str, Any]) -> float:
        return 17.2

    monkeypatch.setattr(sweep, "expected_s", known)
    assert "4 cells take about 17 s" in mixdesk("sweep", str(tiny), "--threads", "1", "--json").err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--threads", "1,two"), "'1,two' is no list of whole numbers above 0."),
        (("--batch", "0"), "'0' is no list of whole numbers above 0."),
        (("--batch", ""), "'' is no list of whole numbers above 0."),
        (("--latency-limit", "-3"), "--latency-limit takes a number of milliseconds above 0, not -3."),
    ],
)
def test_what_cannot_be_read_is_refused_before_any_work(
    mixdesk: Terminal, noted: NotedJobs, tiny: Path, options: tuple[str, str], told: str
) -> None:
    noted.result = {"limit_ms": None, "sweet_spot": SPOT}
    answer = mixdesk("sweep", str(tiny), *options)
    assert answer.status == 2
    assert told in answer.err
    assert not noted.asked
