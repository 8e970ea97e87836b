from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import DataError
from core.intake.labels import decode, file_labels, number_labels, propose_labels, read_table
from core.intake.members import open_members
from core.intake.preprocessing import ImagePreprocessing
from tests.intake.sources import write_folder

HOW = ImagePreprocessing(size=(8, 8))


def labels(folder: Path, names: list[str], **options: str) -> dict[str, str]:
    with open_members(folder) as members:
        return file_labels(members, names, ImagePreprocessing(size=(8, 8), **options))  # type: ignore[arg-type]


def test_the_folder_is_the_label(tmp_path: Path) -> None:
    assert labels(tmp_path, ["cat/1.png", "x/dog/2.png"], labels="folder") == {"cat/1.png": "cat", "x/dog/2.png": "dog"}
    with pytest.raises(DataError, match=r"'3\.png' lies in no folder"):
        labels(tmp_path, ["3.png"], labels="folder")


def test_what_stands_before_the_underscore_is_the_label(tmp_path: Path) -> None:
    names = ["0007_n01_tench.jpg", "a/12_x.png", "plain.png"]
    assert list(labels(tmp_path, names, labels="prefix").values()) == ["0007", "12", "plain"]


def test_a_pattern_finds_the_label_in_the_name(tmp_path: Path) -> None:
    assert labels(tmp_path, ["img-cat-3.png"], labels="prefix", label_pattern=r"-([a-z]+)-") == {"img-cat-3.png": "cat"}
    assert labels(tmp_path, ["x42.png"], labels="prefix", label_pattern=r"\d+") == {"x42.png": "42"}
    with pytest.raises(DataError, match="finds no label"):
        labels(tmp_path, ["x.png"], labels="prefix", label_pattern=r"\d+")


@pytest.mark.parametrize(
    "table",
    ["filename,label\n1.png,cat\nsub/2.png,dog\n", "1.png,cat\n2.png,dog\n", "label;file\ncat;1.png\ndog;2.png\n"],
)
def test_a_table_lists_files_with_or_without_header_by_path_or_name(tmp_path: Path, table: str) -> None:
    write_folder(tmp_path, {"t.csv": table.encode()})
    names = ["1.png", "sub/2.png", "3.png"]
    assert labels(tmp_path, names, labels="csv") == {"1.png": "cat", "sub/2.png": "dog"}


def test_several_tables_must_be_told_apart(tmp_path: Path) -> None:
    write_folder(tmp_path, {"a.csv": b"1.png,1", "b.csv": b"1.png,2"})
    with pytest.raises(DataError, match="2 tables"):
        labels(tmp_path, ["1.png"], labels="csv")
    assert labels(tmp_path, ["1.png"], labels="csv", labels_file="b.csv") == {"1.png": "2"}
    with pytest.raises(DataError, match=r"no table 'c\.csv'"):
        labels(tmp_path, ["1.png"], labels="csv", labels_file="c.csv")


def test_whole_numbers_stay_fractions_stay_and_names_are_numbered_in_order() -> None:
    assert number_labels(["0007", "3"], ["0007", "3"], HOW)[0].tolist() == [7, 3]
    values, classes = number_labels(["0.5"], ["0.5", "2"], HOW)
    assert (values.dtype.name, values.tolist(), classes) == ("float32", [0.5], ())
    values, classes = number_labels(["dog", "cat"], ["dog", "cat", "ape"], HOW)
    assert (values.tolist(), classes) == ([2, 1], ("ape", "cat", "dog"))


def test_declared_classes_give_the_order_and_unknown_ones_are_refused() -> None:
    how = ImagePreprocessing(size=(8, 8), classes=("dog", "cat"))
    assert number_labels(["cat", "dog"], [], how)[0].tolist() == [1, 0]
    with pytest.raises(DataError, match="'ape' is none of the 2"):
        number_labels(["ape"], [], how)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["1.png", "labels.csv"], "csv"),
        (["cat/1.png", "dog/2.png"], "folder"),
        (["0001_a.png", "0002_b.png"], "prefix"),
        (["a.png", "b.png"], "none"),
        (["all/a.png", "all/b.png"], "none"),
    ],
)
def test_where_labels_are_is_proposed(tmp_path: Path, files: list[str], found: str) -> None:
    with open_members(write_folder(tmp_path, dict.fromkeys(files, b"x"))) as members:
        how, told = propose_labels(members, [name for name in files if name.endswith(".png")])
    assert how == found
    assert (told is None) == (found == "none")


def test_tables_are_read_with_quotes_tabs_and_byte_order_marks() -> None:
    assert read_table(b'\xef\xbb\xbfa,b\n"x, y",1\n\n', "t.csv") == [["a", "b"], ["x, y", "1"]]
    assert read_table(b"a\tb,c\n", "t.tsv") == [["a", "b,c"]]
    assert len(read_table(b"a," + b"x" * 300_000, "t.csv")[0][1]) == 300_000


def test_text_that_is_not_utf8_is_read_as_latin_1_and_binary_is_refused() -> None:
    assert decode("é".encode(), "x.txt") == ("é", True)
    assert decode(b"\xe9", "x.txt") == ("é", False)
    with pytest.raises(DataError, match=r"'x\.txt' is no text file"):
        decode(b"a\x00b", "x.txt")
