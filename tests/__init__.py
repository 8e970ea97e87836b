"""Tests mirror the source."""
