"""The Compare page's parts for one candidate: verdict, tiles, diagnosis, pair of maps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from core.report import diagnosis, quantities
from core.report.asked import reason
from core.report.recipe_file import recipe_document
from core.store.rows import CandidateRow
from dashboard import comparison_view, conditions
from dashboard.comparison_view import Tile
from dashboard.figures.fold import fold_layout
from dashboard.figures.graph_map import cell_box
from dashboard.figures.heat_map import HEIGHT, WIDTH
from dashboard.figures.paired_maps import PAIR_HEIGHT, paired_maps
from dashboard.figures.precision_map import precision_map
from dashboard.layer_views import LayerView, layer_views, measure
from dashboard.services import Document
from dashboard.target_view import TargetView, target_view
from dashboard.widgets import layer_choice
from dashboard.widgets.chart_touch import Box
from dashboard.widgets.segments import segments
from dashboard.widgets.text import plain

_TILES = 4
_UNDER_PROFILER = (
    "The maps show times under the profiler, which adds to every kernel; the latency above is measured without it."
)
_BADGES = {
    "better": ("green", ":material/trending_up:"),
    "worse": ("red", ":material/trending_down:"),
    "no difference seen": ("gray", ":material/trending_flat:"),
    "too noisy": ("orange", ":material/graphic_eq:"),
    "not measured": ("gray", ":material/remove:"),
}


def verdict_badge(tile: Tile) -> str:
    """The verdict word of a tile; empty where it has none."""
    return "" if tile.verdict is None else badge(tile.verdict)


def badge(verdict: str) -> str:
    """A verdict word as a coloured label in Markdown, with an icon, so that colour is not the only sign."""
    color, icon = _BADGES[verdict]
    return f":{color}-badge[{icon} {verdict}]"


def _below_badge(tile: Tile) -> str:
    return f":orange-badge[:material/arrow_downward: {plain(tile.below)}]"


def nothing_built() -> None:
    """Where there is nothing to compare yet: what to do next."""
    st.markdown("### Nothing to compare yet")
    st.caption("Choose precisions on the Mix page and press Build and measure, or let Auto-mix find a mix.")
    if st.button("Open Mix", icon=":material/tune:", type="primary", key="compare.mix"):
        st.switch_page("app_pages/mix.py")


def recipe_of(row: CandidateRow) -> dict[str, Any]:
    """The recipe as it is taken away: with the layers of the model that it was made for."""
    return recipe_document({"recipe": dict(row.recipe), "made_for": row.report.get("made_for")})


def download_json(label: str, document: Mapping[str, Any], file_name: str) -> None:
    """Draws the button for one JSON document."""
    st.download_button(
        f"Download {label}",
        lambda: json.dumps(document, indent=1),
        file_name=file_name,
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
        key=f"compare.{label}",
    )


def summary(document: Document, *, began: datetime | None = None) -> None:
    """The verdict in words, the target if there was one, and what the numbers were measured under.

    Args:
        document: of the candidate.
        began: when its job began: what was measured before that was reused.
    """
    compared = document.get("comparison") or document
    if (document.get("data") or {}).get("synthetic"):
        st.warning(
            "Synthetic inputs: times hold for these shapes; accuracy and fidelity on real data may differ.",
            icon=":material/science:",
        )
    if not compared.get("ratio"):
        st.info("This candidate was built but not measured.", icon=":material/straighten:")
    _target(target_view(document))
    verdict = compared.get("verdict")
    if verdict in _BADGES:
        st.markdown(f"Speed: {badge(verdict)} {plain(str(compared.get('why') or ''))}")
    for tile in comparison_view.tiles(document):
        if tile.below:
            st.markdown(f"{plain(tile.label)}: {plain(tile.figure)} {_below_badge(tile)}")
    noise = (compared.get("noise") or {}).get("smallest_effect")
    words = [conditions.sentence(compared.get("conditions") or document.get("conditions"))]
    words.append(conditions.reused((compared.get("conditions") or {}).get("time"), began))
    if noise is not None:
        words.append(f"changes below {quantities.share(noise)} cannot be told from noise")
    st.caption(plain(" · ".join(filter(None, words))))


def _target(target: TargetView | None) -> None:
    if target is None:
        return
    told = f"{'Target met' if target.met else 'Target not met'}: {target.text}"
    if target.conditions:
        told += f" · {'; '.join(target.conditions)}"
    if target.met:
        st.success(plain(told), icon=":material/flag:")
    else:
        st.error(plain(told), icon=":material/flag:")


def tiles(document: Document) -> None:
    """One tile for each metric: before and after, ratio with interval, verdict word."""
    shown = comparison_view.tiles(document)
    for start in range(0, len(shown), _TILES):
        for column, tile in zip(st.columns(_TILES, gap="small"), shown[start : start + _TILES], strict=False):
            with column, st.container(border=True, height="stretch", gap="xxsmall"):
                st.metric(tile.label, tile.figure, help=plain(tile.help) or None)
                change = f"{plain(ratio_text(tile))} {verdict_badge(tile)}".strip()
                if change or not tile.below:
                    st.markdown(change or "&nbsp;")
                if tile.below:
                    st.markdown(_below_badge(tile))
                if tile.note:
                    st.caption(plain(tile.note))


def ratio_text(tile: Tile) -> str:
    """The ratio with its interval, or the change in points."""
    if tile.ratio is None:
        return tile.change
    interval = f" [{quantities.three(tile.ci95[0])}, {quantities.three(tile.ci95[1])}]" if tile.ci95 else ""
    return f"{quantities.ratio(tile.ratio)}{interval}"


def explain(document: Document, original: Document | None) -> None:
    """Where the candidate is not faster: why, with figures, and what the best mix that was tried would have done.

    Args:
        document: of the candidate.
        original: a profile of the original, where the candidate's document carries none.
    """
    found = diagnosis.explanation(document, original=original)
    if found is None:
        return
    with st.container(border=True, gap="small"):
        st.markdown(f"**{found.title}**")
        for sentence in found.sentences:
            st.markdown(f"- {plain(sentence)}")


def maps(
    document: Document, inspection: Document, before: Sequence[LayerView], after: Sequence[LayerView] | None
) -> None:
    """The graph before and after, by latency or by what runs; without times of the original only what runs."""
    rows = document.get("layers") or ()
    timed = any(view.ms is not None for view in before)
    executed = {row["id"]: row["executed"] for row in rows}
    notes = {row["id"]: reason(row) for row in rows}
    selected, theme = layer_choice.chosen({view.id for view in before}), layer_choice.theme()
    with st.container(border=True, gap="small"):
        if not timed:
            st.caption("The original has no profile yet, so only what runs in the candidate is shown.")
            figure = precision_map(before, inspection["layout"], executed, theme, notes=notes)
        else:
            by = _lower_map() if after is not None else "precision"
            figure = paired_maps(
                before,
                inspection["layout"],
                measure("latency"),
                executed,
                theme,
                after=after if by == "latency" else None,
                notes=notes,
                titles=map_titles(document, before, after, by),
            )
        boxes = _frames(inspection, selected, paired=timed)
        layer_choice.chart(
            figure, key="compare.maps", alt="The graph of the original and of the candidate", cells=boxes
        )
        st.caption(plain(layer_line(selected, rows, before, after)))
        if timed:
            st.caption(_UNDER_PROFILER)


def _frames(inspection: Document, selected: str | None, *, paired: bool) -> list[Box]:
    """Where the chosen layer is in each map."""
    fold = fold_layout(inspection["layout"], width=WIDTH, height=PAIR_HEIGHT if paired else HEIGHT)
    if selected is None or selected not in fold.places:
        return []
    return [Box(*cell_box(fold, selected), axes) for axes in (("", "2") if paired else ("",))]


def layer_line(
    layer: str | None,
    rows: Sequence[Mapping[str, Any]],
    before: Sequence[LayerView],
    after: Sequence[LayerView] | None,
) -> str:
    """The chosen layer in one line: times before and after, requested, executed and why."""
    row = next((row for row in rows if row["id"] == layer), None)
    if row is None:
        return "Click a cell to see one layer before and after."
    was, now = (next((view.ms for view in views if view.id == layer), None) for views in (before, after or ()))
    times = quantities.times_ms(was, now)
    ran = "folded away" if row["executed"] == "folded" else f"executed {row['executed']}"
    told = [f"{row['id']} ({row['op']})", f"{times[0]} → {times[1]}", f"requested {row['requested']}, {ran}"]
    return " · ".join([*told, reason(row)])


def map_titles(
    document: Document, before: Sequence[LayerView], after: Sequence[LayerView] | None, by: str
) -> tuple[str, str]:
    """What each map shows, and for times what they add up to: the profile's own sum, not the latency of the pair."""
    first = _kernel_time(document.get("original_profile"), before)
    if by != "latency":
        return f"Before: time of each layer, {first}", "After: what runs"
    second = _kernel_time(document.get("profile"), after or ())
    return f"Before: time of each layer, {first}", f"After: time of each layer, {second}"


def _kernel_time(profile: Mapping[str, Any] | None, views: Sequence[LayerView]) -> str:
    known = (profile or {}).get("kernel_ms")
    whole = sum(view.ms or 0.0 for view in views) if known is None else known
    return f"{quantities.time_ms(whole)} in kernels under the profiler"


def _lower_map() -> str:
    choices = {"latency": "Latency", "precision": "What runs"}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("After, coloured by", width="content")
        return segments("After, coloured by", choices, key="compare.colour")


def before_views(document: Document, inspection: Document, profile: Document | None) -> tuple[LayerView, ...]:
    """The layers with the times of the original: those measured beside the candidate, else of its own profile."""
    return layer_views(inspection, document.get("original_profile") or profile)


def after_views(document: Document, inspection: Document) -> tuple[LayerView, ...] | None:
    """The layers with the times of the candidate; None where it was not profiled."""
    profile = document.get("profile")
    return layer_views(inspection, profile) if profile else None
