from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from core.errors import DataError, StoppedError
from core.intake.convert import Converted, convert_data, preview, propose_preprocessing, tokenizer_beside
from core.intake.dataset import read_dataset
from core.intake.load import load_model
from core.intake.preprocessing import AudioPreprocessing, ImagePreprocessing, Preprocessing, TextPreprocessing
from core.progress import Silent
from tests.intake.sources import pixels, png, tokenizer, wav, write_folder, write_zip
from tests.intake.texts import load

MODEL = load("g (float[n,3,8,8] x) => (float[n,3,8,8] z) { z = Relu (x) }")
HOW = ImagePreprocessing(size=(8, 8), mean=(127.0,), std=(128.0,), labels="prefix")
FILES = {f"{number}_x.png": png(pixels(seed=number)) for number in range(6)}


def convert(folder: Path, source: Path, how: Preprocessing = HOW, model: Any = MODEL, **options: Any) -> Converted:
    return convert_data(source, model, how, out=folder / "out.npz", **options)


def test_images_become_a_data_set_in_the_order_of_their_names(tmp_path: Path) -> None:
    made = convert(tmp_path, write_zip(tmp_path / "a.zip", FILES))
    data = read_dataset(made.path, MODEL)
    assert (made.samples, made.labels, made.remarks) == (6, True, ())
    assert data.labels is not None
    assert data.labels.tolist() == [0, 1, 2, 3, 4, 5]
    wanted = ((pixels(seed=3).astype(np.float32) - 127) / 128).transpose(2, 0, 1)[np.newaxis]
    np.testing.assert_array_equal(data.feed(3)["x"], wanted)


def test_the_file_says_how_it_was_made_and_still_does_when_written_again(tmp_path: Path) -> None:
    how = ImagePreprocessing(size=(8, 8), labels="prefix", guessed=("a guess",))
    made = convert(tmp_path, write_folder(tmp_path / "f", FILES), how)
    data = read_dataset(made.path, MODEL)
    assert data.preprocessing == made.preprocessing.to_dict()
    assert data.preprocessing is not None
    assert data.preprocessing["input"] == "x"
    assert data.remarks == ("The preprocessing was guessed: a guess.",) == made.remarks
    data.to_npz(tmp_path / "again.npz")
    assert read_dataset(tmp_path / "again.npz", MODEL).preprocessing == data.preprocessing


def test_the_same_source_gives_the_same_file_whether_folder_or_zip(tmp_path: Path) -> None:
    one = convert(tmp_path, write_folder(tmp_path / "f", FILES)).path.read_bytes()
    assert convert(tmp_path, write_zip(tmp_path / "f.zip", FILES)).path.read_bytes() == one


def test_a_limit_takes_samples_by_chance_and_by_the_seed(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "f", FILES)
    chosen = []
    for seed in (0, 0, 1):
        made = convert(tmp_path, source, limit=3, seed=seed)
        assert made.remarks == ("3 of 6 samples were asked for and chosen by chance.",)
        labels = read_dataset(made.path, MODEL).labels
        assert labels is not None
        chosen.append(labels.tolist())
    assert chosen[0] == chosen[1] == sorted(chosen[0])
    assert chosen[0] != chosen[2]
    assert convert(tmp_path, source, limit=99).remarks == ()


def test_a_choice_does_not_change_the_numbers_of_the_classes(tmp_path: Path) -> None:
    files = {f"{name}/{number}.png": FILES["0_x.png"] for name in ("ape", "cat", "dog") for number in range(3)}
    made = convert(
        tmp_path, write_folder(tmp_path / "f", files), ImagePreprocessing(size=(8, 8), labels="folder"), limit=1
    )
    assert made.preprocessing.classes == ("ape", "cat", "dog")
    assert made.remarks[-1] == (
        "Labels are numbered in the order of their 3 names: 0 is 'ape', 1 is 'cat', 2 is 'dog'."
    )


def test_damaged_images_are_left_out_by_name_unless_all_are(tmp_path: Path) -> None:
    made = convert(tmp_path, write_folder(tmp_path / "f", {**FILES, "7_x.png": b"no", "0_a.png": png(pixels())[:50]}))
    assert made.samples == 6
    assert "'0_a.png' (" in made.remarks[0]
    assert "'7_x.png' (it is no image of a known format)" in made.remarks[0]
    with pytest.raises(DataError, match=r"None of the 1 samples can be read; '7_x\.png'"):
        convert(tmp_path, write_folder(tmp_path / "g", {"7_x.png": b"no"}))


def test_images_that_no_row_of_the_table_names_are_told(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "f", {**FILES, "t.csv": b"0_x.png,4\n1_x.png,5\n"})
    made = convert(tmp_path, source, ImagePreprocessing(size=(8, 8), labels="csv"))
    assert made.samples == 2
    assert "4 of 6 images are in no row" in made.remarks[0]


def test_what_does_not_fit_into_memory_is_refused_when_asked_and_limited_when_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = 3 * 8 * 8 * 4
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=each * 4 * 4))
    source = write_folder(tmp_path / "f", FILES)
    made = convert(tmp_path, source)
    assert made.samples == 4
    assert "4 fit into memory and were chosen by chance" in made.remarks[0]
    with pytest.raises(DataError, match="memory are to spare") as refused:
        convert(tmp_path, source, limit=5)
    assert refused.value.hint == "Ask for 4 samples at the most."


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": (9, 8)}, r"height 8, but the preprocessing makes 9"),
        ({"layout": "NHWC"}, "takes NCHW"),
        ({"colour": "grey"}, "takes 3 channels"),
        ({"input": "w"}, "no input 'w'"),
        ({"labels": "folder"}, "lies in no folder"),
        ({"constants": {"x": 1}}, "has a constant too"),
    ],
)
def test_a_preprocessing_that_does_not_fit_is_refused_before_reading(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    how = ImagePreprocessing(**{"size": (8, 8), **options})
    with pytest.raises(DataError, match=said):
        convert(tmp_path, write_folder(tmp_path / "f", FILES), how)


def test_sound_feeds_a_recurrent_model_with_declared_constants(tmp_path: Path, digits_model: Path) -> None:
    model = load_model(digits_model.with_name("silero-vad.onnx"))
    source = write_folder(tmp_path / "f", {"a.wav": wav(np.zeros(2000, np.int16))})
    how = AudioPreprocessing(rate=16_000, window=576, hop=512, constants={"state": 0, "sr": 16_000})
    data = read_dataset(convert(tmp_path, source, how, model).path, model)
    assert len(data) == 3
    assert data.shapes() == {"input": (1, 576), "state": (2, 1, 128), "sr": ()}
    assert data.feed(2)["sr"] == 16_000


def test_texts_feed_all_their_inputs(tmp_path: Path) -> None:
    model = load("g (int64[b,s] input_ids, int64[b,s] attention_mask) => (int64[b,s] y) { y = Identity (input_ids) }")
    source = write_folder(tmp_path / "f", {"t.csv": b"text,label\ngood film,pos\nbad,neg\na,pos\n"})
    how = TextPreprocessing(labels="column")
    made = convert(tmp_path, source, how, model, tokenizer=tokenizer(tmp_path / "tokenizer.json"))
    data = read_dataset(made.path, model)
    assert data.shapes() == {"input_ids": (1, 4), "attention_mask": (1, 4)}
    assert data.labels is not None
    assert (data.labels.tolist(), made.preprocessing.classes) == ([1, 0, 1], ("neg", "pos"))


def test_texts_for_a_model_of_strings_survive(tmp_path: Path) -> None:
    model = load("g (string[n] words) => (string[n] y) { y = Identity (words) }")
    made = convert(tmp_path, write_folder(tmp_path / "f", {"t.txt": b"one two\nthree\n"}), TextPreprocessing(), model)
    assert [read_dataset(made.path, model).feed(i)["words"].tolist() for i in (0, 1)] == [["one two"], ["three"]]


def test_labels_make_way_for_an_input_called_y(tmp_path: Path) -> None:
    model = load("g (float[n,3,8,8] y) => (float[n,3,8,8] z) { z = Relu (y) }")
    data = read_dataset(convert(tmp_path, write_folder(tmp_path / "f", FILES), model=model).path, model)
    assert data.labels is not None
    assert len(data.labels) == 6


def test_a_preprocessing_of_another_kind_and_arrays_are_refused(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "f", FILES)
    with pytest.raises(DataError, match="holds images, but the preprocessing is one of text"):
        convert(tmp_path, source, TextPreprocessing())
    np.savez(tmp_path / "a.npz", x=np.zeros((2, 1, 3, 8, 8), np.float32))
    with pytest.raises(DataError, match=r"is an \.npz already"):
        convert(tmp_path, tmp_path / "a.npz")
    with pytest.raises(DataError, match=r"is an \.npz already"):
        propose_preprocessing(MODEL, tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("text", "name", "told", "advice"),
    [
        (
            "g (float[n,3,8,8] x) => (float[m] y) { y = Identity (x) }",
            "readme.txt",
            "holds 'readme.txt', which is taken for text. No input of the model takes tokens: 'x' takes float32",
            "Give images, best as a .zip; or prepared arrays as .npz.",
        ),
        (
            "g (int64[n,16] ids) => (int64[m] y) { y = Identity (ids) }",
            "a.png",
            "holds 'a.png', which is taken for images. No input of the model takes images: 'ids' takes int64",
            "Give text, best as a .zip; or prepared arrays as .npz.",
        ),
        (
            "g (float[n,7,7,7] x) => (float[m] y) { y = Identity (x) }",
            "a.wav",
            "holds 'a.wav', which is taken for sound. No input of the model takes sound: 'x' takes float32",
            "Give prepared arrays as .npz.",
        ),
    ],
)
def test_data_that_the_model_does_not_take_is_told_with_what_was_found_and_what_it_takes(
    tmp_path: Path, text: str, name: str, told: str, advice: str
) -> None:
    with pytest.raises(DataError) as refused:
        propose_preprocessing(load(text), write_zip(tmp_path / "given.zip", {name: b"x"}))
    assert refused.value.message.startswith(f"'given.zip' {told}")
    assert refused.value.hint == advice


def test_a_preview_shows_what_people_and_what_the_model_see(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "f", {**FILES, "6_x.png": b"no"})
    shown = preview(source, MODEL, HOW, count=9)
    assert [sample.name for sample in shown] == [*FILES, "6_x.png"]
    assert shown[1].label == "1"
    assert (shown[1].thumbnail or b"").startswith(b"\x89PNG")
    assert shown[1].shape == (1, 3, 8, 8)
    assert shown[1].minimum is not None
    assert shown[1].maximum is not None
    assert -1 <= shown[1].minimum < shown[1].maximum <= 1.01
    assert (shown[6].note, shown[6].thumbnail) == ("it is no image of a known format", None)
    assert len(preview(source, MODEL, HOW, count=2)) == 2


def test_the_tokenizer_beside_the_model_or_in_the_folder_of_data_is_found(tmp_path: Path) -> None:
    path = tokenizer(tmp_path / "tokenizer.json")
    assert tokenizer_beside(tmp_path / "model.onnx") == path
    assert tokenizer_beside(None, tmp_path) == path
    assert tokenizer_beside(tmp_path / "sub" / "model.onnx") is None
    (tmp_path / "sub" / "data" / "model").mkdir(parents=True)
    own = tokenizer(tmp_path / "sub" / "data" / "model" / "tokenizer.json")
    assert tokenizer_beside(tmp_path / "sub" / "model.onnx", tmp_path) == own
    assert tokenizer_beside(tmp_path / "sub" / "other.onnx") is None


def test_a_conversion_can_be_stopped(tmp_path: Path) -> None:
    class Stop(Silent):
        def step(self, done: int, total: int, what: str = "") -> None:
            assert total == 6
            if done == 2:
                raise StoppedError(what)

    with pytest.raises(StoppedError, match=r"2_x\.png"):
        convert(tmp_path, write_folder(tmp_path / "f", FILES), progress=Stop())


@pytest.mark.zoo
def test_the_photos_of_the_zoo_become_exactly_what_its_own_script_makes(tmp_path: Path, zoo: Path) -> None:
    import io
    import zipfile

    from PIL import Image

    model = load_model(zoo / "models" / "efficientnet_lite0.onnx")
    how = ImagePreprocessing(size=(224, 224), mean=(127,), std=(128,), labels="prefix")
    source = zoo / "data" / "imagenet_200.zip"
    made = convert_data(source, model, how, out=tmp_path / "out.npz", limit=20)
    data = read_dataset(made.path, model)
    assert data.labels is not None
    with zipfile.ZipFile(source) as archive:
        names = sorted(archive.namelist())
        labels = {int(name.split("_")[0]): name for name in names}
        for index in (0, 7, 19):
            image = Image.open(io.BytesIO(archive.read(labels[int(data.labels[index])]))).convert("RGB")
            wanted = ((np.asarray(image, np.float32) - 127) / 128).transpose(2, 0, 1)[np.newaxis]
            np.testing.assert_array_equal(data.feed(index)["image"], wanted)
