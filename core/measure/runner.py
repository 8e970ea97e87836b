"""Runner: the child process that holds one session and runs it when told.

It reads commands from standard input, one per line, and answers each with one line of JSON:

    run UNIT WARM TIMES   runs the feed UNIT (WARM times untimed, then TIMES times) -> {"runs": [[ns, cpu ns, taken]]}
    peak                  -> {"bytes"}

`taken` counts how often another process took the processor during that run.

Its first answer is {"ready": true}, or {"error": {...}} where the model cannot be opened. It ends with its input.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import IO, Any

import numpy as np
import onnxruntime as ort
import psutil

from core.errors import MixdeskError, RunError
from core.runtime.session import RUNTIME_FAILURES, open_session, reason_of
from core.runtime.settings import SessionSettings

_STATUS = Path("/proc/self/status")


def main(folder: Path) -> int:
    """Serves until the input ends. `folder` holds spec.json and feeds.npz."""
    answers = _take_standard_output()
    try:
        session, feeds = _prepare(folder)
        _answer(answers, {"ready": True})
        for line in sys.stdin:
            _answer(answers, _obey(session, feeds, line.split()))
    except MixdeskError as error:
        _answer(answers, {"error": error.to_dict()})
        return error.exit_status
    return 0


def _take_standard_output() -> IO[str]:
    """A private handle for answers; whatever else prints goes to standard error."""
    handle = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return handle


def _prepare(folder: Path) -> tuple[ort.InferenceSession, list[dict[str, Any]]]:
    spec = json.loads((folder / "spec.json").read_text())
    session = open_session(Path(spec["model"]), SessionSettings(**spec["settings"]))
    feeds: list[dict[str, Any]] = [{} for _ in range(spec["units"])]
    with np.load(spec["feeds"], allow_pickle=False) as stored:
        for key in stored.files:
            unit, _, name = key.partition("|")
            feeds[int(unit)][name] = stored[key]
    gc.collect()
    gc.freeze()
    gc.disable()
    return session, feeds


def _obey(session: ort.InferenceSession, feeds: list[dict[str, Any]], words: list[str]) -> dict[str, Any]:
    if words[0] == "peak":
        return {"bytes": peak_bytes()}
    unit, warm, times = (int(word) for word in words[1:])
    try:
        return _run(session, feeds[unit], warm, times)
    except RUNTIME_FAILURES as error:
        raise RunError(f"onnxruntime failed to run the model: {reason_of(error)}") from error


def _run(session: ort.InferenceSession, feed: dict[str, Any], warm: int, times: int) -> dict[str, Any]:
    for _ in range(warm):
        session.run(None, feed)
    return {"runs": [_time(session, feed) for _ in range(times)]}


def _time(session: ort.InferenceSession, feed: dict[str, Any]) -> tuple[int, int, int]:
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    cpu = time.process_time_ns()
    start = time.perf_counter_ns()
    session.run(None, feed)
    spent = time.perf_counter_ns() - start
    cpu = time.process_time_ns() - cpu
    return spent, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - taken


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
