"""Several files stored as one: a folder `<sha256>.parts` with a manifest, and the files as they were named.

The hash is that of the manifest's content (`folder_sha256`), so the same files are the same thing wherever they lie.
A folder is there once its manifest is: it is written last.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Self

from core.errors import RequestError
from core.store.digest import folder_sha256

SUFFIX = ".parts"
MANIFEST = "manifest.json"
#: The files lie one level below the manifest: any name may then be theirs.
FILES = "files"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Name -> (hash, size in bytes) of each file; `main` names the one that refers to the others."""

    main: str
    files: Mapping[str, tuple[str, int]]

    @property
    def sha256(self) -> str:
        """The hash of all of them together."""
        others = {name: sha256 for name, (sha256, _) in self.files.items() if name != self.main}
        return folder_sha256(self.files[self.main][0], others)

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size in self.files.values())

    def to_json(self) -> bytes:
        """As it is stored."""
        files = {name: {"sha256": sha256, "bytes": size} for name, (sha256, size) in sorted(self.files.items())}
        return json.dumps({"version": 1, "main": self.main, "files": files}).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """Reads a stored manifest.

        Raises:
            ValueError: it is damaged.
        """
        try:
            read: dict[str, Any] = json.loads(content)
            files = {name: (str(file["sha256"]), int(file["bytes"])) for name, file in read["files"].items()}
            manifest = cls(str(read["main"]), files)
            check_names(files, manifest.main)
        except (KeyError, TypeError, AttributeError, RequestError) as e:
            raise ValueError("not a manifest") from e
        return manifest


def check_names(names: Iterable[str], main: str) -> None:
    """Makes sure that every file stays in its folder.

    Raises:
        RequestError: a name that is absolute, leads out of the folder or is none; or `main` is not among them.
    """
    known = list(names)
    for name in known:
        path = PurePosixPath(name)
        outside = path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name
        if outside or not path.parts or str(path) != name:
            raise RequestError(f"{name!r} is not the name of a file inside a folder.")
    if main not in known:
        raise RequestError(f"The main file {main!r} is not among the files given.")
