"""The mix on the desk: where it is kept, how a step is made, the tools that make steps over many groups, the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

import streamlit as st

from core.errors import MixdeskError
from core.recipe.precision import Precision
from core.recipe.resolve import WEIGHTED
from dashboard import mixing, services, state
from dashboard.file_names import slug
from dashboard.group_views import GroupView, groups_csv
from dashboard.mixing import History, Mix
from dashboard.offers import Offer
from dashboard.services import Subject
from dashboard.tables import group_table
from dashboard.widgets import layer_choice
from dashboard.widgets.text import plain

_TABLE_PX = 430


def history(on: Subject) -> History:
    """The mix on the desk with its steps; the first time it is the draft that was kept."""
    known = state.MIXES.get()
    if on.model.sha256 not in known:
        known[on.model.sha256] = History(_kept(on))
    return known[on.model.sha256]


def _kept(on: Subject) -> Mix:
    draft = services.draft(on)
    try:
        return Mix() if draft is None else Mix.from_dict(draft)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
        return Mix()


def step(on: Subject, change: Callable[[Mix], Mix]) -> None:
    """Makes one step and keeps the draft; a mistake is shown once, and nothing changes."""
    try:
        _keep(on, history(on).do(change(history(on).present)))
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def undo(on: Subject) -> None:
    """Takes the last step back."""
    _keep(on, history(on).undo())


def redo(on: Subject) -> None:
    """Makes the step again that was taken back last."""
    _keep(on, history(on).redo())


def _keep(on: Subject, changed: History) -> None:
    state.MIXES.get()[on.model.sha256] = changed
    services.save_draft(on, changed.present.to_dict())


def toolbar(on: Subject, views: Sequence[GroupView], offers: Sequence[Offer], *, probed: bool) -> None:
    """Undo, redo, reset, and steps over an operator, over names, over everything.

    Until the machine is `probed`, the buttons for int8 hold their place without being of use.
    """
    now = history(on)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        for op in _main_operators(views, offers, probed=probed):
            st.button(
                f"All {op} to int8",
                key=f"mix.op.{op}",
                on_click=step,
                args=(on, _operator_step(op, Precision.INT8)),
                disabled=not probed,
                help=_count(views, op)
                if probed
                else f"Not known yet whether this machine executes {plain(op)} in int8",
            )
        _by_operator(on, views, offers)
        _by_name(on, views, offers)
        st.space("stretch")
        st.button("Undo", icon=":material/undo:", disabled=not now.past, on_click=undo, args=(on,), key="mix.undo")
        st.button("Redo", icon=":material/redo:", disabled=not now.future, on_click=redo, args=(on,), key="mix.redo")
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            disabled=now.present == Mix(),
            on_click=step,
            args=(on, lambda _: Mix()),
            key="mix.reset",
            help="Everything back to fp32, without rules and pins; can be undone.",
        )


def _main_operators(views: Sequence[GroupView], offers: Sequence[Offer], *, probed: bool) -> list[str]:
    """Operators with weights that run in int8 here, or may, the most time first: worth a button of their own."""
    offered = {op for offer in offers if offer.precision is Precision.INT8 and offer.offered for op in offer.ops}
    time_of: dict[str, float] = {}
    for view in views:
        if view.op in WEIGHTED and (view.op in offered or not probed):
            time_of[view.op] = time_of.get(view.op, 0.0) + (view.ms or 0.0)
    return sorted(time_of, key=lambda op: -time_of[op])


def _operator_step(op: str, precision: Precision) -> Callable[[Mix], Mix]:
    return lambda mix: mixing.set_operator(mix, op, precision)


def _count(views: Sequence[GroupView], op: str) -> str:
    count = sum(1 for view in views if op in view.ops)
    return f"{count} group{'' if count == 1 else 's'} with {plain(op)}"


def _by_operator(on: Subject, views: Sequence[GroupView], offers: Sequence[Offer]) -> None:
    with st.popover("By operator", icon=":material/category:", key="mix.by_operator"):
        ops = sorted({op for view in views for op in view.ops})
        op = st.selectbox("Operator", ops, key="mix.operator")
        st.caption(_count(views, op) if op else "")
        _precisions(on, offers, lambda precision: _operator_step(op, precision), key="mix.set_operator")


def _by_name(on: Subject, views: Sequence[GroupView], offers: Sequence[Offer]) -> None:
    with st.popover("By name", icon=":material/regular_expression:", key="mix.by_name"):
        pattern = st.text_input("Regular expression", key="mix.pattern", placeholder="stage[34]/.*conv1")
        try:
            found = sum(1 for view in views if pattern and any(re.search(pattern, layer) for layer in view.layers))
            st.caption(f"Finds {found} groups; the rule fits a retrained model too.")
        except re.error as error:
            st.caption(plain(f"Not a regular expression: {error}"))
            return
        if found:
            _precisions(on, offers, lambda to: lambda mix: mixing.set_matching(mix, pattern, to), key="mix.set_name")


def _precisions(
    on: Subject, offers: Sequence[Offer], change: Callable[[Precision], Callable[[Mix], Mix]], *, key: str
) -> None:
    """One button for each precision; those that cannot be chosen here are grey and say why."""
    with st.container(horizontal=True, gap="xsmall"):
        for offer in offers:
            st.button(
                f"To {offer.precision}",
                key=f"{key}.{offer.precision}",
                help=plain(offer.why),
                on_click=step,
                args=(on, change(offer.precision)),
                disabled=not offer.offered,
            )


def table(on: Subject, views: Sequence[GroupView], offers: Sequence[Offer]) -> None:
    """The channels, a filter over them, and the buttons that set those that are selected."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        text = st.text_input(
            "Filter",
            key="mix.filter",
            placeholder="Filter by name or operator",
            icon=":material/search:",
            label_visibility="collapsed",
            width=240,
        )
        changed_only = st.toggle("Only what changed", key="mix.changed", width="content")
        chosen_here = st.container(horizontal=True, gap="xsmall", vertical_alignment="center", width="content")
    shown = [view for view in views if _passes(view, text or "") and (view.changed or not changed_only)]
    key = f"mix.groups.{text}.{changed_only}"
    board = group_table(shown, layer_choice.theme())
    event = st.dataframe(
        board.frame,
        column_config=board.config,
        hide_index=True,
        height=layer_choice.table_height(len(shown), _TABLE_PX),
        key=key,
        on_select=lambda: _look_at(key, shown),
        selection_mode="multi-row",
        placeholder="–",
        alt="Groups of layers with their precision",
    )
    st.download_button(
        "Groups as CSV",
        lambda: groups_csv(views),
        file_name=f"{slug(on.model.name, 'plan')}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="mix.csv",
    )
    selected = board.ids_at(event.selection.rows)
    with chosen_here:
        _set_selected(on, selected, offers)


def _set_selected(on: Subject, groups: Collection[str], offers: Sequence[Offer]) -> None:
    if not groups:
        st.caption("Select rows to set several at once")
        return
    st.caption(f"{len(groups)} selected", width="content")
    why = "set on the desk"
    _precisions(on, offers, lambda to: lambda mix: mixing.set_groups(mix, groups, to, why=why), key="mix.selected")


def _passes(view: GroupView, text: str) -> bool:
    wanted = text.strip().lower()
    return not wanted or any(wanted in word.lower() for word in (*view.layers, *view.ops))


def _look_at(key: str, shown: Sequence[GroupView]) -> None:
    """The group that was selected last is the one the inspector shows."""
    rows = st.session_state[key].selection.rows
    if rows and rows[-1] < len(shown):
        state.LAYER.set(shown[rows[-1]].id)
