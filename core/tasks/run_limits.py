"""Run limits: what one run of a model may take here, from what was asked, the environment, and what a job may use."""

from __future__ import annotations

import os

import psutil

from core.errors import RequestError
from core.jobs.limits import Limits
from core.measure.first_run import RUN_LIMIT_S, RunLimits

SECONDS_VARIABLE = "MIXDESK_RUN_SECONDS"
#: The supervisor ends the whole job where it takes more than its limit: a run is ended before that.
_SHARE_OF_JOB = 0.95
_LEAST_S = 10.0
_LEAST_BYTES = 64 * 2**20


def run_limits(budget_s: float | None = None) -> RunLimits:
    """Seconds of MIXDESK_RUN_SECONDS, else 60; memory: what the job has left.

    A budget that was asked for takes the place of these seconds, but no fewer than ten: who asks for a short
    measurement of a slow model gets one.

    Raises:
        RequestError: a variable of the environment cannot be read.
    """
    seconds = _seconds_of_environment()
    if budget_s is not None:
        seconds = max(budget_s, min(_LEAST_S, seconds))
    job = Limits.from_environment().memory_bytes
    if job is None:
        return RunLimits(seconds)
    own = psutil.Process().memory_info()
    left = int(_SHARE_OF_JOB * job) - (own.rss - getattr(own, "shared", 0))
    return RunLimits(seconds, max(_LEAST_BYTES, left))


def _seconds_of_environment() -> float:
    text = os.environ.get(SECONDS_VARIABLE, "")
    if not text:
        return RUN_LIMIT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise RequestError(f"{SECONDS_VARIABLE} must be a positive number of seconds, not {text!r}.")
    return seconds
