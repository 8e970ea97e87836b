"""The manifest is read as it was written; its digest tells when it was changed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from core.report.manifest import LeftOut, Manifest, Member, seal
from tests.report.bundles import MANIFEST_OF_TESTS

FULL = replace(
    MANIFEST_OF_TESTS,
    members=(Member("model.onnx", "a" * 64, 3), Member("weights/a.bin", "b" * 64, 4)),
    left_out=(LeftOut("holdout.npz", "it was asked for without data"),),
    outputs={"y": 2.0},
    target=None,
)


def written(manifest: Manifest) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(manifest.to_dict()))
    return document


def test_it_is_read_as_it_was_written() -> None:
    assert Manifest.from_dict(written(FULL)) == FULL


def test_members_are_found_by_name_and_weights_are_told_apart() -> None:
    assert FULL.member("model.onnx") == Member("model.onnx", "a" * 64, 3)
    assert FULL.member("nothing") is None
    assert FULL.external == ("weights/a.bin",)
    assert FULL.why_without("holdout.npz") == "it was asked for without data"


def test_keys_of_later_versions_are_sealed_too_and_do_no_harm() -> None:
    later = {**written(FULL), "more": {"deep": [1.5]}}
    assert not Manifest.from_dict(later).sealed
    assert Manifest.from_dict({**later, "digest": seal(later)}).sealed


@pytest.mark.parametrize("key", ["conditions", "members", "model", "target", "shapes", "digest"])
def test_a_missing_key_is_an_error(key: str) -> None:
    document = written(FULL)
    del document[key]
    with pytest.raises(KeyError):
        Manifest.from_dict(document)


@pytest.mark.parametrize("size", [-1, 1.5, "3", None, True])
def test_a_size_that_is_no_count_is_an_error(size: object) -> None:
    document = written(FULL)
    document["members"][0]["bytes"] = size
    with pytest.raises(ValueError, match="no whole number"):
        Manifest.from_dict(document)
