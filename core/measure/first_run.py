"""First run: a model is opened and run in a process of its own before anything is measured.

What crashes the runtime, never ends or eats all memory then ends that process alone, and the layer to blame is looked
for (`core.measure.culprit`). What runs is a copy whose node names lead to layers: a failure is told by these.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import CrashedError, MixdeskError, ModelError, RunError
from core.intake.model import Model, Openable
from core.measure.alone import Alone, Bounds, Ending, Note
from core.measure.child import write_feeds, write_spec
from core.measure.culprit import MOST_SECONDS, Case, Culprit, Feed, find_culprit, tells_of_memory
from core.progress import Progress
from core.runtime.settings import SessionSettings
from core.runtime.tags import TaggedModel, tag_model
from core.runtime.told import retell

#: How long one run may take where nobody says otherwise.
RUN_LIMIT_S = 60.0
#: Samples after the first are run for this long.
_MORE_S = 1.0
_LEAST_SEARCH_S = 2.0
_ASKED = re.compile(r"buffer of size (\d+)")
_DIVISIONS = ("Div", "Mod")


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may take.

    `memory_bytes` is resident memory (None: no limit); samples after the first are run while `more_s` seconds last;
    `search_s` is how long a layer to blame is looked for.
    """

    seconds: float = RUN_LIMIT_S
    memory_bytes: int | None = None
    search_s: float = MOST_SECONDS
    more_s: float = _MORE_S


def run_first(
    model: Model,
    feeds: Sequence[Feed],
    settings: SessionSettings,
    limits: RunLimits,
    progress: Progress,
) -> int:
    """Runs a model for the first time; returns the peak of resident memory, in bytes, of a process that only runs it.

    Args:
        model: what is run.
        feeds: the first is run twice, the others once, as far as a second allows.
        settings: of the session.
        limits: of one run.
        progress: is told what is done; what it raises ends the run.

    Raises:
        ModelError: the runtime refuses the model.
        RunError: a run failed, or took more time or memory than it may.
        CrashedError: the runtime crashed.
        All name the layer where it is known.
    """
    tagged = tag_model(model.ir)
    ending = _run_alone(
        tagged.serialize(), feeds, settings, limits, lambda note: progress.step(0, 1, _doing(note, limits))
    )
    if ending.how == "done":
        return int(ending.answer["peak_bytes"])
    failed = _Failed(tagged, feeds, settings, limits, ending)
    raise failed.told(lambda: progress.step(0, 1, "look for the layer to blame"))


def refusal_alone(model: Model, settings: SessionSettings, limits: RunLimits) -> Callable[[Feed], str | None]:
    """Says of a feed why the runtime does not run it (None: it does); each is run in a process of its own.

    What it returns raises RunError where the model cannot even be opened.
    """
    serialized = model.serialize()

    def refusal(feed: Feed) -> str | None:
        ending = _run_alone(serialized, [feed], settings, limits, lambda _: None)
        if ending.how == "done":
            return None
        said = (ending.answer.get("error") or {}).get("message") or "The process that ran it did not end well."
        if _is_opening(ending):
            raise RunError(said)
        return str(said)

    return refusal


def _run_alone(
    model: Openable,
    feeds: Sequence[Feed],
    settings: SessionSettings,
    limits: RunLimits,
    on_wait: Callable[[Note | None], None],
) -> Ending:
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        path = Path(folder)
        write_feeds(path / "feeds.npz", feeds)
        more = {"memory_bytes": limits.memory_bytes, "more_s": limits.more_s}
        write_spec(path, model, path / "feeds.npz", settings, units=len(feeds), **more)
        bounds = Bounds(step_s=limits.seconds, memory_bytes=limits.memory_bytes)
        with Alone("core.measure.first_run_child", path) as program:
            return program.watch(bounds, on_wait=on_wait)


def _is_opening(ending: Ending) -> bool:
    """Whether it ended before the first run."""
    return ending.note is None or ending.note["at"] == "open"


def _doing(note: Note | None, limits: RunLimits) -> str:
    if note is None or note["at"] == "open":
        return "open it in a process of its own"
    return f"first run, at most {limits.seconds:g} s"


@dataclass(frozen=True, slots=True)
class _Failed:
    """A first run that failed, to be told."""

    tagged: TaggedModel
    feeds: Sequence[Feed]
    settings: SessionSettings
    limits: RunLimits
    ending: Ending

    def told(self, on_wait: Callable[[], None]) -> MixdeskError:
        """The error to raise, with the layer to blame where it is found."""
        error = self.error if self.ending.how == "failed" else None
        if error is not None and error.layer is not None:
            return (
                self._out_of_memory(error, f"'{error.layer}'")
                if tells_of_memory(error.message)
                else self._judged(error)
            )
        culprit = self._search(on_wait)
        if error is None:
            return self._ended(culprit)
        if tells_of_memory(error.message):
            return self._out_of_memory(error, None if culprit is None else str(culprit))
        return self._judged(error if culprit is None else self._reasoned(error, culprit))

    @property
    def error(self) -> RunError:
        """What the program said went wrong, by the names of layers."""
        said = self.ending.answer["error"]
        return retell(RunError(said["message"], hint=said["hint"]), self.tagged)

    @property
    def is_opening(self) -> bool:
        """Whether it ended before the first run."""
        return _is_opening(self.ending)

    def _judged(self, error: RunError) -> MixdeskError:
        """Refusing a model is an answer on the model; failing to run it is not."""
        if self.is_opening:
            return ModelError(error.message, hint=error.hint, layer=error.layer)
        return error

    def _reasoned(self, error: RunError, culprit: Culprit) -> RunError:
        message = f"{error.message.rstrip('.')} (in layer {culprit})."
        return RunError(message, hint=error.hint, layer=culprit.place.layer)

    def _search(self, on_wait: Callable[[], None]) -> Culprit | None:
        sample = (self.ending.note or {}).get("sample") or 0
        case = Case(self.tagged, self.feeds[sample], self.settings, self.ending.how)
        most_s = self.limits.search_s
        if self.ending.how == "time":  # half of it is for one pass, which needs no longer than the run had
            most_s = min(most_s, 2 * max(_LEAST_SEARCH_S, self.limits.seconds))
        return find_culprit(case, memory_bytes=self.limits.memory_bytes, most_s=most_s, on_wait=on_wait)

    def _out_of_memory(self, error: RunError, where: str | None) -> RunError:
        asked = _ASKED.search(error.message)
        size = f" ({int(asked[1]) / 2**20:,.0f} MiB at once)" if asked else ""
        return self._over_memory(None if where is None else f"{where}{size}", error.layer)

    def _over_memory(self, where: str | None, layer: str | None) -> RunError:
        doing = "opening it" if self.is_opening else "one run"
        limit = self.limits.memory_bytes
        may = "there is" if limit is None else f"the {limit / 2**20:,.0f} MiB that it may use here"
        message = f"The model takes more memory for {doing} than {may}{'' if where is None else f', in layer {where}'}."
        hint = "Try smaller inputs or a smaller batch, or allow more with MIXDESK_JOB_MEMORY_MB."
        return RunError(message, hint=hint, layer=layer)

    def _ended(self, culprit: Culprit | None) -> MixdeskError:
        layer = None if culprit is None else culprit.place.layer
        if self.ending.how == "time":
            what = "Opening the model" if self.is_opening else "One run"
            blamed = "" if culprit is None else f": layer {culprit} still ran"
            message = f"{what} did not end within {self.limits.seconds:g} s{blamed}."
            hint = "Give it more time with --time-budget SECONDS or MIXDESK_RUN_SECONDS, or give smaller inputs."
            return RunError(message, hint=hint, layer=layer)
        if self.ending.how == "memory":
            return self._over_memory(None if culprit is None else str(culprit), layer)
        doing = "while it opened the model" if self.is_opening else "in one run"
        where = doing if culprit is None else f"in layer {culprit}"
        message = f"The runtime crashed ({self.ending.cause}) {where}."
        return CrashedError(message, hint=_crash_hint(self.ending, culprit, self.limits), layer=layer)


def _crash_hint(ending: Ending, culprit: Culprit | None, limits: RunLimits) -> str:
    if culprit is None:
        return (
            f"No single layer was found to crash it within {limits.search_s:g} s: try other inputs or a newer export."
        )
    if ending.cause == "SIGFPE" and culprit.place.op_type in _DIVISIONS:
        return "An integer division by zero or beyond the range of integers: look at the values that reach this layer."
    return "Look at the values and shapes that reach this layer, or export the model again without it."
