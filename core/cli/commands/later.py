"""Commands of later versions: known by name, refused with a sentence."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli.not_yet import refuse

#: Lets the parser take whatever options come with such a command.
ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}

RestArgument = Annotated[list[str] | None, typer.Argument(hidden=True)]


def sensitivity(rest: RestArgument = None) -> int:
    """Not in this version yet."""
    refuse("'mixdesk sensitivity'", instead="'mixdesk optimize' measures how sensitive each group is on its way.")
