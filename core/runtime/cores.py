"""Cores: how many processors this process may really use, which can be fewer than the machine has."""

from __future__ import annotations

import math
import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(*, quota: Path = _QUOTA) -> int:
    """Logical processors that this process may run on: by its affinity and by the quota of its control group.

    Args:
        quota: the file of the control group (version 2): "200000 100000" are two processors, "max 100000" no limit.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = _quota_cores(quota)
    return max(1, allowed if limit is None else min(allowed, limit))


def _quota_cores(path: Path) -> int | None:
    """Whole processors that the quota pays for (rounded up); None where there is no quota."""
    try:
        granted, period = path.read_text().split()
        return None if granted == "max" else math.ceil(int(granted) / int(period))
    except (OSError, ValueError, ZeroDivisionError):
        return None
