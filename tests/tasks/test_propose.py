from __future__ import annotations

from pathlib import Path

from core.intake.preprocessing import ImagePreprocessing, TextPreprocessing
from core.tasks.propose import propose
from tests.intake.sources import pixels, png, tokenizer, write_folder
from tests.intake.texts import load
from tests.runtime.test_trial import LINES


def test_open_sizes_of_a_proposal_are_tried_unless_some_are_known_to_run(tmp_path: Path) -> None:
    source = write_folder(tmp_path, {"a.png": png(pixels(20, 40)), "b.png": png(pixels(30, 40))})
    tried, known = propose(LINES, source), propose(LINES, source, proposal={"x": (1, 3, 40, 80)})
    assert isinstance(tried, ImagePreprocessing)
    assert isinstance(known, ImagePreprocessing)
    assert (tried.size, known.size) == ((32, 100), (40, 80))


def test_texts_are_proposed_as_well(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "data", {"t.csv": b"text,label\ngood,1\n"})
    model = load("g (int64[b,s] input_ids) => (int64[b,s] y) { y = Identity (input_ids) }")
    assert isinstance(propose(model, source, tokenizer=tokenizer(tmp_path / "t.json")), TextPreprocessing)
