"""The highest speeds of this machine on its page: the roofs, the peaks with what reached them, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.runtime.conditions import Conditions
from dashboard import conditions, machine_view
from dashboard.figures.machine_roofline import machine_roofline
from dashboard.figures.theme import figure_theme
from dashboard.run_tables import ROW_PX, table_height
from dashboard.widgets.text import plain

_TABLE_PX = 400


def speeds(roofline: Mapping[str, Any] | None, here: Conditions) -> None:
    """Roofs on the left, peaks on the right."""
    st.subheader("How fast it can be", anchor=False)
    if roofline is None:
        st.caption(
            "Not measured yet: the probe finds the highest speeds of arithmetic and memory, in seconds. Profiles hold "
            "every layer against them."
        )
        return
    left, right = st.columns([1, 1], gap="medium")
    with left:
        st.plotly_chart(
            machine_roofline(roofline, figure_theme(st.context.theme.type)),
            key="machine.roofline",
            config={"displayModeBar": False},
            theme=None,
        )
    with right:
        table = machine_view.peaks(roofline)
        st.dataframe(
            table.frame,
            column_config=table.config,
            hide_index=True,
            height=table_height(len(table.ids), _TABLE_PX),
            row_height=ROW_PX,
            key="machine.peaks",
            alt="Highest speeds of arithmetic, memory and caches",
        )
        st.caption(plain(machine_view.ridges(roofline)))
        threads = int(roofline.get("threads") or 1)
        st.caption(
            plain(
                f"Measured {conditions.moment(roofline['time'])} on {threads} thread{'' if threads == 1 else 's'}: the "
                "fastest runs of large products and convolutions in onnxruntime, and of passes over arrays."
            )
        )
        busy = machine_view.too_busy(roofline, here)
        if busy:
            st.caption(f":material/warning: {plain(busy)}")
