"""The place: memory and disk of this machine, where the workspace lies, and the versions that everything rests on."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import psutil

import core
from dashboard.services.server import workspace

_PACKAGES = ("onnx", "onnx_ir", "numpy", "scipy", "streamlit", "sqlalchemy")


@dataclass(frozen=True, slots=True)
class Place:
    """Memory and disk in bytes; `database` is its kind and address without a password."""

    memory_bytes: int
    free_memory_bytes: int
    workspace: str
    free_disk_bytes: int
    disk_bytes: int
    database: str
    files: str


def place() -> Place:
    """As it is now."""
    here = workspace()
    memory, disk = psutil.virtual_memory(), shutil.disk_usage(here.path)
    kind = "SQLite" if here.database.is_sqlite else "PostgreSQL"
    return Place(
        memory_bytes=memory.total,
        free_memory_bytes=memory.available,
        workspace=str(here.path),
        free_disk_bytes=disk.free,
        disk_bytes=disk.total,
        database=f"{kind}, {here.database.label}",
        files=here.files.url,
    )


def versions() -> dict[str, str]:
    """Package -> version, of Mixdesk and of what its figures depend on."""
    found = {"mixdesk": core.__version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
