from __future__ import annotations

from pathlib import Path

from core.capability.caches import cache_levels


def test_levels_are_read_as_the_system_lists_them_without_those_for_instructions(tmp_path: Path) -> None:
    listed = [("Data", "1", "48K"), ("Instruction", "1", "32K"), ("Unified", "2", "2048K"), ("Unified", "3", "300M")]
    for number, (kind, level, size) in enumerate(listed):
        entry = tmp_path / f"index{number}"
        entry.mkdir()
        for name, text in (("type", kind), ("level", level), ("size", size)):
            (entry / name).write_text(text + "\n")
    (tmp_path / "index9").mkdir()
    assert cache_levels(tmp_path) == {"L1": 48 * 2**10, "L2": 2 * 2**20, "L3": 300 * 2**20}


def test_where_nothing_is_listed_sizes_are_positive_or_absent(tmp_path: Path) -> None:
    assert all(size > 0 for size in cache_levels(tmp_path).values())
