"""Compare measures B against A where both take and give the same."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from core.errors import ModelError, NotFoundError, RequestError
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.compare import compare


@pytest.mark.xdist_group("timing")
def test_a_model_against_itself_is_identical(store: Workspace, network: dict[str, Any]) -> None:
    document = compare(store, {**network, "candidate_file": network["model"], "time_budget_s": 0.3}, Silent())
    assert document["fidelity"]["sqnr_db"] == 200
    assert document["ratio"]["size"] == 1
    assert document["gate"] is None
    assert document["data"]["name"] == "noise"


@pytest.mark.xdist_group("timing")
def test_a_baseline_takes_the_place_of_the_original(store: Workspace, network: dict[str, Any]) -> None:
    other = onnx.ModelProto.FromString(store.files.read(network["model"]))
    weights = onnx.numpy_helper.to_array(other.graph.initializer[1])
    other.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(weights * 2, other.graph.initializer[1].name))
    doubled = store.files.put(other.SerializeToString())
    files = {"baseline_file": doubled, "candidate_file": doubled, "baseline_name": "doubled"}
    document = compare(store, {**network, **files, "time_budget_s": 0.3}, Silent())
    assert document["fidelity"]["sqnr_db"] == 200
    against = compare(store, {**network, "candidate_file": doubled, "time_budget_s": 0.3}, Silent())
    assert against["fidelity"]["sqnr_db"] < 200
    assert [row.sha256 for row in store.models()] == [network["model"]]
    with pytest.raises(NotFoundError, match="the baseline"):
        compare(store, {**network, **files, "baseline_file": "f" * 64}, Silent())


def test_the_second_model_must_be_there(store: Workspace, network: dict[str, Any]) -> None:
    with pytest.raises(NotFoundError, match="second model"):
        compare(store, {**network, "candidate_file": "f" * 64}, Silent())
    with pytest.raises(NotFoundError, match="second model"):
        compare(store, network, Silent())


def test_the_second_model_must_be_a_model(store: Workspace, network: dict[str, Any]) -> None:
    text = store.files.put(b"this is not a model, it is text")
    with pytest.raises(ModelError):
        compare(store, {**network, "candidate_file": text, "candidate_name": "other"}, Silent())


def test_other_outputs_cannot_be_compared(store: Workspace, network: dict[str, Any]) -> None:
    other = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["" : 17]>
    other (float[batch, 3, 16, 16] x) => (float[batch, 3, 16, 16] z) { z = Relu (x) }
    """)
    sha256 = store.files.put(other.SerializeToString())
    with pytest.raises(RequestError, match="network and other have different outputs: y and z"):
        compare(store, {**network, "candidate_file": sha256, "candidate_name": "other"}, Silent())
