from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import onnx
import pytest

from core.errors import ModelError
from core.intake.load import load_model
from tests.intake.texts import HEAD, TINY, load, to_bytes


def test_a_path_gives_name_hash_and_interface(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(to_bytes(TINY))
    model = load_model(path)
    assert (model.name, model.size_bytes, model.opset) == ("net", path.stat().st_size, 17)
    assert model.inputs[0].to_dict() == {"name": "x", "dtype": "float32", "shape": ["n", 4]}
    assert model.outputs[0].name == "y"


def test_bytes_and_path_give_the_same_hash(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(to_bytes(TINY))
    assert load_model(path).sha256 == load_model(path.read_bytes()).sha256


def test_the_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(before := to_bytes(TINY))
    model = load_model(path)
    assert model.repairs
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("g (float[4] x) => (float[4] y) { a = Add (x, b)  b = Relu (a)  y = Abs (b) }", "cycle"),
        ("g (float[4] x) => (float[4] y) { y = Add (x, ghost) }", "reads 'ghost', which nothing writes"),
        ("g (float[4] x) => (float[4] y) { y = Relu (x)  y = Abs (x) }", "'y' is written twice"),
        ("g (float[4] x) => (float[4] y) { y = Reluu (x) }", "no operator 'Reluu' in ai.onnx. Did you mean 'Relu'?"),
        ("g (float[4] x) => (float[4] y) { y = com.acme.Magic (x) }", "unknown domain 'com.acme'"),
        ("g (float[4] x) => (float[4] y) { y = Gelu (x) }", "'Gelu' exists from operator set 20 on"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ModelError) as refused:
        load(text)
    assert said in refused.value.message
    assert "\n" not in refused.value.message
    assert refused.value.hint


def test_a_newer_file_is_refused_never_lowered() -> None:
    with pytest.raises(ModelError, match="IR version 99"):
        load(TINY, head='<ir_version: 99, opset_import: ["" : 17]>')
    with pytest.raises(ModelError, match=r"Operator set 99 of ai\.onnx is newer"):
        load(TINY, head='<ir_version: 8, opset_import: ["" : 99]>')


@pytest.mark.parametrize(
    "text",
    [
        "g (float[4] x) => (float[4] y) { y = Reluu (x) }",
        "g (float[4] x) => (float[4] y) { a = Add (x, b)  b = Relu (a)  y = Abs (b) }",
        "g (float[4] x) => (float[4] y) { y = Relu (x)  y = Abs (x) }",
    ],
)
def test_without_strictness_a_file_that_parses_is_shown_with_an_error_finding(text: str) -> None:
    model = load(text, strict=False)
    assert model.findings[0].severity == "error"
    assert [spec.name for spec in model.inputs] == ["x"]
    assert [spec.name for spec in model.outputs] == ["y"]


def test_nodes_out_of_order_are_put_in_order() -> None:
    model = load("g (float[4] x) => (float[4] y) { [b] y = Relu (a)  [a] a = Abs (x) }")
    assert [node.name for node in model.ir.graph] == ["a", "b"]
    assert [(repair.what, repair.count) for repair in model.repairs] == [("put nodes into the order they run in", 1)]


def test_outputs_that_are_maps_keep_their_type_as_text() -> None:
    model = load(
        "g (float[3,2] x) => (seq(map(int64, float)) z) { z = ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1]> (x) }",
        head='<ir_version: 8, opset_import: ["ai.onnx.ml" : 1]>',
    )
    assert model.outputs[0].dtype == "seq(map(int64, float32))"
    assert model.outputs[0].shape is None
    assert model.opset is None
    onnx.load_model_from_string(model.to_bytes())


def test_a_repaired_model_serializes_with_the_same_numbers() -> None:
    model = load("g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> { y = Add (x, w) }")
    proto = onnx.load_model_from_string(model.to_bytes())
    onnx.checker.check_model(proto)
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(proto.graph.initializer[0]), [1, 2, 3, 4])


def test_dimensions_that_say_nothing_are_question_marks() -> None:
    proto = onnx.parser.parse_model(HEAD + TINY)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    assert load_model(proto.SerializeToString()).inputs[0].shape == ("?", 4)


def test_bytes_that_were_changed_at_random_give_a_model_or_one_line() -> None:
    random, whole = np.random.default_rng(0), to_bytes(TINY)
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[random.integers(len(damaged))] = random.integers(256)
        for strict in (True, False):
            with contextlib.suppress(ModelError):
                load_model(bytes(damaged), strict=strict)
