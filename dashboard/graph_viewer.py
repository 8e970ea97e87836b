"""Netron under our own address: its page shows any file of the workspace and speaks to nobody else.

As shipped, Netron asks for consent to cookies, looks up the visitor's place, sends usage data and stops working half a
year after its release. Its page is served here with version 0.0.0 (it then sends nothing), a date far ahead, the
consent given, and a policy under which the browser itself refuses any connection to elsewhere.

Of a model that was profiled, Netron is handed the figures as soon as the graph is there: they stand in the side panel
of each node.

(This module must not be called `netron`: Streamlit puts the folder of the entry script on `sys.path`, where it would
stand before the package of that name.)
"""

from __future__ import annotations

import html
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

#: sha256 -> its file in the workspace, None where there is none.
FindFile = Callable[[str], Path | None]
#: sha256 -> the name to show.
NameOf = Callable[[str], str]
#: sha256 -> the model's figures as a Netron attachment, None where it was not profiled.
FiguresOf = Callable[[str], Mapping[str, Any] | None]

_POLICY = (
    "default-src 'self'; connect-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
_SERVED = (".js", ".css", ".json", ".png", ".ico")
#: Netron's grounds in the colours of our theme.
_GROUND = (
    "<style>body.welcome, body.default, .default .target { background-color: #FBFBF9; } "
    "@media (prefers-color-scheme: dark) { "
    "body.welcome, body.default, .default .target { background-color: #101418; } }</style>"
)
#: Netron takes the focus when the graph is there; the page around it must not jump then.
_CALM = """\
const focus = HTMLElement.prototype.focus;
HTMLElement.prototype.focus = function (options) { focus.call(this, { ...options, preventScroll: true }); };
"""
#: Hands Netron the figures once it has opened the model; a model without any is left alone. It waits two minutes.
_ATTACH = """\
import * as base from './base.js';
const answer = await fetch('figures.json');
if (answer.status === 200) {
  const stream = new base.BinaryStream(new Uint8Array(await answer.arrayBuffer()));
  const context = { identifier: 'figures.json', stream, error: () => {} };
  for (let round = 0; round < 600; round += 1) {
    const view = window.__view__;
    if (view && view.model && await view.attach(context)) { break; }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
"""
_SCRIPTS = '<script src="calm.js"></script>\n<script type="module" src="attach.js"></script>'
_FAR_AHEAD = "9999-01-01 00:00:00"


def netron_routes(find_file: FindFile, name_of: NameOf, figures_of: FiguresOf) -> Sequence[BaseRoute]:
    """Routes of a page /netron/<sha256>/, and below it of data/model.onnx, figures.json and Netron's own scripts."""

    def page(request: Request) -> Response:
        sha256 = request.path_params["sha256"]
        if find_file(sha256) is None:
            return PlainTextResponse("This workspace has no such file.", status_code=404)
        response = HTMLResponse(netron_page(name_of(sha256)), headers={**_HEADERS, "Cache-Control": "no-store"})
        response.set_cookie("consent", "1", path=f"/netron/{sha256}", samesite="strict")
        return response

    def model(request: Request) -> Response:
        path = find_file(request.path_params["sha256"])
        if path is None:
            return PlainTextResponse("This workspace has no such file.", status_code=404)
        return FileResponse(path, media_type="application/octet-stream", headers=_HEADERS)

    def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _assets():
            return PlainTextResponse("Netron has no such file.", status_code=404)
        return FileResponse(netron_folder() / name, headers={**_HEADERS, "Cache-Control": "max-age=3600"})

    def figures(request: Request) -> Response:
        found = figures_of(request.path_params["sha256"])
        headers = {**_HEADERS, "Cache-Control": "no-store"}
        return Response(status_code=204, headers=headers) if found is None else JSONResponse(found, headers=headers)

    def script(text: str) -> Callable[[Request], Response]:
        return lambda request: Response(text, media_type="text/javascript", headers=_HEADERS)

    return (
        Route("/netron/{sha256}/", page),
        Route("/netron/{sha256}/calm.js", script(_CALM)),
        Route("/netron/{sha256}/attach.js", script(_ATTACH)),
        Route("/netron/{sha256}/figures.json", figures),
        Route("/netron/{sha256}/data/model.onnx", model),
        Route("/netron/{sha256}/{name}", asset),
    )


def netron_page(name: str) -> str:
    """Netron's index page, silenced and pointed at the model beside it."""
    meta = (
        '<meta name="version" content="0.0.0">\n<meta name="file" content="data/model.onnx">\n'
        f'<meta name="name" content="{html.escape(name, quote=True)}">'
    )
    page = (netron_folder() / "index.html").read_text(encoding="utf-8")
    page = page.replace("</head>", f"{_GROUND}\n{_SCRIPTS}\n</head>", 1)
    page = re.sub(r'<meta name="version" content="[^"]*">', lambda _: meta, page, count=1)
    return re.sub(r'<meta name="date" content="[^"]*">', f'<meta name="date" content="{_FAR_AHEAD}">', page, count=1)


def netron_url(sha256: str) -> str:
    """Where the page for a file of the workspace is."""
    return f"/netron/{sha256}/"


@cache
def netron_folder() -> Path:
    """The folder of the installed `netron` package, found without importing it."""
    spec = importlib.util.find_spec("netron")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("The package 'netron' is not installed.", name="netron")
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def _assets() -> frozenset[str]:
    return frozenset(path.name for path in netron_folder().iterdir() if path.suffix in _SERVED)
