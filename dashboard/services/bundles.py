"""Bundles on demand: a job writes the file, once per candidate; a second request finds it in the workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

import core
from core.errors import WorkError
from core.jobs import queue
from core.store.rows import CandidateRow, JobRow, JobState
from core.tasks.running import outcome
from dashboard.file_names import slug
from dashboard.services.library import candidate, find_file
from dashboard.services.server import workspace

_POLL_S = 0.2
_LONGEST_S = 900.0


def bundle_url(row: CandidateRow, model_name: str = "") -> str:
    """The address under which a browser saves a candidate's bundle; it is written when it is first asked for."""
    name = slug(model_name, row.name or row.id, otherwise=row.id)
    return f"/bundles/{row.id}/{quote(name, safe='')}.o3"


async def write_bundle(candidate_id: str, *, longest_s: float = _LONGEST_S) -> Path:
    """The bundle's file; waits for the job that writes it, which goes on where the browser leaves.

    Raises:
        NotFoundError: no such candidate.
        MixdeskError: what the job said went wrong, or it took too long.
    """
    job = await asyncio.to_thread(_begin, candidate_id)
    waited = 0.0
    while not job.is_final:
        if waited > longest_s:
            raise WorkError("The bundle is not written yet.", hint="It goes on: ask again in a while.")
        await asyncio.sleep(_POLL_S)
        waited += _POLL_S
        job = await asyncio.to_thread(queue.job, workspace(), job.id)
    path = find_file(str(outcome(job, workspace().logs)["file"]))
    if path is None:
        raise WorkError("The bundle was removed while it was asked for.", hint="Ask again.")
    return path


def _begin(candidate_id: str) -> JobRow:
    """The job that wrote this bundle or is about to; a new one where there is none, or its file is gone."""
    row = candidate(candidate_id)
    wanted = {"candidate": row.id, "model": row.model_sha256, "mixdesk": core.__version__}
    for known in queue.jobs(workspace(), model=row.model_sha256, kind="bundle", results=True):
        if {name: known.params.get(name) for name in wanted} != wanted:
            continue
        kept = known.state is JobState.DONE and known.result and find_file(str(known.result.get("file")))
        if kept or not known.is_final:
            return known
    title = f"Bundle {row.name or row.id}"
    return queue.job(workspace(), queue.submit(workspace(), "bundle", wanted, title=title, once=True))
