"""Tests of core.transform."""
