"""A child on its leash: ends as its command ends, with everything it started, and with its parent."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from core.jobs import leash
from core.jobs.child import Child
from tests.jobs.workers import PROGRAMS, await_true, is_gone


def child(program: str, log: Path) -> Child:
    return Child([sys.executable, "-c", program], log)


def exit_code(program: str, log: Path) -> int | None:
    started = child(program, log)
    assert started.wait(20)
    return started.poll()


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("import os; os.abort()", -signal.SIGABRT),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
    ],
)
def test_the_leash_ends_as_the_command_ends(program: str, code: int, tmp_path: Path) -> None:
    assert exit_code(program, tmp_path / "log") == code


def test_output_and_errors_go_to_the_end_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    exit_code("import sys; print('out'); print('err', file=sys.stderr)", log)
    assert log.read_text() == "before\nout\nerr\n"


def test_the_worker_finds_this_package_wherever_the_server_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    assert exit_code("import core.errors", tmp_path / "log") == 0


def test_what_a_child_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys; "
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid, flush=True)"
    )
    assert exit_code(program, tmp_path / "log") == 0
    left = int((tmp_path / "log").read_text())
    await_true(lambda: is_gone(left))


def test_terminate_reaches_the_command_and_kill_reaches_the_deaf(tmp_path: Path) -> None:
    listening, deaf = child(PROGRAMS["sleep"], tmp_path / "a"), child(PROGRAMS["deaf"], tmp_path / "b")
    await_true((tmp_path / "b").read_text)
    await_true(lambda: psutil.Process(listening.pid).children())
    for each in (listening, deaf):
        each.terminate()
    assert listening.wait(20)
    assert not deaf.wait(0.2)
    deaf.kill()
    assert deaf.wait(20)
    assert (listening.poll(), deaf.poll()) == (-signal.SIGTERM, -signal.SIGKILL)


def test_the_memory_of_the_whole_family_is_counted(tmp_path: Path) -> None:
    started = child(PROGRAMS["hungry"], tmp_path / "log")
    await_true(lambda: started.memory_bytes() > 200_000_000)
    started.kill()
    assert started.wait(20)
    assert started.memory_bytes() == 0


# the leash without its help from Linux: only the check every second

LEASH_WITHOUT_LINUX = """
import os, runpy, sys
sys.argv = sys.argv[1:]
sys.platform = "elsewhere"
os.setsid()
runpy.run_path(sys.argv[0], run_name="__main__")
"""

PARENT = """
import os, subprocess, sys
leash = subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2], str(os.getpid()), sys.executable, "-c",
    "import os, time; print(os.getpid(), flush=True); time.sleep(60)"], stdout=subprocess.PIPE, text=True)
print(leash.stdout.readline().strip(), leash.pid, flush=True)
sys.stdin.read()
"""


def test_where_linux_does_not_help_the_worker_still_goes_with_its_parent() -> None:
    command = [sys.executable, "-c", PARENT, LEASH_WITHOUT_LINUX, str(Path(leash.__file__))]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker, leader = (int(word) for word in parent.stdout.readline().split())
    assert not is_gone(worker)
    parent.kill()
    parent.communicate()
    await_true(lambda: is_gone(worker) and is_gone(leader))


def test_a_leash_whose_parent_is_gone_already_starts_nothing() -> None:
    started = subprocess.run(
        [sys.executable, str(Path(leash.__file__)), "1", sys.executable, "-c", "print('started')"],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert started.returncode == -signal.SIGKILL
    assert started.stdout == ""
