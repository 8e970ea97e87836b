"""Preparation loads from the workspace, registers what loaded, and refuses what cannot run."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from core.errors import DataError, ModelError, NotFoundError
from core.progress import Silent
from core.runtime.session import open_session
from core.store.workspace import Workspace
from core.tasks.params import Subject
from core.tasks.prepare import describe_data, prepare, require_runnable
from core.tasks.profile import profile


def test_model_and_data_become_rows_once_they_have_loaded(store: Workspace, network: dict[str, Any]) -> None:
    prepared = prepare(store, Subject.read(network))
    assert [layer.op_type for layer in prepared.table] == ["Conv", "Relu", "GlobalAveragePool", "Flatten", "Gemm"]
    row = store.model(network["model"])
    assert (row.name, row.origin) == ("network", "a test")
    assert [data.name for data in store.datasets(network["model"])] == ["noise"]


def test_a_known_model_keeps_its_name_where_the_job_gives_none(store: Workspace, network: dict[str, Any]) -> None:
    prepare(store, Subject.read(network))
    again = prepare(store, Subject.read({"model": network["model"]}))
    assert again.model.name == "network"
    assert store.model(network["model"]).origin == "a test"


def test_the_data_is_described(store: Workspace, network: dict[str, Any]) -> None:
    described = describe_data(prepare(store, Subject.read(network)))
    assert (described["name"], described["samples"], described["labels"]) == ("noise", 24, True)
    assert described["splits"] == {"calibration": 8, "evaluation": 8, "holdout": 8}
    assert described["synthetic"] is False


def test_without_data_it_is_synthetic_and_registered_nowhere(store: Workspace, network: dict[str, Any]) -> None:
    prepared = prepare(store, Subject.read({**network, "data": None, "shapes": {"x": [1, 3, 16, 16]}}))
    assert describe_data(prepared)["synthetic"] is True
    assert prepared.dataset.shapes() == {"x": (1, 3, 16, 16)}
    assert not store.datasets(network["model"])


def test_a_batch_far_beyond_the_data_is_refused(store: Workspace, network: dict[str, Any]) -> None:
    assert prepare(store, Subject.read({**network, "batch": 256})).subject.batch == 256
    with pytest.raises(DataError, match="A batch of 100000 is more than the 24 samples"):
        prepare(store, Subject.read({**network, "batch": 100_000}))


def test_the_costs_of_a_run_are_those_of_all_its_samples(store: Workspace, network: dict[str, Any]) -> None:
    one, four = (prepare(store, Subject.read({**network, "batch": batch})) for batch in (1, 4))
    assert one.layers_of_a_run() is one.table
    alone, together = next(iter(four.table)), next(iter(four.layers_of_a_run()))
    assert (alone.macs, alone.activation_bytes) == (next(iter(one.table)).macs, next(iter(one.table)).activation_bytes)
    assert together.macs == 4 * (alone.macs or 0) > 0
    assert together.activation_bytes == 4 * (alone.activation_bytes or 0)


def test_a_profile_of_several_samples_counts_their_arithmetic_and_their_memory(
    store: Workspace, network: dict[str, Any]
) -> None:
    one, four = (profile(store, {**network, "batch": batch, "runs": 3}, Silent()) for batch in (1, 4))
    first, second = one["layers"][0], four["layers"][0]
    assert second["macs"] == 4 * first["macs"] > 0
    assert four["memory"]["activation_peak_bytes"] == 4 * one["memory"]["activation_peak_bytes"]


def test_files_that_the_workspace_lost_are_told(store: Workspace, network: dict[str, Any]) -> None:
    with pytest.raises(NotFoundError, match="no model file"):
        prepare(store, Subject.read({"model": "f" * 64}))
    with pytest.raises(NotFoundError, match="no data file"):
        prepare(store, Subject.read({**network, "data": "f" * 64}))


def test_what_does_not_load_is_registered_nowhere(store: Workspace, network: dict[str, Any]) -> None:
    text = store.files.put(b"this is not a model, it is text")
    with pytest.raises(ModelError):
        prepare(store, Subject.read({**network, "model": text}))
    with pytest.raises(DataError):
        prepare(store, Subject.read({**network, "data": text}))
    assert [row.sha256 for row in store.models()] == [network["model"]]
    assert not store.datasets(network["model"])


def test_the_original_is_the_file_as_given(store: Workspace, network: dict[str, Any]) -> None:
    assert prepare(store, Subject.read(network)).original.data == store.files.read(network["model"])


def test_where_only_the_repaired_model_runs_it_is_the_original(store: Workspace) -> None:
    twice = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["" : 17]>
    twice (float[2] x) => (float[2] y) { [same] a = Relu (x) [same] y = Neg (a) }
    """)
    given = twice.SerializeToString()
    prepared = prepare(store, Subject.read({"model": store.files.put(given)}))
    assert prepared.model.repairs
    open_session(prepared.original, prepared.settings)
    assert prepared.original.data != given


def test_a_model_that_only_the_runtime_refuses_is_a_mistake_of_the_model(store: Workspace) -> None:
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    odd (string[1] x) => (string[1] y) { y = Identity (x) }
    """
    fine = prepare(store, Subject.read({"model": store.files.put(onnx.parser.parse_model(text).SerializeToString())}))
    require_runnable(fine)
    unsupported = """
    <ir_version: 8, opset_import: ["" : 17]>
    odd (bfloat16[2] x) => (bfloat16[2] y) { y = Erf (x) }
    """
    sha256 = store.files.put(onnx.parser.parse_model(unsupported).SerializeToString())
    with pytest.raises(ModelError, match="Erf"):
        require_runnable(prepare(store, Subject.read({"model": sha256})))
