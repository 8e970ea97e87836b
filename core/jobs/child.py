"""A worker process: its own session, its output in a log file, ended together with everything it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

_LEASH = Path(__file__).with_name("leash.py")
_IMPORT_ROOT = Path(__file__).parents[2]


class Child:
    """A started command. POSIX only."""

    def __init__(self, command: Sequence[str], log: Path, *, environment: Mapping[str, str] | None = None) -> None:
        """Starts the command; standard output and error go to the end of `log`; `environment` is added to ours.

        Raises:
            OSError: it cannot be started.
        """
        leash = [sys.executable, "-I", "-S", str(_LEASH), str(os.getpid())]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*leash, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=_environment(environment or {}),
            )

    @property
    def pid(self) -> int:
        """The leader of the process group."""
        return self._process.pid

    def poll(self) -> int | None:
        """None while it runs, then its exit status or minus the signal that ended it; what it left running is ended."""
        code = self._process.poll()
        if code is not None:
            self._signal_group(signal.SIGKILL)
        return code

    def terminate(self) -> None:
        """Asks the whole group to end."""
        self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the whole group."""
        self._signal_group(signal.SIGKILL)

    def wait(self, timeout_s: float) -> bool:
        """Waits until it has ended; False where it still runs after `timeout_s`."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def memory_bytes(self) -> int:
        """Resident memory of all processes of the group's tree, without mapped files, which can always be let go."""
        try:
            leader = psutil.Process(self.pid)
            tree = [leader, *leader.children(recursive=True)]
        except psutil.Error:
            return 0
        total = 0
        for process in tree:
            with contextlib.suppress(psutil.Error):
                memory = process.memory_info()
                total += memory.rss - getattr(memory, "shared", 0)
        return total

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """That of this process and more; the worker finds this very package wherever it was started from."""
    paths = [str(_IMPORT_ROOT), os.environ.get("PYTHONPATH", "")]
    own = {"PYTHONPATH": os.pathsep.join(path for path in paths if path), "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **own, **more}
