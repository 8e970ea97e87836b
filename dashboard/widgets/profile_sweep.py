"""The sweep on the Profile page: threads x batch, its duration told before, cells while it runs, the sweet spot."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.errors import MixdeskError
from core.measure.sweep_plan import BATCHES, usual_threads
from core.report import quantities
from core.runtime.cores import usable_cores
from core.store.rows import JobRow, JobState
from dashboard import conditions, services, state
from dashboard.figures.sweep import sweep_grid
from dashboard.services import Document, Subject
from dashboard.widgets import jobs, layer_choice
from dashboard.widgets.text import plain

_KIND = "sweep"
_MORE_BATCHES = (16, 32, 64, 128, 256)


def sweep_panel(on: Subject) -> None:
    """Fields and button, the job while it runs, and the grid of what is known."""
    st.caption(
        "Measures the model at several thread counts and batch sizes, each in a process of its own, in turn. The sweet "
        "spot is the cell with the most samples per second of those that keep the latency limit in 95 of 100 runs."
    )
    threads, batches, limit_ms = _fields(on)
    _start(on, threads, batches, limit_ms)
    active = jobs.show_last(on, _KIND, key="sweep")
    if active is not None:
        _while_it_runs(active)
        return
    last = services.job_of(on, _KIND, active=False)
    if last is not None and last.state is not JobState.DONE:
        _grid(on, services.partial_of(last.id, _KIND), unfinished=True)
    else:
        _grid(on, services.sweep(on), unfinished=False)


def _fields(on: Subject) -> tuple[list[int], list[int], float | None]:
    cores = usable_cores()
    usual = usual_threads(cores)
    obstacle = (services.inspection(on) or {}).get("data") or {}
    left, middle, right = st.columns(3, gap="small")
    threads = left.multiselect(
        "Threads",
        sorted({*range(1, min(cores, 8) + 1), *usual, cores + 1, 2 * cores}),
        default=list(usual),
        key="sweep.threads",
        format_func=lambda count: f"{count} (more than processors)" if count > cores else str(count),
    )
    batches = middle.multiselect(
        "Samples per run",
        [*BATCHES, *_MORE_BATCHES],
        default=[1] if obstacle.get("batch_obstacle") else list(BATCHES),
        key="sweep.batches",
    )
    limit_ms = right.number_input(
        "Latency limit (ms)",
        min_value=0.001,
        value=None,
        format="%g",
        placeholder="none",
        key="sweep.limit",
        help="95 of 100 runs must be within it.",
    )
    if obstacle.get("batch_obstacle"):
        st.caption(plain(f"Samples cannot run together: {obstacle['batch_obstacle']}."))
    return threads, batches, limit_ms


def _start(on: Subject, threads: Sequence[int], batches: Sequence[int], limit_ms: float | None) -> None:
    cells = len(threads) * len(batches)
    told, label, possible = "Choose at least one number of threads and one batch size.", "Sweep", False
    if cells:
        try:
            seconds = services.expected_sweep_s(on, threads, batches)
            possible = True
            told = f"{quantities.counted(cells, 'cell')}: how long they take is told after a quick run."
            if seconds is not None:
                label = f"Sweep (about {quantities.duration_s(seconds)})"
                told = f"{quantities.counted(cells, 'cell')}; the time is estimated from the last profile."
        except MixdeskError as error:
            told = error.message
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if possible:
            jobs.run(on, _KIND, label=label, submit=lambda: services.submit_sweep(on, threads, batches, limit_ms))
        st.caption(plain(told))


def _while_it_runs(row: JobRow) -> None:
    @st.fragment(run_every=jobs.REFRESH_S)
    def live() -> None:
        known = services.partial_of(row.id, _KIND)
        if known is not None:
            _chart(known, key="sweep.grid.live")

    live()


def _grid(on: Subject, document: Document | None, *, unfinished: bool) -> None:
    if document is None:
        return
    if unfinished and not any(cell["latency_ms"] for cell in document["cells"]):
        return
    if unfinished:
        st.warning(
            "The sweep did not finish: these are the cells as far as they were measured.", icon=":material/rule:"
        )
    _chart(document, key="sweep.grid")
    st.markdown(plain(str(document["why"])))
    _use(on, document)
    for cell in document["cells"]:
        if cell["why"]:
            where = f"{quantities.counted(cell['threads'], 'thread')}, batch {cell['batch']}"
            st.caption(plain(f"{where} could not run: {cell['why']}"))
    measured = next((cell["conditions"] for cell in document["cells"] if cell["conditions"]), None)
    st.caption(plain(f"{conditions.sentence(measured)} {str(document['how']).capitalize()}; spinning off."))


def _chart(document: Document, *, key: str) -> None:
    alt = f"Samples per second over threads and batch sizes. {document['why']}"
    layer_choice.still_chart(sweep_grid(document, layer_choice.theme()), key=key, alt=alt)
    st.caption("In each cell: samples per second, and the latency that 95 of 100 runs keep.")


def _use(on: Subject, document: Document) -> None:
    """A button that sets threads and batch on the strip to the sweet spot."""
    spot = document.get("sweet_spot")
    if spot is None:
        return
    threads, batch = int(spot["threads"]), int(spot["batch"])
    words = f"{quantities.counted(threads, 'thread')}, batch {batch}"
    if (threads, batch) == (on.threads, on.batch):
        st.caption(f"The strip above is set to {words}: everything is measured so.")
        return
    st.button(
        f"Use {words}",
        icon=":material/tune:",
        key="sweep.use",
        on_click=lambda: state.choose_running(threads=threads, batch=batch),
        help="Sets threads and samples per run on the strip above, for everything that is measured from now on.",
    )
