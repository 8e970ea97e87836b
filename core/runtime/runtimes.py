"""The runtimes that are installed here, which of their providers exist, and which of them Mixdesk uses."""

from __future__ import annotations

from dataclasses import dataclass

import onnxruntime as ort

from core.runtime.settings import SessionSettings

#: Providers that send what they compute to another machine.
_ELSEWHERE = frozenset({"AzureExecutionProvider"})


@dataclass(frozen=True, slots=True)
class Runtime:
    """An installed runtime; `unused` are providers that it has and Mixdesk leaves alone."""

    name: str
    version: str
    used: tuple[str, ...]
    unused: tuple[str, ...]


def local_providers() -> tuple[str, ...]:
    """The execution providers that compute on this machine, the one that Mixdesk uses first."""
    used = SessionSettings().provider
    others = (name for name in ort.get_available_providers() if name != used and name not in _ELSEWHERE)
    return (used, *others)


def runtimes() -> tuple[Runtime, ...]:
    """What there is: onnxruntime, with its execution providers."""
    used = SessionSettings().provider
    unused = tuple(name for name in ort.get_available_providers() if name != used)
    return (Runtime(name="onnxruntime", version=ort.__version__, used=(used,), unused=unused),)
