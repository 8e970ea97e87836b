from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.runtime.cores import usable_cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_the_affinity_of_the_process_counts() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


def test_the_quota_of_the_control_group_counts(tmp_path: Path) -> None:
    told = tmp_path / "cpu.max"
    allowed = usable_cores(quota=tmp_path / "nowhere")
    for text, cores in (("max 100000", allowed), ("100000 100000", 1), ("150000 100000", min(2, allowed))):
        told.write_text(text)
        assert usable_cores(quota=told) == cores
    told.write_text("not a quota")
    assert usable_cores(quota=told) == allowed
