"""The console's pages and files, as routes.

``/`` is the best page there is, ``/plain`` always our own. The files are a closed list, read once
and kept: a path is a name in a table, so there is no way to ask for any other file.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

HERE = Path(__file__).parent
OURS = HERE / "assets"
FETCHED = HERE / "graphiql"

PLAIN, GRAPHIQL = "plain.html", "graphiql.html"
NEEDED = (
    "graphiql.min.css",
    "graphiql.min.js",
    "react-dom.production.min.js",
    "react.production.min.js",
)
"""Without all of these there is no GraphiQL."""

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".graphql": "text/plain; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
"""What a page may load, and from where: from here, and nothing written into the page itself."""

SCROLL_LOCK = "'sha256-nzTgYzXYDNe6BAHiiI7NNlfK8n/auuOAhh2t92YvuXo='"
"""The one style element GraphiQL writes: it keeps the page still behind an open dialog."""

POLICIES = {
    PLAIN: POLICY | {"require-trusted-types-for": "'script'", "trusted-types": "'none'"},
    # its style sheet carries its fonts and icons
    GRAPHIQL: POLICY
    | {
        "style-src": f"'self' {SCROLL_LOCK}",
        "font-src": "data:",
        "img-src": "'self' data:",
    },
}

HEADERS = {
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class File:
    """One file of the console, and the headers it goes out with."""

    body: bytes
    media_type: str
    etag: str
    policy: str

    def answer(self, known: str | None) -> Response:
        """The file, or only the word that the reader has it already."""
        headers = HEADERS | {"ETag": self.etag, "Content-Security-Policy": self.policy}
        if known == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type=self.media_type, headers=headers)


def console_routes(*, ours: Path = OURS, fetched: Path = FETCHED) -> list[Route]:
    """The routes of the console."""
    files = {path.name: _read(path) for path in (*ours.iterdir(), *_graphiql(fetched))}
    best = GRAPHIQL if set(NEEDED) <= files.keys() else PLAIN

    async def page(request: Request) -> Response:
        return files[best].answer(request.headers.get("If-None-Match"))

    async def plain(request: Request) -> Response:
        return files[PLAIN].answer(request.headers.get("If-None-Match"))

    async def file(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            return Response("no such file\n", 404, media_type="text/plain", headers=HEADERS)
        return found.answer(request.headers.get("If-None-Match"))

    return [Route("/", page), Route("/plain", plain), Route("/console/{name}", file)]


def _graphiql(directory: Path) -> list[Path]:
    """The fetched files, all of them or none."""
    found = [directory / name for name in NEEDED]
    return found if all(path.is_file() for path in found) else []


def _read(path: Path) -> File:
    body = path.read_bytes()
    policy = POLICIES.get(path.name, POLICY)
    return File(
        body,
        MEDIA_TYPES[path.suffix],
        f'"{sha256(body).hexdigest()[:32]}"',
        "; ".join(f"{name} {sources}" for name, sources in policy.items()),
    )
