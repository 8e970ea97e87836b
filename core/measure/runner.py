"""Runner: the child process that holds one session and runs it when told.

It reads commands from standard input, one per line, and answers each with one line of JSON:

    run UNIT WARM TIMES   runs feed UNIT, WARM times untimed, then TIMES times -> {"runs": [[ns, cpu ns, disturbed]]}
    peak                  -> {"bytes"}


Its first answer is {"ready": true}, or {"error": {...}} where the model cannot be opened. It ends with its input.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil

from core.errors import MixdeskError, RunError
from core.intake.serialized import Openable, Serialized
from core.measure.calm import time_run
from core.runtime.session import RUNTIME_FAILURES, Session, open_session, reason_of
from core.runtime.settings import SessionSettings

_STATUS = Path("/proc/self/status")


def main(folder: Path) -> int:
    """Serves until the input ends. `folder` holds spec.json and feeds.npz."""
    answers = _take_standard_output()
    try:
        session, feeds, threads = _prepare(folder)
        _answer(answers, {"ready": True})
        for line in sys.stdin:
            _answer(answers, _obey(session, feeds, line.split(), threads))
    except MixdeskError as error:
        _answer(answers, {"error": error.to_dict()})
        return error.exit_status
    return 0


def _take_standard_output() -> IO[str]:
    """A private handle for answers; whatever else prints goes to standard error."""
    handle = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return handle


def _prepare(folder: Path) -> tuple[Session, list[dict[str, Any]], int]:
    spec = json.loads((folder / "spec.json").read_text())
    settings = SessionSettings(**spec["settings"])
    session = open_session(openable(spec), settings)
    feeds = read_feeds(spec)
    gc.collect()
    gc.freeze()
    gc.disable()
    return session, feeds, settings.threads


def openable(spec: Mapping[str, Any]) -> Openable:
    """The model of a spec, as a session takes it."""
    path, weights = Path(spec["model"]), spec["weights"]
    return path if weights is None else Serialized(path.read_bytes(), Path(weights))


def read_feeds(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The feeds of a spec, in order."""
    feeds: list[dict[str, Any]] = [{} for _ in range(spec["units"])]
    with np.load(spec["feeds"], allow_pickle=False) as stored:
        for key in stored.files:
            unit, _, name = key.partition("|")
            feeds[int(unit)][name] = stored[key]
    return feeds


def _obey(session: Session, feeds: list[dict[str, Any]], words: list[str], threads: int) -> dict[str, Any]:
    if words[0] == "peak":
        return {"bytes": peak_bytes()}
    unit, warm, times = (int(word) for word in words[1:])
    run = partial(session.run, None, feeds[unit])
    try:
        for _ in range(warm):
            run()
        return {"runs": [time_run(run, threads=threads) for _ in range(times)]}
    except RUNTIME_FAILURES as error:
        raise RunError(f"onnxruntime failed to run the model: {reason_of(error)}") from error


def peak_bytes() -> int:
    """Peak resident memory of this process.

    `getrusage` is no answer on Linux: a child inherits the peak of the process that started it.
    """
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    memory = psutil.Process().memory_info()
    return int(getattr(memory, "peak_wset", 0) or memory.rss)


def _answer(answers: IO[str], value: dict[str, Any]) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
