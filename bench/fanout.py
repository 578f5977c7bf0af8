"""Fan-out: what one change costs the server for everybody who follows, beside the stock handler.

The same sockets listen to both. A change is made when everybody has the last one, so nothing is
folded together. What a change costs without a subscriber is taken off before the rest is shared
out among them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from typing import Any

from bench.fanout_socket import Subscriber
from bench.fleet import snapshot
from bench.graphql_client import Client, post
from bench.graphql_process import Server, running
from bench.graphql_trellis import trellis
from bench.result import Row, row
from bench.scale import Measured, Scale
from bench.stores import copied, embedded

TRELLIS, STOCK = "Trellis", "Strawberry's handler"
ROUNDS_MAX = 5
CHANGES = {0: 20, 1: 20, 100: 10, 1_000: 4}
"""Changes in one turn, by how many follow."""
FOLLOWED = (
    'subscription { changes(after: "%s") { ... on Changeset { revision cursor actor reason } } }'
)
CHANGED = (
    "mutation Change($input: UpdateClusterInput!, $reason: String!) {"
    " updateCluster(input: $input, reason: $reason) { ... on Applied { cursor } } }"
)
GRAPHQL, ROUTE = "/graphql", "/change"
SOCKETS = {"TRELLIS_API_SOCKETS_PER_CALLER_MAX": "2000"}


@dataclass(slots=True)
class Side:
    """A server, how a change is made there, and who follows it."""

    server: Server
    path: str
    name: str
    """The cluster that is given a new title."""
    cursor: str = ""
    """Where its history is after the last change made here."""
    subscribers: list[Subscriber] = field(default_factory=list[Subscriber])
    numbers: Iterator[int] = field(default_factory=count)

    def follow(self, subscribers: int) -> None:
        """That many from now on, each of whom has seen a change."""
        self.let_go()
        self.change(1)
        url, document = self.server.url + GRAPHQL, FOLLOWED % self.cursor
        self.subscribers.extend(Subscriber(url, document) for _ in range(subscribers))
        self.change(1)

    def let_go(self) -> None:
        """Nobody follows any more."""
        while self.subscribers:
            self.subscribers.pop().close()

    def turn(self, changes: int) -> float:
        """Microseconds of the server's CPU for each of ``changes``."""
        before = self.server.cpu_seconds()
        self.change(changes)
        return (self.server.cpu_seconds() - before) / changes * 1e6

    def change(self, changes: int) -> None:
        """Make changes, each told to everybody before the next."""
        client = Client(self.server.url)
        for _ in range(changes):
            reason = f"change {next(self.numbers):,}"
            said = client.ask(post(self.server.url + self.path, self._body(reason)))
            self.cursor = json.loads(said)["data"]["updateCluster"]["cursor"]
            for each in self.subscribers:
                assert _told(each)["reason"] == reason
        client.close()

    def _body(self, reason: str) -> bytes:
        asked = {"input": {"name": self.name, "title": reason}, "reason": reason}
        return json.dumps({"query": CHANGED, "variables": asked}).encode()


def run(scale: Scale) -> Measured:
    """Both handlers, for nobody, one, a hundred and a thousand."""
    spent: dict[tuple[int, str], float] = {}
    with sides(scale) as found:
        for subscribers in CHANGES:
            if subscribers <= scale.subscribers:
                for subject, microseconds in _turns(found, subscribers, scale).items():
                    spent[subscribers, subject] = microseconds
    return Measured(list(_rows(spent, f"{scale.clusters:,} clusters")))


@contextmanager
def sides(scale: Scale) -> Iterator[dict[str, Side]]:
    """Both servers, each over files of its own."""
    fleet = embedded(scale.clusters)
    own = copied(fleet)
    stock = [sys.executable, "-m", "bench.fanout_stock", str(own.path), str(own.snapshot), "write"]
    name, _ = next(snapshot(scale.clusters).names_after(""))
    with ExitStack() as stack:
        found = {
            TRELLIS: Side(stack.enter_context(trellis(fleet, SOCKETS)), GRAPHQL, name),
            STOCK: Side(stack.enter_context(running(stock, {})), ROUTE, name),
        }
        yield found
        for each in found.values():
            each.let_go()


def _told(subscriber: Subscriber) -> Any:
    """The next change; a server may say in between that there is none."""
    while not (told := subscriber.next()["changes"]):
        pass
    return told


def _turns(found: dict[str, Side], subscribers: int, scale: Scale) -> dict[str, float]:
    for side in found.values():
        side.follow(subscribers)
    seen: dict[str, list[float]] = {subject: [] for subject in found}
    for _ in range(min(scale.rounds, ROUNDS_MAX)):
        for subject, side in found.items():
            seen[subject].append(side.turn(CHANGES[subscribers]))
    return {subject: median(each) for subject, each in seen.items()}


def _rows(spent: dict[tuple[int, str], float], size: str) -> Iterator[Row]:
    followed = sorted({subscribers for subscribers, _ in spent})
    for subscribers in followed:
        whole = {subject: spent[subscribers, subject] for subject in (TRELLIS, STOCK)}
        told = "1 subscriber" if subscribers == 1 else f"{subscribers:,} subscribers"
        yield from _both(f"one change, {told}, {size}", whole)
    for subscribers in followed:
        if subscribers > 1:
            each = {
                subject: (spent[subscribers, subject] - spent[0, subject]) / subscribers
                for subject in (TRELLIS, STOCK)
            }
            yield from _both(f"each of {subscribers:,} subscribers, {size}", each)


def _both(measure: str, figures: dict[str, float]) -> Iterator[Row]:
    yield row(measure, TRELLIS, figures[TRELLIS], "us")
    yield row(measure, STOCK, figures[STOCK], "us", over=figures[TRELLIS], ratio_to=TRELLIS)
