from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from core.errors import ModelError, WorkError
from core.intake.external import external_files, external_names
from core.intake.load import load_model
from core.intake.model import serialize
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from tests.intake.several import chain, save_apart
from tests.intake.texts import HEAD

TEXT = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"


TINY_WEIGHT = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[2])
TINY_WEIGHT.data_location = onnx.TensorProto.EXTERNAL
for _key, _value in (("location", "w.bin"), ("offset", "0"), ("length", "8")):
    TINY_WEIGHT.external_data.add(key=_key, value=_value)


def write(folder: Path, location: str, *, data: bytes | None, length: int = 8) -> Path:
    proto = onnx.parser.parse_model(HEAD + TEXT)
    weight = proto.graph.initializer[0]
    weight.ClearField("float_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(length))):
        weight.external_data.add(key=key, value=value)
    path = folder / "net.onnx"
    path.write_bytes(proto.SerializeToString())
    if data is not None:
        (folder / location).write_bytes(data)
    return path


def test_large_weights_beside_the_model_are_mapped_and_small_ones_read(tmp_path: Path) -> None:
    proto = chain(width=64, layers=1)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1, 64]), "shape"))
    model = load_model(save_apart(proto, tmp_path / "net.onnx"))
    mapped, small = (model.ir.graph.initializers[name].const_value for name in ("w0", "shape"))
    assert isinstance(mapped, ir.ExternalTensor)
    assert small is not None
    assert not isinstance(small, ir.ExternalTensor)
    np.testing.assert_array_equal(mapped.numpy(), onnx.numpy_helper.to_array(chain(width=64).graph.initializer[0]))
    np.testing.assert_array_equal(small.numpy(), [1, 64])
    assert model.folder == tmp_path
    assert not model.findings


def test_serialized_it_refers_to_its_weights_and_never_holds_them(tmp_path: Path) -> None:
    model = load_model(save_apart(chain(width=256), tmp_path / "net.onnx", location="a/w.bin"))
    given = model.serialize()
    assert len(given.data) < 4096
    assert given.folder == tmp_path
    with pytest.raises(WorkError, match="lie in other files"):
        model.to_bytes()
    assert serialize(model.copy_ir()) == given
    weight = load_model(given).ir.graph.initializers["w1"].const_value
    assert weight is not None
    assert weight.shape == (256, 256)


def test_the_hash_of_a_model_is_that_of_all_its_files(tmp_path: Path) -> None:
    path = save_apart(chain(), tmp_path / "net.onnx")
    before = load_model(path)
    assert before.size_bytes == len(path.read_bytes()) + 2 * 64 * 64 * 4
    renamed = path.rename(tmp_path / "other.onnx")
    assert load_model(renamed).sha256 == before.sha256
    weights = (tmp_path / "w.bin").read_bytes()
    (tmp_path / "w.bin").write_bytes(b"\1" + weights[1:])
    assert load_model(renamed).sha256 != before.sha256


def test_weights_in_attributes_functions_and_sparse_ones_are_found(tmp_path: Path) -> None:
    weight = TINY_WEIGHT
    text = "g (float[2] x) => (float[2] y) { c = Constant <value = float[2] {0, 0}> () y = Add (x, c) }"
    proto = onnx.parser.parse_model(HEAD + text)
    proto.graph.node[0].attribute[0].t.CopyFrom(weight)
    (tmp_path / "w.bin").write_bytes(np.array([3, 4], np.float32).tobytes())
    path = tmp_path / "net.onnx"
    path.write_bytes(proto.SerializeToString())
    constant = next(node for node in load_model(path).ir.graph if node.op_type == "Constant")
    np.testing.assert_array_equal(constant.attributes["value"].as_tensor().numpy(), [3, 4])
    function = proto.functions.add(name="f", domain="own")
    function.node.append(onnx.helper.make_node("Constant", [], ["c"], value=weight))
    function.node[0].attribute[0].t.external_data[0].value = "../secret"
    sparse = onnx.helper.make_sparse_tensor(weight, onnx.numpy_helper.from_array(np.array([0, 1])), [9])
    proto.graph.sparse_initializer.append(sparse)
    assert set(external_names(proto)) == {"w.bin", "../secret"}
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(ModelError, match="points outside the model's folder"):
        load_model(path)


def test_weights_of_a_branch_are_mapped_and_run(tmp_path: Path) -> None:
    text = """g (float[1, 64] x, bool c) => (float[1, 64] y) {
        y = If (c) <then_branch = t () => (float[1, 64] a) { a = MatMul (x, w0) },
                    else_branch = e () => (float[1, 64] b) { b = Identity (x) }> }"""
    proto = onnx.parser.parse_model(HEAD + text)
    apart = chain(layers=1)
    save_apart(apart, tmp_path / "unused.onnx")
    proto.graph.node[0].attribute[0].g.initializer.extend(apart.graph.initializer)
    path = tmp_path / "net.onnx"
    path.write_bytes(proto.SerializeToString())
    session = open_session(load_model(path).serialize(), SessionSettings())
    x = np.ones((1, 64), np.float32)
    expected = x @ onnx.numpy_helper.to_array(chain(layers=1).graph.initializer[0])
    np.testing.assert_allclose(run_session(session, {"x": x, "c": np.array(True)})["y"], expected, atol=1e-4)


@pytest.mark.parametrize("what", ["nan", "inf"])
def test_mapped_weights_are_looked_at_too(tmp_path: Path, what: str) -> None:
    proto = chain(layers=1)
    array = onnx.numpy_helper.to_array(proto.graph.initializer[0]).copy()
    array[-1, -1] = float(what)
    proto.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(array, "w0"))
    (finding,) = load_model(save_apart(proto, tmp_path / "net.onnx")).findings
    assert "'w0'" in finding.message


def test_the_files_of_a_model_are_listed_without_loading_it(tmp_path: Path) -> None:
    path = save_apart(chain(), tmp_path / "net.onnx", location="a/w.bin")
    assert external_files(path) == external_files(path.read_bytes()) == ("a/w.bin",)
    assert external_files(b"location, but no model") == external_files(b"") == ()


def test_a_missing_or_short_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'net\.data' with the weights is missing"):
        load_model(write(tmp_path, "net.data", data=None))
    with pytest.raises(ModelError, match="too short for the weight 'w': 4 of 8 bytes"):
        load_model(write(tmp_path, "net.data", data=bytes(4)))
    with pytest.raises(ModelError, match="'w' holds 4 of 8 bytes"):
        load_model(write(tmp_path, "net.data", data=bytes(8), length=4))


@pytest.mark.parametrize("kind", ["device", "folder", "pipe"])
def test_what_is_no_file_holds_no_weights(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, "net.data", data=None)
    if kind == "folder":
        (tmp_path / "net.data").mkdir()
    elif kind == "pipe":
        os.mkfifo(tmp_path / "net.data")
    else:
        (tmp_path / "net.data").symlink_to("/dev/zero")
    with pytest.raises(ModelError, match=r"is missing|points outside"):
        load_model(path)


def test_a_hard_link_is_not_opened(tmp_path: Path) -> None:
    path = write(tmp_path, "net.data", data=bytes(8))
    os.link(tmp_path / "net.data", tmp_path / "other")
    with pytest.raises(ModelError, match="has several names on this disk"):
        load_model(path)


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    path = write(tmp_path, "net.data", data=bytes(8))
    (tmp_path / "net.data").rename(tmp_path / "real.data")
    (tmp_path / "net.data").symlink_to("real.data")
    assert load_model(path).folder == tmp_path


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "link", "", ".", "a/../../secret", "./../secret"])
def test_files_outside_the_folder_are_never_opened(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(8))
    (folder / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(ModelError, match="points outside the model's folder"):
        load_model(write(folder, location, data=None))


def test_bytes_alone_cannot_have_weights_elsewhere(tmp_path: Path) -> None:
    path = write(tmp_path, "net.data", data=bytes(8))
    with pytest.raises(ModelError, match=r"'net\.data', which was not given"):
        load_model(path.read_bytes())


def test_without_strictness_the_interface_is_still_shown(tmp_path: Path) -> None:
    model = load_model(write(tmp_path, "net.data", data=None), strict=False)
    assert model.findings[0].severity == "error"
    assert len(model.ir.graph) == 0
    assert model.inputs[0].name == "x"
