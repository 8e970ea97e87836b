"""Figures: what is known of a model's layers, in the form in which the embedded Netron shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.jobs import queue
from core.report.netron_attachment import netron_attachment
from core.store.rows import JobState
from dashboard.services.documents import Document, result_of
from dashboard.services.server import workspace


def netron_figures(sha256: str) -> Mapping[str, Any] | None:
    """The newest profile of the model of that hash as a Netron attachment; None where it was not profiled."""
    profile, inspection = _newest(sha256, "profile"), _newest(sha256, "inspect")
    return None if profile is None or inspection is None else netron_attachment(profile, inspection)


def _newest(sha256: str, kind: str) -> Document | None:
    done = queue.jobs(workspace(), model=sha256, kind=kind, states=(JobState.DONE,), limit=1)
    return result_of(done[0].id) if done else None
