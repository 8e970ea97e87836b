"""The `jobs` documents for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities

#: What a job holds that is not told as it stands, but in words of its own or not at all.
_TOLD_APART = frozenset(
    ("title", "state", "model", "fraction", "seconds", "params", "result", "error", "units", "lineage", "log_tail")
)


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
    """Prints one job: how it stands, its family, its error, the end of its log."""
    job: Mapping[str, Any] = document["job"]
    parts.heading(console, str(job["title"] or job["kind"]), str(job["state"]))
    parts.lines(console, _facts(job))
    if job["error"]:
        console.print(f"error: {job['error']['message']}", markup=False)
        if job["error"].get("hint"):
            console.print(f"  {job['error']['hint']}", markup=False)
    if job.get("log_tail"):
        console.print("the end of its log:", style="dim")
        console.print(job["log_tail"], markup=False, highlight=False)
    if job.get("result"):
        console.print("Its result: add --json.")


def report_cleaned(document: parts.Document, console: Console) -> None:
    """Prints what was forgotten, and what had to stay."""
    removed, candidates = document["removed"], document["candidates"]
    built = f" and {candidates} candidate{'' if candidates == 1 else 's'}" if candidates else ""
    freed = quantities.size(document["freed_bytes"])
    console.print(f"Forgot {removed} ended job{'' if removed == 1 else 's'}{built}; {freed} freed.")
    for why in document["kept"]:
        console.print(f"Kept: {why}", markup=False)


def _facts(job: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [(name, str(value)) for name, value in job.items() if name not in _TOLD_APART and value not in (None, "")]
    if job["model"]:
        facts.append(("model", f"{job['model']['name'] or ''} {job['model']['sha256'][:12]}".strip()))
    if job["fraction"] is not None:
        facts.append(("done", quantities.share(job["fraction"])))
    if job["seconds"] is not None:
        facts.append(("took", quantities.with_unit(job["seconds"], "s")))
    if job.get("units"):
        units = job["units"]
        facts.append(("units", f"{units['computed']} computed, {units['reused']} reused (key {units['key']})"))
    family = job.get("lineage") or {}
    for name, title in (("before", "goes on with"), ("after", "resumed by")):
        if family.get(name):
            facts.append((title, ", ".join(f"{other['id']} ({other['state']})" for other in family[name])))
    facts += [("built", f"{made['name']} ({made['id']})") for made in family.get("candidates") or ()]
    return facts
