"""`python -m core.tasks.preview_child ANSWER`: reads a few samples of what a stranger gave, for a preview."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import DataError, MixdeskError
from core.intake.convert import PreviewSample, preview
from core.intake.load import load_model
from core.intake.preprocessing import Preprocessing
from core.jobs.limits import Limits
from core.tasks.propose import propose


def main(out: Path) -> int:
    """Reads what is wanted from standard input and writes the samples, or an error, to the file `out`."""
    _limit_memory()
    try:
        answer = look(json.load(sys.stdin))
    except MixdeskError as error:
        answer = {"error": error.to_dict()}
    except MemoryError:
        refused = DataError("There is not enough memory to read these files.", hint="Give smaller ones.")
        answer = {"error": refused.to_dict()}
    out.write_text(json.dumps(answer), encoding="utf-8")
    return 0


def look(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The samples, and the preprocessing under which they are seen; `wanted` as in `core.tasks.preview.Wanted`.

    Raises:
        MixdeskError: they cannot be read, or the preprocessing does not fit.
    """
    model = load_model(Path(wanted["model"]), strict=False)
    source, name = Path(wanted["source"]), str(wanted["name"])
    tokenizer = None if wanted["tokenizer"] is None else Path(wanted["tokenizer"])
    given = wanted["preprocessing"]
    how = propose(model, source, tokenizer=tokenizer, name=name) if given is None else Preprocessing.from_dict(given)
    samples = preview(source, model, how, tokenizer=tokenizer, count=int(wanted["count"]), name=name)
    return {"preprocessing": how.to_dict(), "samples": [_sample(sample) for sample in samples]}


def _sample(sample: PreviewSample) -> dict[str, Any]:
    picture = sample.thumbnail
    return {
        "name": sample.name,
        "label": sample.label,
        "thumbnail": None if picture is None else base64.b64encode(picture).decode("ascii"),
        "text": sample.text,
        "shape": list(sample.shape),
        "minimum": sample.minimum,
        "mean": sample.mean,
        "maximum": sample.maximum,
        "note": sample.note,
    }


def _limit_memory() -> None:
    limit = Limits.from_environment().memory_bytes
    if limit is None or sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on every system

    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
