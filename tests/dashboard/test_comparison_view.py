"""Tiles: before and after with units, a verdict word that the interval decides, unknown is never a number."""

from __future__ import annotations

from typing import Any

from dashboard.comparison_view import Tile, accuracy, energy, latency, tiles
from tests.dashboard.documents import build_document, comparison_document, inspect_document


def shown(document: dict[str, Any]) -> dict[str, Tile]:
    return {tile.label.split(" (")[0]: tile for tile in tiles(document)}


def test_every_metric_of_the_page_has_a_tile() -> None:
    labels = list(shown(build_document(inspect_document(12))))
    expected = ["Latency", "Throughput", "File size", "Peak memory", "Accuracy", "Fidelity", "Agreement", "Energy"]
    assert labels == expected


def test_a_speed_up_whose_interval_lies_above_one_is_better() -> None:
    tile = latency(comparison_document(speedup=2.84))
    assert (tile.before, tile.after) == ("2.64 ms", "0.930 ms")
    assert tile.verdict == "better"
    assert tile.ci95 is not None


def test_a_slower_candidate_is_called_worse() -> None:
    assert latency(comparison_document(speedup=0.8)).verdict == "worse"


def test_an_interval_around_one_shows_no_difference() -> None:
    assert latency(comparison_document(speedup=1.01)).verdict == "no difference seen"


def test_a_noisy_comparison_is_called_noisy() -> None:
    assert latency({**comparison_document(), "verdict": "too noisy"}).verdict == "too noisy"


def test_energy_that_cannot_be_read_is_never_zero() -> None:
    for document in ({}, {"energy": None}, {"energy": {"before_j": 0.0, "after_j": 0.0, "source": None}}):
        tile = energy(document)
        assert tile.after == "not readable here"
        assert tile.ratio is None
    read = energy({"energy": {"before_j": 0.2, "after_j": 0.1, "source": "RAPL"}})
    assert (read.before, read.after, read.ratio) == ("0.200 J", "0.100 J", 2.0)


def test_accuracy_without_labels_says_so() -> None:
    tile = accuracy(comparison_document(accuracy=False))
    assert tile.verdict == "not measured"
    assert "labels" in tile.help


def test_a_change_of_accuracy_is_told_in_points_with_its_interval() -> None:
    tile = accuracy(comparison_document())
    assert tile.change == "-0.280 points [-0.800, 0.300]"
    assert tile.verdict == "no difference seen"
    lost = {"metric": "top1", "before": 0.99, "after": 0.9, "ci95_change": [-0.12, -0.06]}
    assert accuracy({"accuracy": lost}).verdict == "worse"


def test_what_is_missing_is_said_and_never_shown_as_a_figure() -> None:
    found = shown(build_document(inspect_document(12), missing=True))
    assert found["Fidelity"].after == "not known"
    assert found["Agreement"].after == "not known"
    assert found["Peak memory"].after == "not known"
    assert found["Peak memory"].verdict == "not measured"


def test_nothing_measured_gives_tiles_without_figures() -> None:
    found = shown({"comparison": None, "layers": []})
    assert found["Latency"].verdict == "not measured"
    assert all(tile.ratio is None for tile in found.values())


def test_an_unchanged_model_is_identical() -> None:
    compared = {"fidelity": {"sqnr_db": 200.0, "agreement": 1.0}, "latency": {"ratio": 1.0, "ci95": [1.0, 1.0]}}
    found = shown(compared)
    assert found["Fidelity"].after == "identical"
    assert found["Latency"].verdict == "no difference seen"


def test_accuracy_says_on_how_many_samples() -> None:
    found = {"metric": "top1", "before": 0.99, "after": 0.98, "ci95_change": [-0.03, 0.01], "samples": 50}
    assert accuracy({"accuracy": found}).note == "on 50 holdout samples"
    assert accuracy({"accuracy": {**found, "samples": None}}).note == ""
