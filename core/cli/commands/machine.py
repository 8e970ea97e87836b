"""`mixdesk machine`: what this machine executes, emulates and refuses, probed and not believed."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli import answer, options, work

RefreshOption = Annotated[bool, typer.Option("--refresh", help="Probe again instead of using what is known.")]


def machine(
    threads: options.ThreadsOption = 1,
    seed: options.SeedOption = 0,
    refresh: RefreshOption = False,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Show which operators run here in which precision, and how fast."""
    store = work.open_workspace(workspace)
    params = {"threads": threads, "seed": seed, "refresh": refresh}
    document = work.run_job(store, "machine", params, title="Probe this machine")
    from core.cli.reports.machine import report

    answer.give(document, report, as_json=as_json)
    return 0
