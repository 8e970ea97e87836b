from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from core.errors import ModelError
from core.intake.load import load_model
from tests.intake.texts import HEAD

TEXT = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"


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


def test_weights_beside_the_model_are_read_into_it(tmp_path: Path) -> None:
    path = write(tmp_path, "net.data", data=np.array([1, 2], np.float32).tobytes())
    proto = onnx.load_model_from_string(load_model(path).to_bytes())
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(proto.graph.initializer[0]), [1, 2])


def test_a_missing_or_short_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'net\.data' with the weights is missing"):
        load_model(write(tmp_path, "net.data", data=None))
    with pytest.raises(ModelError, match="too short for the weight 'w': 4 of 8 bytes"):
        load_model(write(tmp_path, "net.data", data=bytes(4)))


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "link", ""])
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
