"""Entry: one call of `mixdesk`, from arguments to exit status; a failure is one sentence, never a stack trace."""

from __future__ import annotations

import errno
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer

from core.cli import answer
from core.cli.app import app
from core.cli.usage import usage_error
from core.errors import MixdeskError, RequestError, StoppedError, WorkError

_SHOWN_NAME = 60
_INTERRUPTED = 130
"""What typer answers when Ctrl-C arrives outside a job."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: those after the program's name; None takes them from the process.

    Returns:
        0 done; 1 a target or gate was not met; 2 the request was wrong or is unavailable here; 3 the work failed.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    logging.getLogger().addHandler(logging.NullHandler())  # else warnings of libraries reach standard error bare
    try:
        status = app(args=given, prog_name="mixdesk", standalone_mode=False)
    except MixdeskError as error:
        return answer.refuse(error, as_json=as_json)
    except typer.TyperException as error:
        return answer.refuse(usage_error(error), as_json=as_json)
    except (typer.Abort, KeyboardInterrupt):
        return answer.refuse(StoppedError("Stopped."), as_json=as_json)
    except BrokenPipeError:
        return _reader_left()
    except Exception as error:  # noqa: BLE001 - the last resort: a defect of ours
        return answer.refuse(_path_too_long(error) or _unexpected(error), as_json=as_json)
    if status == _INTERRUPTED:
        return answer.refuse(StoppedError("Stopped."), as_json=as_json)
    return int(status or 0)


def _path_too_long(error: Exception) -> RequestError | None:
    """What the system says of a name that no file can have; wherever it is asked, it was given by the user."""
    if not isinstance(error, OSError) or error.errno != errno.ENAMETOOLONG:
        return None
    shown = str(error.filename)
    shown = shown if len(shown) <= _SHOWN_NAME else f"{shown[:_SHOWN_NAME]}..."
    return RequestError(f"There is no file '{shown}': the name is too long for this system.")


def _unexpected(error: Exception) -> WorkError:
    """A defect of ours: the trace goes to a file, the user gets its name."""
    handle, name = tempfile.mkstemp(prefix="mixdesk-", suffix=".log")
    with os.fdopen(handle, "w") as log:
        traceback.print_exception(error, file=log)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return WorkError(f"Something went wrong inside Mixdesk ({what}).", hint=f"The details are in {Path(name)}.")


def _reader_left() -> int:
    """The reader of our output closed it (`| head`): nothing more can be said there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 3
