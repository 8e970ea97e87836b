"""Tests of core.report."""
