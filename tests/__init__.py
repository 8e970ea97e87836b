"""Tests mirror the source: core/graph/groups.py is tested by tests/graph/test_groups.py."""
