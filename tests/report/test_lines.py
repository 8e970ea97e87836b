from __future__ import annotations

from core.report.lines import units_line


def test_the_work_line_shows_the_key_and_what_was_finished_before() -> None:
    units = {"key": "1a2b3c4d5e6f", "holds": {}, "computed": 3, "reused": 57}
    assert units_line(units).startswith("57 of 60 pieces were finished before (key 1a2b3c4d5e6f)")
    assert units_line({**units, "reused": 0}) == "3 pieces, kept under the key 1a2b3c4d5e6f"
