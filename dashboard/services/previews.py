"""Previews: samples of data that is about to be prepared, read in a process of their own and kept for all visitors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from core.tasks.preview import Wanted, preview_samples
from dashboard.services.server import workspace
from dashboard.services.subjects import Subject


def preview(on: Subject, source: Mapping[str, Any], preprocessing: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The preprocessing (None: a proposal) and samples under it, see `preview_samples`; do not change it.

    Args:
        on: the model that the samples are for.
        source: `source` (hash of a stored file), `source_name`, `tokenizer` (hash or None).
        preprocessing: its JSON.

    Raises:
        MixdeskError: it does not fit, or cannot be read.
    """
    declared = None if preprocessing is None else json.dumps(preprocessing, sort_keys=True)
    return _preview(on.model.sha256, source["source"], source["source_name"], source["tokenizer"], declared)


@lru_cache(maxsize=64)
def _preview(model: str, source: str, name: str, tokenizer: str | None, declared: str | None) -> Mapping[str, Any]:
    files = workspace().files
    return preview_samples(
        Wanted(
            model=files.path(model),
            source=files.path(source),
            name=name,
            tokenizer=None if tokenizer is None else files.path(tokenizer),
            preprocessing=None if declared is None else json.loads(declared),
        )
    )
