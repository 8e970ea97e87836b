"""The words of the job card, the jobs chip and the machine chip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.jobs.outcome import interrupted, judge_exit
from core.jobs.queue import job, submit
from core.runtime.conditions import Conditions
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace
from dashboard.widgets.job_chip import chip_line
from dashboard.widgets.jobs import again_label, clock, found_lines, progress_line, told_error
from dashboard.widgets.strip import machine_line


@pytest.fixture
def row(desk: Workspace) -> JobRow:
    return job(desk, submit(desk, "build", {}, title="Build mine"))


def test_a_running_job_tells_phase_share_and_time_left(row: JobRow) -> None:
    running = replace(row, state=JobState.RUNNING, phase="Calibrate", fraction=0.434, eta_s=12.2)
    assert progress_line(running) == "Calibrate · 43 % · about 0:12 left"
    assert chip_line([running]) == "1 running, 43 %, 0:12 left"


def test_a_waiting_job_tells_what_it_waits_for(row: JobRow) -> None:
    assert progress_line(replace(row, what="Waits for 'Profile x'")) == "Waits for 'Profile x'"
    assert progress_line(row) == "Waiting for its turn"
    assert chip_line([row]) == "1 waiting"


def test_what_is_known_is_one_block_and_repeats_nothing(row: JobRow) -> None:
    waits = replace(row, what="Another Mixdesk on this machine is measuring (process 7)")
    assert progress_line(waits) == waits.what
    assert found_lines(waits, "") == ["Nothing is known yet."]
    running = replace(row, state=JobState.RUNNING, what="conv1")
    assert found_lines(running, "") == ["conv1"]
    assert found_lines(running, "3 mixes tried") == ["conv1", "Known so far: 3 mixes tried"]
    assert found_lines(replace(running, what=""), "3 mixes tried") == ["Known so far: 3 mixes tried"]


def test_a_job_that_was_asked_to_stop_says_so(row: JobRow) -> None:
    assert progress_line(replace(row, state=JobState.RUNNING, fraction=0.5, stop_requested=True)) == "Stopping"


def test_no_jobs_say_so() -> None:
    assert chip_line([]) == "No jobs running"


@pytest.mark.parametrize(("seconds", "shown"), [(0.2, "0:00"), (12, "0:12"), (185, "3:05"), (3729, "1:02:09")])
def test_times_are_minutes_and_seconds(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_the_machine_chip_names_what_decides_the_kernels() -> None:
    here = Conditions(
        machine="m",
        cpu="A CPU",
        cores=2,
        features=("avx2", "avx512f", "avx512_vnni"),
        os="Linux",
        python="3.11",
        onnxruntime="1.32.0",
        provider="CPUExecutionProvider",
        threads=1,
        batch=1,
        load_average=0.1,
        seed=0,
        time="2026-01-01T00:00:00+00:00",
    )
    assert machine_line(here) == "2 cores, AVX512-VNNI, ort 1.32, CPU"
    assert machine_line(replace(here, features=())) == "2 cores, ort 1.32, CPU"


def test_a_waiting_job_names_no_process(row: JobRow) -> None:
    what = "Waits for 'Auto-mix digits-cnn' (process 15109) and 1 more before it"
    assert progress_line(replace(row, what=what)) == "Waits for 'Auto-mix digits-cnn' and 1 more before it"


def test_a_job_that_waits_for_another_workspace_names_the_process(row: JobRow) -> None:
    what = "Another Mixdesk on this machine is measuring (process 15109)"
    assert progress_line(replace(row, what=what)) == what


@pytest.mark.parametrize(
    ("hint", "shown", "nothing_found"),
    [
        (
            "Resume it: what was finished is kept. Its log: ab.log.",
            "Resume it: what was finished is kept. Its log: ab.log.",
            "Resume it. Its log: ab.log.",
        ),
        (
            "What it had found is kept; start it again. Its log: ab.log.",
            "Resume it: what was finished is kept. Its log: ab.log.",
            "Resume it. Its log: ab.log.",
        ),
        (
            "What was finished is kept. Its log: ab.log.",
            "What was finished is kept. Its log: ab.log.",
            "Its log: ab.log.",
        ),
        ("What it had found is kept.", "What was finished is kept.", None),
        ("Export it.", "Export it.", "Export it."),
    ],
)
def test_something_is_said_to_be_kept_only_where_something_was_found(
    hint: str, shown: str, nothing_found: str | None
) -> None:
    error = {"kind": "crashed", "message": "It was killed.", "hint": hint}
    assert told_error(error, found=False) == {**error, "hint": nothing_found}
    assert told_error(error, found=True) == {**error, "hint": shown}


def test_the_button_is_called_as_the_advice_calls_it(row: JobRow) -> None:
    for ending in (judge_exit(row, -9), interrupted("Its supervisor ended.")):
        assert str(ending.error.hint).startswith(f"{again_label(ending.state)[0]} it")
    assert again_label(JobState.DONE)[0] == "Run again"
