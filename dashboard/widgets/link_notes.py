"""What a link names and this workspace does not have: told in one line, and the link says what is shown instead."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

import streamlit as st

from core.store.rows import CandidateRow, now
from dashboard import services, state
from dashboard.figures.labels import shorten
from dashboard.state import LinkKey, LinkNote
from dashboard.widgets.text import plain

#: A note outlives the reruns of a page that is being filled, and is gone when somebody comes back later.
_TOLD_FOR = timedelta(minutes=1)
_NAME_LENGTH = 60


def mend_data() -> None:
    """Unknown data gives way to what a link without data would show; call before anything is drawn."""
    wanted, on = state.DATA.get(), services.subject()
    if wanted in (None, state.SYNTHETIC) or on is None or on.data is not None:
        return
    state.DATA.set(None)
    found = services.subject()
    data = None if found is None else found.data
    state.DATA.set(state.SYNTHETIC if data is None else data.sha256)
    used = "Synthetic inputs are" if data is None else f"'{data.name}' is"
    hint = "It may come from another server: add the file on the Model page."
    _note(state.DATA, f"data '{_short(wanted)}', which this workspace does not have. {used} used instead. {hint}")


def data() -> None:
    """Tells of unknown data."""
    _tell(state.DATA)


def layer(known: Collection[str]) -> None:
    """An unknown layer is taken off the link, and told."""
    wanted = state.LAYER.get()
    if wanted is not None and wanted not in known:
        state.LAYER.set(None)
        _note(state.LAYER, f"the layer '{_short(wanted)}', which this model does not have. None is chosen.")
    _tell(state.LAYER)


def candidate(known: Collection[CandidateRow], current: CandidateRow | None, *, settled: bool) -> None:
    """The shown candidate goes into the link; one that is unknown is told.

    Args:
        known: the candidates of the model.
        current: the one that is shown.
        settled: False while another is being built, which is to be shown once it is there.
    """
    wanted = state.CANDIDATE.get()
    unknown = wanted is not None and all(row.id != wanted for row in known)
    if unknown or settled:
        state.CANDIDATE.set(None if current is None else current.id)
    if unknown:
        instead = "" if current is None else f" '{current.name or current.id}' is shown instead."
        _note(state.CANDIDATE, f"the candidate '{_short(wanted)}', which this model does not have here.{instead}")
    _tell(state.CANDIDATE)


def baseline(known: Collection[CandidateRow]) -> None:
    """An unknown baseline is taken off the link, and told."""
    wanted = state.BASELINE.get()
    if wanted is not None and all(row.id != wanted for row in known):
        state.BASELINE.set(None)
        _note(state.BASELINE, f"the baseline '{_short(wanted)}', which this model does not have here.")
    _tell(state.BASELINE)


def _note(key: LinkKey, what: str) -> None:
    told = LinkNote(f"This link names {what}", instead=key.get(), model=state.MODEL.get(), at=now())
    state.LINK_NOTES.get()[key.param] = told


def _tell(key: LinkKey) -> None:
    """Draws the note as long as what is shown instead was not exchanged."""
    note = state.LINK_NOTES.get().get(key.param)
    if note is None:
        return
    if (note.instead, note.model) != (key.get(), state.MODEL.get()) or now() - note.at > _TOLD_FOR:
        del state.LINK_NOTES.get()[key.param]
        return
    st.warning(plain(note.text), icon=":material/link_off:")


def _short(wanted: str | None) -> str:
    return shorten(wanted or "", _NAME_LENGTH)
