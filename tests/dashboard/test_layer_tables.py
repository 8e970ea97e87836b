"""Tables of layers: units in headers, numbers stay numbers, unknown stays empty, rows are read back by id."""

from __future__ import annotations

import pytest

from dashboard import tables
from dashboard.figures.theme import DARK, LIGHT
from dashboard.layer_tables import growth_table, holders_table, layer_table
from dashboard.layer_views import layer_views
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import inspect_document, profile_document


def profiled(layers: int = 60, *, missing: float = 0.0, prefix: str = "") -> tables.Table:
    inspection = inspect_document(layers, prefix=prefix)
    return layer_table(layer_views(inspection, deep_profile(inspection, missing=missing)), LIGHT)


def test_the_slowest_layer_comes_first() -> None:
    assert profiled().frame["Time (ms)"].is_monotonic_decreasing


def test_every_number_has_its_unit_in_the_header() -> None:
    frame = profiled().frame
    numeric = [name for name in frame.columns if frame[name].dtype.kind == "f"]
    assert numeric == [
        *("Time (ms)", "Share", "MACs (MMAC)", "Moved (MB)", "Intensity (FLOP/B)", "GFLOP/s", "Attained (%)"),
    ]


def test_figures_are_shown_with_three_significant_digits() -> None:
    config = profiled().config
    assert config["Time (ms)"]["type_config"]["format"] == "%.3g"
    assert config["Share"]["type_config"]["format"] == "%.3g %%"
    assert config["Share"]["type_config"]["type"] == "progress"


def test_unknown_figures_are_empty_and_sorted_last() -> None:
    times = profiled(missing=0.3).frame["Time (ms)"]
    assert times.isna().any()
    assert times.iloc[-1] != times.iloc[-1]
    assert times.dropna().is_monotonic_decreasing


def test_what_an_older_profile_does_not_know_takes_no_room() -> None:
    inspection = inspect_document(30)
    frame = layer_table(layer_views(inspection, profile_document(inspection)), LIGHT).frame
    assert not {"Precision", "Attained (%)"} & set(frame.columns)
    assert "Intensity (FLOP/B)" in frame.columns


def test_a_row_is_read_back_as_its_layer() -> None:
    table = profiled()
    assert table.ids_at([0]) == (table.frame["Layer"].iloc[0],)
    assert table.ids_at([0, 10_000, -1]) == table.ids_at([0]), "positions that are gone are left out"


def test_long_names_are_cut_in_the_middle_and_kept_whole_beside() -> None:
    table = profiled(prefix="/a/very/long/module/path/that/goes/on/and/on/")
    assert table.frame["Layer"].str.len().max() <= tables.NAME_LENGTH
    assert list(table.frame["Full name"]) == list(table.ids)
    assert "Full name" not in profiled().frame.columns


def test_one_unit_serves_a_whole_column() -> None:
    inspection = inspect_document(12)
    for row in inspection["layers"]:
        row["macs"] = 1000
    assert "MACs (kMAC)" in layer_table(layer_views(inspection), LIGHT).frame.columns


def test_a_part_of_the_layers_keeps_the_bars_of_all() -> None:
    inspection = inspect_document(30)
    views = layer_views(inspection, deep_profile(inspection))
    config = layer_table(views[-3:], LIGHT, top_share=0.4).config
    assert config["Share"]["type_config"]["max_value"] == pytest.approx(40.0)


def test_a_model_without_layers_makes_an_empty_table() -> None:
    assert layer_table((), LIGHT).frame.empty
    assert holders_table({"holders": None}, DARK).frame.empty
    assert growth_table({"points": None, "layers": None}, {}).frame.empty


def test_what_holds_the_peak_adds_up_to_it() -> None:
    memory = deep_profile(inspect_document(60))["memory"]
    table = holders_table(memory, LIGHT)
    assert table.frame["Share of the peak"].sum() == pytest.approx(100.0)
    assert table.frame["Held (KB)"].sum() * 1e3 == pytest.approx(memory["activation_peak_bytes"])
    assert table.ids == tuple(holder["layer"] for holder in memory["holders"])


def test_a_model_input_is_no_layer() -> None:
    memory = {
        "activation_peak_bytes": 8,
        "holders": [{"layer": None, "tensor": "x", "bytes": 8, "from": None, "to": "a"}],
    }
    table = holders_table(memory, LIGHT)
    assert table.frame["Written by"].tolist() == ["model input"]
    assert table.ids == ("",)


def test_growth_is_told_per_size_and_in_words() -> None:
    inspection = inspect_document(60)
    document = deep_profile(inspection)
    table = growth_table(document["growth"], {row["id"]: row["op"] for row in inspection["layers"]})
    assert list(table.frame.columns) == [
        "Layer",
        "Op",
        "short (ms)",
        "middle (ms)",
        "long (ms)",
        "Exponent",
        "In words",
    ]
    words = dict(zip(table.ids, table.frame["In words"], strict=True))
    assert words["head/fc"] == "does not grow"
    assert set(words.values()) == {"does not grow", "grows in proportion", "grows with the square"}
