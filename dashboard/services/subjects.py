"""Subject: what is on the desk, and the parameters that every job on it shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.store.rows import DatasetRow, ModelRow

#: Under which speed-ups are reported: one thread, one sample at a time.
DEFAULTS: Mapping[str, Any] = {"threads": 1, "batch": 1, "seed": 0}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is on the desk: a model, the data it is judged with (None: synthetic inputs), and how it runs.

    `shapes` are those of synthetic inputs. `outputs` are the ones that count, with their weights (none: all, each 1).
    """

    model: ModelRow
    data: DatasetRow | None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    threads: int = DEFAULTS["threads"]
    batch: int = DEFAULTS["batch"]
    outputs: Mapping[str, float] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that every job on this subject shares."""
        shared: dict[str, Any] = {
            "model": self.model.sha256,
            "data": None if self.data is None else self.data.sha256,
            **DEFAULTS,
            "threads": self.threads,
            "batch": self.batch,
        }
        if self.data is None and self.shapes:
            shared["shapes"] = {name: list(shape) for name, shape in self.shapes.items()}
        if self.outputs:
            shared["outputs"] = dict(self.outputs)
        return shared
