"""Tables of layers on the page Profile: all their figures, what holds the peak of memory, how each grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.beside_view import LayerPair
from dashboard.figures.growth import curves, in_words
from dashboard.figures.labels import shorten
from dashboard.figures.theme import FigureTheme
from dashboard.layer_views import INTENSITY_UNIT, LayerView
from dashboard.tables import NAME_LENGTH, Table, bar, finished, fitting, floats, number, precision_column, step


def layer_table(views: Sequence[LayerView], theme: FigureTheme, *, top_share: float | None = None) -> Table:
    """Layers with all their figures, the slowest first; those without a time come last, in graph order.

    Args:
        views: the layers to list.
        theme: light or dark.
        top_share: the share (0..1) at which a bar is full, where these are a part of all layers.
    """
    ordered = sorted(views, key=lambda view: (view.ms is None, -(view.ms or 0.0), view.index))
    macs_unit, macs_factor = step([view.macs for view in ordered], "MAC", 1000)
    bytes_unit, bytes_factor = step([view.moved_bytes for view in ordered], "B", 1000)
    macs, moved = f"MACs ({macs_unit})", f"Moved ({bytes_unit})"
    intensity = f"Intensity ({INTENSITY_UNIT})"
    frame = pd.DataFrame(
        {
            "#": [view.index + 1 for view in ordered],
            "Layer": [shorten(view.id, NAME_LENGTH) for view in ordered],
            "Op": [view.op for view in ordered],
            "Time (ms)": floats(view.ms for view in ordered),
            "Share": floats(None if view.share is None else 100 * view.share for view in ordered),
            macs: floats(None if view.macs is None else view.macs / macs_factor for view in ordered),
            moved: floats(None if view.moved_bytes is None else view.moved_bytes / bytes_factor for view in ordered),
            intensity: floats(view.intensity or None for view in ordered),
            "GFLOP/s": floats(view.gflops or None for view in ordered),
            "Attained (%)": floats(None if view.attained is None else 100 * view.attained for view in ordered),
            "Limited by": [view.limited_by for view in ordered],
            "Precision": [[view.precision] if view.precision else [] for view in ordered],
            "Runs as": [view.executes_as for view in ordered],
        }
    )
    full = max((view.share or 0.0 for view in ordered), default=0.0) if top_share is None else top_share
    config: dict[str, Any] = {
        "#": number("#", "Position in the graph", width=50),
        "Layer": fitting("Layer", frame["Layer"]),
        "Op": fitting("Op", frame["Op"]),
        "Time (ms)": number("Time (ms)", "Per run, from the profiler", width=80),
        "Share": bar("Share", "Of the kernel time of one run", 100 * full or 100.0, theme),
        macs: number(macs, "Multiply-accumulates of one run"),
        moved: number(moved, "Weights and activations read and written in one run"),
        intensity: number(intensity, "Two operations per multiply-accumulate, over the bytes moved"),
        "GFLOP/s": number("GFLOP/s", "Two operations per multiply-accumulate, over the time", width=75),
        "Attained (%)": number("Attained (%)", _ATTAINED, width=95),
        "Limited by": st.column_config.TextColumn("Limited by", width=95),
        "Precision": precision_column("Precision", "What its kernel computes in", _precisions(ordered), theme),
        "Runs as": st.column_config.TextColumn("Runs as", width="medium"),
    }
    return finished(_known(frame), config, [view.id for view in ordered])


_ATTAINED = "The least time by the roofline, with so many operations and bytes, over the time taken"
#: Columns that older profiles know nothing of are left out.
_NEWER = ("Attained (%)", "Precision")


def holders_table(memory: Mapping[str, Any], theme: FigureTheme) -> Table:
    """What is alive at the peak of memory, the largest first.

    Args:
        memory: the `memory` object of a `profile` document.
        theme: light or dark.
    """
    holders = list(memory.get("holders") or ())
    peak = float(memory.get("activation_peak_bytes") or 0.0)
    sizes = [float(holder["bytes"]) for holder in holders]
    unit, factor = step(sizes, "B", 1000)
    held = f"Held ({unit})"
    shares = [100 * size / peak if peak else None for size in sizes]
    frame = pd.DataFrame(
        {
            "Written by": [shorten(holder.get("layer") or "model input", NAME_LENGTH) for holder in holders],
            "Tensor": [shorten(str(holder.get("tensor") or ""), NAME_LENGTH) for holder in holders],
            held: floats(size / factor for size in sizes),
            "Share of the peak": floats(shares),
            "Last read by": [shorten(str(holder.get("to") or ""), NAME_LENGTH) for holder in holders],
        }
    )
    config = {
        "Written by": fitting("Written by", frame["Written by"]),
        "Tensor": fitting("Tensor", frame["Tensor"]),
        held: number(held, "Bytes of this tensor"),
        "Share of the peak": bar(
            "Share of the peak",
            "Of all that is alive then",
            max(sizes, default=0) / peak * 100 if peak else 100.0,
            theme,
        ),
        "Last read by": fitting(
            "Last read by", frame["Last read by"], help_text="It stays alive until that layer has run"
        ),
    }
    return Table(frame, config, tuple(str(holder.get("layer") or "") for holder in holders))


def growth_table(growth: Mapping[str, Any], ops: Mapping[str, str]) -> Table:
    """Each layer's time at every size that was measured, and how it grows; the slowest at the largest size first.

    Args:
        growth: the `growth` object of a `profile` document.
        ops: layer id -> operator.
    """
    found = curves(growth)
    points = sorted(growth.get("points") or (), key=lambda point: float(point["elements"]))
    columns: dict[str, Any] = {
        "Layer": [shorten(curve.layer, NAME_LENGTH) for curve in found],
        "Op": [ops.get(curve.layer, "") for curve in found],
    }
    config: dict[str, Any] = {"Layer": fitting("Layer", columns["Layer"]), "Op": fitting("Op", columns["Op"])}
    times = [dict(zip(curve.elements, curve.ms, strict=True)) for curve in found]
    for point in points:
        name = f"{point['name']} (ms)"
        columns[name] = floats(at.get(float(point["elements"])) for at in times)
        config[name] = number(name, f"Per run with {point['elements']:,} input elements")
    columns["Exponent"] = floats(curve.exponent for curve in found)
    config["Exponent"] = number("Exponent", "Slope of log time over log input elements: 1 is in proportion", width=85)
    columns["In words"] = [in_words(curve.exponent) for curve in found]
    config["In words"] = fitting("In words", columns["In words"])
    return finished(pd.DataFrame(columns), config, [curve.layer for curve in found])


def _precisions(views: Sequence[LayerView]) -> list[str]:
    return sorted({view.precision for view in views if view.precision})


def _known(frame: pd.DataFrame) -> pd.DataFrame:
    empty = [
        name for name in _NEWER if not any(len(value) if name == "Precision" else 1 for value in frame[name].dropna())
    ]
    return frame.drop(columns=empty)


def beside_table(pairs: Sequence[LayerPair]) -> Table:
    """Layers of two runs with both times and the change, in the order they come."""
    here, there = "Here (ms)", "There (ms)"
    columns: dict[str, Any] = {
        "#": [pair.here.index + 1 for pair in pairs],
        "Layer": [shorten(pair.here.id, NAME_LENGTH) for pair in pairs],
        "Op": [pair.here.op for pair in pairs],
        here: floats(pair.here.ms for pair in pairs),
        there: floats(pair.there.ms for pair in pairs),
        "Change (ms)": floats(pair.change_ms for pair in pairs),
        "There ÷ here (x)": floats(pair.ratio for pair in pairs),
        "Precision here": [pair.here.precision for pair in pairs],
        "Precision there": [pair.there.precision for pair in pairs],
        "Runs as here": [pair.here.executes_as for pair in pairs],
        "Runs as there": [pair.there.executes_as for pair in pairs],
    }
    for name in ("Precision here", "Precision there"):
        if not any(columns[name]):
            del columns[name]
    frame = pd.DataFrame(columns)
    config: dict[str, Any] = {
        "#": number("#", "Position in the graph", width=50),
        "Layer": fitting("Layer", frame["Layer"]),
        "Op": fitting("Op", frame["Op"]),
        here: number(here, "Per run, from the profile on this page", width=85),
        there: number(there, "Per run, from the other run", width=85),
        "Change (ms)": number("Change (ms)", "Below 0: it takes less time there", width=95),
        "There ÷ here (x)": number("There ÷ here (x)", "Below 1: it takes less time there", width=115),
        "Runs as here": st.column_config.TextColumn("Runs as here", width="medium"),
        "Runs as there": st.column_config.TextColumn("Runs as there", width="medium"),
    }
    return finished(frame, config, [pair.here.id for pair in pairs])
