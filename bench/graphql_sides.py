"""Everybody who is asked: bare routes, Trellis, stock Strawberry, and the peers on Node."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count

from bench import graphql_peers
from bench.graphql_client import NextRequest, get, post
from bench.graphql_process import Server, running
from bench.graphql_questions import COUNT, MANY_ROWS, QUESTIONS, Question, never_seen
from bench.graphql_stock import CACHED, SHIPPED
from bench.graphql_trellis import COMPUTED, MEMORY, REPEATED, WARM, trellis
from bench.scale import Scale
from bench.stores import EmbeddedFleet, embedded

HELLO, PLAIN = "bare Starlette, hello", "bare Starlette, by hand"
STOCK = {"Strawberry, as shipped": SHIPPED, "Strawberry with its caches": CACHED}
NEW_TEXT = "count of a selector never read before"


@dataclass(frozen=True, slots=True)
class Asked:
    """One side and one question."""

    measure: str
    subject: str
    server: Server
    url: str
    following: NextRequest
    question: Question | None
    """Whose answer is to be compared; none where nothing is asked."""


@contextmanager
def everybody(scale: Scale) -> Iterator[list[Asked]]:
    """All sides, started over one fleet, with what each is asked."""
    fleet = embedded(scale.clusters)
    with ExitStack() as stack:
        plain = stack.enter_context(child("bench.graphql_plain", fleet))
        stock = stack.enter_context(child("bench.graphql_stock", fleet))
        ours = {
            subject: stack.enter_context(trellis(fleet, settings))
            for subject, settings in MEMORY.items()
        }
        peers = stack.enter_context(graphql_peers.serving(scale.clusters)) if scale.node else {}
        asked = [_hello(plain)]
        for question in QUESTIONS:
            asked.append(same(question, PLAIN, plain, plain.url + question.path))
            for subject, server in ours.items():
                if subject != WARM or question is MANY_ROWS:
                    asked.append(same(question, subject, server, f"{server.url}/graphql"))
            for subject, path in STOCK.items():
                asked.append(same(question, subject, stock, stock.url + path))
            for subject, (server, url) in peers.items():
                asked.append(same(question, subject, server, url))
        asked.append(_always_new(PLAIN, plain, plain.url + COUNT.path))
        asked.append(_always_new(COMPUTED, ours[REPEATED], f"{ours[REPEATED].url}/graphql"))
        yield asked


def child(module: str, fleet: EmbeddedFleet) -> AbstractContextManager[Server]:
    """A side of our own as a process over ``fleet``, which it only reads."""
    return running([sys.executable, "-m", module, str(fleet.path), str(fleet.snapshot)], {})


def same(question: Question, subject: str, server: Server, url: str) -> Asked:
    """The same request over and over: only Trellis could remember its answer."""
    request = post(url, question.body())
    return Asked(question.name, subject, server, url, lambda: request, question)


def _hello(server: Server) -> Asked:
    url = f"{server.url}/hello"
    request = get(url)
    return Asked(COUNT.name, HELLO, server, url, lambda: request, None)


def _always_new(subject: str, server: Server, url: str) -> Asked:
    numbers = count()
    return Asked(
        NEW_TEXT,
        subject,
        server,
        url,
        lambda: post(url, COUNT.body(never_seen(next(numbers)))),
        COUNT,
    )
