"""All models of the zoo are read, summed up and laid out; the broken ones give one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import ModelError
from core.graph.layout import lay_out
from core.graph.read import read_layers
from core.graph.summary import summarize
from core.intake.dataset import dataset_for
from core.intake.load import load_model

pytestmark = pytest.mark.zoo

#: Broken in a way that only the runtime sees for certain; loading warns.
RUNTIME_ONLY = {"bad_shape_mismatch"}


def entries(zoo: Path, status: str) -> list[dict[str, str]]:
    index = json.loads((zoo / "index.json").read_text())
    return [entry for entry in index if entry["status"] == status]


def test_every_good_model_gives_a_table_a_summary_and_a_layout(zoo: Path) -> None:
    for entry in entries(zoo, "ok"):
        model = load_model(zoo / entry["file"])
        data = zoo / "data" / f"{entry['name']}.npz"
        dataset = dataset_for(model, data if data.is_file() else None)
        table = read_layers(model, shapes=dataset.shapes())
        found = summarize(model, table)["model"]
        layout = lay_out(table)
        assert len({layer.id for layer in table}) == len(table) == len(layout.positions), entry["name"]
        assert sum(len(group.layers) for group in table.groups) == len(table), entry["name"]
        assert found["node_count"] == entry["nodes"], entry["name"]


def test_every_bad_model_gives_one_line(zoo: Path) -> None:
    for entry in entries(zoo, "bad"):
        if entry["name"] in RUNTIME_ONLY:
            assert load_model(zoo / entry["file"]).findings[0].severity == "warning"
            continue
        with pytest.raises(ModelError) as refused:
            load_model(zoo / entry["file"])
        assert "\n" not in refused.value.message
        assert refused.value.hint


def test_known_costs_of_known_networks(zoo: Path) -> None:
    model = load_model(zoo / "models" / "efficientnet_lite0.onnx")
    found = summarize(model, read_layers(model))["model"]
    assert found["macs"] == pytest.approx(385e6, rel=0.01)
    assert found["parameters"] == pytest.approx(4.63e6, rel=0.01)
