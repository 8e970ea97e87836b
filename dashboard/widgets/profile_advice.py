"""Advice on the Profile page: what was seen, what follows, what to do, and the button that does it to the mix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from core.report.changes import change_words
from dashboard import applying, services, state
from dashboard.figures.labels import shorten
from dashboard.layer_rows import layer_table
from dashboard.layer_views import LayerView, short_names
from dashboard.offers import offered_in_int8
from dashboard.services import Document, Subject
from dashboard.widgets import mix_desk
from dashboard.widgets.text import plain

_MOST_LAYERS = 4
_NAME_LENGTH = 32

Entry = Mapping[str, Any]


def advice(on: Subject, document: Document, views: Sequence[LayerView]) -> None:
    """Every advice of a profile, the costliest first.

    Args:
        on: what is on the desk.
        document: the `profile` document.
        views: the layers, for their short names.
    """
    entries: Sequence[Entry] = document.get("advice") or ()
    if not entries:
        st.caption("Nothing stands out: no rule found a part of the time that is likely wasted.")
        return
    st.caption("Shares of the advice are of the kernel time, like those of the layers.")
    short = short_names(views)
    for number, entry in enumerate(entries):
        with st.container(border=True, gap="small"):
            _told(entry)
            _layers(entry, short, key=f"advice.{number}")
            if entry.get("change"):
                _apply_row(on, entry, key=f"advice.{number}")


def _told(entry: Entry) -> None:
    st.markdown(f"**{plain(str(entry.get('evidence') or entry.get('rule')))}**")
    st.markdown(plain(str(entry.get("consequence") or "")))
    if entry.get("remedy"):
        st.markdown(plain(f"What to do: {entry['remedy']}"))


def _layers(entry: Entry, short: Mapping[str, str], *, key: str) -> None:
    """Buttons that choose one of the layers it is about, everywhere on the page."""
    known = [layer for layer in entry.get("layers") or () if layer in short]
    if not known:
        return
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        for place, layer in enumerate(known[:_MOST_LAYERS]):
            st.button(
                plain(shorten(short[layer], _NAME_LENGTH)),
                key=f"{key}.layer{place}",
                type="tertiary",
                icon=":material/my_location:",
                help=plain(f"Show {layer} in the map, the tables and the card"),
                on_click=state.LAYER.set,
                args=(layer,),
            )
        if len(known) > _MOST_LAYERS:
            st.caption(f"and {len(known) - _MOST_LAYERS} more", width="content")


def _apply_row(on: Subject, entry: Entry, *, key: str) -> None:
    change: Entry = entry["change"]
    done = state.APPLIED.get().get((on.model.sha256, str(entry["rule"])))
    unknown = applying.asks_for_int8(change) and services.machine() is None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            "Apply",
            icon=":material/playlist_add_check:",
            key=f"{key}.apply",
            disabled=unknown,
            help="What this machine executes in int8 is not known yet." if unknown else _help(change),
            on_click=_apply,
            args=(on, entry),
        )
        st.caption(plain(change_words(change)), width="content")
        if unknown:
            st.button("Probe this machine", key=f"{key}.probe", icon=":material/memory:", on_click=_probe)
    if done is None:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f":material/check: {plain(done)}", width="stretch")
        st.button(
            "Undo",
            key=f"{key}.undo",
            icon=":material/undo:",
            disabled=not mix_desk.history(on).past,
            help="Takes back the last step of the mix.",
            on_click=_undo,
            args=(on, entry),
        )
        if st.button("Open Mix", key=f"{key}.mix", icon=":material/tune:"):
            st.switch_page("app_pages/mix.py", query_params=state.link())


def _help(change: Entry) -> str:
    if change.get("rules"):
        return "Puts these rules into the mix on the desk; can be undone. Nothing is built before you ask for it."
    return "Sets this on the strip above, for everything that is measured from now on."


def _apply(on: Subject, entry: Entry) -> None:
    """Does it, and keeps a sentence on what came of it."""
    change: Entry = entry["change"]
    if change.get("rules"):
        _apply_rules(on, entry)
    session = change.get("session") or {}
    if session:
        threads, batch = int(session.get("threads", on.threads)), int(session.get("batch", on.batch))
        state.choose_running(threads=threads, batch=batch)
        state.TOLD.set(f"Set on the strip: {change_words({'session': session})}. Profile again to see what it brings.")


def _apply_rules(on: Subject, entry: Entry) -> None:
    inspection = services.inspection(on)
    if inspection is None:
        return
    before = mix_desk.history(on).present
    try:
        after = applying.applied(before, entry["change"])
        told = applying.told(before, after, layer_table(inspection), offered_in_int8(services.machine()))
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
        return
    mix_desk.step(on, lambda _: after)
    state.APPLIED.get()[on.model.sha256, str(entry["rule"])] = told


def _undo(on: Subject, entry: Entry) -> None:
    mix_desk.undo(on)
    state.APPLIED.get().pop((on.model.sha256, str(entry["rule"])), None)


def _probe() -> None:
    try:
        services.submit_machine()
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
