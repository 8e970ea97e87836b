"""A temporary folder per job, given to its worker as TMPDIR and removed with it, however the worker ends."""

from __future__ import annotations

import shutil
from pathlib import Path

from core.store.workspace import Workspace


def make_scratch(workspace: Workspace, job_id: str) -> Path:
    """Makes the job's temporary folder.

    Raises:
        OSError: it cannot be made.
    """
    folder = _folder(workspace, job_id)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove_scratch(workspace: Workspace, job_id: str) -> None:
    """Removes it with all that is left in it; nothing happens where there is none."""
    shutil.rmtree(_folder(workspace, job_id), ignore_errors=True)


def _folder(workspace: Workspace, job_id: str) -> Path:
    return workspace.path / "scratch" / job_id
