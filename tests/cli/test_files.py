"""Models, data and the file to write are found, or refused before any work begins."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from core.cli.files import check_out, find_data, find_model
from core.errors import ModelError, NotFoundError, RequestError
from tests.intake.several import save_apart


def test_a_path_is_a_model(tiny: Path) -> None:
    source = find_model(str(tiny))
    assert (source.path, source.name, source.data) == (tiny, "tiny", None)


def test_a_samples_name_is_a_model_with_its_own_data() -> None:
    source = find_model("digits-cnn")
    assert source.path.is_file()
    assert source.data is not None
    assert find_data(None, source) == source.data


def test_a_file_of_that_name_goes_before_the_sample(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny.rename(tmp_path / "digits-cnn")
    assert find_model("digits-cnn").data is None


@pytest.mark.parametrize("text", ["nowhere.onnx", "some/where/model"])
def test_a_missing_file_is_named(text: str) -> None:
    with pytest.raises(NotFoundError, match=f"There is no file '{text}'"):
        find_model(text)


def test_a_mistyped_sample_gets_the_nearest_name() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'digits-cnn'") as refusal:
        find_model("digit-cnn")
    assert "silero-vad" in str(refusal.value.hint)


def test_a_folder_with_one_model_is_that_model(tiny: Path) -> None:
    assert find_model(str(tiny.parent)).path == tiny


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no \.onnx file"):
        find_model(str(tmp_path))


def test_missing_data_is_named(tiny: Path) -> None:
    with pytest.raises(NotFoundError, match=r"no data file 'eval\.npz'"):
        find_data(Path("eval.npz"), find_model(str(tiny)))


def test_the_parent_of_the_output_must_exist(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="There is no folder"):
        check_out(tmp_path / "nowhere" / "out.onnx")


def test_an_input_is_never_overwritten_under_any_of_its_names(tiny: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.onnx"
    link.symlink_to(tiny)
    for out in (tiny, link, tmp_path / "." / "tiny.onnx"):
        with pytest.raises(RequestError, match="is not overwritten"):
            check_out(out, tiny, None)


def test_the_output_may_be_a_bundle(tmp_path: Path) -> None:
    check_out(tmp_path / "out.o3")


@pytest.mark.parametrize("name", ["out", "out.tflite"])
def test_the_output_must_be_called_onnx(tmp_path: Path, name: str) -> None:
    with pytest.raises(RequestError, match=r"does not end in \.onnx"):
        check_out(tmp_path / name)


def test_no_output_is_fine() -> None:
    check_out(None, Path("anything"))


def test_the_weights_of_an_input_are_never_overwritten(tiny: Path, tmp_path: Path) -> None:
    save_apart(onnx.load(tiny), tiny, location="out.onnx.data")
    with pytest.raises(RequestError, match="is not overwritten"):
        check_out(tmp_path / "out.onnx", tiny)
    check_out(tmp_path / "other.onnx", tiny)
