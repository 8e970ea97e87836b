"""What forgetting must do, whatever database is behind the workspace; and what is told of the room that all takes."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from core.errors import NotFoundError, RequestError
from core.jobs import queue
from core.jobs.clean import clean as clean_jobs
from core.jobs.clean import remove
from core.jobs.outcome import finish
from core.store import clean
from core.store.disk_use import disk_use
from core.store.rows import JobState, now
from core.store.tables import JOBS, MODELS
from core.store.workspace import Workspace
from tests.contracts.store import OpenedWorkspaces, stored_candidate, stored_model


class CleanContract(OpenedWorkspaces):
    """Models, data and candidates go with their files, but never what others or a job still need."""

    def test_a_removed_model_takes_its_data_candidates_and_files_along(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        data = workspace.add_dataset("eval", workspace.files.put(b"data"), model.sha256, 4)
        built = stored_candidate(workspace, model)
        workspace.save_mix(model.sha256, "draft", {})
        freed = clean.remove_model(workspace, model.sha256)
        assert freed == len(b"model") + len(b"data") + len(b"candidate")
        assert not any(workspace.files.has(sha) for sha in (model.sha256, data.sha256, built.file_sha256))
        assert (workspace.models(), workspace.candidates(), workspace.mixes(model.sha256)) == ((), (), ())

    def test_a_model_of_several_files_goes_with_all_of_them(self, workspace: Workspace) -> None:
        files = {"net.onnx": b"graph", "weights/w.bin": b"weights"}
        sha256 = workspace.files.put_folder(files, main="net.onnx")
        workspace.add_model("net", sha256, workspace.files.stat(sha256).size_bytes)
        assert clean.sweep_files(workspace, young=timedelta(0)) == 0
        assert clean.remove_model(workspace, sha256) == len(b"graph") + len(b"weights")
        assert list(workspace.files.stored()) == []

    def test_a_file_that_others_refer_to_stays(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        first, second = stored_candidate(workspace, model), stored_candidate(workspace, model)
        assert clean.remove_candidate(workspace, first.id) == 0
        assert workspace.files.has(second.file_sha256)
        assert clean.remove_candidate(workspace, second.id) == len(b"candidate")
        assert not workspace.files.has(second.file_sha256)

    def test_a_sweep_takes_what_nothing_refers_to_but_not_what_is_young(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        stray = workspace.files.put(b"stray")
        assert clean.sweep_files(workspace) == 0
        assert clean.sweep_files(workspace, young=timedelta(0)) == len(b"stray")
        assert not workspace.files.has(stray)
        assert workspace.files.has(model.sha256)

    def test_data_are_taken_from_one_model_and_stay_with_the_other(self, workspace: Workspace) -> None:
        first, second = stored_model(workspace, b"1"), stored_model(workspace, b"2")
        sha256 = workspace.files.put(b"data")
        for model in (first, second):
            workspace.add_dataset("eval", sha256, model.sha256, 4)
        assert clean.remove_dataset(workspace, sha256, first.sha256) == 0
        assert (workspace.datasets(first.sha256), workspace.files.has(sha256)) == ((), True)
        assert clean.remove_dataset(workspace, sha256, second.sha256) == 4
        assert not workspace.files.has(sha256)
        with pytest.raises(NotFoundError, match="has no data"):
            clean.remove_dataset(workspace, sha256, second.sha256)

    @pytest.mark.parametrize("removed", ["model", "data", "candidate"])
    def test_nothing_goes_that_a_job_still_needs(self, workspace: Workspace, removed: str) -> None:
        model = stored_model(workspace)
        data = workspace.add_dataset("eval", workspace.files.put(b"data"), model.sha256, 4)
        built = stored_candidate(workspace, model)
        params = {"model": model.sha256, "data": data.sha256, "against": {"candidates": [built.id]}}
        job_id = queue.submit(workspace, "compare", params, title="Compare them")

        def remove() -> int:
            if removed == "model":
                return clean.remove_model(workspace, model.sha256)
            if removed == "data":
                return clean.remove_dataset(workspace, data.sha256, model.sha256)
            return clean.remove_candidate(workspace, built.id)

        with pytest.raises(RequestError, match="needed by the job 'Compare them', which is queued"):
            remove()
        assert workspace.candidates() == (built,)
        assert all(workspace.files.has(sha256) for sha256 in (model.sha256, data.sha256, built.file_sha256))
        queue.stop(workspace, job_id)
        remove()

    def test_a_removed_model_takes_its_ended_jobs_and_cached_results_along(self, workspace: Workspace) -> None:
        model, other = stored_model(workspace, b"1"), stored_model(workspace, b"22")
        for row in (model, other):
            job_id = queue.submit(workspace, "profile", {"model": row.sha256})
            queue.stop(workspace, job_id)
            (workspace.logs / queue.job(workspace, job_id).log).write_bytes(b"log")
            workspace.cache_put(row.sha256, {"ms": 1}, model=row.sha256)
        assert clean.remove_model(workspace, model.sha256) == len(b"1") + len(b"log")
        assert [job.model_sha256 for job in queue.jobs(workspace)] == [other.sha256]
        assert (workspace.cache_get(model.sha256), workspace.cache_get(other.sha256)) == (None, {"ms": 1})
        assert len(list(workspace.logs.glob("*.log"))) == 1

    def test_a_file_that_was_stored_again_meanwhile_stays(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        built = stored_candidate(workspace, model)
        workspace.files.put(b"candidate")  # another job built the same, and is about to write its row
        assert clean.remove_candidate(workspace, built.id) == 0
        assert workspace.files.has(built.file_sha256)

    def test_disk_use_counts_files_and_logs(self, workspace: Workspace) -> None:
        stored_model(workspace, b"12345")
        (workspace.logs / "x.log").write_bytes(b"123")
        use = disk_use(workspace)
        assert (use.files_bytes, use.file_count, use.logs_bytes) == (5, 1, 3)
        assert use.total_bytes == use.database_bytes + 8

    def test_disk_use_tells_the_models_apart(self, workspace: Workspace) -> None:
        first, second = stored_model(workspace, b"12345", "first"), stored_model(workspace, b"1234567", "second")
        shared, own = workspace.files.put(b"shared data"), workspace.files.put(b"own")
        for row in (first, second):
            workspace.add_dataset("eval", shared, row.sha256, 11)
        workspace.add_dataset("more", own, first.sha256, 3)
        for _ in range(2):
            stored_candidate(workspace, first, b"built")
        workspace.cache_put("key", {"ms": 1.5}, model=first.sha256)
        queue.stop(workspace, job_id := queue.submit(workspace, "profile", {"model": first.sha256, "data": shared}))
        (workspace.logs / f"{job_id}.log").write_bytes(b"12")
        one = next(row for row in disk_use(workspace).models if row.name == "first")
        assert (one.model_bytes, one.data_bytes, one.candidates_bytes, one.logs_bytes) == (5, 14, 5, 2)
        assert one.cache_bytes == len('{"ms": 1.5}') or one.cache_bytes == len('{"ms":1.5}')
        assert one.total_bytes == 26 + one.cache_bytes
        assert one.freed_bytes == clean.remove_model(workspace, first.sha256) == 15

    def test_disk_use_leaves_no_byte_out(self, workspace: Workspace) -> None:
        first, second = stored_model(workspace, b"12345", "first"), stored_model(workspace, b"1234567", "second")
        shared = workspace.files.put(b"shared data")
        for row in (first, second):
            workspace.add_dataset("eval", shared, row.sha256, 11)
        workspace.files.put(b"a bundle")
        workspace.cache_put("key", {"ms": 1.5}, model=first.sha256)
        (workspace.logs / "x.log").write_bytes(b"123")
        use = disk_use(workspace)
        assert (use.other_files_bytes, use.other_logs_bytes, use.shared_bytes) == (8, 3, 11)
        models = sum(row.total_bytes - row.cache_bytes for row in use.models) - use.shared_bytes
        cached = sum(row.cache_bytes for row in use.models) if use.database_bytes else 0
        others = use.other_files_bytes + use.other_logs_bytes + use.other_database_bytes
        assert models + cached + others == use.total_bytes

    def test_what_counts_as_unused_is_what_a_sweep_frees(self, workspace: Workspace) -> None:
        stored_model(workspace)
        job_id = queue.submit(workspace, "compare", {"model": workspace.files.put(b"never registered")})
        queue.stop(workspace, job_id)
        workspace.files.put(b"stray")
        assert disk_use(workspace).unused_bytes == 0
        assert disk_use(workspace, young=timedelta(0)).unused_bytes == len(b"stray")
        assert clean.sweep_files(workspace, young=timedelta(0)) == len(b"stray")

    # what jobs named

    def test_a_removed_model_takes_the_jobs_that_opened_it_and_what_they_stored(self, workspace: Workspace) -> None:
        model, other = stored_model(workspace), stored_model(workspace, b"another model", "other")
        photos, words = workspace.files.put(b"photos"), workspace.files.put(b"tokenizer")
        opened = {"model": model.sha256, "data": {"sha256": photos, "kind": "images"}, "tokenizer": words}
        first = ended(workspace, "bring", {"files": [{"sha256": model.sha256}]}, opened)
        of_other = ended(
            workspace, "bring", {"files": [{"sha256": other.sha256}]}, {"model": other.sha256, "data": None}
        )
        assert queue.job(workspace, first).model_sha256 == model.sha256
        use = next(row for row in disk_use(workspace).models if row.sha256 == model.sha256)
        freed = clean.remove_model(workspace, model.sha256)
        assert freed == use.freed_bytes == len(b"model" + b"photos" + b"tokenizer")
        assert [row.id for row in queue.jobs(workspace)] == [of_other]
        assert [file.sha256 for file in workspace.files.stored()] == [other.sha256]

    def test_jobs_of_older_versions_go_with_the_model_that_they_opened(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        job_id = ended(
            workspace, "bring", {"files": [{"sha256": workspace.files.put(b"zip")}]}, {"model": model.sha256}
        )
        with workspace.database.writing() as connection:
            connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(model_sha256=None))
        use = disk_use(workspace)
        assert (use.models[0].freed_bytes, use.unused_bytes) == (len(b"model" + b"zip"), 0)
        assert clean.remove_model(workspace, model.sha256) == len(b"model" + b"zip")
        assert queue.jobs(workspace) == ()

    def test_data_that_were_refused_go_with_the_model_they_were_given_to(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        refused = workspace.files.put(b"wrong shape")
        job_id = queue.submit(workspace, "bring", {"files": [{"sha256": refused}]})
        assert finish(workspace, job_id, {"model": None, "data": {"sha256": refused}})
        queue.assign(workspace, job_id, model.sha256)
        queue.stop(workspace, queue.submit(workspace, "inspect", {"model": model.sha256, "data": refused}))
        assert disk_use(workspace).models[0].freed_bytes == len(b"model" + b"wrong shape")
        assert clean.remove_model(workspace, model.sha256) == len(b"model" + b"wrong shape")
        assert list(workspace.files.stored()) == []

    def test_a_job_is_given_to_one_model_only(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        job_id = queue.submit(workspace, "profile", {"model": model.sha256})
        queue.assign(workspace, job_id, "0" * 64)
        assert queue.job(workspace, job_id).model_sha256 == model.sha256
        assert finish(workspace, job_id, {"model": "1" * 64})
        assert queue.job(workspace, job_id).model_sha256 == model.sha256

    @pytest.mark.parametrize("kind", ["another model", "its job", "a job that waits", "a job that opened it"])
    def test_what_others_name_stays_when_a_model_goes(self, workspace: Workspace, kind: str) -> None:
        model, other = stored_model(workspace, b"1"), stored_model(workspace, b"2")
        shared = workspace.files.put(b"shared")
        queue.stop(workspace, queue.submit(workspace, "inspect", {"model": model.sha256, "data": shared}))
        if kind == "another model":
            workspace.add_dataset("eval", shared, other.sha256, 6)
        elif kind == "its job":
            queue.stop(workspace, queue.submit(workspace, "inspect", {"model": other.sha256, "data": shared}))
        elif kind == "a job that waits":
            queue.submit(workspace, "bring", {"files": [{"name": "a.zip", "sha256": shared}]})
        else:
            ended(workspace, "bring", {"files": []}, {"model": None, "data": {"sha256": shared}})
        use = next(row for row in disk_use(workspace).models if row.sha256 == model.sha256)
        assert use.freed_bytes == clean.remove_model(workspace, model.sha256) == 1
        assert workspace.files.has(shared)

    def test_a_file_that_nobody_named_yet_stays_when_others_go(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        coming = workspace.files.put(b"of an upload in another tab")
        clean.remove_model(workspace, model.sha256)
        assert clean.sweep_files(workspace) == 0
        assert workspace.files.has(coming)
        use = disk_use(workspace)
        assert (use.unused_bytes, use.held_bytes) == (0, len(b"of an upload in another tab"))
        assert use.held_until is not None
        assert timedelta(minutes=59) < use.held_until - now() <= clean.YOUNG

    def test_an_upload_that_stores_the_same_file_again_keeps_it(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        ended(workspace, "bring", {"files": [{"sha256": model.sha256}]}, {"model": model.sha256})
        workspace.files.put(b"model")  # another tab: its job is not queued yet
        assert clean.remove_model(workspace, model.sha256) == 0
        assert workspace.files.has(model.sha256)
        assert disk_use(workspace).held_bytes == len(b"model")

    def test_what_a_running_job_may_have_stored_again_stays_however_long_it_takes(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        long_ago = now() - timedelta(minutes=30)
        job_id = queue.submit(workspace, "bring", {"files": []})
        with workspace.database.writing() as connection:
            connection.execute(update(MODELS).values(created_at=long_ago - timedelta(minutes=5)))
            connection.execute(
                update(JOBS).where(JOBS.c.id == job_id).values(state=JobState.RUNNING, started_at=long_ago)
            )
        moment = (long_ago + timedelta(minutes=5)).timestamp()
        os.utime(workspace.files.path(model.sha256), (moment, moment))
        assert clean.remove_model(workspace, model.sha256) == 0
        assert workspace.files.has(model.sha256)

    def test_a_removed_job_takes_the_files_that_only_it_named(self, workspace: Workspace) -> None:
        piece, packed = workspace.files.put(b"one.png"), workspace.files.put(b"2 files.zip")
        job_id = ended(workspace, "bring", {"files": [{"sha256": piece}]}, {"model": None, "data": {"sha256": packed}})
        assert clean.sweep_files(workspace, young=timedelta(0)) == 0
        assert disk_use(workspace).job_files_bytes == len(b"one.png" + b"2 files.zip")
        assert remove(workspace, job_id) == len(b"one.png" + b"2 files.zip")
        assert disk_use(workspace).job_files_bytes == 0
        assert list(workspace.files.stored()) == []

    def test_a_removed_job_leaves_what_a_model_or_another_job_names(self, workspace: Workspace) -> None:
        model, shared = stored_model(workspace), workspace.files.put(b"shared")
        files = [{"sha256": model.sha256}, {"sha256": shared}]
        job_id = ended(workspace, "bring", {"files": files}, {"model": model.sha256})
        queue.submit(workspace, "inspect", {"model": model.sha256, "data": shared})
        assert remove(workspace, job_id) == 0
        assert all(workspace.files.has(sha256) for sha256 in (model.sha256, shared))

    def test_cleaning_leaves_for_a_minute_what_jobs_found_for_the_next(self, workspace: Workspace) -> None:
        """A command converts data in one job and names it in the next."""
        fresh, old = workspace.files.put(b"fresh"), workspace.files.put(b"older")
        ended(workspace, "convert", {}, {"data": fresh})
        before = ended(workspace, "convert", {}, {"data": old})
        with workspace.database.writing() as connection:
            ago = update(JOBS).where(JOBS.c.id == before).values(finished_at=now() - 2 * clean.ROW_ON_ITS_WAY)
            connection.execute(ago)
        moment = (now() - 3 * clean.ROW_ON_ITS_WAY).timestamp()
        os.utime(workspace.files.path(old), (moment, moment))
        done = clean_jobs(workspace)
        assert (done.jobs, done.freed_bytes) == (2, len(b"older"))
        assert workspace.files.has(fresh)

    def test_a_bundle_goes_with_the_job_that_wrote_it(self, workspace: Workspace) -> None:
        job_id = ended(workspace, "bundle", {"candidate": "c1"}, {"file": workspace.files.put(b"bundle", suffix=".o3")})
        assert remove(workspace, job_id) == len(b"bundle")


def ended(workspace: Workspace, kind: str, params: dict[str, Any], result: dict[str, Any]) -> str:
    """A job of this kind that is done, with this result."""
    job_id = queue.submit(workspace, kind, params)
    assert finish(workspace, job_id, result)
    return job_id
