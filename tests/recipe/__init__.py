"""Tests of core.recipe."""
