"""An optimize job whose server is killed at random moments, beside one that nobody disturbs: the same result?

    python -m benchmarks.kill_and_resume digits-cnn [--kills 10] [--seconds 60] [--seed 0] [--target "sqnr>=25"]
        [--data FILE] [--json FILE] [--workspace DIR] [--lock FILE]

One workspace runs the job undisturbed. In another one the server (a process that supervises jobs) is killed with its
whole process group (SIGKILL) at a moment drawn from the time that the undisturbed run took; a new server finds the job
interrupted, and it is resumed. After the last kill the job runs to its end. Recipe, plan, file, fidelity and number of
evaluations must be equal. Prints a table and JSON; ends with 1 where something differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.cli.files import find_data, find_model, subject_params
from core.cli.request import Request
from core.jobs import queue
from core.store.rows import JobRow
from core.store.workspace import Workspace

_SERVER = """
import sys, time
from pathlib import Path
from core.jobs.supervisor import Supervisor
from core.store.workspace import Workspace
from core.tasks.command import child_command
workspace = Workspace.open(Path(sys.argv[1]))
lock = Path(sys.argv[2]) if len(sys.argv) > 2 else None
with Supervisor(workspace, child_command(workspace.path), machine_lock=lock):
    time.sleep(1e6)
"""
_POLL_S = 0.1
_PATIENCE_S = 3600.0
_COMPARED = ("recipe", "plan", "file", "fidelity", "evaluations", "unchanged")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs both and tells what differs."""
    options = _parse(arguments)
    with tempfile.TemporaryDirectory(prefix="mixdesk-kills-") as scratch:
        folder = Path(options.workspace or scratch)
        calm = _prepare(folder / "calm", options)
        undisturbed = _undisturbed(*calm, options.lock)
        if undisturbed.result is None:
            return _failed(undisturbed)
        took_s = float(undisturbed.result["seconds"])
        _show("undisturbed", "", undisturbed, took_s)
        killed = _prepare(folder / "killed", options)
        kills = _Kills(*killed, options.lock, chance=random.Random(options.seed + 1), took_s=took_s)
        last = kills.run(options.kills)
    if last.result is None:
        return _failed(last)
    differs = [name for name in _COMPARED if _part(undisturbed, name) != _part(last, name)]
    document = {
        "model": options.model,
        "undisturbed": _summary(undisturbed),
        "kills": kills.rows,
        "resumed": _summary(last),
        "differs": differs,
    }
    print("equal" if not differs else f"DIFFERENT: {', '.join(differs)}")
    text = json.dumps(document, indent=1)
    print(text)
    if options.json is not None:
        options.json.write_text(text, encoding="utf-8")
    return 1 if differs else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill_and_resume", description=__doc__)
    parser.add_argument("model", help="an .onnx file or a sample's name")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0, help="time budget of the search")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--workspace", type=Path, help="keep both workspaces below this folder")
    parser.add_argument("--lock", type=Path, help="the file that keeps timed jobs apart; default: that of this user")
    return parser.parse_args(arguments)


def _prepare(path: Path, options: argparse.Namespace) -> tuple[Workspace, dict[str, Any]]:
    """A fresh workspace with model and data, and the parameters of the job."""
    workspace = Workspace.open(path)
    source = find_model(options.model)
    data = find_data(options.data, source)
    params = {
        **subject_params(workspace, source, data, Request()),
        "seed": options.seed,
        "time_budget_s": options.seconds,
        "target": options.target,
    }
    return workspace, params


def _undisturbed(workspace: Workspace, params: Mapping[str, Any], lock: Path | None) -> JobRow:
    job_id = queue.submit(workspace, "optimize", params, title="undisturbed")
    with _server(workspace, lock):
        return queue.wait(workspace, job_id, poll_s=_POLL_S, timeout_s=_PATIENCE_S)


class _Kills:
    """Kills the server again and again, each time at a random moment of the run that is left."""

    def __init__(
        self,
        workspace: Workspace,
        params: Mapping[str, Any],
        lock: Path | None,
        *,
        chance: random.Random,
        took_s: float,
    ) -> None:
        self._workspace, self._lock, self._chance, self._took_s = workspace, lock, chance, took_s
        self._job_id = queue.submit(workspace, "optimize", params, title="killed")
        self.rows: list[dict[str, Any]] = []

    def run(self, kills: int) -> JobRow:
        """Kills it that often, or until it is done, and lets it end."""
        moments = sorted(self._chance.uniform(0.0, 1.0) for _ in range(kills))
        worked_s = 0.0
        for number, moment in enumerate(moments, 1):
            row = self._kill_after(max(0.3, moment * self._took_s - worked_s))
            if row.is_final and row.state != "interrupted":
                break
            worked_s = moment * self._took_s
            self.rows.append({"kill": number, "at_share": round(moment, 3), "phase": row.phase, "what": row.what})
            print(f"kill {number:2d} at {moment:5.0%} of the run: {row.phase} / {row.what}", flush=True)
        with _server(self._workspace, self._lock):
            self._resume()
            last = queue.wait(self._workspace, self._job_id, poll_s=_POLL_S, timeout_s=_PATIENCE_S)
        _show("killed", f"{len(self.rows)} times", last, None)
        return last

    def _kill_after(self, seconds: float) -> JobRow:
        """Starts a server, resumes the job, and kills the server when the job has worked so long.

        What was finished before comes back at once.
        """
        with _server(self._workspace, self._lock):
            self._resume()
            self._await(lambda row: row.phase != "" or row.is_final)
            deadline = time.monotonic() + seconds
            self._await(lambda row: row.is_final or time.monotonic() >= deadline)
            return queue.job(self._workspace, self._job_id)

    def _resume(self) -> None:
        """Waits until the new server has marked what its killed forerunner left, and resumes that."""
        self._await(lambda row: row.state != "running")
        if queue.job(self._workspace, self._job_id).state == "interrupted":
            self._job_id = queue.resume(self._workspace, self._job_id)

    def _await(self, condition: Any) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not condition(queue.job(self._workspace, self._job_id)):
            if time.monotonic() > end:
                raise TimeoutError("the job did not come on")
            time.sleep(_POLL_S)


@contextmanager
def _server(workspace: Workspace, lock: Path | None) -> Iterator[None]:
    """A server in a process group of its own; the whole group is killed in the end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _SERVER, str(workspace.path), *([] if lock is None else [str(lock)])]
    process = subprocess.Popen(command, start_new_session=True, env=environment)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _part(row: JobRow, name: str) -> Any:
    assert row.result is not None
    return row.result[name]


def _summary(row: JobRow) -> dict[str, Any]:
    assert row.result is not None
    units, speedup = row.result["units"], row.result["speedup"]
    return {
        "file": row.result["file"],
        "why": row.result["why"],
        "evaluations": row.result["evaluations"],
        "sqnr_db": row.result["fidelity"]["sqnr_db"],
        "speedup": speedup["ratio"],
        "ci95": speedup["ci95"],
        "units": {"key": units["key"], "computed": units["computed"], "reused": units["reused"]},
        "seconds": row.result["seconds"],
    }


def _show(name: str, note: str, row: JobRow, seconds: float | None) -> None:
    if row.result is None:
        return
    found = _summary(row)
    print(
        f"{name:12s} {note:10s} {found['speedup']:.2f}x {found['sqnr_db']:.1f} dB, {found['evaluations']} evaluations,"
        f" file {found['file'][:12]}, units {found['units']['computed']} computed {found['units']['reused']} reused"
        f"{'' if seconds is None else f', {seconds:.0f} s'}: {found['why']}",
        flush=True,
    )


def _failed(row: JobRow) -> int:
    print(f"The job '{row.title}' ended as {row.state}: {row.error}")
    return 3


if __name__ == "__main__":
    sys.exit(main())
