"""Every error Mixdesk raises on purpose, in one tree.

    MixdeskError
    ├── RequestError        exit status 2: what was asked or given is wrong, or unavailable here
    │   ├── ModelError          the file is no model, or not one this runtime can run
    │   ├── DataError           inputs or labels do not fit the model
    │   ├── RecipeError         a rule names an unknown layer, precision or option
    │   ├── TargetError         a target cannot be read
    │   ├── BundleError         the file is no bundle, or a damaged, altered or newer one
    │   ├── UnavailableError    this machine or this version cannot do what was asked
    │   └── NotFoundError       no such sample, job, model or candidate
    └── WorkError           exit status 3: the work itself failed
        ├── RunError            the runtime refused or failed to run a model
        ├── CrashedError        a child process died
        └── StoppedError        somebody pressed Stop

A message says what happened, to what; the hint says what to do next.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar


class MixdeskError(Exception):
    """Base of all errors that are answers, not bugs."""

    kind: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 3

    def __init__(self, message: str, *, hint: str | None = None, layer: str | None = None) -> None:
        super().__init__(" ".join(message.split()))
        self.hint = hint
        self.layer = layer

    @property
    def message(self) -> str:
        """The sentence for the user, in one line."""
        return str(self.args[0])

    def to_dict(self) -> dict[str, str | None]:
        """The `error` object of the command line's JSON."""
        return {"kind": self.kind, "message": self.message, "hint": self.hint, "layer": self.layer}


class RequestError(MixdeskError):
    """What was asked or given is wrong, or unavailable here."""

    kind = "request"
    exit_status = 2


class ModelError(RequestError):
    """The file is no ONNX model, or not one this runtime can run."""

    kind = "model"


class DataError(RequestError):
    """Inputs or labels do not fit the model."""

    kind = "data"


class RecipeError(RequestError):
    """A rule names an unknown layer, precision or option."""

    kind = "recipe"


class TargetError(RequestError):
    """A target cannot be read or is not a target."""

    kind = "target"


class BundleError(RequestError):
    """The file is no bundle, or a damaged, altered or newer one."""

    kind = "bundle"


class UnavailableError(RequestError):
    """This machine or this version cannot do what was asked."""

    kind = "unavailable"


class NotFoundError(RequestError):
    """No such sample, job, model, data set or candidate."""

    kind = "not-found"


class WorkError(MixdeskError):
    """The work itself failed."""

    kind = "work"
    exit_status = 3


class RunError(WorkError):
    """The runtime refused or failed to run a model."""

    kind = "run"


class CrashedError(WorkError):
    """A child process died."""

    kind = "crashed"


class StoppedError(WorkError):
    """Somebody pressed Stop."""

    kind = "stopped"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns " Did you mean 'x'?" for the nearest known name, or an empty string."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean '{near[0]}'?" if near else ""
