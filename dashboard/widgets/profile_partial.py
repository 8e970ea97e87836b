"""What a profile that did not finish has found: drawn like a finished one, with the sentence why it is incomplete."""

from __future__ import annotations

import streamlit as st

from core.store.rows import JobRow, JobState
from dashboard import services
from dashboard.services import Document, Subject
from dashboard.widgets.text import plain

_ENDED = {
    JobState.QUEUED: "it waits to go on",
    JobState.RUNNING: "it still runs",
    JobState.STOPPED: "it was stopped",
    JobState.FAILED: "it failed",
    JobState.CRASHED: "its process crashed",
    JobState.INTERRUPTED: "it was interrupted",
}
#: What a whole profile has, in the order in which it becomes known.
_PARTS = (
    ("memory", "memory"),
    ("cold", "the first run"),
    ("wall_ms", "latency"),
    ("kernel_ms", "times of layers"),
    ("timeline", "the timeline"),
    ("advice", "advice"),
)


def document_to_show(on: Subject, finished: Document | None) -> Document | None:
    """The finished profile; where the newest did not finish, what that has found, if there is no other or it is asked.

    Draws why it is incomplete.
    """
    unfinished = services.unfinished_profile(on)
    if unfinished is None:
        return finished
    row, known = unfinished
    if finished is None:
        st.warning(plain(why(row, known)), icon=":material/rule:")
        return known
    asked = st.toggle(
        "Show what the unfinished profile found",
        key=f"profile.partial.{row.id}",
        help="Else the last finished profile is shown.",
    )
    if not asked:
        return finished
    st.warning(plain(why(row, known)), icon=":material/rule:")
    return known


def why(row: JobRow, known: Document) -> str:
    """That a profile is incomplete, and what is missing; the error itself stands on the job's card above."""
    missing = [name for key, name in _PARTS if not _has(known, key)]
    told = f"This profile is incomplete: {_ENDED.get(row.state, 'it did not finish')}."
    return f"{told} Not known: {', '.join(missing)}." if missing else told


def _has(known: Document, key: str) -> bool:
    if key == "kernel_ms":
        return known.get(key) is not None or any(row.get("ms") is not None for row in known.get("layers") or ())
    return known.get(key) is not None
