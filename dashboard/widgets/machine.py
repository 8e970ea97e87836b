"""The page Machine: its heading and probe, what follows from the processor, conditions, versions, memory and disk."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import streamlit as st

from core.errors import MixdeskError
from core.report import quantities
from core.runtime.conditions import Conditions
from core.runtime.runtimes import runtimes
from core.store.rows import JobRow
from dashboard import conditions, machine_view, services, state
from dashboard.services import Document
from dashboard.widgets import jobs
from dashboard.widgets.text import plain


def heading(here: Conditions, probed_at: datetime | None, busy: JobRow | None) -> None:
    """The processor, when it was probed, and the button that probes it again."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        probed = "not probed yet" if probed_at is None else f"probed {conditions.moment(probed_at.isoformat())}"
        st.markdown(f"**{plain(here.cpu)}** :gray[{here.cores} cores · {plain(probed)}]", width="stretch")
        st.button(
            "Probe again" if probed_at is not None else "Probe this machine",
            key="machine.probe",
            icon=":material/biotech:",
            type="secondary" if probed_at is not None else "primary",
            on_click=_probe,
            args=(probed_at is not None,),
            disabled=busy is not None,
            help="It runs or waits already."
            if busy is not None
            else "Measures its highest speeds, and builds, runs and times models of one operator; about 20 seconds.",
        )


def progress(busy: JobRow | None, last: JobRow | None) -> None:
    """The card of the probe while it runs, or how it ended where it did not end well."""
    if busy is not None:
        jobs.card(busy.id, key="machine.job")
    elif last is not None:
        jobs.ended(last, key="machine.job", again=False)


def follows(here: Conditions, document: Document | None) -> None:
    """What follows from the processor."""
    st.subheader("What follows", anchor=False)
    saturates = None if document is None else document.get("saturates")
    for text in machine_view.consequences(here, saturates):
        st.markdown(f"- {plain(text)}")


def measured_under(here: Conditions) -> None:
    """Conditions of anything measured now."""
    _facts(
        "Conditions",
        {
            "Machine": here.machine,
            "Instruction sets": ", ".join(here.features) or "the system does not tell",
            "Load, one minute": f"{here.load_average:.2f} on {here.cores} cores",
            "Threads, batch, seed": f"{here.threads}, {here.batch}, {here.seed}",
            "System": here.os,
        },
    )


def room() -> None:
    """Memory, disk and where everything is kept."""
    here = services.place()
    _facts(
        "Memory and disk",
        {
            "Memory": f"{quantities.size(here.free_memory_bytes)} free of {quantities.size(here.memory_bytes)}",
            "Disk": f"{quantities.size(here.free_disk_bytes)} free of {quantities.size(here.disk_bytes)}",
            "Workspace": here.workspace,
            "Database": here.database,
            "Files": here.files,
        },
    )


def versions(python: str) -> None:
    """What every figure rests on."""
    known = {"python": python, **services.versions()}
    for runtime in runtimes():
        beside = f", not used: {', '.join(map(_short, runtime.unused))}" if runtime.unused else ""
        known[runtime.name] = f"{runtime.version} ({', '.join(map(_short, runtime.used))}{beside})"
    _facts("Versions and runtimes", known)


def _facts(title: str, facts: Mapping[str, str]) -> None:
    with st.container(border=True, gap="xxsmall"):
        st.markdown(f"**{title}**")
        for name, value in facts.items():
            st.markdown(f":gray[{plain(name)}] &ensp; {plain(value)}")


def _short(provider: str) -> str:
    return provider.removesuffix("ExecutionProvider")


def _probe(refresh: bool) -> None:
    try:
        services.submit_machine(refresh=refresh)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
