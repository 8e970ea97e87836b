"""What can be taken away of a candidate: buttons for its bundle, its report as a page, its layers as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st

from core.report.html import report_html
from core.report.layer_csv import document_csv
from core.store.rows import CandidateRow
from dashboard import services


def download_bundle(
    row: CandidateRow,
    *,
    key: str,
    model_name: str = "",
    kind: Literal["primary", "secondary", "tertiary"] = "secondary",
) -> None:
    """Draws the button for the bundle: model, recipe, plan, report, holdout samples and original in one file.

    It is written when it is asked for, in a job, and streamed by the server: neither the page nor the browser's tab
    holds it.
    """
    missing = services.find_file(row.file_sha256) is None
    st.link_button(
        "Download bundle",
        services.bundle_url(row, model_name),
        key=key,
        icon=":material/package_2:",
        type=kind,
        disabled=missing,
        help="The workspace no longer has this candidate's file; build it again."
        if missing
        else "One .o3 file with model, recipe, plan, report, holdout samples and original: "
        "run it anywhere, check it with mixdesk verify. Large ones take a moment.",
    )


def download_report(row: CandidateRow, *, key: str, stem: str = "") -> None:
    """Draws the button for the report as one HTML page."""
    st.download_button(
        "Download report",
        lambda: report_html(row.report, name=row.name),
        file_name=f"{stem or row.id}-report.html",
        mime="text/html",
        icon=":material/description:",
        on_click="ignore",
        disabled=not row.report,
        key=key,
        help="One page that stands alone: verdict, figures, times, every layer, conditions.",
    )


def download_layers(document: Mapping[str, Any], *, key: str, stem: str = "layers") -> None:
    """Draws the button for the table of layers (or of ratios) as CSV; nothing where the document has no table."""
    if not document.get("layers") and not document.get("ratio"):
        return
    st.download_button(
        "Layers as CSV" if document.get("layers") else "Ratios as CSV",
        lambda: document_csv(document),
        file_name=f"{stem}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=key,
    )
