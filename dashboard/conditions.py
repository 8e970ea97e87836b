"""Conditions in words: what a number was measured under, and why it may no longer hold here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import core
from core.runtime.conditions import Conditions

#: A machine busier than this (one-minute load per core) disturbs what it measures.
_BUSY = 0.75
#: Documents give whole seconds.
_ROUNDED = timedelta(seconds=1)


def sentence(conditions: Mapping[str, Any] | None) -> str:
    """One line: processor, threads, batch, runtime, load and time."""
    if not conditions:
        return "Conditions not known"
    threads, batch = conditions.get("threads"), conditions.get("batch")
    provider = str(conditions.get("provider") or "").removesuffix("ExecutionProvider")
    parts = [
        str(conditions.get("cpu") or "processor not known"),
        f"{threads} thread{'' if threads == 1 else 's'}",
        f"batch {batch}",
        f"onnxruntime {conditions.get('onnxruntime')} {provider}".strip(),
        f"load {conditions.get('load_average')}",
        f"seed {conditions.get('seed')}",
        moment(conditions.get("time")),
    ]
    return " · ".join(part for part in parts if part)


def moment(text: str | None, *, year: bool = True) -> str:
    """An ISO 8601 time as "5 Jan 2026 10:11 UTC", or without the year; empty where it cannot be read."""
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return ""
    day = f"{when.day} {when:%b %Y}" if year else f"{when.day} {when:%b}"
    return f"{day} {when:%H:%M} {when.tzname() or ''}".strip()


def reused(measured: str | None, began: datetime | None) -> str:
    """Says that what was measured at `measured` (ISO 8601) is older than the job that began then; else empty."""
    try:
        when = datetime.fromisoformat(measured or "")
    except ValueError:
        return ""
    if began is None or when.tzinfo is None or when >= began - _ROUNDED:
        return ""
    same_day = when.date() == began.astimezone(when.tzinfo).date()
    told = f"at {when:%H:%M} {when.tzname() or ''}".strip() if same_day else f"on {moment(measured)}"
    return f"measured {told}, reused"


def doubts(document: Mapping[str, Any], here: Conditions) -> tuple[str, ...]:
    """Why the figures of a document may not hold on this machine now; empty where nothing speaks against them."""
    measured = document.get("conditions") or {}
    found = []
    if measured.get("machine") not in (None, here.machine):
        found.append(f"measured on another machine ({measured.get('cpu') or measured['machine']})")
    if measured.get("onnxruntime") not in (None, here.onnxruntime):
        found.append(f"measured with onnxruntime {measured['onnxruntime']}, this server has {here.onnxruntime}")
    if document.get("mixdesk") not in (None, core.__version__):
        found.append(f"measured by Mixdesk {document['mixdesk']}, this is {core.__version__}")
    load, cores = measured.get("load_average"), measured.get("cores")
    if load is not None and cores and load > _BUSY * cores:
        found.append(f"the machine was busy (load {load} on {cores} cores)")
    return tuple(found)
