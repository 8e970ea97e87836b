"""Documents of commands that need no job: completed like every other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any


def complete_now(document: Mapping[str, Any], started: float) -> dict[str, Any]:
    """Adds version, seconds since `started` (of `time.perf_counter`) and today's conditions."""
    from core.runtime.settings import SessionSettings
    from core.tasks.documents import complete

    return complete(document, settings=SessionSettings(), batch=1, seed=0, seconds=time.perf_counter() - started)
