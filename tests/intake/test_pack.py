"""A model of several files is written anew with just the weights that it still uses, in one file beside it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

from core.errors import NotFoundError, WorkError
from core.intake.bring import bring
from core.intake.external import sha256_of
from core.intake.load import load_model
from core.intake.model import Serialized, serialize
from core.intake.pack import pack, put_serialized, size_of, write_stored
from core.store.files import ContentFiles
from tests.intake.several import chain, save_apart
from tests.intake.texts import TINY, to_bytes


@pytest.fixture
def files(tmp_path: Path) -> ContentFiles:
    return ContentFiles(str(tmp_path / "files"), local_copies=tmp_path / "copies")


@pytest.fixture
def net(tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    folder.mkdir()
    return save_apart(chain(layers=3), folder / "net.onnx", location="weights/w.bin")


def weights(path: Path) -> dict[str, np.ndarray]:
    return {weight.name: onnx.numpy_helper.to_array(weight) for weight in onnx.load(path).graph.initializer}


def test_a_model_in_one_file_stays_as_it_is(files: ContentFiles, tmp_path: Path) -> None:
    data = to_bytes(TINY)
    assert pack(Serialized(data)) == {"model.onnx": data}
    assert put_serialized(files, Serialized(data)) == files.put(data)
    assert write_stored(files, files.put(data), tmp_path / "out.onnx") == (tmp_path / "out.onnx",)
    assert (tmp_path / "out.onnx").read_bytes() == data


def test_a_stored_model_of_several_files_is_the_same_model(files: ContentFiles, net: Path) -> None:
    sha256 = put_serialized(files, load_model(net).serialize())
    assert set(files.members(sha256)) == {"model.onnx", "model.onnx.data"}
    assert load_model(files.path(sha256)).sha256 == sha256
    for name, array in weights(net).items():
        np.testing.assert_array_equal(weights(files.path(sha256))[name], array)


def test_an_original_that_is_stored_already_is_not_stored_twice(files: ContentFiles, net: Path) -> None:
    sha256 = bring(files, net).sha256
    path = files.path(sha256)
    assert put_serialized(files, Serialized(path.read_bytes(), path.parent)) == sha256
    assert len(list(files.stored())) == 1


def test_each_weight_begins_on_a_page_and_nothing_else_is_kept(files: ContentFiles, net: Path) -> None:
    model = load_model(net).copy_ir()
    model.graph.initializers.pop("w1")
    path = files.path(put_serialized(files, serialize(model)))
    placed = {
        weight.name: {entry.key: entry.value for entry in weight.external_data}
        for weight in onnx.load(path, load_external_data=False).graph.initializer
    }
    assert {name: entries["offset"] for name, entries in placed.items()} == {"w0": "0", "w2": "16384"}
    assert path.with_name("model.onnx.data").stat().st_size == 2 * 64 * 64 * 4


def test_what_was_computed_goes_beside_the_model_too(files: ContentFiles, net: Path) -> None:
    model = load_model(net).copy_ir()
    computed = np.arange(2048, dtype=np.float32)
    name = "w0"
    proto = onnx.load_model_from_string(serialize(model).data)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(computed, "made"))
    path = files.path(put_serialized(files, Serialized(proto.SerializeToString(), load_model(net).folder)))
    assert len(path.read_bytes()) < 2000
    np.testing.assert_array_equal(weights(path)["made"], computed)
    np.testing.assert_array_equal(weights(path)[name], weights(net)[name])


def test_the_written_model_has_its_weights_beside_it_under_its_own_name(
    files: ContentFiles, net: Path, tmp_path: Path
) -> None:
    sha256 = put_serialized(files, load_model(net).serialize())
    one, other = tmp_path / "one.onnx", tmp_path / "other.onnx"
    assert write_stored(files, sha256, one) == (one, tmp_path / "one.onnx.data")
    write_stored(files, sha256, other)
    (tmp_path / "one.onnx.data").unlink()
    np.testing.assert_array_equal(weights(other)["w2"], weights(net)["w2"])
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "other.onnx.data").stat().st_mode & 0o777 == 0o666 & ~mask


def test_an_edited_model_has_the_size_that_it_will_have_stored(files: ContentFiles, net: Path) -> None:
    model = load_model(net).copy_ir()
    model.graph.initializers.pop("w1")
    edited = serialize(model)
    path = files.path(sha256 := put_serialized(files, edited))
    assert size_of(edited) == files.stat(sha256).size_bytes == size_of(path)
    assert size_of(Serialized(path.read_bytes(), path.parent)) == size_of(edited)


def test_a_failed_write_leaves_the_older_file_whole(files: ContentFiles, net: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    out.write_bytes(b"old")
    with pytest.raises(NotFoundError):
        write_stored(files, "0" * 64, out)
    sha256 = put_serialized(files, load_model(net).serialize())
    with pytest.raises(WorkError, match="cannot be written: No such file or directory"):
        write_stored(files, sha256, tmp_path / "nowhere" / "out.onnx")
    assert out.read_bytes() == b"old"


def test_a_file_of_weights_that_shrinks_meanwhile_is_told(files: ContentFiles, net: Path) -> None:
    model = load_model(net).serialize()
    (net.parent / "weights/w.bin").write_bytes(b"short")
    with pytest.raises(WorkError, match=r"'w\.bin' with the weights became shorter"):
        put_serialized(files, model)
    assert list(files.stored()) == []


def test_size_and_hash_count_the_weights(net: Path) -> None:
    model = load_model(net)
    given = Serialized(net.read_bytes(), net.parent)
    assert sha256_of(given) == model.sha256
    assert size_of(given) == size_of(net) == model.size_bytes == len(net.read_bytes()) + 3 * 64 * 64 * 4
    assert sha256_of(Serialized(b"plain")) != model.sha256
    assert size_of(b"plain") == size_of(Serialized(b"plain")) == 5
