"""Caches: how large each level is, as the system tells."""

from __future__ import annotations

import os
import re
from pathlib import Path

_LINUX = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "": 1}


def cache_levels(folder: Path = _LINUX) -> dict[str, int]:
    """Level ("L1", "L2", "L3") -> bytes of one such cache for data; empty where the system does not tell."""
    found = {f"L{level}": size for level, size in sorted(_listed(folder))}
    return found or _configured()


def _listed(folder: Path) -> list[tuple[int, int]]:
    levels = []
    for entry in folder.glob("index*"):
        try:
            kind, level, size = ((entry / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        told = re.fullmatch(r"(\d+)([KMG]?)", size)
        if kind != "Instruction" and told and int(told[1]):
            levels.append((int(level), int(told[1]) * _UNITS[told[2]]))
    return levels


def _configured() -> dict[str, int]:
    """What the C library knows, where it does."""
    found = {}
    for level in (1, 2, 3):
        name = f"SC_LEVEL{level}_{'D' if level == 1 else ''}CACHE_SIZE"
        size = os.sysconf(name) if name in os.sysconf_names else 0
        if size > 0:
            found[f"L{level}"] = size
    return found
