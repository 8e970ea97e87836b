"""The job card: what a job does, how far it is, how long yet, what is known already, and how it ended.

It reads the store alone, so a reload, a second tab or another person sees the same card. While the job lives the card
refreshes itself; when it ends the whole page runs once more and the refreshing is over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from core.errors import MixdeskError, RequestError
from core.store.rows import JobRow, JobState, now
from dashboard import services, state
from dashboard.known import known_so_far
from dashboard.services import Subject
from dashboard.widgets import errors
from dashboard.widgets.text import plain

REFRESH_S = 1.0

#: Kinds of errors that say no to what was given.
_ANSWERS = {RequestError.kind, *(answer.kind for answer in RequestError.__subclasses__())}

_PROCESS = re.compile(r"(?<=') \(process \d+\)")
#: Also as older versions wrote it.
_KEPT = re.compile(
    r"(Resume it: what was finished|What was finished|What it had found) is kept(; start it again)?\.\s*"
)
#: How a job ended that can go on.
_RESUMED = (JobState.INTERRUPTED, JobState.STOPPED, JobState.CRASHED, JobState.FAILED)

_ENDED = {
    JobState.FAILED: "failed",
    JobState.STOPPED: "was stopped",
    JobState.CRASHED: "crashed",
    JobState.INTERRUPTED: "was interrupted",
}


def card(job_id: str, *, on_done: Callable[[], None] | None = None, key: str = "card") -> None:
    """Draws a job and keeps it up to date; `on_done` is called once, in the run that sees it done."""
    row = services.job(job_id)
    if row.is_final:
        ended(row, key=key)
        return

    @st.fragment(run_every=REFRESH_S)
    def live() -> None:
        seen = services.job(job_id)
        if not seen.is_final:
            _running(seen, key=key)
            return
        if seen.state is JobState.DONE and on_done is not None:
            on_done()
        st.rerun()

    live()


def run_or_show(on: Subject, kind: str, *, label: str, submit: Callable[[], str], key: str | None = None) -> None:
    """The card while a job of this kind lives; else how the last one ended, if badly, and a button that starts one."""
    name = key or kind
    if show_last(on, kind, key=name) is None:
        run(on, kind, label=label, submit=submit, key=name)


def run(on: Subject, kind: str, *, label: str, submit: Callable[[], str], key: str | None = None) -> None:
    """The button that starts a job of this kind; while one lives it is there, but cannot be pressed."""
    busy = services.job_of(on, kind) is not None
    st.button(
        label,
        key=f"{key or kind}.run",
        type="primary",
        icon=":material/play_arrow:",
        on_click=_submit,
        args=(submit,),
        disabled=busy,
        help="It runs or waits already." if busy else None,
    )


def show_last(on: Subject, kind: str, *, key: str | None = None) -> JobRow | None:
    """The card of a job of this kind while it lives, and the job; else how the last one ended, if badly, and None.

    One that had found something can be resumed here; the page's own button begins anew.
    """
    name = key or kind
    active = services.job_of(on, kind)
    if active is not None:
        card(active.id, key=name)
        return active
    last = services.job_of(on, kind, active=False)
    if last is not None and last.state is not JobState.DONE:
        ended(last, key=name, again=bool(services.partials(last.id)))
    return None


def ended(row: JobRow, *, key: str, again: bool = True) -> None:
    """How a job ended: nothing for one that is done, else the sentence, the hint, its log and a way to repeat it."""
    if row.state is JobState.DONE:
        return
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(row.title or row.kind)}** · {_ENDED[row.state]} {_ago(row.finished_at)}")
        if row.state is JobState.STOPPED:
            st.caption(plain(str((row.error or {}).get("message") or "Somebody pressed Stop.")))
        else:
            errors.show_document(told_error(row.error, found=bool(services.partials(row.id))))
        layer = (row.error or {}).get("layer")
        with st.container(horizontal=True, gap="small"):
            if again and not _is_answer(row):
                label, icon = again_label(row.state)
                st.button(label, key=f"{key}.again", icon=icon, on_click=_again, args=(row,))
            if layer and row.kind == "profile":
                _show_layer(str(layer), key=f"{key}.layer")
        log(row, key=key)


def _show_layer(layer: str, *, key: str) -> None:
    """A button that chooses the layer to blame, so that map, table and card show it."""
    st.button(
        "Show this layer",
        key=key,
        icon=":material/my_location:",
        type="tertiary",
        on_click=state.LAYER.set,
        args=(layer,),
    )


def told_error(error: Mapping[str, Any] | None, *, found: bool) -> Mapping[str, Any] | None:
    """The error as it is shown: that something is kept is said only where the job had `found` something."""
    hint = (error or {}).get("hint")
    if not error or not hint:
        return error

    def told(kept: re.Match[str]) -> str:
        resumed = kept[2] is not None or kept[1].startswith("Resume")
        if not found:
            return "Resume it. " if resumed else ""
        return "Resume it: what was finished is kept. " if resumed else "What was finished is kept. "

    return {**error, "hint": _KEPT.sub(told, hint).strip() or None}


def again_label(state: JobState) -> tuple[str, str]:
    """Words and icon of the button that does a job's work once more."""
    return ("Resume", ":material/resume:") if state in _RESUMED else ("Run again", ":material/replay:")


def log(row: JobRow, *, key: str) -> None:
    """The last lines of the worker's log, one click away."""
    opened = st.expander("Log", icon=":material/article:", key=f"{key}.log.{row.id}", on_change="rerun", type="compact")
    if opened.open:
        tail = services.log_tail(row)
        opened.code(tail or "The worker wrote nothing.", language=None, wrap_lines=True)


def progress_line(row: JobRow) -> str:
    """One line: "Measuring · 43 % · about 0:12 left"; of a waiting job, what it waits for."""
    if row.state is JobState.QUEUED:
        return _PROCESS.sub("", row.what) or "Waiting for its turn"
    if row.stop_requested:
        return "Stopping"
    parts = [row.phase or "Starting"]
    if row.fraction is not None:
        parts.append(f"{row.fraction:.0%}".replace("%", " %"))
    if row.eta_s is not None:
        parts.append(f"about {clock(row.eta_s)} left")
    return " · ".join(parts)


def found(row: JobRow) -> None:
    """What the job works on and what it found, in one element, whatever it says.

    Of two, of which the first comes and goes, a browser shows the second twice while the page is being drawn again.
    """
    said = found_lines(row, known_so_far(services.partials(row.id)))
    st.caption("  \n".join(plain(line) for line in said))


def found_lines(row: JobRow, known: str) -> list[str]:
    """At least one line; what a waiting job waits for is in its `progress_line` already."""
    what = row.what if row.state is JobState.RUNNING else ""
    lines = [what, f"Known so far: {known}" if known else ""]
    return [line for line in lines if line] or ["Nothing is known yet."]


def clock(seconds: float) -> str:
    """Minutes and seconds: 0:12, 3:05; hours where there are any: 1:02:09."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _running(row: JobRow, *, key: str) -> None:
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(row.title or row.kind)}**", width="stretch")
            st.button(
                "Stop",
                key=f"{key}.stop",
                icon=":material/stop:",
                on_click=services.stop,
                args=(row.id,),
                disabled=row.stop_requested,
            )
        st.progress(min(max(row.fraction or 0.0, 0.0), 1.0), text=plain(_line(row)))
        found(row)


def _is_answer(row: JobRow) -> bool:
    """Whether the job said no to what it was given: the same again would end the same."""
    return (row.error or {}).get("kind") in _ANSWERS


def _submit(submit: Callable[[], str]) -> None:
    try:
        submit()
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _again(row: JobRow) -> None:
    _submit(lambda: services.submit_again(row))


def _line(row: JobRow) -> str:
    since = row.started_at or row.created_at
    return f"{progress_line(row)} · {clock((now() - since).total_seconds())} so far"


def _ago(moment: datetime | None) -> str:
    if moment is None:
        return ""
    seconds = (now() - moment).total_seconds()
    if seconds < 90:
        return "just now"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes ago"
    if seconds < 129_600:
        return f"{round(seconds / 3600)} hours ago"
    return f"{round(seconds / 86_400)} days ago"
