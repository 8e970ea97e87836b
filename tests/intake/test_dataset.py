from __future__ import annotations

import numpy as np
import pytest

from core.errors import DataError
from core.intake.dataset import dataset_for
from tests.intake.test_npz import MODEL, good, npz


def test_without_a_file_samples_are_made_up() -> None:
    data = dataset_for(MODEL, None, shapes={"ids": (1, 6)}, seed=3)
    assert data.synthetic
    assert data.shapes()["ids"] == (1, 6)


def test_with_a_file_it_is_read_and_must_have_the_shapes_that_were_asked_for() -> None:
    source = npz(**good())
    assert not dataset_for(MODEL, source).synthetic
    assert len(dataset_for(MODEL, source, shapes={"ids": (1, 5)})) == 4
    with pytest.raises(DataError, match="asked for input 'ids'"):
        dataset_for(MODEL, source, shapes={"ids": (1, 6)})


def test_the_seed_decides_the_split() -> None:
    source = npz(**good(40, ids=np.zeros((40, 5), np.int64)))
    assert dataset_for(MODEL, source, seed=1).splits.tolist() != dataset_for(MODEL, source, seed=2).splits.tolist()
