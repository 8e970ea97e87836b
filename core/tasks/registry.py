"""Registry: which function does which kind of work. A kind's module is imported when that work is asked for."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

from core.errors import RequestError, did_you_mean
from core.progress import Progress
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.documents import complete
from core.tasks.params import Params, read_whole

Task = Callable[[Workspace, Params, Progress], dict[str, Any]]

#: Each has a module of its name in this package, with a function of its name.
KINDS = (
    *("bring", "inspect", "convert", "machine", "profile", "sweep", "build", "optimize", "compare", "bundle"),
    "verify",
)


def find_task(kind: str) -> Task:
    """The function that does this kind of work.

    Raises:
        RequestError: there is no such kind of work.
    """
    if kind not in KINDS:
        raise RequestError(f"There is no kind of work called '{kind}'.{did_you_mean(kind, KINDS)}")
    task: Task = getattr(importlib.import_module(f"core.tasks.{kind}"), kind)
    return task


def run_task(workspace: Workspace, kind: str, params: Params, progress: Progress) -> dict[str, Any]:
    """Does one piece of work and returns its completed document.

    Raises:
        RequestError: there is no such kind of work.
        MixdeskError: what the task says went wrong.
    """
    started = time.perf_counter()
    document = find_task(kind)(workspace, params, progress)
    return complete(
        document,
        settings=SessionSettings(threads=read_whole(params, "threads", default=1, least=1)),
        batch=read_whole(params, "batch", default=1, least=1),
        seed=read_whole(params, "seed", default=0, least=0),
        seconds=time.perf_counter() - started,
    )
