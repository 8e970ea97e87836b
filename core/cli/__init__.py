"""The command line, `mixdesk`: it asks in the terminal's words, works through jobs, and answers in tables or JSON."""

from core.cli.entry import main

__all__ = ["main"]
