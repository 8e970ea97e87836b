from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import NotFoundError
from core.intake import samples


def test_every_sample_of_the_catalogue_is_there() -> None:
    listed = samples.list_samples()
    assert {"digits-cnn", "silero-vad"} <= {sample.name for sample in listed}
    assert all(sample.model.is_file() and sample.data.is_file() for sample in listed)


def test_a_misspelt_sample_suggests_the_nearest() -> None:
    assert samples.find_sample("digits-cnn").metric == "accuracy"
    with pytest.raises(NotFoundError, match="Did you mean 'digits-cnn'"):
        samples.find_sample("digit-cnn")


def test_without_the_folder_there_are_no_samples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(samples, "FOLDER", tmp_path)
    assert samples.list_samples() == ()
    with pytest.raises(NotFoundError, match="no sample 'x'"):
        samples.find_sample("x")
