"""The machine's lock: one holder, known by name, and free when its process dies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import RequestError
from core.jobs.machine_lock import MachineLock

HOLD = """
import sys
from pathlib import Path
from core.jobs.machine_lock import MachineLock
lock = MachineLock(Path(sys.argv[1]))
print(lock.take("Profile m"), flush=True)
sys.stdin.read()
"""


def test_only_one_takes_it(tmp_path: Path) -> None:
    first, second = (MachineLock(tmp_path / "lock") for _ in range(2))
    assert first.take("Profile m")
    assert not second.take("Build m")
    first.give_back()
    assert second.take("Build m")
    second.give_back()


def test_giving_back_what_is_not_held_does_nothing(tmp_path: Path) -> None:
    holder, other = (MachineLock(tmp_path / "lock") for _ in range(2))
    assert holder.take("Profile m")
    other.give_back()
    assert not other.take("Build m")
    holder.give_back()


def test_a_process_that_dies_frees_it_and_until_then_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    lock = MachineLock(path)
    assert not lock.take("Build m")
    assert lock.holder() == f"'Profile m' (process {process.pid})"
    process.kill()
    process.communicate()
    assert lock.take("Build m")
    lock.give_back()


@pytest.mark.parametrize("note", [None, "", "[]", "{}", '{"pid": "x", "what": 1}'])
def test_an_unreadable_note_still_makes_a_sentence(tmp_path: Path, note: str | None) -> None:
    if note is not None:
        (tmp_path / "lock.holder").write_text(note)
    assert MachineLock(tmp_path / "lock").holder() == "another Mixdesk process"


def test_the_environment_may_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXDESK_MACHINE_LOCK", str(tmp_path / "deep" / "named.lock"))
    lock = MachineLock()
    assert lock.take("Profile m")
    lock.give_back()
    assert (tmp_path / "deep" / "named.lock").exists()


def test_a_lock_file_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="cannot be used") as refused:
        MachineLock(tmp_path / "file" / "lock")
    assert "MIXDESK_MACHINE_LOCK" in str(refused.value.hint)
