"""Ratios as rows and a layer in one line: what was measured, with its unit, and nothing else."""

from __future__ import annotations

from dashboard.layer_views import layer_views
from dashboard.widgets.comparison import layer_line
from dashboard.widgets.comparison_details import ratio_rows
from tests.dashboard.documents import build_document, comparison_document, inspect_document, profile_document


def test_every_measured_ratio_is_a_row() -> None:
    rows = ratio_rows(comparison_document()["ratio"])
    assert [row.label for row in rows] == ["Latency", "Latency, p95", "Throughput", "Size", "Memory"]
    assert rows[0].ci95 is not None
    assert rows[3].ci95 is None


def test_what_was_not_measured_is_left_out() -> None:
    assert "Memory" not in [row.label for row in ratio_rows(comparison_document(missing=True)["ratio"])]
    assert ratio_rows({}) == []


def test_the_chosen_layer_is_told_in_one_line() -> None:
    inspection = inspect_document(12)
    document = build_document(inspection)
    before = layer_views(inspection, profile_document(inspection))
    after = layer_views(inspection, document["profile"])
    line = layer_line("stem/conv", document["layers"], before, after)
    assert line == "stem/conv (Conv) · 0.324 ms → 0.114 ms · requested int8, executed int8 · all Conv layers"
    assert "not known → not known" not in line
    assert layer_line("stem/relu", document["layers"], before, None).endswith(
        "requested fp32, folded away · no rule matches"
    )
    assert layer_line(None, document["layers"], before, after).startswith("Click a cell")
