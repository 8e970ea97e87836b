"""The layer card: all that is known of the chosen layer, each figure with its unit."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.report import quantities
from dashboard import state
from dashboard.figures.labels import ELLIPSIS, shorten
from dashboard.layer_views import LayerView, short_names, write_intensity
from dashboard.widgets.text import plain

_SLOWEST = 6
_NAME_LENGTH = 26


def draw(views: Sequence[LayerView], layer: str | None) -> None:
    """Draws the card of `layer`; without one, the slowest layers to choose from."""
    view = next((view for view in views if view.id == layer), None)
    with st.container(border=True, gap="small"):
        if view is None:
            _slowest(views)
        else:
            _known(view, [other.id for other in views if other.group == view.group])


def _known(view: LayerView, members: Sequence[str]) -> None:
    st.markdown(f"**{plain(view.id)}**")
    st.caption(plain(f"{view.op} · {position(view)}"))
    with st.container(horizontal=True, gap="medium"):
        st.metric("Time", quantities.time_ms(view.ms), width="content")
        st.metric("Share", quantities.share(view.share), width="content", help="Of the kernel time of one run")
    st.markdown("  \n".join(f":gray[{label}] {plain(text)}" for label, text in facts(view, members)))
    with st.container(horizontal=True, gap="small"):
        if st.button("Open in Mix", icon=":material/tune:", key="layer_card.mix"):
            st.switch_page("app_pages/mix.py")
        st.button("Clear", key="layer_card.clear", type="tertiary", on_click=state.LAYER.set, args=(None,))


def _slowest(views: Sequence[LayerView]) -> None:
    timed = sorted((view for view in views if view.ms), key=lambda view: -(view.ms or 0.0))[:_SLOWEST]
    if timed:
        st.markdown("**The slowest layers**")
        with st.container(gap=None):
            _buttons(timed, slow_names(timed, views))
    st.caption("Click a cell of the map or a row of the table to see all of a layer.")


def slow_names(timed: Sequence[LayerView], views: Sequence[LayerView]) -> list[str]:
    """The names of some of the layers, as short as tells each from all others; cut only where they stay apart.

    They are the ends of paths, so where a cut in the middle makes two alike, only the end is kept.
    """
    short = short_names(views)
    names = [short[view.id] for view in timed]
    middle = [shorten(name, _NAME_LENGTH) for name in names]
    end = [name if len(name) <= _NAME_LENGTH else ELLIPSIS + name[1 - _NAME_LENGTH :] for name in names]
    return next((cut for cut in (middle, end) if len(set(cut)) == len(names)), names)


def _buttons(timed: Sequence[LayerView], names: Sequence[str]) -> None:
    for number, (view, name) in enumerate(zip(timed, names, strict=True)):
        label = plain(f"{quantities.time_ms(view.ms)} · {name}")
        help_text = plain(f"{view.id}: {quantities.share(view.share)} of the kernel time")
        key = f"layer_card.slow{number}"
        # a label of two lines would be centred
        st.button(
            label, key=key, type="tertiary", help=help_text, on_click=state.LAYER.set, args=(view.id,), wrap=False
        )


def position(view: LayerView) -> str:
    """Where it is: its number and its module."""
    module = "/".join(view.module)
    return f"layer {view.index + 1}" + (f" in {module}" if module else "")


def facts(view: LayerView, members: Sequence[str]) -> list[tuple[str, str]]:
    """Label and figure, in the order they are shown; what does not apply to a layer is left out."""
    found = [
        ("Limited by", view.limited_by or quantities.NOT_KNOWN),
        ("Reached", reached(view)),
        ("Executes as", view.executes_as or quantities.NOT_KNOWN),
        ("Computes in", view.precision or ""),
        ("Shapes", shapes(view)),
        ("Compute", quantities.count(view.macs, "MAC")),
        ("Moved", quantities.size(view.moved_bytes)),
        ("Intensity", write_intensity(view.intensity) if view.macs else ""),
        ("Weights", weights(view)),
        ("Memory", memory(view)),
    ]
    found = [pair for pair in found if pair[1]]
    if view.runs is not None and view.runs != 1:
        found.append(("Runs", runs(view.runs)))
    if len(members) > 1:
        others = [member for member in members if member != view.id]
        found.append(("Fuses with", ", ".join(others)))
    return found


def reached(view: LayerView) -> str:
    """Operations per second and how much of what can be reached that is; empty for a layer without time."""
    told = [
        quantities.with_unit(view.gflops, "GFLOP/s") if view.macs else "",
        f"{quantities.share(view.attained)} of what this machine can reach" if view.attained is not None else "",
    ]
    return ", ".join(filter(None, told))


def weights(view: LayerView) -> str:
    """Bytes and parameters; empty where it has none."""
    if not view.weight_bytes:
        return ""
    return f"{quantities.size(view.weight_bytes)} in {quantities.count(view.parameters)} parameters"


def memory(view: LayerView) -> str:
    """What is alive while it runs, and what of the peak are its outputs; empty where that is not known."""
    if view.live_bytes is None:
        return ""
    held = f", its outputs hold {quantities.size(view.held_bytes)} of the peak" if view.held_bytes else ""
    return f"{quantities.size(view.live_bytes)} of activations alive while it runs{held}"


def runs(count: float) -> str:
    """How often it runs: "2.50 times per run of the model"."""
    if count == 0:
        return "not in these runs"
    return f"{quantities.three(count)} times per run of the model"


def shapes(view: LayerView) -> str:
    """What goes in and what comes out: "1x64x56x56 → 1x64x56x56"."""
    ins = ", ".join(quantities.shape(dims) for dims in view.input_shapes) or quantities.NOT_KNOWN
    outs = ", ".join(quantities.shape(dims) for dims in view.output_shapes) or quantities.NOT_KNOWN
    return f"{ins} → {outs}"
