"""Empty states: they say what to do next and offer a sample to do it with."""

from __future__ import annotations

import streamlit as st

from core.errors import MixdeskError
from core.intake.samples import Sample
from core.report import quantities
from dashboard import loading, state
from dashboard.widgets import errors, folders, upload
from dashboard.widgets.text import plain, sentence

_COLUMNS = 3


def ask_for_model() -> None:
    """Drawn where a page needs a model and none is on the desk; call `st.stop()` after it."""
    st.subheader("Choose a model first", anchor=False)
    _say_why_missing()
    st.caption("Start with a sample, or load your own model on the Model page.")
    sample_cards(key="empty")


def choose_model() -> None:
    """The first view: the samples as cards, and beside them a place for one's own model."""
    _say_why_missing()
    st.header("See where a model spends its time, and make it faster layer by layer", anchor=False)
    st.markdown(
        ":gray[Open a model, profile it, set a precision per layer, build and measure it, "
        "and take the faster model with you, with the proof.]"
    )
    offers()


def offers() -> None:
    """Samples, and a place for one's own model."""
    left, right = st.columns([2, 1], gap="large")
    with left:
        st.subheader("Start with a sample", anchor=False)
        sample_cards(key="sample")
    with right:
        st.subheader("Load your own", anchor=False)
        upload.drop_files(
            "An .onnx with its weight files, or a .zip of them; data in the same drop if you have it",
            kinds=upload.ANY,
            key="upload.first",
        )
        st.caption("Files stay on this server. Without data, seeded synthetic inputs are used and flagged as such.")
        folders.draw(key="first.server")


def sample_buttons(*, key: str) -> None:
    """The samples as a short row of buttons."""
    with st.container(horizontal=True, gap="small"):
        for sample in loading.samples():
            st.button(plain(sample.name), key=f"{key}.{sample.name}", on_click=_open, args=(sample.name,))


def sample_cards(*, key: str) -> None:
    """The samples as cards; choosing one puts it on the desk at once."""
    samples = loading.samples()
    if not samples:
        st.caption("This installation has no samples.")
    for start in range(0, len(samples), _COLUMNS):
        columns = st.columns(_COLUMNS, gap="small")
        for column, sample in zip(columns, samples[start : start + _COLUMNS], strict=False):
            with column:
                _card(sample, key=key)


def _card(sample: Sample, *, key: str) -> None:
    with st.container(border=True, height="stretch", gap="small"):
        st.markdown(f"**{plain(sample.name)}**  \n{plain(sentence(sample.task))}")
        st.caption(plain(sentence(sample.shows)))
        st.space("stretch")
        size = quantities.size(sample.model.stat().st_size)
        st.caption(f"{size} · {plain(sample.metric or 'no labels')} · {plain(sample.licence)}")
        st.button(
            "Open sample",
            key=f"{key}.{sample.name}",
            icon=":material/play_arrow:",
            on_click=_open,
            args=(sample.name,),
        )


def _open(name: str) -> None:
    state.OPENED.set(state.OPENED.get() + 1)
    try:
        loading.open_sample(name)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _say_why_missing() -> None:
    wanted = state.MODEL.get()
    if wanted is not None:
        st.warning(
            f"The link names the model {plain(wanted)}, which this workspace does not have. "
            "It may come from another server: load the file here, or start with a sample.",
            icon=":material/link_off:",
        )


def notice() -> None:
    """What a pressed button could not do, told once."""
    told = state.NOTICE.get()
    if told is not None:
        errors.show_document(told)
        state.NOTICE.set(None)
    done = state.TOLD.get()
    if done is not None:
        st.info(plain(done), icon=":material/info:")
        state.TOLD.set(None)
