"""Intake: a file becomes a checked, repaired model; arrays become data that fit it."""
