"""`python -m core.measure.first_run_child FOLDER`: opens a model and runs its feeds, and notes what it is about to do.

`FOLDER` holds spec.json and feeds.npz as for `core.measure.runner`. The first feed runs twice, then the process' peak
of memory is read; further feeds run once each while `more_s` seconds last.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from core.errors import MixdeskError
from core.measure.alone import limit_memory, take_standard_output, write_note
from core.measure.runner import openable, peak_bytes, read_feeds
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings


def main(folder: Path) -> int:
    """Runs them."""
    notes = take_standard_output()
    spec = json.loads((folder / "spec.json").read_text())
    limit_memory(spec["memory_bytes"], None if spec["weights"] is None else Path(spec["weights"]))
    at: dict[str, object] = {"at": "open", "sample": None}
    try:
        write_note(notes, at)
        session = open_session(openable(spec), SessionSettings(**spec["settings"]))
        feeds = read_feeds(spec)
        at = {"at": "run", "sample": 0}
        write_note(notes, at)
        for _ in range(2):
            run_session(session, feeds[0])
        peak = peak_bytes()
        began = time.monotonic()
        for sample, feed in enumerate(feeds[1:], start=1):
            if time.monotonic() - began > spec["more_s"]:
                break
            at = {"at": "run", "sample": sample}
            write_note(notes, at)
            run_session(session, feed)
        write_note(notes, {"done": True, "peak_bytes": peak})
    except MixdeskError as error:
        write_note(notes, {**at, "error": error.to_dict()})
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
