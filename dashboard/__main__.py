"""Starts the dashboard: `python -m dashboard [--host 127.0.0.1] [--port 8501] [--workspace DIR] [--folder DIR]`."""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from streamlit import config

from core.errors import MixdeskError, RequestError
from core.intake.folders import FOLDERS_VARIABLE, check_folder
from core.store.workspace import Workspace
from dashboard.app import create_app
from dashboard.options import DEFAULT_HOST, DEFAULT_PORT, LOOPBACK, server_options


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until it is stopped; prints the address once the port is known. Returns the exit status."""
    asked = _parser().parse_args(arguments)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("mixdesk").setLevel(logging.INFO)
    try:
        _check_host(asked.host)
        _allow(asked.folder)
        Workspace.open(asked.workspace).close()  # what is wrong with it is told before the server starts
        app = create_app(workspace=asked.workspace, host=asked.host, ready=lambda: _announce(asked.host))
        app.run(config=server_options(host=asked.host, port=asked.port))
    except MixdeskError as error:
        sys.stderr.write(f"{error.message} {error.hint or ''}".rstrip() + "\n")
        return error.exit_status
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dashboard", description="The Mixdesk dashboard.")
    parser.add_argument("--host", default=DEFAULT_HOST, help=f"address to listen on (default: {DEFAULT_HOST})")
    parser.add_argument(
        "--port", type=_port, help=f"port to listen on (default: the first free one from {DEFAULT_PORT}; 0: any)"
    )
    parser.add_argument("--workspace", type=Path, metavar="DIR", help="where models, jobs and results are kept")
    parser.add_argument(
        "--folder", type=Path, action="append", default=[], metavar="DIR", help="models here may be opened; repeatable"
    )
    return parser


def _allow(folders: Sequence[Path]) -> None:
    """Adds folders to those that the environment allows; jobs see them there as well."""
    given = [str(check_folder(folder)) for folder in folders]
    known = os.environ.get(FOLDERS_VARIABLE, "")
    if given:
        os.environ[FOLDERS_VARIABLE] = os.pathsep.join([*filter(None, [known]), *given])


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"'{text}' is no port: give a number from 0 to 65535")
    return int(text)


def _check_host(host: str) -> None:
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        hint = "Give an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them."
        raise RequestError(f"'{host}' is no address to listen on.", hint=hint) from error


def _announce(host: str) -> None:
    shown = f"[{host}]" if ":" in host else host
    sys.stdout.write(f"Mixdesk is running at http://{shown}:{config.get_option('server.port')}  (stop with Ctrl+C)\n")
    if host not in LOOPBACK:
        sys.stdout.write("Everybody who reaches this address can use it: there is no login yet.\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
