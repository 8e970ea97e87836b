"""Registry: which function does which kind of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from core.errors import RequestError, did_you_mean
from core.progress import Progress
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.build import build
from core.tasks.compare import compare
from core.tasks.documents import complete
from core.tasks.inspect import inspect
from core.tasks.machine import machine
from core.tasks.optimize import optimize
from core.tasks.params import Params, read_whole
from core.tasks.profile import profile

Task = Callable[[Workspace, Params, Progress], dict[str, Any]]

TASKS: Mapping[str, Task] = {
    "inspect": inspect,
    "machine": machine,
    "profile": profile,
    "build": build,
    "optimize": optimize,
    "compare": compare,
}


def run_task(workspace: Workspace, kind: str, params: Params, progress: Progress) -> dict[str, Any]:
    """Does one piece of work and returns its completed document.

    Raises:
        RequestError: there is no such kind of work.
        MixdeskError: what the task says went wrong.
    """
    if kind not in TASKS:
        raise RequestError(f"There is no kind of work called '{kind}'.{did_you_mean(kind, TASKS)}")
    started = time.perf_counter()
    document = TASKS[kind](workspace, params, progress)
    return complete(
        document,
        settings=SessionSettings(threads=read_whole(params, "threads", default=1, least=1)),
        batch=read_whole(params, "batch", default=1, least=1),
        seed=read_whole(params, "seed", default=0, least=0),
        seconds=time.perf_counter() - started,
    )
