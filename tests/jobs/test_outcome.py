"""Each way to end has its sentence, in one line, with what to do next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.jobs.outcome import judge_exit, over_memory
from core.store.rows import JobRow, JobState, now

ROW = JobRow(
    id="0123456789ab",
    kind="profile",
    title="Profile m",
    params={},
    model_sha256=None,
    state=JobState.RUNNING,
    fraction=None,
    phase="",
    what="",
    eta_s=None,
    created_at=now(),
    started_at=None,
    finished_at=None,
    pid=None,
    result=None,
    error=None,
    log="0123456789ab.log",
    stop_requested=False,
    host=None,
    supervisor_pid=None,
    supervisor_started=None,
    heartbeat_at=None,
)


@pytest.mark.parametrize(
    ("exit_code", "told"),
    [
        (-9, "killed by signal 9 (SIGKILL): the machine ran out of memory, or somebody killed it."),
        (-15, "killed by signal 15 (SIGTERM): somebody ended it."),
        (-11, "killed by signal 11 (SIGSEGV): a fault in a native library, such as the runtime on this model."),
        (-6, "killed by signal 6 (SIGABRT): a fault in a native library, such as the runtime on this model."),
        (-4, "killed by signal 4 (SIGILL): a fault in a native library, such as the runtime on this model."),
        (-99, "killed by signal 99 (unknown)"),
        (0, "ended with status 0 and stored neither a result nor an error."),
        (3, "ended with status 3 and stored neither a result nor an error."),
    ],
)
def test_a_crash_says_how_and_what_to_do(exit_code: int, told: str) -> None:
    ending = judge_exit(ROW, exit_code)
    assert ending.state == "crashed"
    assert f"The worker {'was ' if exit_code < 0 else ''}{told}" in ending.error.message
    assert ending.error.hint == "Resume it: what was finished is kept. Its log: 0123456789ab.log."


@pytest.mark.parametrize("exit_code", [0, 3, -15, -9])
def test_whatever_the_exit_a_job_that_was_asked_to_stop_is_stopped(exit_code: int) -> None:
    ending = judge_exit(replace(ROW, stop_requested=True), exit_code)
    assert ending.state == "stopped"
    assert ending.error.kind == "stopped"


def test_memory_is_told_in_mebibytes() -> None:
    ending = over_memory(ROW, 3 * 2**30, 2**30)
    assert "used 3,072 MiB of memory, more than the 1,024 MiB" in ending.error.message
