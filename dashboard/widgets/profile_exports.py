"""What can be taken away of a profile: a table, the document, one run as a trace, and figures for other viewers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.report.model_explorer import node_data
from core.report.netron_attachment import netron_attachment
from core.report.trace import trace_events
from dashboard.file_names import slug
from dashboard.services import Document
from dashboard.widgets import bundle

_TRACE = (
    "One real run with layers, kernels and containers on a time axis. Open it on ui.perfetto.dev or chrome://tracing."
)
_NO_TRACE = "This profile holds no timeline of a run; profile again."
_NETRON = "The figures of each layer. In Netron open the model, then this file. Our own Netron shows them without it."
_EXPLORER = (
    "The time of each layer as node data. Open the model in Model Explorer with its ONNX adapter, then this file."
)


def exports(document: Document, inspection: Document, name: str) -> None:
    """Draws the buttons; a file is made when it is asked for.

    Args:
        document: the `profile` document.
        inspection: the `inspect` document of the same model.
        name: of the model; files are named after it.
    """
    with st.container(horizontal=True, gap="small"):
        bundle.download_layers(document, key="profile.csv", stem=slug(name, "layers"))
        _download("Profile as JSON", slug(name, "profile"), lambda: document, indent=1)
        timeline = document.get("timeline")
        _download(
            "Run as trace",
            slug(name, "trace"),
            lambda: trace_events(document, name=name),
            help_text=_TRACE if timeline else _NO_TRACE,
            disabled=not timeline,
        )
        _download(
            "For Netron", slug(name, "netron"), lambda: netron_attachment(document, inspection), help_text=_NETRON
        )
        _download(
            "For Model Explorer",
            slug(name, "model-explorer"),
            lambda: node_data(document, inspection),
            help_text=_EXPLORER,
        )


def _download(
    label: str,
    stem: str,
    make: Callable[[], Any],
    *,
    help_text: str | None = None,
    disabled: bool = False,
    indent: int | None = None,
) -> None:
    st.download_button(
        label,
        lambda: json.dumps(make(), indent=indent),
        file_name=f"{stem}.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
        help=help_text,
        disabled=disabled,
        key=f"profile.export.{stem}",
    )
