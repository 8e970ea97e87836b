"""Not yet: what later versions bring is refused with a sentence, never ignored."""

from __future__ import annotations

from typing import NoReturn

from core.errors import UnavailableError


def refuse(what: str, *, instead: str | None = None) -> NoReturn:
    """Refuses a command or an option of a later version.

    Raises:
        UnavailableError: always.
    """
    raise UnavailableError(f"{what} is not in this version yet.", hint=instead)
