"""`python -m core.measure.culprit_child FOLDER`: runs a model step by step and notes each step before it begins.

`FOLDER` holds spec.json and feeds.npz as for `core.measure.runner`; `cut` in the spec says how large the steps are.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import onnx

from core.errors import MixdeskError
from core.measure.alone import limit_memory, take_standard_output, write_note
from core.measure.runner import read_feeds
from core.runtime.settings import SessionSettings
from core.runtime.steps import Cut, Opened, Step, run_steps


def main(folder: Path) -> int:
    """Steps through the first feed."""
    notes = take_standard_output()
    spec = json.loads((folder / "spec.json").read_text())
    weights = None if spec["weights"] is None else Path(spec["weights"])
    limit_memory(spec["memory_bytes"], weights)
    path = Path(spec["model"])
    cut = Cut(**{**spec["cut"], "enter": tuple(spec["cut"]["enter"])})
    opened = Opened(SessionSettings(**spec["settings"]), path.parent if weights is None else weights)
    last: dict[str, Any] = {}

    def tell(step: Step) -> None:
        last["step"] = asdict(step)
        write_note(notes, last)

    try:
        model = onnx.load(path, load_external_data=False)
        feed = read_feeds(spec)[0]
        run_steps(model, feed, cut, tell, opened)
        write_note(notes, {"done": True})
    except MixdeskError as error:
        write_note(notes, {**last, "error": error.to_dict()})
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
