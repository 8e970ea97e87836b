"""Progress goes to standard error: plain lines that come seldom, or a bar."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.cli.display import JobDisplay
from core.store.rows import JobRow, JobState, now

ROW = JobRow(
    id="a" * 12,
    kind="profile",
    title="Profile tiny",
    params={},
    model_sha256=None,
    state=JobState.RUNNING,
    fraction=0.25,
    phase="Measure",
    what="run 1",
    eta_s=None,
    created_at=now(),
    started_at=now(),
    finished_at=None,
    pid=None,
    result=None,
    error=None,
    log="a.log",
    stop_requested=False,
    host=None,
    supervisor_pid=None,
    supervisor_started=None,
    heartbeat_at=None,
)


def test_a_line_comes_with_each_part_and_then_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.0, 2.0, 12.0, 13.0])
    with JobDisplay("Profile tiny", live=False, clock=lambda: next(times)) as display:
        display.show(ROW)
        display.show(replace(ROW, what="run 2"))
        display.show(replace(ROW, what="run 3", fraction=0.5))
        display.show(replace(ROW, phase="Join", what=""))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "Profile tiny: Measure: run 1 (25%)",
        "Profile tiny: Measure: run 3 (50%)",
        "Profile tiny: Join (25%)",
    ]


def test_a_waiting_job_says_for_what(capsys: pytest.CaptureFixture[str]) -> None:
    with JobDisplay("Profile tiny", live=False) as display:
        display.show(replace(ROW, state=JobState.QUEUED, phase="", what="Waits for 'Build'", fraction=None))
    assert capsys.readouterr().err == "Profile tiny: Waits for 'Build'\n"


def test_a_bar_leaves_standard_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with JobDisplay("Profile tiny", live=True) as display:
        display.show(replace(ROW, what="layer [bold]x[/nope]"))
    assert capsys.readouterr().out == ""
