"""Bare repositories served over HTTP, for whoever clones by URL: ``git http-backend`` as it is.

with git_server(directory) as url:
    subprocess.run(["git", "clone", f"{url}/fleet.git"])

Nothing can be pushed to it.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

BACKEND_SECONDS = 120


@contextmanager
def git_server(root: Path, host: str = "127.0.0.1") -> Iterator[str]:
    """The repositories below ``root``, on a free port; the URL they are below."""

    class Handler(_Backend):
        directory = root

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Backend(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    directory: Path

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, said: bytes) -> None:
        done = subprocess.run(
            ["git", "http-backend"],
            input=said,
            env=self._environment(len(said)),
            capture_output=True,
            timeout=BACKEND_SECONDS,
            check=False,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = [line.partition(": ")[::2] for line in head.decode("latin-1").split("\r\n")]
        told = {name.lower(): value for name, value in fields if name}
        self.send_response(int(told.pop("status", "200").split()[0]) if told else 500)
        for name, value in told.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _environment(self, length: int) -> dict[str, str]:
        """The request as CGI tells it."""
        asked = urlsplit(self.path)
        trusted = {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": "*"}
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "GIT_PROJECT_ROOT": str(self.directory),
            "GIT_HTTP_EXPORT_ALL": "1",
            **{f"GIT_CONFIG_{name}": value for name, value in trusted.items()},
            "PATH_INFO": asked.path,
            "QUERY_STRING": asked.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": self.client_address[0],
        }
