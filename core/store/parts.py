"""Parts of large documents: what a list of jobs or candidates shows, read without loading the documents themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, select

from core.store.tables import CANDIDATES, JOBS
from core.store.workspace import Workspace

Paths = Mapping[str, Sequence[str]]
"""Name -> the keys that lead to a part, from the outside in."""

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateBrief:
    """A candidate without recipe, plan and report."""

    id: str
    name: str
    model_sha256: str
    dataset_sha256: str | None
    file_sha256: str
    job_id: str | None
    created_at: datetime


def candidates_in_brief(workspace: Workspace) -> tuple[CandidateBrief, ...]:
    """All candidates, newest first."""
    columns = [CANDIDATES.c[name] for name in CandidateBrief.__dataclass_fields__]
    statement = select(*columns).order_by(CANDIDATES.c.created_at.desc(), CANDIDATES.c.id)
    with workspace.database.reading() as connection:
        return tuple(CandidateBrief(**dict(row)) for row in connection.execute(statement).mappings())


def candidate_parts(workspace: Workspace, ids: Collection[str], paths: Paths) -> dict[str, dict[str, Any]]:
    """Candidate id -> name -> that part of its report, None where the report does not have it."""
    return _parts(workspace, CANDIDATES.c.id, CANDIDATES.c.report, ids, paths)


def job_parts(workspace: Workspace, ids: Collection[str], paths: Paths) -> dict[str, dict[str, Any]]:
    """Job id -> name -> that part of its result, None where there is none."""
    return _parts(workspace, JOBS.c.id, JOBS.c.result, ids, paths)


def _parts(
    workspace: Workspace, key: Column[Any], document: Column[Any], ids: Collection[str], paths: Paths
) -> dict[str, dict[str, Any]]:
    wanted = sorted(ids)
    columns = [document[tuple(path)].label(name) for name, path in paths.items()]
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = select(key.label("_id"), *columns).where(key.in_(wanted[start : start + _AT_ONCE]))
        with workspace.database.reading() as connection:
            for row in connection.execute(some).mappings():
                found[row["_id"]] = {name: row[name] for name in paths}
    return found
