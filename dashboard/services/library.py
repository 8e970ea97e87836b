"""What was made and kept: candidates, mixes under a name, and files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.errors import NotFoundError
from core.store.rows import CandidateRow, MixRow, ShapesRow
from dashboard import state
from dashboard.services.server import workspace
from dashboard.services.subjects import Subject

#: The name under which the Mix page keeps what was not built yet.
DRAFT = "draft"

_SHA256 = re.compile(r"[0-9a-f]{64}")


def candidates(on: Subject) -> tuple[CandidateRow, ...]:
    """What was built from the model on the desk, newest first."""
    return workspace().candidates(on.model.sha256)


def candidate(candidate_id: str) -> CandidateRow:
    """A built candidate.

    Raises:
        NotFoundError: no such candidate.
    """
    return workspace().candidate(candidate_id)


def current_candidate(on: Subject) -> CandidateRow | None:
    """The candidate that the link names, else the newest of this model."""
    known = candidates(on)
    wanted = state.CANDIDATE.get()
    return next((row for row in known if row.id == wanted), known[0] if known else None)


def mixes(on: Subject) -> tuple[MixRow, ...]:
    """Recipes kept under a name for this model, without the draft."""
    return tuple(row for row in workspace().mixes(on.model.sha256) if row.name != DRAFT)


def save_mix(on: Subject, name: str, recipe: Mapping[str, Any]) -> None:
    """Keeps a recipe under a name."""
    workspace().save_mix(on.model.sha256, name, dict(recipe))


def remove_mix(on: Subject, name: str) -> None:
    """Forgets a recipe that was kept under a name."""
    workspace().remove_mix(on.model.sha256, name)


def named_shapes(on: Subject) -> tuple[ShapesRow, ...]:
    """Sizes kept under a name for the inputs of this model, last changed first."""
    return workspace().named_shapes(on.model.sha256)


def save_shapes(on: Subject, name: str, shapes: Mapping[str, Sequence[int]]) -> None:
    """Keeps sizes under a name, in place of older ones of that name."""
    workspace().save_shapes(on.model.sha256, name, shapes)


def remove_shapes(on: Subject, name: str) -> None:
    """Forgets sizes that were kept under a name."""
    workspace().remove_shapes(on.model.sha256, name)


def draft(on: Subject) -> Mapping[str, Any] | None:
    """The mix that somebody works on and has not built yet."""
    return next((row.recipe for row in workspace().mixes(on.model.sha256) if row.name == DRAFT), None)


def save_draft(on: Subject, recipe: Mapping[str, Any]) -> None:
    """Keeps the unfinished mix, so that a closed tab loses nothing."""
    save_mix(on, DRAFT, recipe)


def find_file(sha256: str) -> Path | None:
    """The file of that hash; None where there is none, or where the text is no hash."""
    if not _SHA256.fullmatch(sha256) or not workspace().files.has(sha256):
        return None
    return workspace().files.path(sha256)


def file_name(sha256: str) -> str:
    """The name of the model or candidate of that hash, else its first digits."""
    names = {row.file_sha256: row.name for row in workspace().candidates() if row.name}
    names |= {row.sha256: row.name for row in workspace().models()}
    return names.get(sha256, sha256[: state.LINK_DIGITS])


def file_bytes(sha256: str) -> bytes:
    """The whole file.

    Raises:
        NotFoundError: the workspace has no such file.
    """
    path = find_file(sha256)
    if path is None:
        raise NotFoundError(f"The workspace has no file {sha256[: state.LINK_DIGITS]}.", hint="Build it again.")
    return path.read_bytes()


def file_url(sha256: str, name: str) -> str:
    """The address under which a browser saves the file as `name`."""
    return f"/files/{sha256}/{quote(name, safe='')}"
