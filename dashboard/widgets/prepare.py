"""Preparing data: how images, sound or text become the model's input, with samples seen as the model will see them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from core.intake.preprocessing import Preprocessing
from core.report import quantities
from core.store.rows import JobState
from dashboard import arriving, opening, services, state
from dashboard import preprocessing_form as forms
from dashboard.figures.labels import shorten
from dashboard.opening import Source
from dashboard.services import Document, Subject
from dashboard.widgets import errors, jobs, prepare_fields
from dashboard.widgets.text import plain

_PREVIEW_PX = 600
_COLUMNS = 4
_NAME_LENGTH = 22
_TEXT_LENGTH = 300
_MOST_MB = 32

Values = Mapping[str, Any]


def draw(on: Subject, document: Document) -> bool:
    """The data that is about to be prepared, or the job that does it; nothing where there is none.

    True while the fields are shown: the rest of the page (Netron takes the focus) would only disturb them.
    """
    row = services.find_job(state.PREPARING.get())
    source = opening.source_of(row)
    if row is None or source is None:
        state.PREPARING.set(None)
        return False
    if row.kind == "convert" and not row.is_final:
        jobs.card(row.id, key="convert")
        return False
    if row.kind == "convert" and row.state is JobState.DONE:
        arriving.converted(row)
        st.rerun()
    if row.kind == "convert":
        jobs.ended(row, key="convert", again=False)
    inputs = [str(spec["name"]) for spec in document["model"]["inputs"]]

    @st.fragment
    def form() -> None:
        if state.NOTICE.get() is not None or opening.source_of(services.find_job(state.PREPARING.get())) != source:
            st.rerun()
        with st.container(border=True, gap="small"):
            _form(on, source, inputs)

    form()
    return True


def _form(on: Subject, source: Source, inputs: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Prepare {plain(shorten(source.name, 60))}", anchor=False, width="stretch")
        st.button("Leave it", key="prepare.leave", icon=":material/close:", type="tertiary", on_click=_leave)
    begin = _begin(on, source)
    if begin is None:
        _files(source)
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        try:
            made: Values | None = Preprocessing.from_dict(prepare_fields.draw(begin, inputs)).to_dict()
        except MixdeskError as error:
            errors.show(error)
            made = None
        for guess in (made or {}).get("guessed", ()):
            st.caption(f":material/help: {plain(guess)}")
    with right, st.container(height=_PREVIEW_PX, border=False, gap="small"):
        fits = made is not None and _samples(on, source, made)
    _finish(on, source, made if fits else None)
    _as_json(source, made or begin)


def _begin(on: Subject, source: Source) -> Values | None:
    """What the fields begin with: what was tried, or used for this model before, if it fits, else a proposal."""
    last = _last(on, source.kind)
    tried = source.begin_with or (None if last is None else last[1])
    try:
        if tried is None:
            with st.spinner("Reading a few samples"):
                proposed: Values = services.preview(on, source.params, None)["preprocessing"]
            return proposed
    except MixdeskError as error:
        errors.show(error)
        return None
    if source.begin_with is None and last is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(plain(f"Begins with the preprocessing of '{last[0]}'."), width="content")
            st.button("Propose afresh", key="prepare.afresh", type="tertiary", on_click=_afresh, args=(on, source))
    return forms.settings_of(tried)


def _last(on: Subject, kind: str) -> tuple[str, Values] | None:
    """Name and preprocessing of the data that was prepared last for this model."""
    for row in services.jobs(on, kind="convert", states=(JobState.DONE,)):
        how = row.params.get("preprocessing") or {}
        if how.get("kind") == kind:
            return str(row.params.get("source_name")), how
    return None


def _samples(on: Subject, source: Source, made: Values) -> bool:
    """Samples as the model will see them; False where they cannot be made."""
    try:
        with st.spinner("Reading a few samples"):
            samples = services.preview(on, source.params, made)["samples"]
    except MixdeskError as error:
        errors.show(error)
        return False
    longest = int(made["max_length"]) if made.get("padding") == "longest" else None
    st.caption(plain(given_to_model(samples, is_text=source.kind == "text", longest=longest)))
    for start in range(0, len(samples), _COLUMNS):
        columns = st.columns(_COLUMNS, gap="small")
        for column, sample in zip(columns, samples[start : start + _COLUMNS], strict=False):
            with column:
                _sample(sample, is_text=source.kind == "text")
    return any(sample["note"] is None for sample in samples)


def _sample(sample: Mapping[str, Any], *, is_text: bool) -> None:
    if sample["thumbnail"] is not None:
        st.image(base64.b64decode(sample["thumbnail"]), width="stretch")
    if sample["text"]:
        st.text(shorten(sample["text"], _TEXT_LENGTH))
    label = f"**{plain(shorten(str(sample['label']), _NAME_LENGTH))}**  \n" if sample["label"] else ""
    name = plain(shorten(sample["name"], _NAME_LENGTH))
    told = seen(sample, is_text=is_text)
    tone = "gray" if sample["note"] is None else "orange"
    st.markdown(f"{label}:small[:gray[{name}]]  \n:small[:{tone}[{plain(told)}]]")


def seen(sample: Mapping[str, Any], *, is_text: bool) -> str:
    """What the model gets of a sample: "-0.992 to 1.00, mean 0.0213"; of a text how much; else why it gets nothing."""
    if sample["note"] is not None:
        return str(sample["note"])
    if is_text or sample["minimum"] is None:
        return quantities.shape(sample["shape"])
    low, high, mean = (quantities.three(sample[name]) for name in ("minimum", "maximum", "mean"))
    return f"{low} to {high}, mean {mean}"


def given_to_model(samples: Sequence[Mapping[str, Any]], *, is_text: bool, longest: int | None = None) -> str:
    """What stands above the samples: the shape that each becomes, and the range of values over those shown.

    `longest` is how many tokens a text may have where all are padded to the longest: that may be one not shown here.
    """
    good = [sample for sample in samples if sample["note"] is None]
    if not good:
        return "None of these samples can be read."
    shapes = list(dict.fromkeys(quantities.shape(sample["shape"]) for sample in good))
    shape = shapes[0] if len(shapes) == 1 else f"{shapes[0]} and others"
    if is_text or good[0]["minimum"] is None:
        told = f"The model gets {shape} of each"
        if longest is None or good[0]["minimum"] is None or int(good[0]["shape"][-1]) >= longest:
            return told
        return f"{told} in this preview; used, all texts are padded to the longest of them, at most {longest} tokens"
    low, high = min(sample["minimum"] for sample in good), max(sample["maximum"] for sample in good)
    return f"The model gets {shape} of each, values {quantities.three(low)} to {quantities.three(high)}"


def _finish(on: Subject, source: Source, made: Values | None) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        limit = st.number_input(
            "At most so many",
            min_value=1,
            step=100,
            value=None,
            key="prepare.limit",
            placeholder="all samples",
            width=190,
        )
        st.button(
            "Use this data",
            key="prepare.use",
            type="primary",
            icon=":material/play_arrow:",
            disabled=made is None,
            on_click=_use,
            args=(on, source, made, limit),
        )
        st.caption("" if made is None else plain(forms.told(made)), width="stretch")


def _as_json(source: Source, values: Values) -> None:
    shown = st.expander("As JSON, tokenizer", icon=":material/data_object:", key="prepare.json", on_change="rerun")
    if shown.open:
        with shown:
            st.download_button(
                "Download",
                json.dumps(forms.settings_of(values), indent=1),
                file_name="preprocessing.json",
                mime="application/json",
                icon=":material/download:",
                key="prepare.download",
                on_click="ignore",
            )
            _files(source)


def _files(source: Source) -> None:
    """Where a saved preprocessing and, for texts, a tokenizer are dropped."""
    what = "A saved preprocessing (.json)" if source.kind != "text" else "A saved preprocessing or a tokenizer.json"
    key = f"prepare.files.{state.OPENED.get()}"
    st.file_uploader(what, type=["json"], max_upload_size=_MOST_MB, key=key, on_change=_bring_in, args=(source, key))


def _bring_in(source: Source, key: str) -> None:
    given = st.session_state[key]
    if given is None:
        return
    state.OPENED.set(state.OPENED.get() + 1)
    content = given.getvalue()
    if source.kind == "text" and b'"kind"' not in content[:4096]:
        state.TOKENIZERS.get()[source.job] = services.workspace().files.put(content, suffix=".json")
        return
    try:
        state.BEGINNINGS.get()[source.job] = forms.read_file(content)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _afresh(on: Subject, source: Source) -> None:
    try:
        state.BEGINNINGS.get()[source.job] = services.preview(on, source.params, None)["preprocessing"]
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _use(on: Subject, source: Source, made: Values, limit: int | None) -> None:
    state.PREPARING.set(services.submit_convert(on, source.params, forms.settings_of(made), limit=limit))


def _leave() -> None:
    state.PREPARING.set(None)
