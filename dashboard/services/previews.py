"""Previews: samples of data that is about to be prepared, read in a process of their own and kept for all visitors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any

from core.tasks.preview import Wanted, preview_samples
from dashboard.services.server import workspace
from dashboard.services.subjects import Subject

_MOST_KEPT = 64
_lock = Lock()
#: (model, source, its name, tokenizer, preprocessing) -> what was seen; of a proposal also under what was proposed.
_seen: dict[tuple[str | None, ...], Mapping[str, Any]] = {}


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
    key = (on.model.sha256, source["source"], source["source_name"], source["tokenizer"])
    with _lock:
        known = _seen.get((*key, declared))
    if known is not None:
        return known
    found = _preview(*key, declared)
    proposed = json.dumps(found["preprocessing"], sort_keys=True)
    with _lock:
        _seen.update({(*key, declared): found, (*key, proposed): found})
        while len(_seen) > _MOST_KEPT:
            _seen.pop(next(iter(_seen)))
    return found


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
