"""The command line of a job's child process, for whoever supervises jobs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from core.store.rows import JobRow


def child_command(workspace_path: Path) -> Callable[[JobRow], list[str]]:
    """Returns the function that a `Supervisor` asks for the command of each job of this workspace.

    `-P` keeps the folder that the user happens to be in off the import path: a file `inspect.py` there must not matter.
    """

    def command(row: JobRow) -> list[str]:
        return [sys.executable, "-P", "-m", "core.tasks", "--workspace", str(workspace_path), "--job", row.id]

    return command
