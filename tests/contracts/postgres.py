"""A throw-away PostgreSQL server on the loopback, for the contract tests of the store."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from tests.conftest import missing_service

START_TIMEOUT_S = 30.0


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a running server, without a database's name."""
    binaries = find_binaries()
    if binaries is None:
        missing_service("no PostgreSQL here (initdb and postgres are neither on the path nor in /usr/lib/postgresql)")
    if importlib.util.find_spec("psycopg") is None:
        missing_service("psycopg is not installed (the extra 'postgres')")
    assert binaries is not None
    folder = Path(tempfile.mkdtemp(prefix="mixdesk-postgres-"))
    try:
        with_user = _unprivileged(folder)
        _initialise(binaries / "initdb", folder / "data", with_user)
        port = _free_port()
        server = _start(binaries / "postgres", folder, port, with_user)
        try:
            address = f"postgresql://mixdesk@127.0.0.1:{port}"
            _await_server(address, server)
            yield address
        finally:
            _end(server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of an empty database."""
    address = f"{postgres_server}/postgres"
    engine = create_engine(_with_driver(address))
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return address


def find_binaries() -> Path | None:
    """The folder with initdb and postgres: of the path, else the newest that Debian's packages installed."""
    folders = [Path(found).resolve().parent for found in [shutil.which("postgres")] if found]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def _unprivileged(folder: Path) -> str | None:
    """The user to start the server as, who then owns the folder: it refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = next((name for name in ("postgres", "nobody") if name in names), None)
    if user is None:
        missing_service("PostgreSQL does not run as root, and there is no other user")
    assert user is not None
    shutil.chown(folder, user)
    return user


def _initialise(initdb: Path, data: Path, user: str | None) -> None:
    options = ["--username=mixdesk", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
    command = [str(initdb), "-D", str(data), *options]
    subprocess.run(command, check=True, capture_output=True, user=user, cwd=data.parent)


def _start(postgres: Path, folder: Path, port: int, user: str | None) -> subprocess.Popen[bytes]:
    command = [str(postgres), "-D", str(folder / "data"), "-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-F"]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=folder, start_new_session=True
    )


def _await_server(address: str, server: subprocess.Popen[bytes]) -> None:
    engine = create_engine(_with_driver(f"{address}/postgres"))
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            engine.connect().close()
            break
        except OperationalError:
            assert server.poll() is None, "the PostgreSQL server ended at once"
            assert time.monotonic() < deadline, "the PostgreSQL server did not come up"
            time.sleep(0.1)
    engine.dispose()


def _end(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)  # closes the connections that are still open
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _with_driver(address: str) -> str:
    return address.replace("postgresql://", "postgresql+psycopg://")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
