"""Pages of other origins in a real browser: which may ask, and with which headers."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlencode

import pytest

from browser import visit
from serving import copy_store, serve

REVISION = "{ fleet { revision } }"
ADDED = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "vendor=1",
    "baggage": "user=1",
    "apollographql-client-name": "dashboard",
    "apollographql-client-version": "1.0",
    "graphql-client-name": "dashboard",
    "x-apollo-operation-name": "Asked",
}
"""What clients and traces in a browser add to a request."""
FETCH = """async ([url, options]) => {
  try {
    const response = await fetch(url, options);
    return [response.status, await response.text(), response.headers.get("etag")];
  } catch (error) { return [0, String(error), null]; }
}"""
IMAGE = """(url) => new Promise((resolve) => {
  const image = new Image();
  image.onload = image.onerror = () => resolve();
  image.src = url;
})"""


class Page(BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>A page</title>")

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def site():
    """A site on a port of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def sites():
    with site() as listed, site() as foreign:
        yield listed, foreign


@pytest.fixture(scope="module")
def api(sample, sites, tmp_path_factory):
    store = copy_store(sample, tmp_path_factory.mktemp("pages"))
    with serve(store, {"TRELLIS_API_ORIGINS": sites[0]}) as serving:
        yield serving


def test_listed_pages_ask_with_the_headers_clients_add_and_foreign_ones_not_at_all(sites, api):
    listed, foreign = sites
    by_get = f"{api.graphql}?{urlencode({'query': REVISION})}"
    post = {"method": "POST", "body": f'{{"query": "{REVISION}"}}'}
    json = {"content-type": "application/json"}
    answer = '{"data":{"fleet":{"revision":1}}}'
    with visit() as seen:
        answered = []
        seen.page.on("response", lambda found: answered.append((found.url, found.status)))
        seen.page.goto(listed)
        for url, options in (
            (by_get, {}),
            (by_get, {"headers": ADDED}),
            (api.graphql, post | {"headers": ADDED | json}),
        ):
            status, text, etag = seen.page.evaluate(FETCH, [url, options])
            assert (status, text) == (200, answer)
            assert etag, "a page may read it"
        unlisted = {"headers": {"x-unheard-of": "1"}}
        assert seen.page.evaluate(FETCH, [by_get, unlisted])[0] == 0

        seen.page.goto(foreign)
        answered.clear()
        for url, options in ((by_get, {}), (api.graphql, post | {"headers": json})):
            assert seen.page.evaluate(FETCH, [url, options])[0] == 0
        seen.page.evaluate(FETCH, [by_get, {"mode": "no-cors"}])
        seen.page.evaluate(FETCH, [api.graphql, post | {"mode": "no-cors"}])
        seen.page.evaluate(IMAGE, by_get)
        statuses = {status for url, status in answered if url.startswith(api.graphql)}
        assert statuses <= {403, 405, 415}
        assert {403, 415} <= statuses
