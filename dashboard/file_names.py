"""Names of files that browsers save: one safe word of letters, digits, - and . whatever things are called here."""

from __future__ import annotations

import re

_ODD = re.compile(r"(?:[^\w.-]|_)+")
_DASHES = re.compile(r"-*\.*-[-.]*")


def slug(*parts: str, otherwise: str = "mixdesk") -> str:
    """The parts as one name without ending: ("my net", "accuracy>=99%") is "my-net-accuracy-99".

    Args:
        parts: what the file is of; empty ones are left out.
        otherwise: the name where nothing is left.
    """
    words = _ODD.sub("-", "-".join(part for part in parts if part))
    return _DASHES.sub("-", words).strip("-.") or otherwise
