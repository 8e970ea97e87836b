"""Build and Auto-mix: what is on the desk becomes a candidate in the background; the last one's figures beside it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.errors import MixdeskError
from core.recipe.precision import Precision
from core.store.rows import CandidateRow
from dashboard import comparison_view, services, state
from dashboard.comparison_view import Tile
from dashboard.group_views import GroupView
from dashboard.mixing import Mix
from dashboard.services import Subject
from dashboard.widgets import jobs, mix_desk
from dashboard.widgets.comparison import verdict_badge
from dashboard.widgets.text import plain

_BUDGETS_S = (30, 60, 120, 300, 900)
_DEFAULT_BUDGET_S = 120


def build(on: Subject, views: Sequence[GroupView]) -> None:
    """The mix in one sentence, a name for it, and the button; the job's card while it is built."""
    mix = mix_desk.history(on).present
    with st.container(border=True, gap="small"):
        st.markdown("**Build**")
        st.caption(plain(summary(views)))
        suggestion = suggested_name(views)
        name = st.text_input("Name", key="mix.name", placeholder=suggestion, label_visibility="collapsed")
        jobs.run_or_show(
            on, "build", label="Build and measure", submit=lambda: _submit_build(on, mix, name or suggestion)
        )


def _submit_build(on: Subject, mix: Mix, name: str) -> str:
    state.CANDIDATE.set(None)
    return services.submit_build(on, mix.recipe().to_dict(), name=name)


def auto_mix(on: Subject) -> None:
    """The solver: it keeps the target and the pins, and proposes a mix with its proof."""
    pins = mix_desk.history(on).present.pins
    target = state.TARGET.get()
    with st.container(border=True, gap="small"):
        st.markdown("**Auto-mix**")
        kept = target or "99 % of the accuracy (without labels: SQNR of 25 dB), as no target is set above"
        st.caption(plain(f"Searches the fastest mix that keeps {kept}. {_pinned(len(pins))}"))
        budget_s = st.selectbox(
            "Time to search",
            _BUDGETS_S,
            index=_BUDGETS_S.index(_DEFAULT_BUDGET_S),
            format_func=_duration,
            key="mix.budget",
        )
        jobs.run_or_show(on, "optimize", label="Auto-mix", submit=lambda: _submit_search(on, float(budget_s)))


def _submit_search(on: Subject, budget_s: float) -> str:
    state.CANDIDATE.set(None)
    pins = {group: str(precision) for group, precision in mix_desk.history(on).present.pins.items()}
    return services.submit_optimize(on, target=state.TARGET.get(), time_budget_s=budget_s, pins=pins)


def _pinned(count: int) -> str:
    if not count:
        return "Nothing is pinned."
    return "One pinned group keeps its precision." if count == 1 else f"{count} pinned groups keep their precision."


def _duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min"


def measured(on: Subject, candidate: CandidateRow | None, views: Sequence[GroupView]) -> None:
    """The last candidate: what was measured, and how the desk differs from it by now."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="medium"):
        if candidate is None:
            st.caption("Nothing was built from this model yet: choose precisions, then Build and measure.")
            return
        document = services.build(candidate.id) or {}
        compared = document.get("comparison") or document
        st.markdown(f"**{plain(candidate.name or candidate.id)}**  \n:gray[last measured]", width="content")
        for tile in (
            comparison_view.latency(compared),
            comparison_view.accuracy(compared),
            comparison_view.sqnr(compared),
        ):
            _small_tile(tile)
        st.space("stretch")
        changed = sum(1 for view in views if view.changed)
        st.caption(f"The desk differs in {changed} group{'' if changed == 1 else 's'}", width="content")
        st.button(
            "Load its mix",
            icon=":material/input:",
            key="mix.load",
            disabled=not changed,
            help="Puts this candidate's recipe on the desk; can be undone.",
            on_click=_load,
            args=(on, candidate),
        )
        if st.button("Compare", icon=":material/compare:", key="mix.compare"):
            st.switch_page("app_pages/compare.py")


def _small_tile(tile: Tile) -> None:
    st.markdown(
        f":gray[{plain(tile.label)}]  \n{plain(tile.figure)} {verdict_badge(tile)}", width="content", help=tile.help
    )


def _load(on: Subject, candidate: CandidateRow) -> None:
    try:
        loaded = Mix.from_dict(candidate.recipe)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
        return
    mix_desk.step(on, lambda mix: Mix(loaded.rules, mix.pins))


def summary(views: Sequence[GroupView]) -> str:
    """How many groups are what, and how many were asked for something else."""
    counts = {precision: sum(1 for view in views if view.precision is precision) for precision in Precision}
    told = ", ".join(f"{count} in {precision}" for precision, count in counts.items() if count)
    refused = sum(1 for view in views if view.refused)
    return f"{len(views)} groups: {told}" + (f"; {refused} asked for, but refused (see Why)" if refused else "")


def suggested_name(views: Sequence[GroupView]) -> str:
    """A name that says what is lowered: "Conv int8, 21 of 30 groups"."""
    lowered = [view for view in views if view.precision is not Precision.FP32]
    if not lowered:
        return "everything in fp32"
    ops = sorted({view.op for view in lowered if view.kind != "follower"}) or sorted({view.op for view in lowered})
    return f"{'+'.join(ops[:3])} {lowered[0].precision}, {len(lowered)} of {len(views)} groups"
