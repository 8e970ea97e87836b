"""Attribution: does every microsecond have a home, do the figures hold, and are they true.

    python -m benchmarks.attribution coverage [NAME ...] [--runs N] [--json FILE]
    python -m benchmarks.attribution truth [NAME ...] [--cuts 4] [--seconds 4] [--json FILE]
    python -m benchmarks.attribution stability [NAME ...] [--profiles 2] [--json FILE]

`coverage` profiles every sample and every sound model of the zoo: at least 99 % of the kernel time lies on a layer or
in a named bucket, and layers, buckets and gap add up to the instrumented run as measured within 1 %.

`truth` cuts a model behind a layer and measures both, paired and interleaved, without the profiler: the difference must
agree within 15 % with the time that the profile gives the removed layers (and the layout changes and conversions among
them).

`stability` profiles a model more than once: the share of each layer above 2 % agrees within 10 % of itself.

Each prints a table, writes JSON where asked, and ends with 1 where a figure is out of its bounds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.attribution_truth import TRUTH_BOUND, Truth, measure_truth
from benchmarks.subjects import Subject, open_subject, subject_names
from core.errors import MixdeskError
from core.measure.profile import profile_model
from core.measure.profiled import Profile
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings

SETTINGS = SessionSettings()
LEAST_ATTRIBUTED = 0.99
SUM_BOUND = 0.01
SHARE_BOUND = 0.10
LARGE_SHARE = 0.02

_TRUTH_OF = ("digits-cnn", "subjectivity-text", "efficientnet_lite0")
_STABILITY_OF = (
    "digits-cnn",
    "subjectivity-text",
    "ppocr-cls",
    "ppocr-det",
    "silero-vad",
    "efficientnet_lite0",
    "magika_v3_3",
    "thai_attacut_sc",
    "romanizer_decoder",
)


@dataclass(frozen=True, slots=True)
class Coverage:
    """One model's profile, seen as a whole. Milliseconds per run; `why` where it could not be profiled."""

    name: str
    layers: int = 0
    kernels: float = 0.0
    wall_ms: float = 0.0
    instrumented_run_ms: float = 0.0
    layers_ms: float = 0.0
    buckets_ms: float = 0.0
    gap_ms: float = 0.0
    profiler_ms: float = 0.0
    overhead: float = 1.0
    attributed_share: float = 0.0
    why: str = ""

    @property
    def sum_ratio(self) -> float:
        """Layers, buckets and gap over the run as measured."""
        whole = self.layers_ms + self.buckets_ms + self.gap_ms
        return whole / self.instrumented_run_ms if self.instrumented_run_ms else 0.0

    @property
    def holds(self) -> bool:
        """Whether both bounds are kept."""
        return not self.why and self.attributed_share >= LEAST_ATTRIBUTED and abs(self.sum_ratio - 1) <= SUM_BOUND

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {**asdict(self), "sum_ratio": self.sum_ratio, "holds": self.holds}


@dataclass(frozen=True, slots=True)
class Stability:
    """One model's layers above 2 %: how far two profiles differ, relative to their mean."""

    name: str
    wall_ms: tuple[float, ...]
    layers: int
    median_difference: float
    worst_difference: float
    worst_layer: str
    beyond: int

    @property
    def holds(self) -> bool:
        """Whether every layer agrees."""
        return self.beyond == 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {**asdict(self), "holds": self.holds}


def cover(name: str, runs: int | None) -> Coverage:
    """Profiles one model."""
    try:
        subject = open_subject(name)
        profile = _profile(subject, 0, runs)
    except MixdeskError as error:
        return Coverage(name, why=error.message)
    return Coverage(
        name=name,
        layers=len(subject.table),
        kernels=profile.profiler.kernels,
        wall_ms=profile.wall.median_ms,
        instrumented_run_ms=profile.instrumented_run_ms,
        layers_ms=sum(row.ms for row in profile.layers),
        buckets_ms=sum(profile.buckets.values()),
        gap_ms=profile.gap_ms,
        profiler_ms=profile.profiler.ms,
        overhead=profile.overhead,
        attributed_share=profile.attributed_share,
    )


def compare_profiles(name: str, profiles: Sequence[Profile]) -> Stability:
    """How far the shares of large layers differ between the two profiles that differ most."""
    shares = [{row.layer.id: row.share for row in profile.layers} for profile in profiles]
    differences = {}
    for layer in shares[0]:
        values = [found[layer] for found in shares]
        if max(values) > LARGE_SHARE:
            differences[layer] = (max(values) - min(values)) / fmean(values)
    worst = max(differences, key=lambda layer: differences[layer], default="")
    return Stability(
        name=name,
        wall_ms=tuple(profile.wall.median_ms for profile in profiles),
        layers=len(differences),
        median_difference=median(differences.values()) if differences else 0.0,
        worst_difference=differences.get(worst, 0.0),
        worst_layer=worst,
        beyond=sum(difference > SHARE_BOUND for difference in differences.values()),
    )


def _profile(subject: Subject, seed: int, runs: int | None = None) -> Profile:
    return profile_model(subject.model, subject.table, subject.dataset, settings=SETTINGS, seed=seed, runs=runs)


def main() -> int:
    """Runs what the command line of this script asks for."""
    options = _options()
    rows = options.work(options)
    print(options.table(rows))
    failed = [row.name for row in rows if not row.holds]
    print(f"{len(rows)} lines, {len(failed)} out of bounds{': ' if failed else ''}{', '.join(failed)}")
    if options.json:
        document = {"rows": [row.to_dict() for row in rows], "conditions": read_conditions(SETTINGS).to_dict()}
        options.json.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attribution", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    coverage = _command(commands, "coverage", _cover_all, _coverage_table)
    coverage.add_argument("--runs", type=int, help="runs of each session; default: as many as the budget allows")
    truth = _command(commands, "truth", _truth_all, _truth_table)
    truth.add_argument("--cuts", type=int, default=4, help="how many cuts of each model")
    truth.add_argument("--seconds", type=float, default=4.0, help="of each of three paired measurements")
    stability = _command(commands, "stability", _stability_all, _stability_table)
    stability.add_argument("--profiles", type=int, default=2, help="profiles of each model")
    return parser.parse_args()


def _command(
    commands: Any,
    name: str,
    work: Callable[[argparse.Namespace], Sequence[Any]],
    table: Callable[[Sequence[Any]], str],
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name)
    parser.add_argument("names", nargs="*", metavar="NAME", help="samples and models of the zoo")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    parser.set_defaults(work=work, table=table)
    return parser


def _cover_all(options: argparse.Namespace) -> list[Coverage]:
    return [_told(cover(name, options.runs)) for name in options.names or subject_names()]


def _truth_all(options: argparse.Namespace) -> list[Truth]:
    return [
        _told(row)
        for name in options.names or _TRUTH_OF
        for row in measure_truth(open_subject(name), SETTINGS, cuts=options.cuts, seconds=options.seconds)
    ]


def _stability_all(options: argparse.Namespace) -> list[Stability]:
    rows = []
    for name in options.names or _STABILITY_OF:
        subject = open_subject(name)
        profiles = [_profile(subject, seed) for seed in range(options.profiles)]
        rows.append(_told(compare_profiles(name, profiles)))
    return rows


def _told(row: Any) -> Any:
    """Says on standard error that one line is there."""
    print(f"{row.name}: {'holds' if row.holds else 'out of bounds'}", file=sys.stderr, flush=True)
    return row


def _coverage_table(rows: Sequence[Coverage]) -> str:
    lines = [
        "| model | layers | kernels | plain ms | profiled ms | layers | buckets | gap | sum | overhead | owned | |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row.name} | {row.layers} | {row.kernels:.0f} | {row.wall_ms:.3f} | {row.instrumented_run_ms:.3f} "
        f"| {row.layers_ms:.3f} | {row.buckets_ms:.3f} | {row.gap_ms:.3f} | {row.sum_ratio:.2%} | {row.overhead:.2f}x "
        f"| {row.attributed_share:.2%} | {row.why or ('' if row.holds else 'out of bounds')} |"
        for row in rows
    ]
    return "\n".join(lines)


def _truth_table(rows: Sequence[Truth]) -> str:
    lines = [
        "| model | cut behind | removed | saved | measured ms | attributed ms | recorded ms | off | recorded off | |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    lines += [
        f"| {row.name} | {row.behind} | {row.removed} of {row.layers} "
        f"| {', '.join(f'{share:.0%}' for share in row.saved)} | {row.difference_ms:.3f} "
        f"| {row.attributed_ms:.3f} | {row.recorded_ms:.3f} | {row.off:+.1%} | {row.recorded_off:+.1%} "
        f"| {'' if row.holds else f'beyond {TRUTH_BOUND:.0%}'} |"
        for row in rows
    ]
    return "\n".join(lines)


def _stability_table(rows: Sequence[Stability]) -> str:
    lines = [
        "| model | plain ms | layers above 2 % | median difference | worst | layer | beyond 10 % |",
        "|---|---|--:|--:|--:|---|--:|",
    ]
    lines += [
        f"| {row.name} | {', '.join(f'{ms:.3f}' for ms in row.wall_ms)} | {row.layers} | {row.median_difference:.1%} "
        f"| {row.worst_difference:.1%} | {row.worst_layer} | {row.beyond} |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
