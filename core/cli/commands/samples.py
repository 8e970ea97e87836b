"""`mixdesk samples`: the models that come along, with their data."""

from __future__ import annotations

import time

from core.cli import answer, options


def samples(as_json: options.JsonOption = False) -> int:
    """List the sample models."""
    started = time.perf_counter()
    from core.cli.documents import complete_now
    from core.cli.reports.samples import report
    from core.intake.samples import list_samples

    rows = [
        {
            "name": sample.name,
            "model": str(sample.model.resolve()),
            "data": str(sample.data.resolve()),
            "tokenizer": None if sample.tokenizer is None else str(sample.tokenizer.resolve()),
            "task": sample.task,
            "metric": sample.metric,
            "accuracy": sample.accuracy,
            "licence": sample.licence,
            "origin": sample.origin,
        }
        for sample in list_samples()
    ]
    answer.give(complete_now({"samples": rows}, started), report, as_json=as_json)
    return 0
