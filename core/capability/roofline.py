"""The probe of the roofline: peaks of arithmetic and bandwidths of memory on this machine; takes seconds."""

from __future__ import annotations

from datetime import UTC, datetime

from core.capability.bandwidth import measure_bandwidth
from core.capability.caches import cache_levels
from core.capability.peaks import measure_peaks
from core.capability.saturation import saturates
from core.measure.roofline import Roofline
from core.progress import Part, Progress
from core.runtime.settings import SessionSettings


def probe_roofline(settings: SessionSettings, progress: Progress) -> Roofline:
    """Measures what this machine reaches with these threads.

    Args:
        settings: threads and provider of the sessions that the roofline will be held against.
        progress: is told how far it is.

    Raises:
        RunError: the runtime fails on a product of two matrices.
    """
    levels = cache_levels()
    progress.phase("Measure memory", start=0.0, end=0.6)
    bandwidth = measure_bandwidth(levels, settings.threads, progress)
    part = Part(progress, start=0.6, end=1.0)
    part.phase("Measure peak arithmetic", start=0.0, end=1.0)
    peaks = measure_peaks(settings, part, saturates=saturates(settings))
    return Roofline(
        gflops={precision: peak.gflops for precision, peak in peaks.items()},
        gbytes_per_s=bandwidth.memory,
        caches=bandwidth.caches,
        threads=settings.threads,
        how={**{precision: peak.how for precision, peak in peaks.items()}, "memory": bandwidth.how},
        levels=levels,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )
