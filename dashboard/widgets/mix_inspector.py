"""The inspector: one group of the desk - its precision, why, what this machine does with it, pin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.recipe.precision import Precision
from core.report import quantities
from dashboard import mixing, offers
from dashboard.figures.theme import precision_label
from dashboard.group_views import GroupView
from dashboard.offers import Offer
from dashboard.services import Subject
from dashboard.widgets import mix_desk
from dashboard.widgets.text import plain


def draw(on: Subject, view: GroupView | None, offered: Sequence[Offer], machine: Mapping[str, Any] | None) -> None:
    """Draws the group that is looked at; without one it says how to choose one."""
    with st.container(border=True, gap="small"):
        if view is None:
            st.markdown("**No group chosen**")
            st.caption("Click a cell of the map or select a row to see why it has its precision, and to change it.")
            return
        st.markdown(f"**{plain(view.id)}**")
        st.caption(plain(f"{' + '.join(view.ops)} · {quantities.time_ms(view.ms)} · {quantities.share(view.share)}"))
        _fader(on, view, offered)
        st.markdown("  \n".join(f":gray[{label}] {plain(text)}" for label, text in facts(view, machine)))
        _pin(on, view)


def _fader(on: Subject, view: GroupView, offered: Sequence[Offer]) -> None:
    choices = [offer.precision for offer in offered if offer.offered]
    if view.asked not in choices:
        choices.append(view.asked)
    key = f"mix.fader.{view.id}.{view.asked}.{view.pinned}"
    st.segmented_control(
        "Precision",
        choices,
        default=view.asked,
        format_func=lambda precision: precision_label(str(precision)),
        key=key,
        required=True,
        disabled=view.pinned,
        on_change=_set,
        args=(on, view.id, key),
    )


def _set(on: Subject, group: str, key: str) -> None:
    precision: Precision = st.session_state[key]
    mix_desk.step(on, lambda mix: mixing.set_groups(mix, [group], precision, why="set on the desk"))


def _pin(on: Subject, view: GroupView) -> None:
    if view.pinned:
        st.button(
            "Unpin",
            icon=":material/keep_off:",
            key="mix.unpin",
            on_click=mix_desk.step,
            args=(on, lambda mix: mixing.unpin(mix, [view.id])),
        )
        return
    st.button(
        f"Pin at {view.asked}",
        icon=":material/keep:",
        key="mix.pin",
        help="Neither later steps nor Auto-mix change it.",
        on_click=mix_desk.step,
        args=(on, lambda mix: mixing.pin(mix, {view.id: view.asked})),
    )


def facts(view: GroupView, machine: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Label and sentence, in the order they are shown."""
    found = [("Will be", str(view.precision)), ("Why", view.why)]
    if view.refused:
        found.insert(0, ("Asked for", str(view.asked)))
    if view.changed:
        found.append(("Last built as", str(view.built)))
    found.append(("int8 here", here(view, machine)))
    if view.solo_db is not None:
        found.append(("Alone in int8", f"{quantities.with_unit(view.solo_db, 'dB')} SQNR"))
    if len(view.layers) > 1:
        found.append(("One setting for", ", ".join(view.layers)))
    return found


def here(view: GroupView, machine: Mapping[str, Any] | None) -> str:
    """What the probe found for the group's operator in int8."""
    if machine is None:
        return "this machine has not been probed yet"
    found = offers.capability_of(machine, view.op, Precision.INT8)
    if found is None:
        return f"{view.op} was not probed"
    speed = "" if found.speedup is None else f", {quantities.ratio(found.speedup)} the speed of fp32"
    reason = f" ({found.why})" if found.why and found.state != "executed" else ""
    return f"{view.op} is {found.state}{speed}{reason}"
