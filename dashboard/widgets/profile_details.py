"""The Profile page's details below the map, one tab each; only the open one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.report import quantities
from dashboard import services, state
from dashboard.layer_views import LayerView
from dashboard.services import Document, Subject
from dashboard.widgets import (
    profile_advice,
    profile_beside,
    profile_layers,
    profile_memory,
    profile_modules,
    profile_roofline,
    profile_shapes,
    profile_sweep,
    profile_timeline,
)

_BESIDE = "Beside another run"


def details(on: Subject, views: Sequence[LayerView], document: Document) -> None:
    """All that a profile tells, in tabs.

    Args:
        on: what is on the desk.
        views: the layers with their figures.
        document: the `profile` document; of a job that did not finish, what of it is known.
    """
    advised = len(document.get("advice") or ())
    bodies: dict[str, Callable[[], None]] = {
        "Layers": lambda: profile_layers.draw(views, document, services.inspection(on) or {}, on.model.name),
        "Modules": lambda: profile_modules.draw(views, on.model.name),
        "Timeline": lambda: profile_timeline.draw(views, document),
        "Roofline": lambda: profile_roofline.draw(views, document),
        "Memory": lambda: profile_memory.draw(views, document),
        "Shapes": lambda: profile_shapes.draw(views, document),
        "Sweep": lambda: profile_sweep.sweep_panel(on),
        f"Advice {quantities.count(advised)}": lambda: profile_advice.advice(on, document, views),
        _BESIDE: lambda: profile_beside.beside(on, document, views),
    }
    default = _BESIDE if state.BESIDE.get() else None
    tabs = st.tabs(list(bodies), key="profile.tabs", on_change="rerun", default=default)
    for tab, body in zip(tabs, bodies.values(), strict=True):
        if tab.open:
            with tab:
                body()
