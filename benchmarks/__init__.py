"""Measured, never asserted: each module is one command that prints a table and JSON."""
