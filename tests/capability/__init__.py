"""Tests of core.capability."""
