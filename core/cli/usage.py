"""Usage errors: what the option parser found wrong, told in our words and as our error."""

from __future__ import annotations

import typer

from core.errors import RequestError, did_you_mean


def usage_error(error: typer.TyperException) -> RequestError:
    """Turns the parser's exception into a request error in one line, with the command whose help says more."""
    return RequestError(_sentence(error), hint=_hint(error))


def _sentence(error: typer.TyperException) -> str:
    option = getattr(error, "option_name", None)
    if isinstance(option, str) and str(error).startswith("No such option"):
        return f"There is no option '{option}'.{did_you_mean(option, getattr(error, 'possibilities', None) or ())}"
    return str(error.format_message())


def _hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "mixdesk"
    return f"'{path} --help' tells what it takes."
