"""Machine: what it is, what it executes in which precision, and how fast it can be at most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.progress import Part, Progress
from core.recipe.precision import Precision
from core.runtime.machine import read_conditions
from core.runtime.runtimes import local_providers
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.capability import BUILT, cache_key, capability_grid, known_grid
from core.tasks.params import Params, read_whole
from core.tasks.roofline import known_roofline, machine_roofline

Document = dict[str, Any]

_OF_THE_MACHINE = ("machine", "cpu", "cores", "features", "os", "python", "onnxruntime", "provider")
#: What builds wait for comes first.
PRECISIONS = (*BUILT, *(precision for precision in Precision if precision not in BUILT))


def known_machine(workspace: Workspace, settings: SessionSettings) -> Document:
    """What is kept of this machine without asking it: `capability`, `roofline` and `saturates`, as far as known."""
    on = [_on(settings, provider) for provider in local_providers()]
    asked = [known_grid(workspace, each, precision) for each in on for precision in PRECISIONS]
    grids = [grid for grid in asked if grid is not None]
    roofline = known_roofline(workspace, settings)
    return {
        "capability": [row.to_dict() for grid in grids for row in grid.rows],
        "saturates": grids[0].saturates if grids else None,
        "roofline": None if roofline is None else roofline.to_dict(),
    }


def machine(workspace: Workspace, params: Params, progress: Progress) -> Document:
    """Probes this machine, or tells what is known of it: the contract's `machine` document.

    Every execution provider that works on this machine is tried; the roofline is that of the one that is used. What
    builds wait for comes first.
    """
    settings = SessionSettings(threads=read_whole(params, "threads", default=1, least=1))
    seed = read_whole(params, "seed", default=0, least=0)
    refresh = bool(params.get("refresh"))
    built = capability_grid(workspace, settings, Part(progress, start=0.0, end=0.1), precisions=BUILT, refresh=refresh)
    roofline = machine_roofline(workspace, settings, Part(progress, start=0.1, end=0.5), refresh=refresh)
    progress.partial("roofline", {"roofline": roofline.to_dict()})
    providers = local_providers()
    grids = [built]
    for done, provider in enumerate(providers):
        part = Part(progress, start=0.5 * (1 + done / len(providers)), end=0.5 * (1 + (done + 1) / len(providers)))
        on, wanted = _on(settings, provider), PRECISIONS if done else PRECISIONS[len(BUILT) :]
        grids.append(capability_grid(workspace, on, part, precisions=wanted, refresh=refresh))
    found = read_conditions(settings, seed=seed).to_dict()
    return {
        "machine": {**{name: found[name] for name in _OF_THE_MACHINE}, "saturates": grids[0].saturates},
        "capability": [row.to_dict() for grid in grids for row in grid.rows],
        "roofline": roofline.to_dict(),
        "key": cache_key(settings),
    }


def _on(settings: SessionSettings, provider: str) -> SessionSettings:
    """What another provider leaves to the processor is not its own."""
    return settings if provider == settings.provider else replace(settings, provider=provider, fallback=False)
