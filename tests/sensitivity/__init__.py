"""Tests of core.sensitivity."""
