from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import onnxruntime as ort
import pytest

from core.errors import RunError, UnavailableError
from core.intake.load import load_model
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from tests.intake.several import chain, save_apart
from tests.runtime.models import parse

SETTINGS = SessionSettings()
RELU = ir.to_proto(parse("y = Relu(x)", "(float[1, 4] x) => (float[1, 4] y)")).SerializeToString()


def test_outputs_come_back_by_name() -> None:
    session = open_session(RELU, SETTINGS)
    values = run_session(session, {"x": np.array([[-1, 2, -3, 4]], np.float32)})
    np.testing.assert_array_equal(values["y"], [[0, 2, 0, 4]])


def test_only_the_outputs_asked_for_are_computed() -> None:
    model = parse("y = Relu(x) z = Neg(x)", "(float[2] x) => (float[2] y, float[2] z)")
    session = open_session(ir.to_proto(model).SerializeToString(), SETTINGS)
    assert list(run_session(session, {"x": np.ones(2, np.float32)}, ["z"])) == ["z"]


def test_a_model_from_a_file_opens_as_one_from_bytes(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(RELU)
    assert open_session(path, SETTINGS).get_inputs()[0].name == "x"


def test_weights_in_another_folder_are_found_and_left_out_of_the_optimized_graph(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "run").mkdir()
    model = load_model(save_apart(chain(width=64), tmp_path / "net/net.onnx", location="a/w.bin")).serialize()
    x = {"x": np.ones((2, 64), np.float32)}
    expected = run_session(open_session(chain(width=64).SerializeToString(), SETTINGS), x)["y"]
    for timed in (True, False):
        path = tmp_path / f"run/{timed}.onnx"
        session = open_session(model, SETTINGS, optimized_path=path, timed=timed)
        np.testing.assert_allclose(run_session(session, x)["y"], expected, rtol=1e-5, atol=1e-5)
        assert path.stat().st_size < 4096
        assert len(ir.load(path).graph) > 0


@pytest.mark.parametrize("data", [b"", b"no model", RELU[: len(RELU) // 2]])
def test_what_is_no_model_gives_one_line(data: bytes) -> None:
    with pytest.raises(RunError) as caught:
        open_session(data, SETTINGS)
    assert "\n" not in caught.value.message
    assert "ONNXRuntimeError" not in caught.value.message


def test_the_reason_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(RunError) as caught:
        open_session(path, SETTINGS)
    assert str(tmp_path) not in caught.value.message


@pytest.mark.parametrize(
    ("feed", "expected"),
    [
        ({}, "x"),
        ({"x": np.zeros((1, 4), np.float64)}, "double"),
        ({"x": np.zeros(4, np.float32)}, "rank"),
        ({"x": np.zeros((1, 5), np.float32)}, "dimension"),
    ],
)
def test_a_feed_that_does_not_fit_gives_one_line(feed: dict[str, np.ndarray], expected: str) -> None:
    session = open_session(RELU, SETTINGS)
    with pytest.raises(RunError) as caught:
        run_session(session, feed)
    assert "\n" not in caught.value.message
    assert expected in caught.value.message


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnavailableError, match="NoSuchProvider") as caught:
        open_session(RELU, SessionSettings(provider="NoSuchProvider"))
    assert caught.value.hint is not None
    assert "CPUExecutionProvider" in caught.value.hint


def test_the_optimized_graph_is_saved_where_asked(tmp_path: Path) -> None:
    path = tmp_path / "optimized.onnx"
    open_session(RELU, SETTINGS, optimized_path=path)
    assert [node.op_type for node in ir.load(path).graph] == ["Relu"]


def test_threads_and_spinning_reach_the_runtime() -> None:
    options = open_session(RELU, SessionSettings(threads=2)).get_session_options()
    assert options.intra_op_num_threads == 2
    assert options.inter_op_num_threads == 1
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_without_fallback_a_provider_that_leaves_nodes_to_the_processor_is_refused() -> None:
    if "AzureExecutionProvider" not in ort.get_available_providers():
        pytest.skip("this onnxruntime has no second provider")
    open_session(RELU, SessionSettings(provider="AzureExecutionProvider"))
    with pytest.raises(RunError, match="cannot open the model"):
        open_session(RELU, SessionSettings(provider="AzureExecutionProvider", fallback=False))
