"""Tiny workers for the tests of supervised jobs, by kind of job; each is the program of a `python -c` child."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

from core.jobs.limits import Limits
from core.jobs.supervisor import Supervisor
from core.store.rows import JobRow
from core.store.workspace import Workspace

STORE = """
import sys
from pathlib import Path
from core.jobs.outcome import fail, finish
from core.jobs.progress import JobProgress
from core.store.workspace import Workspace
workspace, job_id = Workspace.open(Path(sys.argv[1])), sys.argv[2]
"""

PROGRAMS: dict[str, str] = {
    "finish": STORE + "finish(workspace, job_id, {'value': float('nan')})",
    "tally": """
import os, sys
from core.jobs.outcome import finish
from core.jobs.queue import job
from core.store.workspace import Workspace
workspace, row = Workspace.open(), job(Workspace.open(), sys.argv[2])
with open(row.params["file"], "a") as tally:
    tally.write(f"{row.id} {row.supervisor_pid}\\n")
finish(workspace, row.id, {})
""",
    "inspect": STORE + "finish(workspace, job_id, {'value': 2})",
    "fail": STORE + "fail(workspace, job_id, {'kind': 'model', 'message': 'No model.'}); sys.exit(2)",
    "silent": "print('a last word')",
    "error": "raise ValueError('no')",
    "abort": "import os; os.abort()",
    "sleep": "import time; time.sleep(60)",
    "deaf": (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    ),
    "hungry": "import time; food = b'x' * 200_000_000; time.sleep(60)",
    "linger": STORE + "finish(workspace, job_id, {}); import time; time.sleep(60)",
    "family": (
        "import subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        "print(child.pid, flush=True); time.sleep(60)"
    ),
    "publish": STORE
    + """
import time
with JobProgress(workspace, job_id) as progress:
    progress.phase("search", start=0, end=1)
    progress.partial("trial", {"number": 1})
    print("published", flush=True)
    time.sleep(60)
""",
    "scratch": "import tempfile, time; print(tempfile.mkdtemp(), flush=True); time.sleep(60)",
    "report": STORE
    + """
import time
with JobProgress(workspace, job_id) as progress:
    progress.phase("profile", start=0, end=1)
    progress.partial("layer", {"ms": 1.5})
    for i in range(600):
        progress.step(i, 600, f"layer {i}")
        time.sleep(0.1)
""",
}


def command(workspace: Workspace) -> Callable[[JobRow], list[str]]:
    """What a supervisor of this workspace runs for each kind of job."""
    return lambda row: [sys.executable, "-c", PROGRAMS[row.kind], str(workspace.path), row.id]


@contextmanager
def supervised(workspace: Workspace, *, grace_s: float = 3.0, memory_bytes: int | None = None) -> Iterator[Supervisor]:
    """A running supervisor that shares its machine lock only with others of this workspace."""
    limits = Limits(memory_bytes=memory_bytes, grace_s=grace_s)
    lock = workspace.path / "machine.lock"
    with Supervisor(workspace, command(workspace), limits=limits, machine_lock=lock) as supervisor:
        yield supervisor


def await_true(condition: Callable[[], object], *, timeout_s: float = 20.0) -> None:
    """Waits until the condition holds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


def log_of(workspace: Workspace, row: JobRow) -> str:
    """What the worker has written."""
    path = workspace.logs / row.log
    return path.read_text(encoding="utf-8") if path.exists() else ""


def is_gone(pid: int) -> bool:
    """Whether no process runs under this number (one that nobody has waited for does not run)."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
