"""Tables: units in headers, numbers stay numbers, unknown stays empty, rows are read back by id."""

from __future__ import annotations

import pytest

from core.recipe.precision import Precision
from core.recipe.resolve import resolve
from core.report.asked import as_asked, reason
from dashboard import mixing, tables
from dashboard.figures.theme import LIGHT
from dashboard.group_views import group_views
from dashboard.layer_rows import layer_table
from dashboard.layer_views import layer_views
from dashboard.mixing import Mix
from tests.dashboard.documents import build_document, inspect_document, machine_document, profile_document


def test_names_and_operators_of_groups_fit_their_columns() -> None:
    inspection = inspect_document(30, prefix="/a/very/long/module/path/that/goes/on/and/on/")
    structure, layers = layer_table(inspection), layer_views(inspection)
    groups = group_views(structure, layers, resolve(Mix().recipe(), structure), pins={})
    table = tables.group_table(groups, LIGHT)
    for name, most in (("Group", tables.GROUP_LENGTH), ("Ops", 24)):
        assert table.frame[name].str.len().max() <= most
        assert table.config[name]["width"] >= max(tables.text_px(text) for text in table.frame[name]) + 16
    assert [name.rpartition("/")[2] for name in table.frame["Group"]] == [name.rpartition("/")[2] for name in table.ids]
    assert "Note" not in table.frame, "an empty column takes no room"


@pytest.mark.parametrize(
    ("text", "seen_px"),
    [("Read longname_…ngname_longname", 197), ("1-D, 5 wide, 128 to 128 channels, 256 steps", 216), ("MaxPool", 46)],
)
def test_a_text_is_thought_at_least_as_wide_as_a_browser_draws_it_and_not_much_wider(text: str, seen_px: int) -> None:
    assert seen_px <= tables.text_px(text) <= 1.2 * seen_px


@pytest.mark.parametrize(
    ("ops", "told"),
    [
        (["Conv"], "Conv"),
        (["Conv", "Add", "Relu"], "Conv + Add + Relu"),
        (["Conv", "BatchNormalization", "Clip"], "Conv + 2 more"),
        (["Conv", "Mul", "Add", "Mul", "Add"], "Conv + Mul + 3 more"),
        (["BatchNormalization", "LayerNormalization"], "BatchNormalization + 1 more"),
    ],
)
def test_many_operators_are_counted(ops: list[str], told: str) -> None:
    assert tables.ops_text(ops) == told


def test_what_does_not_run_as_asked_comes_first_with_its_reason() -> None:
    inspection = inspect_document(60)
    rows = build_document(inspection)["layers"]
    views = {view.id: view for view in layer_views(inspection, profile_document(inspection))}
    frame = tables.outcome_table(rows, views, LIGHT).frame
    missed = [row for row in rows if not as_asked(row)]
    assert len(missed) == 2
    assert set(frame["Layer"][:2]) == {row["id"] for row in missed}
    assert all("only add conversions" in why for why in frame["Why"][:2])


def test_what_was_folded_away_counts_as_done() -> None:
    assert as_asked({"requested": "int8", "executed": "folded"})
    assert not as_asked({"requested": "int8", "executed": "fp32"})


def test_channels_say_what_is_pinned_refused_and_changed() -> None:
    inspection = inspect_document(30)
    structure = layer_table(inspection)
    mix = mixing.set_operator(mixing.Mix(), "Softmax", Precision.INT8)
    mix = mixing.pin(mixing.set_operator(mix, "Conv", Precision.INT8), {"head/fc": Precision.FP32})
    plan = resolve(mix.recipe(), structure)
    built = {group.id: "fp32" for group in structure.groups}
    views = group_views(structure, layer_views(inspection), plan, pins=mix.pins, built=built)
    table = tables.group_table(views, LIGHT)
    notes = dict(zip(table.ids, table.frame["Note"], strict=True))
    assert notes["head/fc"] == "pinned"
    assert notes["head/softmax"] == "asked int8"
    assert notes["stem/conv"] == "was fp32"
    assert list(table.frame["Precision"].iloc[0]) == ["int8"]


@pytest.mark.parametrize("layers", [[], None])
def test_empty_documents_make_empty_tables(layers: list[object] | None) -> None:
    assert tables.outcome_table([], {}, LIGHT).frame.empty
    assert tables.capability_table({"capability": layers or []}).frame.empty


def test_the_capability_grid_shows_what_was_measured() -> None:
    frame = tables.capability_table(machine_document()).frame
    conv = frame[(frame["Op"] == "Conv") & (frame["Precision"] == "I int8")]
    assert conv["State"].tolist() == ["executed"]
    assert conv["Speed-up (x)"].tolist() == [2.4]
    refused = frame[frame["Precision"] == "B bf16"]
    assert refused["Speed-up (x)"].isna().all(), "a precision that does not run has no speed"


def outcome(op: str, requested: str, produced: str, executed: str, why: str = "a reason") -> str:
    return reason({"op": op, "requested": requested, "produced": produced, "executed": executed, "why": why})


def test_a_layer_that_runs_as_it_was_placed_keeps_the_reason_of_the_plan() -> None:
    assert outcome("Conv", "int8", "int8", "int8") == "a reason"
    assert outcome("Relu", "int8", "fp32", "folded") == "a reason"


def test_where_the_runtime_differs_from_the_file_the_reason_says_so() -> None:
    moved = "placed as fp32; the runtime moves the 8-bit codes through it"
    assert outcome("Reshape", "int8", "fp32", "int8", "what feeds it stays in fp32") == moved
    assert outcome("Conv", "int8", "int8", "fp32") == "placed as int8; the runtime runs it in fp32 (a reason)"
    assert outcome("Conv", "int8", "int8", "fp32", "") == "placed as int8; the runtime runs it in fp32"


def test_the_column_of_reasons_is_wide_enough_for_the_longest() -> None:
    rows = build_document(inspect_document(30))["layers"]
    rows[3]["why"] = "word " * 40
    assert tables.outcome_table(rows, {}, LIGHT).config["Why"]["width"] > 1200
    rows[3]["why"] = ""
    assert tables.outcome_table(rows, {}, LIGHT).config["Why"]["width"] < 700
