"""Tests of core.intake."""
