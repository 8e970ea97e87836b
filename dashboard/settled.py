"""Settled: what stays alive for long is left out of the garbage collector's rounds.

Streamlit collects after every run of a page, while the last elements still wait to be sent. Modules and documents of
jobs are hundreds of thousands of objects that nothing is freed of, and looking at all of them takes up to a second.
"""

from __future__ import annotations

import gc
import threading

#: After so many times, what has died since is looked for among all that was settled.
_THOROUGH_EVERY = 16

_lock = threading.Lock()
_times = 0


def settle() -> None:
    """Takes all that is alive now for lasting.

    What is no longer used is still freed; only what dies in a ring of references stays until the next thorough round.
    """
    global _times  # noqa: PLW0603 - one collector in a process
    with _lock:
        _times += 1
        if _times % _THOROUGH_EVERY == 1:
            gc.unfreeze()
            gc.collect()
        gc.freeze()
