"""Asks a set of routes for one path, without a server."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.applications import Starlette
from starlette.routing import BaseRoute


@dataclass
class Answer:
    """Status, headers (lower case) and body of an answer."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


def get(routes: Sequence[BaseRoute], path: str) -> Answer:
    """What the routes answer to GET `path`."""
    answer = Answer()

    asked = False

    async def receive() -> MutableMapping[str, Any]:
        nonlocal asked
        if asked:
            await anyio.sleep_forever()
        asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        else:
            answer.body += message.get("body", b"")

    async def ask() -> None:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        await Starlette(routes=list(routes))(scope, receive, send)

    # a thread of its own: the browser tests may have left an event loop running in this one
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, ask).result()
    return answer
