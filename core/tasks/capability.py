"""Capability, asked once: the grid of this machine, kept in the workspace by machine, versions and settings."""

from __future__ import annotations

import core
from core.capability.grid import CapabilityGrid, probe
from core.progress import Progress
from core.runtime.machine import machine_id, read_conditions
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace


def capability_grid(
    workspace: Workspace, settings: SessionSettings, progress: Progress, *, seed: int = 0, refresh: bool = False
) -> CapabilityGrid:
    """The grid from the workspace where this machine and these versions are known, else probed now and kept."""
    key = cache_key(settings)
    known = None if refresh else workspace.cache_get(key)
    if known is not None:
        return CapabilityGrid.from_dict(known)
    grid = probe(settings, progress, seed=seed)
    workspace.cache_put(key, grid.to_dict())
    return grid


def cache_key(settings: SessionSettings) -> str:
    """What the grid depends on: the machine, the runtime's and our version, the provider and its threads."""
    runtime = read_conditions(settings).onnxruntime
    parts = (machine_id(), f"onnxruntime {runtime}", f"mixdesk {core.__version__}", settings.provider)
    return "capability / " + " / ".join((*parts, f"threads {settings.threads}"))
