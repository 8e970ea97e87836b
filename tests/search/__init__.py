"""Tests of core.search."""
