"""The Python face: what scripts and notebooks call. `core` hands these names out; see docs/python.md."""
