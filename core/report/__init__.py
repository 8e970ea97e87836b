"""Report: how results are told to people."""
