"""What reading parts of documents must do, whatever database is behind the workspace."""

from __future__ import annotations

from dataclasses import replace

from core.jobs import queue
from core.jobs.outcome import finish
from core.store.parts import candidate_parts, candidates_in_brief, job_parts
from core.store.workspace import Workspace
from tests.contracts.store import OpenedWorkspaces, stored_candidate, stored_model

PATHS = {"sqnr": ("fidelity", "sqnr_db"), "fidelity": ("fidelity",), "bytes": ("bytes",), "why": ("why",)}


class PartsContract(OpenedWorkspaces):
    """Parts come as JSON has them; what is not there is None."""

    def test_parts_of_a_report_come_without_the_report(self, workspace: Workspace) -> None:
        row = stored_candidate(workspace, stored_model(workspace))
        assert candidate_parts(workspace, [row.id, "unknown"], PATHS) == {
            row.id: {"sqnr": 40.5, "fidelity": {"sqnr_db": 40.5}, "bytes": 9, "why": None}
        }

    def test_a_job_without_a_result_has_no_parts(self, workspace: Workspace) -> None:
        done, waiting = (queue.submit(workspace, "build", {}) for _ in range(2))
        finish(workspace, done, {"why": 'a "quoted" reason', "fidelity": None, "bytes": [1, {"a": True}]})
        found = job_parts(workspace, [done, waiting], PATHS)
        assert found[done] == {"sqnr": None, "fidelity": None, "bytes": [1, {"a": True}], "why": 'a "quoted" reason'}
        assert set(found[waiting].values()) == {None}

    def test_more_ids_than_fit_into_one_request_are_all_found(self, workspace: Workspace) -> None:
        ids = [queue.submit(workspace, "build", {}) for _ in range(5)]
        finish(workspace, ids[3], {"why": "x"})
        found = job_parts(workspace, [*ids, *(f"none {i}" for i in range(1200))], PATHS)
        assert {job_id: parts["why"] for job_id, parts in found.items()} == {
            job_id: "x" if job_id == ids[3] else None for job_id in ids
        }

    def test_candidates_come_in_brief_newest_first(self, workspace: Workspace) -> None:
        model = stored_model(workspace)
        old, new = stored_candidate(workspace, model), stored_candidate(workspace, model, b"other")
        brief = candidates_in_brief(workspace)
        assert [row.id for row in brief] == [new.id, old.id]
        assert brief[0] == replace(brief[0], name=new.name, file_sha256=new.file_sha256, created_at=new.created_at)
