"""Holds a worker on a leash: when the process that started it goes, the worker and all its children go too.

Run as a script by `core.jobs.child`, as the leader of a new session: `leash.py PARENT_PID COMMAND...`. It starts the
command, ends as the command ends (same status, same signal), and kills the whole process group when its parent has
gone. It imports nothing but the standard library, to start in milliseconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from types import FrameType

_PR_SET_PDEATHSIG = 1
_CHECK_EVERY_S = 1.0
_OOM_SCORE = "500"


def main(arguments: list[str]) -> None:
    """Runs the command until it or the parent ends; does not return."""
    parent = int(arguments[0])
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _watch(parent)
    worker = os.fork()
    if worker == 0:
        _become(arguments[1:])
    _, status = os.waitpid(worker, 0)
    _end_like(status)


def _watch(parent: int) -> None:
    """Kills the group as soon as the parent is another process than at the start; SIGTERM is for the worker."""

    def check(number: int, frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os.killpg(0, signal.SIGKILL)

    signal.signal(signal.SIGTERM, check)
    signal.signal(signal.SIGALRM, check)
    signal.setitimer(signal.ITIMER_REAL, _CHECK_EVERY_S, _CHECK_EVERY_S)
    _signal_at_parents_death(signal.SIGTERM)
    check(0, None)


def _become(command: list[str]) -> None:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _signal_at_parents_death(signal.SIGKILL)
        with contextlib.suppress(OSError):  # where memory runs out, the worker goes before the server
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
        os.execvp(command[0], command)  # noqa: S606 - there is no shell
    except OSError as e:
        os.write(2, f"{command[0]} cannot be started: {e.strerror}\n".encode())
    finally:
        os._exit(127)


def _signal_at_parents_death(number: signal.Signals) -> None:
    """Linux only; elsewhere the check every second must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def _end_like(status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL and SIGSTOP have no handler to reset
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1:])
