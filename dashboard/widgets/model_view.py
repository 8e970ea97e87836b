"""The Model page's parts: heading, figures, validation report, inputs and outputs, data, graph."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.report import quantities
from dashboard import loading, preprocessing_form, shape_fields, state
from dashboard.file_names import slug
from dashboard.graph_viewer import netron_url
from dashboard.services import Document, Subject
from dashboard.widgets import empty, folders, running, shapes, upload
from dashboard.widgets.text import plain, sentence

_GRAPH_HEIGHT = 660
#: Longer tables scroll.
_ROWS = 8
#: Which work has nothing to go by where a split is empty.
_NEEDS_SAMPLES = {
    "calibration": "int8 and a search have nothing to take the ranges of the values from",
    "evaluation": "a search has nothing to compare mixes on",
}
_MORE_SAMPLES = "Give at least three different samples; equal ones count as one."
_SEVERITY = {
    "error": (":material/error:", "red"),
    "warning": (":material/warning:", "orange"),
    "note": (":material/info:", "gray"),
}


def heading(on: Subject) -> None:
    """Name, origin, size and hash, and the way to another model."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        words = (
            loading.shown_origin(on.model.origin),
            quantities.size(on.model.size_bytes),
            f"sha256 {on.model.sha256[:12]}",
        )
        facts = plain(" · ".join(word for word in words if word))
        st.subheader(plain(on.model.name), anchor=False, width="content")
        st.caption(facts, width="stretch")
        with st.popover("Open another model", icon=":material/folder_open:", key=f"model.another.{state.OPENED.get()}"):
            empty.sample_buttons(key="another")
            upload.drop_files(
                "Your model: .onnx with its weight files, or .zip; data too",
                kinds=upload.ANY,
                key="upload.another",
                stays=False,  # the menu closes
            )
            folders.draw(key="another.server")


def figures(document: Document) -> None:
    """The summary: how large the model is, and how much it computes."""
    model = document["model"]
    shown = [
        (
            "Layers",
            quantities.count(model["layer_count"]),
            "Nodes of the graph, sub-graphs included.",
        ),
        ("Groups", quantities.count(model["group_count"]), "Layers that fuse into one kernel and share one precision."),
        ("Parameters", quantities.count(model["parameters"]), None),
        ("Compute", quantities.count(model["macs"], "MAC"), "Multiply-accumulates of one sample."),
        ("Weights", quantities.size(model["weight_bytes"]), "Constants as stored."),
        ("Activation peak", quantities.size(model["activation_peak_bytes"]), "The most that is alive at one time."),
    ]
    if model.get("subgraph_count"):
        shown.append(("Sub-graphs", quantities.count(model["subgraph_count"]), "Bodies of If, Loop and Scan."))
    with st.container(border=True):
        for column, (label, value, help_text) in zip(st.columns(len(shown)), shown, strict=True):
            column.metric(label, value, help=help_text)


def skeleton() -> None:
    """Holds the layout still while the model is read."""
    st.skeleton(height=92)
    left, right = st.columns([3, 2], gap="medium")
    left.skeleton(height=_GRAPH_HEIGHT)
    right.skeleton(height=_GRAPH_HEIGHT)


def graph(on: Subject) -> None:
    """The file in Netron, on our own port."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Graph", anchor=False, width="stretch")
        st.link_button("Open in a tab", netron_url(on.model.sha256), icon=":material/open_in_new:", type="tertiary")
    st.iframe(netron_url(on.model.sha256), height=_GRAPH_HEIGHT, alt=f"Graph of {on.model.name} in Netron")


def operators(document: Document) -> None:
    """How many nodes of each operator, most frequent first."""
    ops = sorted(document["ops"].items(), key=lambda item: (-item[1], item[0]))
    if not ops:
        return
    st.subheader("Operators", anchor=False)
    st.dataframe(
        pd.DataFrame(ops, columns=["operator", "layers"]),
        hide_index=True,
        height="content" if len(ops) <= _ROWS else 35 * _ROWS,
        column_config={
            "operator": st.column_config.TextColumn("Operator"),
            "layers": st.column_config.ProgressColumn(
                "Layers", format="%d", min_value=0, max_value=max(count for _, count in ops)
            ),
        },
        alt="How many layers the model has of each operator",
    )


def validation(document: Document) -> None:
    """Findings, worst first, and what was repaired on loading."""
    st.subheader("Validation", anchor=False)
    findings, repairs = document["findings"], document["repairs"]
    with st.container(border=True, gap="small"):
        if not any(finding["severity"] in ("error", "warning") for finding in findings):
            st.markdown(":green[:material/check_circle:] Checker, shape inference and runtime accept this model.")
        for finding in findings:
            icon, colour = _SEVERITY[finding["severity"]]
            st.markdown(_told(f":{colour}[{icon}] {plain(sentence(finding['message']))}", finding["hint"]))
        for repair in repairs:
            what = f":gray[:material/build:] {plain(sentence(repair['what']))} ({repair['count']})"
            st.markdown(_told(what, repair["why"]))


def tensors(on: Subject, document: Document) -> None:
    """Inputs and outputs with their types and shapes."""
    st.subheader("Inputs and outputs", anchor=False)
    model = document["model"]
    rows = [_tensor("in", spec) for spec in model["inputs"]] + [_tensor("out", spec) for spec in model["outputs"]]
    st.dataframe(
        pd.DataFrame(rows, columns=["way", "name", "type", "shape"]),
        hide_index=True,
        height="content" if len(rows) <= _ROWS else 35 * _ROWS,
        column_config={
            "way": st.column_config.TextColumn("", width=40),
            "name": st.column_config.TextColumn("Name"),
            "type": st.column_config.TextColumn("Type", width=80),
            "shape": st.column_config.TextColumn("Shape"),
        },
        alt="Inputs and outputs of the model",
    )
    running.outputs(on, document)


def data(on: Subject, document: Document) -> None:
    """What the model is judged with; synthetic inputs say so, and what that means."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader("Data", anchor=False, width="content")
        if on.data is None:
            st.badge("synthetic", icon=":material/science:", color="orange")
    with st.container(border=True, gap="small"):
        _describe(document["data"], synthetic=on.data is None)
        inputs, sizes = document["model"]["inputs"], (document["data"] or {}).get("shapes", {})
        if on.data is None:
            shapes.editor(on, inputs, sizes)
        elif open_inputs := [str(spec["name"]) for spec in inputs if shape_fields.is_open(spec)]:
            st.caption(plain(f"Open sizes come from the data: {shape_fields.told(sizes, only=open_inputs)}"))
        upload.drop_files(
            "Add data: .npz (one array per input, y for labels), a .zip of images or .wav files, or a table of texts",
            kinds=upload.ANY,
            key="upload.data",
        )


def _told(what: str, more: str | None) -> str:
    return f"{what}  \n:small[:gray[{plain(more)}]]" if more else what


def _describe(given: dict[str, Any] | None, *, synthetic: bool) -> None:
    if given is None:
        st.markdown("No inputs yet: say the sizes that the file leaves open, or add data.")
        return
    splits = given["splits"]
    st.markdown(
        f"**{'Seeded random inputs' if synthetic else plain(str(given['name']))}** · {given['samples']} samples"
    )
    parts = " · ".join(f"{count} {name}" for name, count in splits.items())
    st.caption(f"{parts} · {'with labels' if given['labels'] else 'no labels: fidelity only'}")
    if given.get("preprocessing"):
        _preprocessing(str(given["name"]), given["preprocessing"])
    for remark in given.get("remarks") or ():
        st.caption(f":material/info: {plain(str(remark))}")
    for told in lacking(splits):
        st.warning(told, icon=":material/data_alert:")
    if synthetic:
        st.caption("Speed is real with them. Ranges, fidelity and accuracy are not: add data before you trust those.")


def _preprocessing(name: str, how: Mapping[str, Any]) -> None:
    """How the files became the model's input, and the button that saves it for the next ones."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"Made from {how.get('kind')}: {preprocessing_form.told(how)}"), width="stretch")
        st.download_button(
            "Preprocessing",
            json.dumps(preprocessing_form.settings_of(how), indent=1),
            file_name=f"{slug(name, 'preprocessing')}.json",
            mime="application/json",
            icon=":material/download:",
            type="tertiary",
            key="data.preprocessing",
            on_click="ignore",
        )


def lacking(splits: Mapping[str, int]) -> list[str]:
    """What cannot be done because no sample is left for it, as sentences; `splits`: name -> samples."""
    empty_ones = [(name, use) for name, use in _NEEDS_SAMPLES.items() if splits.get(name) == 0]
    return [f"No sample is left for {name}: {use}. {_MORE_SAMPLES}" for name, use in empty_ones]


def _tensor(way: str, spec: dict[str, Any]) -> tuple[str, str, str, str]:
    shape = spec["shape"]
    sizes = "not known" if shape is None else " × ".join(map(str, shape)) or "scalar"
    return way, spec["name"], spec["dtype"], sizes
