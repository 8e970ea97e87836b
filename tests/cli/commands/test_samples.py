"""`mixdesk samples` lists models whose files are there."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Terminal


def test_every_sample_has_its_files_at_absolute_paths(mixdesk: Terminal) -> None:
    document = mixdesk("samples", "--json").document
    assert {"digits-cnn", "subjectivity-text", "silero-vad"} <= {sample["name"] for sample in document["samples"]}
    for sample in document["samples"]:
        assert set(sample) == {"name", "model", "data", "tokenizer", "task", "metric", "accuracy", "licence", "origin"}
        for key in ("model", "data"):
            assert Path(sample[key]).is_absolute()
            assert Path(sample[key]).is_file()


def test_the_report_names_them(mixdesk: Terminal) -> None:
    assert "digits-cnn" in mixdesk("samples").out
