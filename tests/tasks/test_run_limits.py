"""What one run may take: as asked, as the environment says, within what the job has left."""

from __future__ import annotations

import pytest

from core.errors import RequestError
from core.tasks.run_limits import run_limits


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIXDESK_RUN_SECONDS", raising=False)
    monkeypatch.delenv("MIXDESK_JOB_MEMORY_MB", raising=False)


def test_seconds_are_those_asked_for_but_no_fewer_than_ten_else_of_the_environment_else_sixty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_limits().seconds == 60.0
    assert run_limits(2.0).seconds == 10.0
    assert run_limits(90.0).seconds == 90.0
    monkeypatch.setenv("MIXDESK_RUN_SECONDS", "7.5")
    assert run_limits().seconds == 7.5
    assert run_limits(2.0).seconds == 7.5
    assert run_limits(90.0).seconds == 90.0


def test_memory_is_less_than_the_job_may_take_by_what_the_worker_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXDESK_JOB_MEMORY_MB", "4000")
    left = run_limits().memory_bytes
    assert left is not None
    assert 1e9 < left < 0.95 * 4e9
    monkeypatch.setenv("MIXDESK_JOB_MEMORY_MB", "1")
    assert run_limits().memory_bytes == 64 * 2**20


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_what_are_no_seconds_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MIXDESK_RUN_SECONDS", text)
    with pytest.raises(RequestError, match="MIXDESK_RUN_SECONDS must be a positive number of seconds"):
        run_limits()
