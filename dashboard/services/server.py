"""The server's life: its workspace is opened and its jobs run while it is up."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from core.jobs.supervisor import Supervisor
from core.runtime.conditions import Conditions
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.command import child_command
from dashboard.services.subjects import DEFAULTS

_lock = threading.Lock()
_running: dict[str, Any] = {}


def start(path: Path | None = None) -> None:
    """Opens the workspace and begins to run its jobs; called once when the server comes up."""
    with _lock:
        opened = Workspace.open(path)
        supervisor = Supervisor(opened, child_command(opened.path))
        supervisor.start()
        _running.update(workspace=opened, supervisor=supervisor)


def close() -> None:
    """Stops taking jobs; called when the server goes down. What was queued is still there at the next start."""
    with _lock:
        supervisor = _running.pop("supervisor", None)
        opened = _running.pop("workspace", None)
    if supervisor is not None:
        supervisor.close()
    if opened is not None:
        opened.close()


def workspace() -> Workspace:
    """The server's workspace; opened from the environment where no server runs (tests of single pages)."""
    with _lock:
        if "workspace" not in _running:
            _running["workspace"] = Workspace.open()
        opened: Workspace = _running["workspace"]
        return opened


def conditions() -> Conditions:
    """What anything measured now would be measured under."""
    return read_conditions(SessionSettings(threads=DEFAULTS["threads"]), seed=DEFAULTS["seed"])
