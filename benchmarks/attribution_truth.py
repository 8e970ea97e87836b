"""The truth of an attribution: what a model saves that ends earlier, against what its profile gave to the rest.

A profile is taken, then the whole and the shortened model are measured, each in a process of its own, in turn and
without the profiler. That is done three times, since a process is faster or slower by where its memory happens to lie,
and the middle saving counts. A machine may be faster in one of these than in the other, so the attributed time is
brought to the level of the pair: times the whole model's latency there over that in the profile.

A layout change or conversion is counted with the removed layers where the next layer that runs is one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.cutting import Cut, crossings, cut_behind
from benchmarks.subjects import Subject
from core.intake.dataset import Split
from core.intake.scopes import is_constant
from core.measure.paired import measure_pair
from core.measure.profile import profile_model
from core.measure.profiled import Profile
from core.runtime.settings import SessionSettings

TRUTH_BOUND = 0.15
#: Cuts leave at least this share of the time on either side: smaller differences are noise.
_MARGIN = 0.15
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Truth:
    """One cut: the difference that was measured, and what the profile says of the removed layers (with raw times).

    `saved` is the share of the latency that was saved in each round.
    """

    name: str
    behind: str
    layers: int
    removed: int
    crossing: int
    whole_ms: float
    cut_ms: float
    saved: tuple[float, ...]
    attributed_ms: float
    recorded_ms: float

    @property
    def difference_ms(self) -> float:
        """What the shorter model saves."""
        return self.whole_ms - self.cut_ms

    @property
    def off(self) -> float:
        """Attributed over measured, less one."""
        return self.attributed_ms / self.difference_ms - 1 if self.difference_ms > 0 else float("inf")

    @property
    def recorded_off(self) -> float:
        """The same with times as the profiler recorded them."""
        return self.recorded_ms / self.difference_ms - 1 if self.difference_ms > 0 else float("inf")

    @property
    def holds(self) -> bool:
        """Whether they agree."""
        return abs(self.off) <= TRUTH_BOUND

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {**asdict(self), "difference_ms": self.difference_ms, "off": self.off, "holds": self.holds}


def measure_truth(subject: Subject, settings: SessionSettings, *, cuts: int, seconds: float) -> Iterator[Truth]:
    """Cuts the subject at `cuts` places that divide its time evenly, and measures each."""
    whole = subject.model.serialize()
    indices = subject.dataset.indices_or_all(Split.EVALUATION)
    profile = profile_model(subject.model, subject.table, subject.dataset, settings=settings)
    for position in _positions(subject, profile, cuts):
        cut = cut_behind(subject.model.ir, position)
        pairs = [
            measure_pair(whole, cut.model, subject.dataset, indices, settings=settings, budget_s=seconds, seed=seed)
            for seed in range(_ROUNDS)
        ]
        pair = sorted(pairs, key=lambda pair: pair.ratio)[_ROUNDS // 2]
        level = pair.before_ms / profile.wall.median_ms
        yield Truth(
            name=subject.name,
            behind=cut.behind,
            layers=len(subject.table),
            removed=len(cut.removed),
            crossing=cut.crossing,
            whole_ms=pair.before_ms,
            cut_ms=pair.after_ms,
            attributed_ms=level * removed_ms(profile, cut, raw=False),
            saved=tuple(1 - 1 / pair.ratio for pair in pairs),
            recorded_ms=level * removed_ms(profile, cut, raw=True),
        )


def removed_ms(profile: Profile, cut: Cut, *, raw: bool) -> float:
    """Milliseconds that a profile gives to the removed layers and to what lies between them."""
    layers = sum(row.raw_ms if raw else row.ms for row in profile.layers if row.layer.id in cut.removed)
    shares = _bucket_shares(profile, cut)
    return layers + sum(shares.get(name, 0.0) * ms for name, ms in profile.buckets.items())


def _bucket_shares(profile: Profile, cut: Cut) -> Mapping[str, float]:
    """Of each bucket, the share of its time that was spent among the removed layers in the run that is shown."""
    inside: dict[str, float] = defaultdict(float)
    whole: dict[str, float] = defaultdict(float)
    next_removed = True
    for kernel in reversed(profile.timeline.kernels):
        if kernel.bucket is None:
            next_removed = any(layer in cut.removed for layer in kernel.layers)
            continue
        whole[kernel.bucket] += kernel.ms
        inside[kernel.bucket] += kernel.ms if next_removed else 0.0
    return {name: inside[name] / ms for name, ms in whole.items() if ms > 0}


def _positions(subject: Subject, profile: Profile, cuts: int) -> list[int]:
    """Borders of blocks, where the fewest tensors cross: one in each of `cuts` parts of the time, if there is one."""
    ids = [node.name or "" for node in subject.model.ir.graph if not is_constant(node)]
    spent: dict[str, float] = defaultdict(float)
    for row in profile.layers:
        spent[row.layer.scope[0] if row.layer.scope else row.layer.id] += row.ms
    share, so_far = [], 0.0
    for layer in ids:
        so_far += spent[layer] / max(sum(row.ms for row in profile.layers), 1e-9)
        share.append(so_far)
    crossing = crossings(subject.model.ir)
    fewest = min((crossing[at] for at, here in enumerate(share) if _MARGIN <= here <= 1 - _MARGIN), default=0)
    width = (1 - 2 * _MARGIN) / cuts
    found = []
    for step in range(cuts):
        low = _MARGIN + step * width
        inside = [at for at, here in enumerate(share) if low <= here <= low + width and crossing[at] == fewest]
        found += [min(inside, key=lambda at: abs(share[at] - low - width / 2))] if inside else []
    return found
