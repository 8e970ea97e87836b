"""Tests of core.graph."""
