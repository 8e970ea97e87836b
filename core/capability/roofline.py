"""The probe of the roofline: peaks of arithmetic and bandwidths of memory on this machine; takes seconds."""

from __future__ import annotations

from datetime import UTC, datetime

from core.capability.bandwidth import measure_bandwidth
from core.capability.caches import cache_levels
from core.capability.peaks import measure_peaks
from core.capability.saturation import saturates
from core.measure.roofline import Roofline
from core.progress import Progress
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings


def probe_roofline(settings: SessionSettings, progress: Progress) -> Roofline:
    """Measures what this machine reaches with these threads.

    Arithmetic twice, with seconds between: other machines on the same hardware may slow one of the two.

    Args:
        settings: threads and provider of the sessions that the roofline will be held against.
        progress: is told how far it is.

    Raises:
        RunError: the runtime fails on a product of two matrices.
    """
    levels, load = cache_levels(), read_conditions(settings).load_average
    saturating = saturates(settings)
    progress.phase("Measure peak arithmetic", start=0.0, end=0.2)
    peaks = measure_peaks(settings, progress, saturates=saturating)
    progress.phase("Measure memory", start=0.2, end=0.8)
    bandwidth = measure_bandwidth(levels, settings.threads, progress)
    progress.phase("Measure peak arithmetic again", start=0.8, end=1.0)
    for precision, peak in measure_peaks(settings, progress, saturates=saturating).items():
        if precision not in peaks or peak.gflops > peaks[precision].gflops:
            peaks[precision] = peak
    return Roofline(
        gflops={precision: peak.gflops for precision, peak in peaks.items()},
        gbytes_per_s=bandwidth.memory,
        caches=bandwidth.caches,
        threads=settings.threads,
        how={**{precision: peak.how for precision, peak in peaks.items()}, "memory": bandwidth.how},
        levels=levels,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        load_average=load,
    )
