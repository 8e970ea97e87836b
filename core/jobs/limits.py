"""What a job may take: memory, and time to end itself when it is told to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

import psutil

from core.errors import RequestError

MEMORY_VARIABLE = "MIXDESK_JOB_MEMORY_MB"
_SHARE_OF_MACHINE = 0.7


@dataclass(frozen=True, slots=True)
class Limits:
    """Resident memory of all processes of a job together (None: no limit), and seconds between SIGTERM and SIGKILL."""

    memory_bytes: int | None = None
    grace_s: float = 3.0

    @classmethod
    def from_environment(cls) -> Self:
        """What MIXDESK_JOB_MEMORY_MB allows; without it most of this machine's memory, so that no job takes it all.

        Raises:
            RequestError: the variable holds no positive whole number.
        """
        text = os.environ.get(MEMORY_VARIABLE, "")
        if not text:
            return cls(memory_bytes=int(_SHARE_OF_MACHINE * psutil.virtual_memory().total))
        if not text.isascii() or not text.isdigit() or int(text) == 0:
            raise RequestError(f"{MEMORY_VARIABLE} must be a whole number of megabytes, not {text!r}.")
        return cls(memory_bytes=int(text) * 10**6)
