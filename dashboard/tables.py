"""Tables: rows of result documents as data frames, units in the headers and three significant digits in the cells.

Row i of a table belongs to `ids[i]`: a selection is read back by position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pandas as pd
import streamlit as st

from core.report import quantities
from core.report.asked import as_asked, reason
from dashboard.chips import chip_color
from dashboard.figures.labels import shorten
from dashboard.figures.theme import FigureTheme, precision_color, precision_label
from dashboard.group_views import GroupView
from dashboard.layer_views import LayerView

#: Longer names are cut in the middle; the full ones are in a column of their own then.
NAME_LENGTH = 44
#: On the desk there is less room: its table stands beside the inspector.
GROUP_LENGTH = 36
_OPS_LENGTH = 24
_THREE = "%.3g"
_PERCENT = "%.3g %%"
#: A letter in a cell is about this wide, rather less.
_LETTER_PX = 6.6
#: The same for short texts, letter by letter, since names of many wide ones would lose their end.
_NARROW, _WIDE = frozenset("fijlrt.,:;'|()[] /-"), frozenset("mwMW…●◐◌△")
_NARROW_PX, _DIGIT_PX, _OTHER_PX, _WIDE_PX = 3.8, 6.2, 6.9, 9.8
_CELL_PX = 24
_LEAST_SENTENCE_PX = 240


@dataclass(frozen=True)
class Table:
    """A data frame, how its columns are shown, and what each row stands for (layer or group id).

    `written` are writers of columns whose numbers no pattern can write, e.g. sizes with a unit each.
    """

    frame: pd.DataFrame
    config: Mapping[str, Any]
    ids: tuple[str, ...]
    written: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)

    @property
    def styled(self) -> Any:
        """The frame with those columns written: they are sorted as numbers and read as texts."""
        return self.frame.style.format(dict(self.written), na_rep="–")

    def ids_at(self, rows: Sequence[int]) -> tuple[str, ...]:
        """The ids of selected rows; positions that the table does not have any more are left out."""
        return tuple(self.ids[row] for row in rows if 0 <= row < len(self.ids))


def outcome_table(rows: Sequence[Mapping[str, Any]], views: Mapping[str, LayerView], theme: FigureTheme) -> Table:
    """What was requested, produced and executed for every layer: what differs from the request first, then by time.

    Args:
        rows: the "layers" of a `build` or `optimize` document.
        views: layer id -> its figures in the original (for the share of time).
        theme: light or dark.
    """

    def rank(row: Mapping[str, Any]) -> tuple[bool, float]:
        view = views.get(row["id"])
        return as_asked(row), -((view.share if view else None) or 0.0)

    ordered = sorted(rows, key=rank)
    shares = [views[row["id"]].share if row["id"] in views else None for row in ordered]
    frame = pd.DataFrame(
        {
            "Layer": [shorten(row["id"], NAME_LENGTH) for row in ordered],
            "Op": [row["op"] for row in ordered],
            "Requested": [[row["requested"]] for row in ordered],
            "Produced": [[row["produced"]] for row in ordered],
            "Executed": [[row["executed"]] for row in ordered],
            "Share": floats(None if share is None else 100 * share for share in shares),
            "Why": [reason(row) for row in ordered],
        }
    )
    known = sorted({row[key] for row in ordered for key in ("requested", "produced", "executed")})
    top = max((share or 0.0 for share in shares), default=0.0) * 100 or 100.0
    config: dict[str, Any] = {
        "Layer": fitting("Layer", frame["Layer"]),
        "Op": fitting("Op", frame["Op"]),
        "Share": bar("Share before", "Of the kernel time of the original", top, theme),
        "Requested": precision_column("Requested", "What the recipe asked for", known, theme),
        "Produced": precision_column("Produced", "What the file says", known, theme),
        "Executed": precision_column("Executed", "What the runtime really runs", known, theme),
        "Why": sentences("Why", frame["Why"]),
    }
    return finished(frame, config, [row["id"] for row in ordered])


def group_table(views: Sequence[GroupView], theme: FigureTheme) -> Table:
    """The channels of the desk in graph order: share of the time, precision and why."""
    columns: dict[str, Any] = {
        "#": [view.index + 1 for view in views],
        "Group": [shorten(view.id, GROUP_LENGTH) for view in views],
        "Ops": [ops_text(view.ops) for view in views],
        "Precision": [[str(view.precision)] for view in views],
        "Share": floats(None if view.share is None else 100 * view.share for view in views),
        "Time (ms)": floats(view.ms for view in views),
        "Note": [_note(view) for view in views],
        "Alone (dB)": floats(view.solo_db for view in views),
        "Why": [view.why for view in views],
    }
    if all(view.solo_db is None for view in views):
        del columns["Alone (dB)"]
    if not any(columns["Note"]):
        del columns["Note"]
    frame = pd.DataFrame(columns)
    top = max((view.share or 0.0 for view in views), default=0.0) * 100 or 100.0
    known = sorted({str(view.precision) for view in views})
    config: dict[str, Any] = {
        "#": number("#", "Position in the graph", width=46),
        "Group": fitting("Group", frame["Group"], help_text="The layer that gives the group its name"),
        "Ops": fitting("Ops", frame["Ops"], help_text="The layers that fuse and share one precision"),
        "Time (ms)": number("Time (ms)", "Per run of the original, from the profiler", width=80),
        "Share": bar("Share", "Of the kernel time of one run of the original", top, theme),
        "Precision": precision_column("Precision", "What will be built", known, theme),
        "Note": fitting("Note", columns.get("Note", ()), help_text="Pinned, refused, or changed since the candidate"),
        "Alone (dB)": number("Alone (dB)", "SQNR of the outputs with only this group in int8", width=90),
        "Why": sentences("Why", frame["Why"]),
    }
    return finished(frame, config, [view.id for view in views], GROUP_LENGTH)


def ops_text(ops: Sequence[str]) -> str:
    """The operators of a group: "Conv + Relu"; of many, the first ones and how many follow: "Conv + 3 more"."""
    for count in range(len(ops), 1, -1):
        more = f" + {len(ops) - count} more" if count < len(ops) else ""
        if len(text := " + ".join(ops[:count]) + more) <= _OPS_LENGTH:
            return text
    return " + ".join(ops[:1]) + (f" + {len(ops) - 1} more" if len(ops) > 1 else "")


def _note(view: GroupView) -> str:
    """Pinned, refused (asked for something else), changed since the last candidate."""
    words = [
        "pinned" if view.pinned else "",
        f"asked {view.asked}" if view.refused else "",
        f"was {view.built}" if view.changed else "",
    ]
    return ", ".join(word for word in words if word)


def precision_column(label: str, help_text: str, precisions: Sequence[str], theme: FigureTheme) -> Any:
    """A column of precisions as coloured chips with their letter."""
    colors = [
        chip_color(theme.line if precision == "folded" else precision_color(precision)) for precision in precisions
    ]
    return st.column_config.MultiselectColumn(
        label, help=help_text, options=list(precisions), color=colors, format_func=_chip, width=100
    )


def _chip(precision: str) -> str:
    return "folded away" if precision == "folded" else precision_label(precision)


def capability_table(machine: Mapping[str, Any]) -> Table:
    """The capability grid as it was measured."""
    rows = list(machine.get("capability", ()))
    frame = pd.DataFrame(
        {
            "Op": [row["op"] for row in rows],
            "Tried with": [row.get("signature") or "" for row in rows],
            "Precision": [precision_label(row["precision"]) for row in rows],
            "State": [row["state"] for row in rows],
            "Speed-up (x)": floats(row.get("speedup") for row in rows),
            "95 % interval": [quantities.ratio_range(row["ci95"]) if row.get("ci95") else "" for row in rows],
            "Why": [row.get("why") or "" for row in rows],
        }
    )
    config = {
        "Speed-up (x)": number("Speed-up (x)", "Against fp32, the kernel alone"),
        "Why": sentences("Why", frame["Why"]),
    }
    return Table(frame, config, tuple(f"{row['op']} {row['precision']}" for row in rows))


def fitting(label: str, texts: Iterable[str], *, help_text: str | None = None) -> Any:
    """A column of short texts, as wide as the longest of them: a text that was cut in the middle keeps its end."""
    longest = max(text_px(text) for text in (label, *texts))
    return st.column_config.TextColumn(label, help=help_text, width=_CELL_PX + round(longest))


@lru_cache(maxsize=65_536)
def text_px(text: str) -> float:
    """About how wide a text is in a cell, rather more."""
    return sum(
        _NARROW_PX
        if letter in _NARROW
        else _WIDE_PX
        if letter in _WIDE
        else _DIGIT_PX
        if letter.isdigit()
        else _OTHER_PX
        for letter in text
    )


def finished(frame: pd.DataFrame, config: dict[str, Any], ids: Sequence[str], length: int = NAME_LENGTH) -> Table:
    """Adds the full names where some were cut, so that search and export find them."""
    if any(len(name) > length for name in ids):
        frame["Full name"] = list(ids)
        config["Full name"] = st.column_config.TextColumn("Full name", width="medium")
    return Table(frame, config, tuple(ids))


def floats(values: Iterable[float | None]) -> pd.Series[float]:
    """Numbers of a column; None is empty."""
    return pd.Series(list(values), dtype="float64")


def number(label: str, help_text: str, *, width: int | None = None) -> Any:
    """A column of numbers with three significant digits; the unit stands in the label."""
    return st.column_config.NumberColumn(label, help=help_text, format=_THREE, width=width)


def sentences(label: str, texts: pd.Series[str]) -> Any:
    """A column as wide as its longest sentence: the table scrolls sideways, and nothing is cut."""
    longest = max((len(text) for text in texts), default=0)
    return st.column_config.TextColumn(label, width=max(_LEAST_SENTENCE_PX, _CELL_PX + round(longest * _LETTER_PX)))


def bar(label: str, help_text: str, top: float, theme: FigureTheme) -> Any:
    """A column of percentages, each with a bar that is full at `top`."""
    return st.column_config.ProgressColumn(
        label, help=help_text, format=_PERCENT, min_value=0.0, max_value=top, width=130, color=theme.accent
    )


def step(values: Sequence[float | None], unit: str, base: int) -> tuple[str, float]:
    """One unit for a whole column, so that its largest figure has one to three digits before the point."""
    top = max((value for value in values if value is not None), default=0.0)
    for prefix, power in (("G", 3), ("M", 2), ("k", 1)):
        if top >= base**power:
            return f"{'K' if (prefix, unit) == ('k', 'B') else prefix}{unit}", float(base**power)
    return unit, 1.0
