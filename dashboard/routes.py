"""What the server answers beside the pages: health, downloads, bundles and Netron, on the same port."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from core import __version__
from core.errors import MixdeskError, NotFoundError
from dashboard import services
from dashboard.graph_viewer import netron_routes


def all_routes() -> Sequence[BaseRoute]:
    """/health, /files/<sha256>/<name>, /bundles/<candidate>/<name> and /netron/<sha256>/..."""
    return (
        Route("/health", health),
        Route("/files/{sha256}/{name}", download),
        Route("/bundles/{candidate}/{name}", bundle),
        *netron_routes(services.find_file, services.file_name, services.netron_figures),
    )


def health(request: Request) -> Response:
    """Says that the server lives, and of which version."""
    return JSONResponse({"status": "ok", "mixdesk": __version__})


def download(request: Request) -> Response:
    """Hands out a file of the workspace under the name in the address; never shown, always saved."""
    path = services.find_file(request.path_params["sha256"])
    if path is None:
        return PlainTextResponse("This workspace has no such file.", status_code=404)
    return _saved(path, request.path_params["name"])


async def bundle(request: Request) -> Response:
    """Writes a candidate's bundle where it is not there yet, and hands it out; what went wrong is one sentence."""
    try:
        path = await services.write_bundle(request.path_params["candidate"])
    except MixdeskError as error:
        told = " ".join(filter(None, (error.message, error.hint)))
        return PlainTextResponse(told, status_code=404 if isinstance(error, NotFoundError) else 500)
    return _saved(path, request.path_params["name"])


def _saved(path: Path, name: str) -> Response:
    """A file that the browser saves, whatever it holds."""
    return FileResponse(
        path,
        filename=name,
        media_type="application/octet-stream",
        headers={"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"},
    )
