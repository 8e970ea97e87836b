"""A program alone: its notes, its end, and what ends it from outside."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from core.measure.alone import Alone, Bounds, Ending

PROGRAM = """
import os, signal, sys, time
from core.measure.alone import limit_memory, take_standard_output, write_note
notes = take_standard_output()
print("what libraries print is no note")
write_note(notes, {"at": 1})
"""


def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, bounds: Bounds | None = None) -> Ending:
    (tmp_path / "program.py").write_text(PROGRAM + code)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])))
    with Alone("program", tmp_path) as program:
        return program.watch(bounds or Bounds(total_s=60.0))


def test_its_result_and_its_own_error_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = watch(tmp_path, monkeypatch, 'write_note(notes, {"at": 2})\nwrite_note(notes, {"done": True, "x": 3})')
    assert (ending.how, ending.answer["x"]) == ("done", 3)
    ending = watch(tmp_path, monkeypatch, 'write_note(notes, {"error": {"message": "no"}})')
    assert (ending.how, ending.answer["error"]["message"]) == ("failed", "no")


def test_a_death_tells_signal_and_last_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = watch(tmp_path, monkeypatch, 'write_note(notes, {"at": 2})\nos.kill(os.getpid(), signal.SIGFPE)')
    assert (ending.how, ending.note, ending.cause) == ("died", {"at": 2}, "SIGFPE")
    ending = watch(tmp_path, monkeypatch, "os._exit(5)")
    assert (ending.how, ending.note, ending.cause) == ("died", {"at": 1}, "an exit")


def test_time_is_bounded_from_note_to_note_and_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steady = 'for at in range(99):\n    time.sleep(0.3)\n    write_note(notes, {"at": at})'
    ending = watch(tmp_path, monkeypatch, steady, Bounds(step_s=5.0, total_s=1.5))
    assert ending.how == "time"
    assert ending.last_s < 1.0
    ending = watch(tmp_path, monkeypatch, "time.sleep(99)", Bounds(step_s=1.0))
    assert (ending.how, ending.note) == ("time", {"at": 1})
    assert ending.last_s >= 1.0


def test_memory_is_bounded_from_outside_and_from_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    eat = "x = []\nwhile True:\n    x.append(b'a' * 10_000_000)\n    time.sleep(0.01)"
    assert watch(tmp_path, monkeypatch, eat, Bounds(memory_bytes=300_000_000)).how == "memory"
    refused = """
limit_memory(300_000_000)
try:
    x = bytearray(400_000_000)
except MemoryError:
    write_note(notes, {"done": True})
"""
    assert watch(tmp_path, monkeypatch, refused).how == "done"


def test_nothing_of_it_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    before = {process.pid for process in psutil.Process().children()}
    watch(tmp_path, monkeypatch, "time.sleep(99)", Bounds(step_s=0.5))
    assert {process.pid for process in psutil.Process().children()} <= before
    assert time.monotonic() - began < 30.0
