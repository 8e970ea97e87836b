"""`mixdesk machine` asks for a probe."""

from __future__ import annotations

from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal


def test_refresh_is_passed_on(mixdesk: Terminal, noted: NotedJobs) -> None:
    assert mixdesk("machine", "--refresh", "--threads", "2", "--json").status == 0
    assert noted.asked == [("machine", {"threads": 2, "seed": 0, "refresh": True})]
