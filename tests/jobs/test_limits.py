"""Limits come from the environment, or not at all."""

from __future__ import annotations

import psutil
import pytest

from core.errors import RequestError
from core.jobs.limits import Limits


def test_without_a_word_a_job_may_take_most_of_the_machine_but_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIXDESK_JOB_MEMORY_MB", raising=False)
    limit, machine = Limits.from_environment().memory_bytes, psutil.virtual_memory().total
    assert limit is not None
    assert machine / 2 < limit < machine


def test_the_environment_limits_memory_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXDESK_JOB_MEMORY_MB", "1500")
    assert Limits.from_environment().memory_bytes == 1_500_000_000


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "two", "\u0663"])
def test_what_is_no_whole_number_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXDESK_JOB_MEMORY_MB", text)
    with pytest.raises(RequestError, match="MIXDESK_JOB_MEMORY_MB must be a whole number of megabytes"):
        Limits.from_environment()
