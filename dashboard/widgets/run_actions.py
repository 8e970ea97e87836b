"""What can be done with a run: open it where it belongs, take it away, link to it, stop, resume or delete it."""

from __future__ import annotations

import json
from functools import partial
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from core.errors import MixdeskError
from dashboard import conditions, services, state
from dashboard.file_names import slug
from dashboard.run_rows import RunRow
from dashboard.services import Document
from dashboard.widgets import bundle, download, jobs
from dashboard.widgets.text import plain

#: Which page shows the outcome of which kind of job; what built a candidate opens on Compare.
_PAGES = {
    **dict.fromkeys(("inspect", "open", "convert"), "model"),
    **dict.fromkeys(("profile", "sweep"), "profile"),
    "machine": "machine",
}


def draw(run: RunRow, document: Document | None) -> None:
    """One line of buttons."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run.actions"):
        page = page_of(run)
        if page is not None and st.button(
            f"Open in {page.capitalize()}", key="run.open", icon=":material/open_in_new:", type="primary"
        ):
            _open(run, page)
        _stop_or_again(run)
        _downloads(run, document)
        _link(run)
        st.space("stretch")
        _delete(run)


def page_of(run: RunRow) -> str | None:
    """The page that shows what came of it: "compare"; None where none does."""
    if run.candidate is not None:
        return "compare"
    page = _PAGES.get(run.kind)
    known = page == "machine" or (run.model_sha256 is not None and services.find_model(run.model_sha256) is not None)
    if page is None and run.kind in ("build", "optimize"):
        page = "mix"
    return page if known else None


def link_of(run: RunRow, base: str) -> str:
    """The address that opens this run on the page Runs, on this server: `base` is the address of any of its pages."""
    parts = urlsplit(base)
    return urlunsplit((parts.scheme, parts.netloc, "/runs", urlencode({"run": run.id}), ""))


def _open(run: RunRow, page: str) -> None:
    if run.model_sha256 is not None:
        state.choose_model(run.model_sha256, data=run.data_sha256 or state.SYNTHETIC)
    if run.candidate is not None:
        state.CANDIDATE.set(run.candidate.id)
    st.switch_page(f"app_pages/{page}.py", query_params=state.link())


def _stop_or_again(run: RunRow) -> None:
    if run.job is None:
        return
    if run.is_active:
        st.button(
            "Stop",
            key=f"run.stop.{run.id}",
            icon=":material/stop:",
            on_click=services.stop,
            args=(run.id,),
            disabled=run.job.stop_requested,
        )
        return
    label, icon = jobs.again_label(run.job.state)
    st.button(
        label,
        key=f"run.again.{run.id}",
        icon=icon,
        on_click=_again,
        args=(run,),
        help="The same work as a new job; what was finished is not computed again.",
    )


def _again(run: RunRow) -> None:
    assert run.job is not None
    try:
        state.choose_run(services.submit_again(run.job))
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _downloads(run: RunRow, document: Document | None) -> None:
    if document is None:
        return
    menu = st.popover("Download", icon=":material/download:", key=f"run.download.{run.id}", on_change="rerun")
    if not menu.open:
        return
    stem = file_stem(run)
    with menu:
        if run.candidate is not None:
            row = services.candidate(run.candidate.id)
            download.file("Download .onnx", row.file_sha256, f"{stem}.onnx", key=f"run.onnx.{run.id}")
            bundle.download_bundle(row, key=f"run.bundle.{run.id}", model_name=run.model)
            bundle.download_report(row, key=f"run.report.{run.id}", stem=stem)
        bundle.download_layers(document, key=f"run.layers.{run.id}", stem=f"{stem}-layers")
        for name in ("recipe", "document"):
            content = document if name == "document" else document.get(name)
            if content:
                st.download_button(
                    f"Download {name}",
                    partial(json.dumps, content, indent=1),
                    file_name=f"{stem}-{name}.json",
                    mime="application/json",
                    icon=":material/download:",
                    on_click="ignore",
                    key=f"run.{name}.{run.id}",
                )


def file_stem(run: RunRow) -> str:
    """A name for the files of a run: model and title."""
    named = run.candidate.name if run.candidate is not None and run.candidate.name else run.title
    return slug("" if run.model in named else run.model, named, otherwise=run.id)


def _link(run: RunRow) -> None:
    with st.popover("Link", icon=":material/link:", key=f"run.link.{run.id}"):
        st.caption("Opens this run for everybody who reaches this server.")
        st.code(link_of(run, st.context.url or ""), language=None, wrap_lines=True)


def named(run: RunRow) -> str:
    """Which run it is, so that no other is deleted for it: "build · Build all int8 · digits-cnn · 1 Dec 2026 10:58"."""
    when = conditions.moment(run.when.isoformat(timespec="seconds"))
    return " · ".join(word for word in (run.kind, run.title, run.model, when) if word)


def _built_name(run: RunRow) -> str:
    return "" if run.candidate is None else run.candidate.name or run.candidate.id


def _delete(run: RunRow) -> None:
    with st.popover(
        "Delete", icon=":material/delete:", key=f"run.delete.{run.id}", type="tertiary", disabled=run.is_active,
        help="Stop it first." if run.is_active else None,
    ):  # fmt: skip
        built = run.candidate is not None and run.job is not None
        goes = "The job goes with its log and partial results." if run.job else "The candidate goes with its file."
        st.markdown(f"**{plain(named(run))}**  \n{goes}")
        with_candidate = built and st.checkbox(
            plain(f"Also delete the model that it built: {_built_name(run)}"),
            key=f"run.delete.built.{run.id}",
        )
        st.button(
            "Delete for good",
            key=f"run.delete.yes.{run.id}",
            icon=":material/delete_forever:",
            type="primary",
            on_click=_delete_now,
            args=(run,),
            kwargs={"with_candidate": with_candidate},
        )


def _delete_now(run: RunRow, *, with_candidate: bool) -> None:
    try:
        services.delete_run(run, with_candidate=with_candidate)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
        return
    state.choose_run(None)
