"""Roofline, measured once: that of this machine, kept in the workspace by machine, versions and settings."""

from __future__ import annotations

from core.capability.roofline import probe_roofline
from core.measure.roofline import Roofline
from core.progress import Progress
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.capability import machine_key

#: Another way of measuring it makes what was kept out of date.
_VERSION = 2


def machine_roofline(
    workspace: Workspace, settings: SessionSettings, progress: Progress, *, refresh: bool = False
) -> Roofline:
    """The roofline from the workspace where it is known, else measured now and kept.

    Measured again, what was reached before still counts: a busy machine never shows all that it can do.
    """
    known = known_roofline(workspace, settings)
    if known is not None and not refresh:
        return known
    found = probe_roofline(settings, progress)
    found = found if known is None else found.best_of(known)
    workspace.cache_put(roofline_key(settings), found.to_dict())
    return found


def known_roofline(workspace: Workspace, settings: SessionSettings) -> Roofline | None:
    """The roofline that is kept for these settings; None where nobody measured it yet."""
    kept = workspace.cache_get(roofline_key(settings))
    return None if kept is None else Roofline.from_dict(kept)


def roofline_key(settings: SessionSettings) -> str:
    """What it depends on: the machine, the versions, the provider and its threads."""
    return f"roofline {_VERSION} / {machine_key(settings)}"
