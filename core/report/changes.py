"""Changes in words: what the remedy of an advice would set, as reports and pages say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.report.quantities import counted

_MOST_NAMED = 3


def change_words(change: Mapping[str, Any] | None) -> str:
    """What a change sets: "conv1, conv2 to int8; 2 threads"; empty where there is none."""
    if not change:
        return ""
    wanted: dict[str, list[str]] = {}
    for rule in change.get("rules") or ():
        wanted.setdefault(str(rule["precision"]), []).append(_subject(str(rule["match"])))
    session = change.get("session") or {}
    told = [f"{_named(names)} to {precision}" for precision, names in wanted.items()]
    if "threads" in session:
        told.append(counted(int(session["threads"]), "thread"))
    if "batch" in session:
        told.append(f"batch {session['batch']}")
    return "; ".join(told)


def advice_lines(advice: Mapping[str, Any]) -> list[str]:
    """The sentences of one advice: what was seen, what follows, what to do, and the change that does it."""
    change = change_words(advice.get("change"))
    lines = [str(advice.get(name) or "") for name in ("evidence", "consequence", "remedy")]
    return [line for line in (*lines, f"Change: {change}." if change else "") if line]


def _subject(match: str) -> str:
    kind, _, name = match.partition(":")
    if match == "*":
        return "everything"
    return f"all {name}" if kind == "op" else f"names that match {name}" if kind == "name" else name


def _named(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
