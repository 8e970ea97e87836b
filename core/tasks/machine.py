"""Machine: what it is, and what it executes in which precision."""

from __future__ import annotations

from typing import Any

from core.progress import Progress
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.capability import cache_key, capability_grid
from core.tasks.params import Params, read_whole

_OF_THE_MACHINE = ("machine", "cpu", "cores", "features", "os", "python", "onnxruntime", "provider")


def machine(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Probes this machine, or tells what is known of it: the contract's `machine` document.

    `roofline` is null: this version does not measure the limits of arithmetic and memory.
    """
    settings = SessionSettings(threads=read_whole(params, "threads", default=1, least=1))
    seed = read_whole(params, "seed", default=0, least=0)
    progress.phase("Probe operators", start=0.0, end=1.0)
    grid = capability_grid(workspace, settings, progress, seed=seed, refresh=bool(params.get("refresh")))
    found = read_conditions(settings, seed=seed).to_dict()
    return {
        "machine": {**{name: found[name] for name in _OF_THE_MACHINE}, "saturates": grid.saturates},
        "capability": [row.to_dict() for row in grid.rows],
        "roofline": None,
        "key": cache_key(settings),
    }
