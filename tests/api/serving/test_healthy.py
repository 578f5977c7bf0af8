"""The container's health check says yes, or no and why."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from serving import sample as sample
from serving import server as server


def healthy(url):
    done = subprocess.run(
        [sys.executable, "-m", "api.serving.healthy", url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr.strip()


class NotReady(BaseHTTPRequestHandler):
    """A process that is there and does not want to be asked."""

    def do_GET(self):
        self.send_response(503)
        self.end_headers()
        self.wfile.write(b"the store was not reached for 901 s")

    def log_message(self, *_):
        pass


@pytest.fixture
def not_ready():
    with HTTPServer(("127.0.0.1", 0), NotReady) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}/readyz"
        listening.shutdown()
        thread.join()


def test_a_ready_process_is_healthy(server):
    assert healthy(f"{server.url}/readyz") == (0, "")


def test_a_process_that_is_not_ready_is_not_healthy_and_says_why(not_ready):
    assert healthy(not_ready) == (1, "503: the store was not reached for 901 s")


def test_where_nobody_listens_nothing_is_healthy():
    with HTTPServer(("127.0.0.1", 0), NotReady) as listening:
        url = f"http://127.0.0.1:{listening.server_port}/readyz"
    code, said = healthy(url)
    assert code == 1
    assert said.startswith(f"{url} does not answer: ")


def test_an_https_address_is_refused_rather_than_asked_in_the_clear():
    code, said = healthy("https://127.0.0.1:1/readyz")
    assert (code, said) == (1, "https://127.0.0.1:1/readyz is not an address of plain http")
