"""The commands of `mixdesk`, put together. Nothing heavy is imported before a command runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import core
from core.cli.commands import (
    build,
    compare,
    inspect,
    jobs,
    later,
    machine,
    optimize,
    profile,
    samples,
    sweep,
    ui,
    verify,
)
from core.errors import RequestError

_HELP_NAMES = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="mixdesk",
    help="A mixing desk for ONNX models: see where time goes, set precisions per layer, measure the result.",
    epilog="Exit status: 0 done, 1 a target was not met, 2 the request was wrong, 3 the work failed or was stopped.",
    add_completion=False,
    context_settings=_HELP_NAMES,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"mixdesk {core.__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
]


@app.callback(invoke_without_command=True)
def root(context: typer.Context, version: VersionOption = False) -> None:
    """A mixing desk for ONNX models: see where time goes, set precisions per layer, measure the result."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise RequestError("A command is missing.", hint="For example: mixdesk profile digits-cnn")


_COMMANDS: tuple[Callable[..., int], ...] = (
    ui.ui,
    inspect.inspect,
    machine.machine,
    profile.profile,
    sweep.sweep,
    build.build,
    optimize.optimize,
    compare.compare,
    verify.verify,
    samples.samples,
)
for _command in _COMMANDS:
    app.command()(_command)
app.add_typer(jobs.app)
app.command(hidden=True, context_settings=later.ANYTHING)(later.sensitivity)
