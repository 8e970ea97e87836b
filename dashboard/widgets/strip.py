"""The strip under the top bar: model, data, target, how it runs, machine and jobs; a change holds for every page."""

from __future__ import annotations

import streamlit as st

from core.errors import MixdeskError
from core.measure.target import parse_target
from core.runtime.conditions import Conditions
from dashboard import loading, services, state
from dashboard.figures.labels import shorten
from dashboard.services import Subject
from dashboard.tables import text_px
from dashboard.widgets import job_chip, running
from dashboard.widgets.text import plain

_TARGETS = ("accuracy>=99%", "agreement>=99%", "sqnr>=30")
#: Room for a name in the menus of model and data, and the letters that are left of it in any case.
_NAME_PX, _LEAST = 105, 5
#: Instruction sets worth a word in the chip: those that decide which kernels run fast.
_TELLING = ("amx_int8", "avx512_vnni", "avx_vnni", "avx512f", "avx2", "i8mm", "dotprod", "neon")


def draw() -> None:
    """Draws the strip; once per run, above the page."""
    on = services.subject()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="strip"):
        _model(on)
        if on is not None:
            _data(on)
            _target()
            running.chip(on)
        st.space("stretch")
        _machine()
        with st.container(width="content"):
            job_chip.draw()


def _model(on: Subject | None) -> None:
    rows = {row.sha256: row for row in services.models()}
    if on is not None:
        rows.setdefault(on.model.sha256, on.model)
    if not rows:
        return
    names = {sha256: row.name for sha256, row in rows.items()}
    st.session_state["strip.model"] = None if on is None else on.model.sha256
    st.selectbox(
        "Model",
        list(rows),
        format_func=lambda sha256: _unambiguous(names, sha256),
        key="strip.model",
        placeholder="Choose a model",
        label_visibility="collapsed",
        icon=":material/deployed_code:",
        width=172,
        on_change=_choose_model,
    )


def _choose_model() -> None:
    chosen: str | None = st.session_state["strip.model"]
    state.choose_model(chosen)


def _data(on: Subject) -> None:
    rows = {row.sha256: row for row in services.datasets(on.model)}
    if on.data is not None:
        rows.setdefault(on.data.sha256, on.data)
    names = {sha256: row.name for sha256, row in rows.items()}
    st.session_state["strip.data"] = state.SYNTHETIC if on.data is None else on.data.sha256
    st.selectbox(
        "Data",
        [*rows, state.SYNTHETIC],
        format_func=lambda sha256: "Synthetic inputs" if sha256 == state.SYNTHETIC else _unambiguous(names, sha256),
        key="strip.data",
        label_visibility="collapsed",
        icon=":material/dataset:",
        width=170,
        on_change=_choose_data,
    )


def _choose_data() -> None:
    chosen: str | None = st.session_state["strip.data"]
    if chosen is None or chosen == state.SYNTHETIC:
        loading.use_synthetic({})
    else:
        loading.use_data(chosen)


def _target() -> None:
    current = state.TARGET.get()
    options = [*_TARGETS, *([current] if current and current not in _TARGETS else [])]
    st.session_state["strip.target"] = current
    st.selectbox(
        "Target",
        options,
        index=None,
        key="strip.target",
        placeholder="No target",
        accept_new_options=True,
        label_visibility="collapsed",
        icon=":material/flag:",
        width=140,
        help="What a mix must still reach, e.g. accuracy>=99% (of the original), sqnr>=30 (dB), latency<=5ms.",
        on_change=_choose_target,
    )


def _choose_target() -> None:
    text: str | None = st.session_state["strip.target"]
    try:
        state.TARGET.set(None if text is None else parse_target(text).text)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _machine() -> None:
    here = services.conditions()
    with st.popover(machine_line(here), icon=":material/memory:", type="tertiary", key="strip.machine"):
        st.markdown(f"**{plain(here.cpu)}**")
        st.text(
            f"{here.cores} cores · {', '.join(here.features)}\n"
            f"onnxruntime {here.onnxruntime} · {here.provider}\n"
            f"Python {here.python} · {here.os}\n"
            f"Load (one minute) {here.load_average:.2f} · machine {here.machine}"
        )
        if st.button("Open Machine", key="strip.machine.open", icon=":material/memory:", type="tertiary"):
            st.switch_page("app_pages/machine.py", query_params=state.link())


def machine_line(here: Conditions) -> str:
    """The chip: "2 cores, AVX2, ort 1.32, CPU"."""
    telling = next((name for name in _TELLING if name in here.features), "")
    runtime = ".".join(here.onnxruntime.split(".")[:2])
    provider = here.provider.removesuffix("ExecutionProvider")
    words = (f"{here.cores} cores", telling.upper().replace("_", "-"), f"ort {runtime}", provider)
    return ", ".join(word for word in words if word)


def _unambiguous(names: dict[str, str], sha256: str) -> str:
    """A name as the menu has room for it; one that looks like another there has the beginning of its hash beside it."""
    shown = _fitted(names[sha256])
    twice = sum(1 for other in names.values() if _fitted(other) == shown) > 1
    return _fitted(names[sha256], f" · {sha256[:6]}") if twice else shown


def _fitted(name: str, suffix: str = "") -> str:
    """Cut in the middle to what the menu shows, which would cut at the end and not say so."""
    length = len(name)
    while length > _LEAST and text_px(shorten(name, length) + suffix) > _NAME_PX:
        length -= 1
    return shorten(name, length) + suffix
