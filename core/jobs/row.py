"""The rows that jobs are told in (their home is the store)."""

from core.store.rows import FINAL_STATES, JobRow, JobState, Partial

__all__ = ["FINAL_STATES", "JobRow", "JobState", "Partial"]
