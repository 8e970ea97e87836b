"""So far: what a profile that still runs already knows, published as pieces of its document.

Each piece holds keys of the `profile` document; later pieces replace what earlier ones said. A job that fails or is
stopped keeps them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from core.graph.layer import LayerTable
from core.measure.assemble import wall_of
from core.measure.instrumented import Both
from core.measure.profiled import Cold, LayerTime, Memory
from core.progress import Progress
from core.runtime.conditions import Conditions

KIND = "profile"
#: Wall times are published no more often than this.
EVERY_S = 1.0
_UNKNOWN = dict.fromkeys(("ms", "share", "bytes", "limited_by", "executes_as", "runs", "precision"))


class SoFar:
    """Publishes pieces to a progress."""

    def __init__(
        self, progress: Progress, conditions: Conditions, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._progress = progress
        self._conditions = conditions
        self._clock = clock
        self._published_s = clock()

    def structure(self, table: LayerTable) -> None:
        """The layers, before anything ran."""
        rows = [
            {"id": layer.id, "group": layer.group, "op": layer.op_type, "macs": layer.macs, **_UNKNOWN}
            for layer in table
        ]
        self._publish({"layers": rows, "conditions": self._conditions.to_dict()})

    def memory(self, memory: Memory) -> None:
        """What it holds."""
        self._publish({"memory": memory.to_dict()})

    def cold(self, cold: Cold) -> None:
        """What opening it took."""
        self._publish({"cold": asdict(cold)})

    def runs(self, timed: Sequence[Both]) -> None:
        """The wall time of the runs so far, if the last one was published long enough ago."""
        if self._clock() - self._published_s >= EVERY_S:
            self._publish({"wall_ms": wall_of(timed, self._conditions).to_dict(), "runs": len(timed)})

    def layers(self, rows: Sequence[LayerTime]) -> None:
        """The times of layers in the runs so far."""
        self._publish({"layers": [row.to_dict() for row in rows]})

    def _publish(self, piece: dict[str, Any]) -> None:
        self._published_s = self._clock()
        self._progress.partial(KIND, piece)
