"""A workspace with runs of every kind of ending, for tests of what the pages make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.jobs import queue
from core.jobs.outcome import end, fail, finish, interrupted
from core.store.rows import CandidateRow, ModelRow
from core.store.workspace import Workspace
from tests.dashboard.documents import build_document, comparison_document, inspect_document, target_document


@dataclass(frozen=True)
class Made:
    """What was put in: the model and the ids of the jobs, by what became of them."""

    model: ModelRow
    better: str
    unchanged: str
    failed: str
    interrupted: str
    waiting: str


def make_runs(workspace: Workspace) -> Made:
    """One model with data, a build that is better, a search that kept the original, and three jobs without a result."""
    content = b"model"
    model = workspace.add_model("digits-cnn", workspace.files.put(content), len(content), "sample")
    data = workspace.add_dataset("digits", workspace.files.put(b"data", suffix=".npz"), model.sha256, 4)
    base = {"model": model.sha256, "model_name": "digits-cnn", "data": data.sha256, "data_name": "digits"}

    def put(kind: str, title: str, **more: int) -> str:
        return queue.submit(workspace, kind, {**base, **more}, title=title)

    better = put("build", "Build all int8")
    keep(workspace, better, build_document(inspect_document(12)), "all int8", model)
    unchanged = put("optimize", "Auto-mix digits-cnn")
    keep(workspace, unchanged, unchanged_document(), "auto-mix", model)
    failed = put("inspect", "Read digits-cnn")
    fail(workspace, failed, {"kind": "model", "message": "There is a cycle.", "hint": "Export again.", "layer": None})
    broken = put("profile", "Profile digits-cnn")
    (workspace.logs / f"{broken}.log").write_text("a last word\n")
    end(workspace, broken, interrupted("The program that ran this job ended before the job did."))
    waiting = put("profile", "Profile again", threads=2)
    return Made(model, better, unchanged, failed, broken, waiting)


def keep(workspace: Workspace, job_id: str, document: dict[str, Any], name: str, model: ModelRow) -> CandidateRow:
    """Ends a job with this document and keeps what it built."""
    row = CandidateRow(
        model_sha256=model.sha256,
        file_sha256=workspace.files.put(f"candidate {name}".encode()),
        recipe=document["recipe"],
        plan=document["plan"],
        report=document,
        job_id=job_id,
        name=name,
    )
    finish(workspace, job_id, {**document, "candidate": row.id})
    return workspace.add_candidate(row)


def unchanged_document() -> dict[str, Any]:
    """What a search says that kept the original."""
    return {
        **build_document(inspect_document(12), speedup=0.8),
        "unchanged": True,
        "why": "no mix was faster than the original",
        "speedup": {"ratio": 1.0, "ci95": [1.0, 1.0]},
        "target": target_document(),
        "tried": comparison_document(speedup=0.8),
        "units": {"key": "a1b2c3", "computed": 2, "reused": 9},
    }
