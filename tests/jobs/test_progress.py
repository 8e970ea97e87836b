"""Progress: few writes, nothing lost, honest fractions. The clock and the delayed writes are the test's."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from core.errors import StoppedError, WorkError
from core.jobs import queue
from core.jobs.claim import Keeper, Share, claim
from core.jobs.outcome import finish
from core.jobs.progress import INTERVAL_S, JobProgress
from core.progress import Progress
from core.store.rows import JobRow
from core.store.workspace import Workspace
from tests.jobs.workers import await_true


class Time:
    """A clock that stands still until it is moved, and what is due later."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def clock(self) -> float:
        return self.now_s

    def later(self, delay_s: float, action: Callable[[], None]) -> None:
        self.due.append((self.now_s + delay_s, action))

    def pass_by(self, seconds: float) -> None:
        self.now_s += seconds
        ready = [action for moment, action in self.due if moment <= self.now_s + 1e-9]
        self.due = [(moment, action) for moment, action in self.due if moment > self.now_s + 1e-9]
        for action in ready:
            action()


@pytest.fixture
def workspace(workspace_path: Path) -> Iterator[Workspace]:
    with Workspace.open(workspace_path) as workspace:
        yield workspace


@pytest.fixture
def job_id(workspace: Workspace) -> str:
    job_id = queue.submit(workspace, "profile", {})
    claim(workspace, Share((), inverted=True), Keeper.here())
    return job_id


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def progress(workspace: Workspace, job_id: str, time: Time) -> JobProgress:
    return JobProgress(workspace, job_id, clock=time.clock, later=time.later)


@pytest.fixture
def row(workspace: Workspace, job_id: str) -> Callable[[], JobRow]:
    return lambda: queue.job(workspace, job_id)


@pytest.fixture
def writes(workspace: Workspace) -> list[str]:
    """Every change of the job table from now on."""
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE jobs"):
            seen.append(statement)

    event.listen(workspace.database._writer, "before_cursor_execute", note)
    return seen


Row = Callable[[], JobRow]


def test_it_is_a_progress(progress: JobProgress) -> None:
    as_seam: Progress = progress
    as_seam.phase("profile", start=0, end=1)


def test_the_first_report_is_written_at_once(progress: JobProgress, row: Row) -> None:
    progress.phase("calibrate", start=0.2, end=0.6)
    assert (row().phase, row().fraction, row().what) == ("calibrate", 0.2, "")


def test_steps_of_a_phase_add_up_to_the_whole(progress: JobProgress, time: Time, row: Row) -> None:
    progress.phase("calibrate", start=0.2, end=0.6)
    time.pass_by(1)
    progress.step(1, 4, "conv1")
    assert row().fraction == pytest.approx(0.3)
    assert row().what == "conv1"


def test_many_steps_make_few_writes(progress: JobProgress, time: Time, writes: list[str]) -> None:
    progress.phase("profile", start=0, end=1)
    for i in range(1000):
        time.pass_by(0.002)
        progress.step(i + 1, 1000)
    assert len(writes) <= 2 + 2.0 / INTERVAL_S
    assert len(writes) >= 5


def test_what_was_held_back_is_written_a_little_later(progress: JobProgress, time: Time, row: Row) -> None:
    progress.phase("build", start=0, end=1)
    progress.step(1, 2, "long work follows")
    assert row().what == ""
    time.pass_by(INTERVAL_S)
    assert (row().what, row().fraction) == ("long work follows", 0.5)
    assert time.due == []


def test_leaving_writes_the_last_word(progress: JobProgress, row: Row) -> None:
    with progress:
        progress.phase("build", start=0, end=1)
        progress.step(2, 2, "the end")
        progress.partial("layer", {"ms": 1})
    assert (row().what, row().fraction) == ("the end", 1.0)


def test_leaving_by_an_error_keeps_the_partial_results(
    workspace: Workspace, progress: JobProgress, job_id: str
) -> None:
    def work() -> None:
        with progress:
            progress.phase("build", start=0, end=1)
            progress.partial("layer", {"ms": 1})
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        work()
    assert [part.value for part in queue.partials(workspace, job_id)] == [{"ms": 1}]


def test_the_fraction_never_falls_nor_passes_one(progress: JobProgress, time: Time, row: Row) -> None:
    seen = []
    progress.phase("a", start=0.5, end=0.8)
    for done in (2, 1, 3, 9):
        time.pass_by(1)
        progress.step(done, 4)
        seen.append(row().fraction)
    progress.phase("b", start=0.1, end=0.2)
    time.pass_by(1)
    seen.append(row().fraction)
    assert seen == sorted(seen, key=lambda fraction: fraction or 0)
    assert max(fraction or 0 for fraction in seen) <= 1.0


def test_a_phase_without_units_says_what_it_does(progress: JobProgress, time: Time, row: Row) -> None:
    progress.phase("search", start=0.5, end=1)
    time.pass_by(1)
    progress.step(0, 0, "looking")
    assert (row().what, row().fraction) == ("looking", 0.5)


def test_the_time_left_follows_from_time_and_fraction(progress: JobProgress, time: Time, row: Row) -> None:
    progress.phase("profile", start=0, end=1)
    assert row().eta_s is None
    time.pass_by(30)
    progress.step(1, 4)
    assert row().eta_s == pytest.approx(90.0)


def test_too_early_there_is_no_time_left_to_tell(progress: JobProgress, time: Time, row: Row) -> None:
    progress.phase("profile", start=0, end=1)
    time.pass_by(0.5)
    progress.step(1, 4)
    assert row().eta_s is None
    time.pass_by(30)
    progress.phase("profile again", start=0.01, end=1)
    assert row().phase == "profile again"


def test_a_stop_asked_between_two_writes_is_heard(
    workspace: Workspace, progress: JobProgress, time: Time, job_id: str
) -> None:
    progress.phase("profile", start=0, end=1)
    queue.stop(workspace, job_id)
    progress.step(1, 10)  # held back: nothing asked yet
    time.pass_by(INTERVAL_S)
    with pytest.raises(StoppedError):
        progress.step(2, 10)
    with pytest.raises(StoppedError):
        progress.partial("layer", {})


def test_a_job_that_has_ended_elsewhere_stops_its_worker(
    workspace: Workspace, progress: JobProgress, job_id: str, row: Row
) -> None:
    finish(workspace, job_id, {})
    with pytest.raises(StoppedError, match="ended or removed"):
        progress.phase("profile", start=0, end=1)
    assert row().phase == ""


def test_trouble_of_a_delayed_write_is_told_by_the_next_report(
    progress: JobProgress, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise WorkError("The disk is full.")

    progress.phase("profile", start=0, end=1)
    progress.step(1, 2)
    monkeypatch.setattr(progress, "flush", full)
    time.pass_by(INTERVAL_S)
    with pytest.raises(WorkError, match="disk is full"):
        progress.step(2, 2)


def test_with_the_real_clock_a_held_back_step_appears_by_itself(workspace: Workspace, job_id: str, row: Row) -> None:
    progress = JobProgress(workspace, job_id)
    progress.phase("build", start=0, end=1)
    progress.step(1, 2, "on its way")
    await_true(lambda: row().what == "on its way")


def test_sigterm_unwinds_the_work_in_the_main_thread(workspace: Workspace, progress: JobProgress, job_id: str) -> None:
    def work() -> None:
        with progress:
            progress.phase("search", start=0, end=1)
            progress.partial("trial", {"number": 1})
            signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(StoppedError, match="told to end"):
        work()
    assert signal.getsignal(signal.SIGTERM) is before
    assert len(queue.partials(workspace, job_id)) == 1


def test_sigterm_in_the_middle_of_a_report_waits_for_its_end(
    workspace: Workspace, progress: JobProgress, job_id: str
) -> None:
    def work() -> None:
        with progress:
            progress.partial("trial", {"number": 1})

    event.listen(
        workspace.database._writer, "before_cursor_execute", lambda *_: signal.raise_signal(signal.SIGTERM), once=True
    )
    with pytest.raises(StoppedError, match="told to end"):
        work()
    assert len(queue.partials(workspace, job_id)) == 1
