"""Solo sensitivity: each group lowered alone, everything else untouched, and the noise that reaches the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import RunError
from core.measure.noise import sqnr_db
from core.progress import Progress


@dataclass(frozen=True, slots=True)
class SoloScore:
    """What lowering one group alone costs: relative noise power at the outputs, and the same as SQNR in dB."""

    group: str
    noise: float

    @property
    def sqnr_db(self) -> float:
        """The score as a signal-to-noise ratio."""
        return sqnr_db(self.noise)

    def to_dict(self) -> dict[str, Any]:
        """One published score."""
        return {"group": self.group, "precision": "int8", "sqnr_db": self.sqnr_db}


def solo_scores(
    groups: Sequence[str],
    noise_of_set: Callable[[frozenset[str]], float],
    *,
    progress: Progress,
    time_is_up: Callable[[], bool] = lambda: False,
) -> dict[str, SoloScore]:
    """Scores every group; a group whose model the runtime refuses gets infinite noise.

    Args:
        groups: group ids.
        noise_of_set: builds, runs and compares the model with exactly these groups in int8.
        progress: each score is published as the partial "solo".
        time_is_up: asked before each group; what is not scored by then is left out.
    """
    found: dict[str, SoloScore] = {}
    for done, group in enumerate(groups, 1):
        if time_is_up():
            break
        try:
            score = SoloScore(group, noise_of_set(frozenset((group,))))
        except RunError:
            score = SoloScore(group, float("inf"))
        found[group] = score
        progress.partial("solo", score.to_dict())
        progress.step(done, len(groups), group)
    return found
