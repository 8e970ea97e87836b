"""Ratios as rows: what was measured, with its interval, and nothing else."""

from __future__ import annotations

from dashboard.widgets.comparison_details import ratio_rows
from tests.dashboard.documents import comparison_document


def test_every_measured_ratio_is_a_row() -> None:
    rows = ratio_rows(comparison_document()["ratio"])
    assert [row.label for row in rows] == ["Latency", "Latency, p95", "Throughput", "Size", "Memory"]
    assert rows[0].ci95 is not None
    assert rows[3].ci95 is None


def test_what_was_not_measured_is_left_out() -> None:
    assert "Memory" not in [row.label for row in ratio_rows(comparison_document(missing=True)["ratio"])]
    assert ratio_rows({}) == []
