"""What forgetting jobs must do, and what their lineage tells, whatever database is behind the workspace."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from core.errors import NotFoundError, RequestError
from core.jobs import queue
from core.jobs.claim import Keeper, interrupt_orphans, promise
from core.jobs.clean import clean, remove
from core.jobs.lineage import lineage
from core.jobs.outcome import fail, finish
from core.jobs.progress import JobProgress
from core.store.rows import now
from core.store.workspace import Workspace
from tests.contracts.jobs import OpenedQueue, built_by, running


class JobsKeptContract(OpenedQueue):
    """Jobs go with logs and partial results; what they built stays unless asked; the line of tries stays."""

    def test_a_job_is_forgotten_with_its_log_and_partial_results(self, workspace: Workspace) -> None:
        job_id = running(workspace)
        with JobProgress(workspace, job_id) as progress:
            progress.partial("layer", {})
        (workspace.logs / f"{job_id}.log").write_text("12345")
        with pytest.raises(RequestError, match="is still running"):
            remove(workspace, job_id)
        finish(workspace, job_id, {})
        assert remove(workspace, job_id) == 5
        assert not (workspace.logs / f"{job_id}.log").exists()
        assert queue.partials(workspace, job_id) == ()
        with pytest.raises(NotFoundError):
            queue.job(workspace, job_id)

    def test_what_a_job_built_stays_unless_asked(self, workspace: Workspace) -> None:
        jobs = [running(workspace) for _ in range(2)]
        for job_id in jobs:
            built_by(workspace, job_id)
            finish(workspace, job_id, {})
        remove(workspace, jobs[0])
        assert remove(workspace, jobs[1], candidates=True) == len(jobs[1])
        (left,) = workspace.candidates()
        assert left.job_id is None
        assert workspace.files.read(left.file_sha256) == jobs[0].encode()

    def test_cleaning_takes_the_jobs_that_ended_before_a_moment(self, workspace: Workspace) -> None:
        old, new, active = running(workspace), running(workspace), running(workspace)
        finish(workspace, old, {})
        moment = now()
        finish(workspace, new, {})
        assert clean(workspace, before=moment).jobs == 1
        assert [row.id for row in queue.jobs(workspace)] == [active, new]
        assert clean(workspace, states=("failed", "running")).jobs == 0
        assert clean(workspace, states=("done",)).jobs == 1
        assert [row.id for row in queue.jobs(workspace)] == [active]

    def test_cleaning_with_candidates_keeps_the_jobs_whose_work_is_needed(self, workspace: Workspace) -> None:
        needed, other = built_by(workspace, running(workspace)), built_by(workspace, running(workspace))
        for row in (needed, other):
            finish(workspace, str(row.job_id), {})
        queue.submit(workspace, "verify", {"candidate": needed.id}, title="Verify it")
        cleaned = clean(workspace, candidates=True)
        assert (cleaned.jobs, cleaned.candidates, cleaned.freed_bytes) == (1, 1, len(str(other.job_id)))
        assert "needed by the job 'Verify it'" in cleaned.kept[0]
        assert [row.id for row in workspace.candidates()] == [needed.id]

    # lineage

    def test_lineage_tells_what_a_job_goes_on_with_and_what_it_built(self, workspace: Workspace) -> None:
        first = running(workspace)
        fail(workspace, first, {"kind": "work", "message": "no"})
        second = queue.resume(workspace, first)
        queue.stop(workspace, second)
        third = queue.resume(workspace, second)
        built = built_by(workspace, third)
        family = lineage(workspace, queue.job(workspace, second))
        assert ([row.id for row in family.before], [row.id for row in family.after]) == ([first], [third])
        last = lineage(workspace, queue.job(workspace, third))
        assert [row.id for row in last.before] == [second, first]
        assert [(made.id, made.name) for made in last.built] == [(built.id, "all int8")]
        remove(workspace, first)
        assert [row.id for row in lineage(workspace, queue.job(workspace, third)).before] == [second]
        assert queue.job(workspace, second).resumes == first

    def test_a_job_that_somebody_waits_to_run_ends_with_him(self, workspace: Workspace) -> None:
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        here = Keeper.here()
        promised, anybodys = queue.submit(workspace, "finish", {}), queue.submit(workspace, "finish", {})
        promise(workspace, promised, here)
        assert interrupt_orphans(workspace, here) == ()
        promise(workspace, promised, replace(here, pid=gone.pid))
        assert interrupt_orphans(workspace, here) == (promised,)
        assert queue.job(workspace, promised).state == "interrupted"
        assert queue.job(workspace, anybodys).state == "queued"
