"""What forgetting must do, whatever database is behind the workspace; and what is told of the room that all takes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.errors import NotFoundError, RequestError
from core.jobs import queue
from core.store import clean
from core.store.disk_use import disk_use
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
