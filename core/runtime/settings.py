"""How a session is opened. Defaults are those under which speed-ups are reported."""

from __future__ import annotations

from dataclasses import dataclass

CPU = "CPUExecutionProvider"


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Threads and provider of a session; spinning is off so that two sessions do not disturb each other.

    With `fallback`, what the provider does not take runs on the processor; without, such a model is refused.
    """

    threads: int = 1
    provider: str = CPU
    spinning: bool = False
    fallback: bool = True
