"""A real browser for the tests: Chromium, driven by Playwright, with a profile of its own.

Chromium is the one on the path; where there is none, root on a Debian machine installs it once.
Where that fails too the test is skipped and says so; with ``browser`` in TRELLIS_TEST_REQUIRE it
fails instead. A visit notes every request, socket and error of the page, so that a test can say
that nothing left the machine. Names other than 127.0.0.1 do not even resolve.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium")
INSTALL_SECONDS = 300
WAIT_MILLISECONDS = 30_000
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-first-run",
    "--no-sandbox",
)


@dataclass(frozen=True)
class Visit:
    """One page, and everything it did."""

    page: Page
    requests: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])

    def elsewhere(self, url: str) -> list[str]:
        """Requests and sockets that went anywhere but to the host of ``url``."""
        here = urlsplit(url).netloc
        sent = [urlsplit(each) for each in self.requests]
        return [each.geturl() for each in sent if each.scheme != "data" and each.netloc != here]


@contextmanager
def visit(*, dark: bool = False) -> Iterator[Visit]:
    """A blank page in a browser that has never been used."""
    executable = _executable()
    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=executable,
            headless=True,
            args=list(FLAGS),
            color_scheme="dark" if dark else "light",
            viewport={"width": 1_280, "height": 800},
        )
        context.set_default_timeout(WAIT_MILLISECONDS)
        try:
            seen = Visit(context.pages[0])
            context.on("request", lambda request: seen.requests.append(request.url))
            seen.page.on("websocket", lambda socket: seen.requests.append(socket.url))
            seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
            seen.page.on("console", lambda message: _note(seen, message.type, message.text))
            yield seen
        finally:
            context.close()


def _note(seen: Visit, kind: str, text: str) -> None:
    if kind == "error":
        seen.errors.append(text)


def _executable() -> str:
    found = _chromium()
    if found is not None:
        return found
    if "browser" in os.environ.get("TRELLIS_TEST_REQUIRE", "").split(","):
        pytest.fail("a browser is required here: no chromium on the path, and none installed")
    pytest.skip("NOT RUN IN A BROWSER: no chromium on the path, and none could be installed")


@cache
def _chromium() -> str | None:
    """Where Chromium is; installed if need be, and tried once a session."""
    return _on_the_path() or (_on_the_path() if _install() else None)


def _on_the_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _install() -> bool:
    if os.geteuid() != 0 or shutil.which(INSTALL[0]) is None:
        return False
    try:
        done = subprocess.run(
            INSTALL,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
