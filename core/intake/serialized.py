"""A model in the forms in which it can be opened; kept apart so that a process that only runs one imports no more."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from core.errors import WorkError


@dataclass(frozen=True, slots=True)
class Serialized:
    """A model as bytes. Weights that lie in other files stay there: `folder` is where, None where there are none.

    `edited` says that the bytes are not those of a file: what they name in other files may be part of what lies there.
    """

    data: bytes = field(repr=False)
    folder: Path | None = None
    edited: bool = False

    def whole(self) -> bytes:
        """The bytes, where they are all of the model.

        Raises:
            WorkError: its weights lie in other files.
        """
        if self.folder is not None:
            raise WorkError("The weights of this model lie in other files; its bytes alone are not the model.")
        return self.data


#: All forms in which a model can be opened: its bytes, its file, or bytes beside files of weights.
Openable = bytes | Path | Serialized
