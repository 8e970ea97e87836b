"""`mixdesk ui`: the dashboard, in this process's place."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import core
from core.cli import options
from core.errors import UnavailableError

HostOption = Annotated[str, typer.Option("--host", help="Address to listen on; other than 127.0.0.1 lets others in.")]
PortOption = Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")]
FolderOption = Annotated[
    list[Path] | None,
    typer.Option("--folder", metavar="DIR", help="A folder whose models browsers may open. Repeatable."),
]


def ui(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8501,
    workspace: options.WorkspaceOption = None,
    folder: FolderOption = None,
) -> int:
    """Open the dashboard and print its address."""
    for part in ("dashboard", "streamlit"):
        if importlib.util.find_spec(part) is None:
            raise UnavailableError(f"The dashboard cannot start: '{part}' is not installed.")
    command = [sys.executable, "-P", "-m", "dashboard", "--host", host, "--port", str(port)]
    if workspace is not None:
        command += ["--workspace", str(workspace)]
    for each in folder or ():
        command += ["--folder", str(each)]
    sys.stdout.flush()
    os.execve(sys.executable, command, _environment())  # noqa: S606 - our own command, as a list


def _environment() -> dict[str, str]:
    """That of this process; the dashboard is found wherever this program was started from."""
    paths = [str(Path(core.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
