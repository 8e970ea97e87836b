"""Children: sessions in processes of their own, so that they share nothing while they are timed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import Any, Self

import numpy as np

import core
from core.errors import CrashedError, RunError
from core.intake.model import Openable, Serialized
from core.measure.calm import Timed
from core.runtime.settings import SessionSettings

Feeds = Sequence[Mapping[str, np.ndarray[Any, np.dtype[Any]]]]

_END_S = 5.0


class Child:
    """One running child. Use it as a context manager: it never outlives its block."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._errors = (folder / "errors.txt").open("w+b")
        root = str(Path(core.__file__).resolve().parent.parent)
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.measure.runner", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wait_ready(self) -> None:
        """Waits until the model is open.

        Raises:
            RunError: the runtime refuses the model.
            CrashedError: the process died while it opened it.
        """
        self._read("while it was opened")

    def run(self, unit: int, *, warm: int = 0, times: int = 1) -> Timed:
        """Runs one feed `warm` times untimed and `times` times timed; returns the means.

        Runs during which another process took the processor are left out; where all were so, the visit is disturbed.

        Raises:
            RunError: the runtime failed on it.
            CrashedError: the process died; the message says on which sample.
        """
        runs = self.runs(unit, warm=warm, times=times)
        calm = [run for run in runs if not run.disturbed]
        kept = calm or runs
        return Timed(fmean(run.ns for run in kept), fmean(run.cpu_ns for run in kept), disturbed=not calm)

    def runs(self, unit: int, *, warm: int = 0, times: int = 1) -> list[Timed]:
        """The same, run by run; errors as `run`."""
        return [Timed(*run) for run in self._ask(f"run {unit} {warm} {times}", f"on sample {unit + 1}")["runs"]]

    def peak_bytes(self) -> int:
        """Peak resident memory of the child so far."""
        return int(self._ask("peak", "when it was asked for its memory")["bytes"])

    def close(self) -> None:
        """Ends the child; kills it where it does not end by itself."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                self._process.kill()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def _ask(self, command: str, when: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death(when) from None
        return self._read(when)

    def _read(self, when: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._death(when)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            error = answer["error"]
            raise RunError(f"The {self.name} failed: {error['message']}", hint=error["hint"])
        return answer

    def _death(self, when: str) -> CrashedError:
        code = self._process.wait()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        message = f"The process of the {self.name} died {when} ({how})."
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        last = f" Its last line: {lines[-1][:200]}" if lines else ""
        hint = "Often it is memory: try a smaller batch or input." if code == -signal.SIGKILL else None
        return CrashedError(message + last, hint=hint)


@contextmanager
def open_children(
    models: Mapping[str, Openable], feeds: Feeds, settings: SessionSettings
) -> Iterator[dict[str, Child]]:
    """Starts one child per model (name -> model) on the same feeds; all are ready inside the block and gone after it.

    Raises:
        RunError, CrashedError: a model cannot be opened; the message names it.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mixdesk-")))
        stored = folder / "feeds.npz"
        write_feeds(stored, feeds)
        children: dict[str, Child] = {}
        for position, (name, model) in enumerate(models.items()):
            own = folder / str(position)
            own.mkdir()
            write_spec(own, model, stored, settings, units=len(feeds))
            children[name] = stack.enter_context(Child(name, own))
        for child in children.values():
            child.wait_ready()
        yield children


def write_spec(
    folder: Path, model: Openable, feeds: Path, settings: SessionSettings, *, units: int, **more: Any
) -> None:
    """Writes what a child needs to know into its folder: model, file of feeds (`units` of them), settings, and more."""
    path, weights = _as_file(model, folder / "model.onnx")
    spec = {"model": str(path), "weights": weights, "feeds": str(feeds), "units": units, "settings": asdict(settings)}
    (folder / "spec.json").write_text(json.dumps({**spec, **more}))


def _as_file(model: Openable, path: Path) -> tuple[Path, str | None]:
    """The model's file, and the folder of its weights where that is another one."""
    if isinstance(model, Path):
        return model.resolve(), None
    plain = model if isinstance(model, Serialized) else Serialized(model)
    path.write_bytes(plain.data)
    return path, None if plain.folder is None else str(plain.folder)


def write_feeds(path: Path, feeds: Feeds) -> None:
    """Writes feeds so that `core.measure.runner.read_feeds` reads them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for unit, feed in enumerate(feeds):
            for name, array in feed.items():
                plain = np.asarray(array.tolist(), np.str_).reshape(array.shape) if array.dtype.kind == "O" else array
                with archive.open(f"{unit}|{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, plain, allow_pickle=False)
