"""What the job queue must do, whatever database is behind the workspace."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from core.errors import NotFoundError, RequestError, StoppedError, WorkError
from core.jobs import queue
from core.jobs.claim import LEASE, LEASE_OF_LIVING, Keeper, Share, beat, claim, interrupt_orphans
from core.jobs.outcome import fail, finish
from core.jobs.progress import JobProgress
from core.store.rows import CandidateRow, JobRow, JobState, now
from core.store.tables import JOBS
from core.store.workspace import Workspace
from tests.jobs.workers import supervised

Opener = Callable[[], Workspace]
ALL = Share((), inverted=True)
MODEL = "a" * 64

CLAIM_ALL = """
import os, sys
from core.jobs.claim import Keeper, Share, claim
from core.store.workspace import Workspace
from tests.jobs.workers import supervised
workspace = Workspace.open()
print("ready", flush=True)
sys.stdin.readline()
while (row := claim(workspace, Share((), inverted=True), Keeper.here())) is not None:
    print(row.id, flush=True)
"""


JOBS_OF_TWO_SERVERS = 6
SERVE_TALLIES = """
import sys, time
from core.jobs.supervisor import Supervisor
from core.store.workspace import Workspace
from tests.jobs.workers import command
workspace = Workspace.open()
with Supervisor(workspace, command(workspace), untimed={"tally"}, machine_lock=workspace.path / "machine.lock"):
    time.sleep(300)
"""


def running(workspace: Workspace, **changes: object) -> str:
    """Queues and claims a job, then changes its row; returns its id."""
    job_id = queue.submit(workspace, "profile", {})
    row = claim(workspace, Share((), inverted=True, only=job_id), Keeper.here())
    assert row is not None
    if changes:
        with workspace.database.writing() as connection:
            connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(**changes))
    return job_id


def built_by(workspace: Workspace, job_id: str) -> CandidateRow:
    """A candidate of this job, with a file of its own."""
    model = workspace.add_model("m", workspace.files.put(b"m"), 1)
    file = workspace.files.put(job_id.encode())
    made = CandidateRow(
        model_sha256=model.sha256, file_sha256=file, job_id=job_id, name="all int8", recipe={}, plan={}, report={}
    )
    return workspace.add_candidate(made)


class OpenedQueue:
    """Subclasses give the fixture `environment`: what tells a process which workspace to open."""

    @pytest.fixture
    def workspace(self, environment: dict[str, str]) -> Iterator[Workspace]:
        with Workspace.open() as workspace:
            yield workspace


class JobsContract(OpenedQueue):
    """The queue, claims, supervisors that are gone, endings, progress."""

    # the queue

    def test_a_job_waits_with_all_it_was_given(self, workspace: Workspace) -> None:
        job_id = queue.submit(workspace, "profile", {"model": MODEL, "x": math.nan, "shape": (1, 2)}, title="Profile m")
        row = queue.job(workspace, job_id)
        assert (row.state, row.kind, row.title) == ("queued", "profile", "Profile m")
        assert row.params == {"model": MODEL, "x": None, "shape": [1, 2]}
        assert (row.model_sha256, row.log, row.fraction, row.result) == (MODEL, f"{job_id}.log", None, None)
        assert not row.is_final

    def test_jobs_come_newest_first_and_can_be_chosen(self, workspace: Workspace) -> None:
        first = queue.submit(workspace, "inspect", {"model": MODEL})
        second = queue.submit(workspace, "profile", {"model": MODEL})
        third = queue.submit(workspace, "machine", {})
        queue.stop(workspace, third)

        def found(**chosen: object) -> list[str]:
            return [row.id for row in queue.jobs(workspace, **chosen)]  # type: ignore[arg-type]

        assert found() == [third, second, first]
        assert found(model=MODEL) == [second, first]
        assert found(model=(MODEL, "b" * 64)) == [second, first]
        assert found(kind="profile") == [second]
        assert found(states=("queued",)) == [second, first]
        assert found(states=(JobState.STOPPED, JobState.DONE)) == [third]
        assert found(limit=1) == [third]

    def test_a_list_leaves_the_results_out_unless_asked(self, workspace: Workspace) -> None:
        finish(workspace, queue.submit(workspace, "profile", {}), {"wall_ms": 1})
        assert queue.jobs(workspace)[0].result is None
        assert queue.jobs(workspace, results=True)[0].result == {"wall_ms": 1}

    def test_an_id_may_be_shortened_and_a_wrong_one_is_not_found(self, workspace: Workspace) -> None:
        job_id = queue.submit(workspace, "profile", {})
        assert queue.job(workspace, job_id[:4]).id == job_id
        with pytest.raises(NotFoundError):
            queue.job(workspace, job_id[:3])
        wrong = ("0" if job_id[-1] != "0" else "1").rjust(12, "x")
        with pytest.raises(NotFoundError, match="has no job"):
            queue.job(workspace, wrong)
        with pytest.raises(NotFoundError, match=f"Did you mean '{job_id}'"):
            queue.stop(workspace, job_id[:-1] + "x")

    def test_a_queued_job_stops_at_once_and_nobody_claims_it(self, workspace: Workspace) -> None:
        row = queue.stop(workspace, queue.submit(workspace, "profile", {}))
        assert row.state == "stopped"
        assert row.finished_at is not None
        assert claim(workspace, ALL, Keeper.here()) is None

    def test_a_running_job_is_only_asked_and_an_ended_one_left_alone(self, workspace: Workspace) -> None:
        asked = queue.stop(workspace, running(workspace))
        assert (asked.state, asked.stop_requested) == ("running", True)
        finish(workspace, asked.id, {})
        assert queue.stop(workspace, asked.id).state == "done"

    def test_the_same_work_can_be_queued_again(self, workspace: Workspace) -> None:
        old = running(workspace)
        fail(workspace, old, {"kind": "work", "message": "no"})
        again = queue.job(workspace, queue.resume(workspace, old))
        before = queue.job(workspace, old)
        assert again.id != old
        assert (again.resumes, before.resumes) == (old, None)
        assert (again.kind, again.params, again.title, again.state) == (
            before.kind,
            before.params,
            before.title,
            "queued",
        )

    def test_a_job_that_has_not_ended_is_not_queued_twice(self, workspace: Workspace) -> None:
        for active in (queue.submit(workspace, "profile", {}, title="Profile m"), running(workspace)):
            with pytest.raises(RequestError, match=r"is still (queued|running)"):
                queue.resume(workspace, active)

    def test_once_means_that_the_same_work_is_not_queued_beside_itself(self, workspace: Workspace) -> None:
        params = {"model": MODEL, "shapes": {"x": (1, 4)}, "share": 0.1}
        first = queue.submit(workspace, "profile", params, once=True)
        assert queue.submit(workspace, "profile", params, once=True) == first
        assert queue.submit(workspace, "profile", {**params, "share": 0.2}, once=True) != first
        claim(workspace, ALL, Keeper.here())
        assert queue.submit(workspace, "profile", params, once=True) == first
        assert queue.submit(workspace, "build", params, once=True) != first
        assert queue.submit(workspace, "profile", params) != first

    def test_work_that_was_stopped_or_is_being_stopped_can_begin_anew(self, workspace: Workspace) -> None:
        first = queue.submit(workspace, "profile", {"model": MODEL}, once=True)
        claim(workspace, ALL, Keeper.here())
        queue.stop(workspace, first)
        second = queue.submit(workspace, "profile", {"model": MODEL}, once=True)
        queue.stop(workspace, second)
        third = queue.resume(workspace, second, once=True)
        assert len({first, second, third}) == 3
        assert queue.resume(workspace, second, once=True) == third

    def test_waiting_tells_each_change_and_ends_with_the_job(self, workspace: Workspace) -> None:
        job_id = queue.submit(workspace, "profile", {})
        seen: list[str] = []

        def step_on(row: JobRow) -> None:
            seen.append(row.state)
            if row.state == "queued":
                claim(workspace, ALL, Keeper.here())
            else:
                finish(workspace, job_id, {"a": 1})

        row = queue.wait(workspace, job_id, step_on, poll_s=0)
        assert seen == ["queued", "running", "done", "done"][: len(seen)]
        assert row.result == {"a": 1}

    def test_waiting_has_an_end_where_one_is_given(self, workspace: Workspace) -> None:
        with pytest.raises(WorkError, match=r"has not ended after 0\.01 s"):
            queue.wait(workspace, queue.submit(workspace, "profile", {}), poll_s=0.02, timeout_s=0.01)

    # claims

    def test_the_longest_waiting_job_is_claimed_first(self, workspace: Workspace) -> None:
        ids = [queue.submit(workspace, "profile", {}) for _ in range(3)]
        claimed = [claim(workspace, ALL, Keeper.here()) for _ in range(4)]
        assert [row.id if row else None for row in claimed] == [*ids, None]
        assert all(row.state == "running" and row.started_at and row.heartbeat_at for row in claimed if row)

    def test_a_share_claims_only_what_is_its_own(self, workspace: Workspace) -> None:
        profile, inspect = (queue.submit(workspace, kind, {}) for kind in ("profile", "inspect"))
        keeper = Keeper.here()
        assert claim(workspace, Share(("inspect",), inverted=True, only=inspect), keeper) is None
        light = claim(workspace, Share(("inspect",)), keeper)
        timed = claim(workspace, Share(("inspect",), inverted=True), keeper)
        assert light is not None
        assert timed is not None
        assert (light.id, timed.id) == (inspect, profile)

    def test_processes_that_race_for_jobs_never_share_one(
        self, workspace: Workspace, environment: dict[str, str]
    ) -> None:
        ids = {queue.submit(workspace, "profile", {}) for _ in range(40)}
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", CLAIM_ALL],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, **environment},
            )
            for _ in range(3)
        ]
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        claimed = [racer.communicate(timeout=60)[0].split() for racer in racers]
        everything = [job_id for part in claimed for job_id in part]
        assert len(everything) == len(set(everything))
        assert set(everything) == ids

    def test_two_servers_share_the_jobs_of_a_workspace_and_each_runs_once(
        self, workspace: Workspace, environment: dict[str, str], tmp_path: Path
    ) -> None:
        tally = tmp_path / "tally"
        ids = [queue.submit(workspace, "tally", {"file": str(tally)}) for _ in range(JOBS_OF_TWO_SERVERS)]
        servers = [
            subprocess.Popen([sys.executable, "-c", SERVE_TALLIES], env={**os.environ, **environment}) for _ in range(2)
        ]
        try:
            states = {queue.wait(workspace, job_id, poll_s=0.05, timeout_s=120).state for job_id in ids}
        finally:
            for server in servers:
                server.kill()
                server.wait()
        assert states == {"done"}
        ran = [line.split() for line in tally.read_text().splitlines()]
        assert sorted(job_id for job_id, _ in ran) == sorted(ids)
        assert {int(server) for _, server in ran} == {server.pid for server in servers}

    def test_a_worker_opens_the_same_workspace(self, workspace: Workspace) -> None:
        job_id = queue.submit(workspace, "finish", {})
        with supervised(workspace):
            assert queue.wait(workspace, job_id, poll_s=0.02, timeout_s=60).state == "done"

    # supervisors that are gone

    def test_a_job_of_a_dead_process_is_interrupted_and_says_so(self, workspace: Workspace) -> None:
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        job_id = running(workspace, supervisor_pid=gone.pid)
        assert interrupt_orphans(workspace, Keeper.here()) == (job_id,)
        row = queue.job(workspace, job_id)
        assert row.state == "interrupted"
        assert row.error is not None
        assert "ended before the job did" in row.error["message"]
        assert "Resume it: what was finished is kept" in row.error["hint"]

    def test_a_process_number_used_again_is_another_process(self, workspace: Workspace) -> None:
        here = Keeper.here()
        job_id = running(workspace, supervisor_started=here.started - 100)
        assert interrupt_orphans(workspace, here) == (job_id,)

    def test_a_job_of_a_living_process_is_left_alone(self, workspace: Workspace) -> None:
        running(workspace)
        assert interrupt_orphans(workspace, Keeper.here()) == ()
        assert interrupt_orphans(workspace, Keeper.here(), at=now() + LEASE * 2) == ()
        assert len(interrupt_orphans(workspace, Keeper.here(), at=now() + LEASE_OF_LIVING * 2)) == 1

    def test_a_job_of_another_host_is_orphaned_when_it_is_silent(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        elsewhere = replace(Keeper.here(), host="elsewhere")
        assert interrupt_orphans(workspace, elsewhere) == ()
        later = now() + LEASE + timedelta(seconds=5)
        beat(workspace, [job_id])
        assert interrupt_orphans(workspace, elsewhere, at=now() + LEASE / 2) == ()
        assert interrupt_orphans(workspace, elsewhere, at=later) == (job_id,)

    # endings

    def test_a_result_is_stored_strictly(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        assert finish(workspace, job_id, {"sqnr_db": math.inf, "ms": [math.nan, 1.0]})
        row = queue.job(workspace, job_id)
        assert (row.state, row.fraction, row.result) == ("done", 1.0, {"sqnr_db": None, "ms": [None, 1.0]})
        assert row.finished_at is not None

    def test_the_first_ending_wins(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        assert fail(workspace, job_id, {"kind": "run", "message": "refused", "hint": None, "layer": "conv1"})
        assert not finish(workspace, job_id, {})
        assert not fail(workspace, job_id, {}, stopped=True)
        row = queue.job(workspace, job_id)
        assert (row.state, row.result) == ("failed", None)
        assert row.error == {"kind": "run", "message": "refused", "hint": None, "layer": "conv1"}

    def test_what_fails_while_a_job_is_being_stopped_is_part_of_the_stop(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        queue.stop(workspace, job_id)
        fail(workspace, job_id, {"kind": "crashed", "message": "A child died."})
        row = queue.job(workspace, job_id)
        assert row.state == "stopped"
        assert row.error is not None
        assert row.error["kind"] == "stopped"

    def test_however_a_worker_hears_of_a_stop_the_job_says_it_was_asked_for(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        queue.stop(workspace, job_id)
        fail(workspace, job_id, StoppedError("The worker was told to end.").to_dict(), stopped=True)
        row = queue.job(workspace, job_id)
        assert row.error is not None
        assert (row.state, row.error["message"]) == ("stopped", "Stopped on request.")

    def test_a_job_that_stopped_when_asked_is_stopped(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        fail(workspace, job_id, StoppedError("Stopped.").to_dict(), stopped=True)
        assert queue.job(workspace, job_id).state == "stopped"

    # progress

    def test_partial_results_come_in_order_and_from_where_one_left_off(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        with JobProgress(workspace, job_id) as progress:
            for i in range(5):
                progress.partial("layer", {"i": i, "ms": math.nan})
        found = queue.partials(workspace, job_id)
        assert [(part.seq, part.value["i"]) for part in found] == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]
        assert found[0].value["ms"] is None
        assert [part.seq for part in queue.partials(workspace, job_id, after=3)] == [4, 5]
        with JobProgress(workspace, job_id) as progress:
            progress.partial("layer", {"i": 5})
        assert [part.seq for part in queue.partials(workspace, job_id, after=5)] == [6]

    def test_a_stop_is_heard_by_the_next_report(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        queue.stop(workspace, job_id)
        with pytest.raises(StoppedError, match="Stopped on request"):
            JobProgress(workspace, job_id).phase("profile", start=0, end=1)
