"""The `jobs` documents for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities


def report_list(document: parts.Document, console: Console) -> None:
    """Prints the jobs, newest first."""
    if not document["jobs"]:
        console.print("No jobs yet.")
        return
    shown = parts.table(("job", "kind", "title", "state", "done", "created", "what happened"), numeric=("done",))
    for job in document["jobs"]:
        done = "" if job["fraction"] is None else quantities.share(job["fraction"])
        happened = job["error"]["message"] if job["error"] else ""
        parts.row(shown, job["id"], job["kind"], job["title"], job["state"], done, job["created_at"] or "", happened)
    console.print(shown)


def report_one(document: parts.Document, console: Console) -> None:
    """Prints one job."""
    job: Mapping[str, Any] = document["job"]
    parts.heading(console, str(job["title"] or job["kind"]), str(job["state"]))
    skipped = {"title", "state", "params", "result", "error"}
    parts.lines(
        console, [(name, str(value)) for name, value in job.items() if name not in skipped and value is not None]
    )
    if job["error"]:
        console.print(f"error: {job['error']['message']}", markup=False)
        if job["error"].get("hint"):
            console.print(f"  {job['error']['hint']}", markup=False)
    if job.get("result"):
        console.print("Its result: add --json.")


def report_cleaned(document: parts.Document, console: Console) -> None:
    """Prints how many jobs were forgotten."""
    console.print(f"Forgot {document['removed']} finished jobs.")
