"""Capability, asked once: the grid of this machine, kept in the workspace by machine, versions and settings.

Each precision is kept for itself: a build asks only for the one that it builds, the Machine page for all.
"""

from __future__ import annotations

from collections.abc import Sequence

import core
from core.capability.grid import CapabilityGrid
from core.capability.probe import probe
from core.progress import Part, Progress
from core.recipe.precision import PLACEABLE, Precision
from core.runtime.machine import machine_id, read_conditions
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace

#: Another set of operators or another way of trying them makes what was kept out of date.
_VERSION = 3
#: What a build needs to know.
BUILT = tuple(precision for precision in PLACEABLE if precision is not Precision.FP32)


def capability_grid(
    workspace: Workspace,
    settings: SessionSettings,
    progress: Progress,
    *,
    precisions: Sequence[Precision] = BUILT,
    refresh: bool = False,
) -> CapabilityGrid:
    """The grid of these precisions: from the workspace where they are known, the others probed now and kept.

    Rows of a precision are published as soon as they are known, as pieces of kind "capability".
    """
    parts = []
    for done, precision in enumerate(precisions):
        known = None if refresh else known_grid(workspace, settings, precision)
        if known is None:
            part = Part(progress, start=done / len(precisions), end=(done + 1) / len(precisions))
            part.phase(f"Try operators in {precision}", start=0.0, end=1.0)
            known = probe(settings, part, precisions=(precision,))
            workspace.cache_put(cache_key(settings, precision), known.to_dict())
            progress.partial("capability", {"capability": [row.to_dict() for row in known.rows]})
        parts.append(known)
    return CapabilityGrid.joined(parts)


def known_grid(workspace: Workspace, settings: SessionSettings, precision: Precision) -> CapabilityGrid | None:
    """What is kept of a precision; None where nobody tried it with these versions and settings."""
    kept = workspace.cache_get(cache_key(settings, precision))
    return None if kept is None else CapabilityGrid.from_dict(kept)


def cache_key(settings: SessionSettings, precision: Precision = Precision.INT8) -> str:
    """What the grid of a precision depends on."""
    return f"capability {_VERSION} / {machine_key(settings)} / {precision}"


def machine_key(settings: SessionSettings) -> str:
    """The machine, the runtime's and our version, the provider and its threads."""
    runtime = read_conditions(settings).onnxruntime
    parts = (machine_id(), f"onnxruntime {runtime}", f"mixdesk {core.__version__}", settings.provider)
    return " / ".join((*parts, f"threads {settings.threads}"))
