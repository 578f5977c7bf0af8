"""Digests nobody has: asked for by many, and looked for seldom."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from hashlib import sha256

import httpx
import pytest

from artifact_server import Published, served
from graph.model.errors import Rejected
from published import FLUX, POS, MemoryTree, sample
from renderer.serve.searches import Searches
from renderer.serve.settings import ServeSettings

SYNC = "apps/pos/sync"
AT_A_TIME = 2


class Watched(MemoryTree):
    """Counts how often an application is gone through, and can make whoever does so wait."""

    searches = 0

    def __init__(self, *given):
        super().__init__(*given)
        self.gate = threading.Event()
        self.gate.set()

    def names(self, directory):
        if directory == SYNC:
            self.searches += 1
            assert self.gate.wait(60)
        return super().names(directory)


@pytest.fixture
def tree():
    return Watched(sample().files)


@pytest.fixture
def published(tree):
    return Published(tree)


@pytest.fixture
def client(published, tmp_path):
    path = tmp_path / "tokens"
    scopes = {"one": FLUX, "all": "*"}
    lines = [f"{sha256(token.encode()).hexdigest()} {scopes[token]}\n" for token in scopes]
    path.write_text("".join(lines))
    settings = ServeSettings(
        port=0, tokens_file=str(path), head_milliseconds=0, searches_max=AT_A_TIME
    )
    with (
        served(published, serve=settings) as registry,
        httpx.Client(base_url=registry.url, timeout=60) as client,
    ):
        yield client


def ask(client, number, token="one", what="manifests"):
    digest = f"sha256:{number:064x}"
    headers = {"Authorization": f"Bearer {token}"}
    return client.get(f"/v2/apps/pos/{what}/{digest}", headers=headers)


def test_an_application_is_gone_through_once_for_all_digests_nobody_has(client, published, tree):
    for number in range(20):
        for what in ("manifests", "blobs"):
            assert ask(client, number, what=what).status_code == 404
    assert tree.searches == 1
    published.publish(tree, "second")
    assert ask(client, 1).status_code == 404
    assert ask(client, 2).status_code == 404
    assert tree.searches == 2, "another commit may hold something else"


def test_a_digest_that_is_there_is_found_after_one_that_is_not(client):
    assert ask(client, 1).status_code == 404
    tagged = client.get(f"/v2/apps/pos/manifests/{POS}", headers={"Authorization": "Bearer all"})
    digest = int(tagged.headers["docker-content-digest"].removeprefix("sha256:"), 16)
    assert ask(client, digest).content == tagged.content


def test_a_token_for_some_clusters_has_few_digests_looked_for_at_a_time(client, tree):
    tree.gate.clear()
    with ThreadPoolExecutor(AT_A_TIME + 3) as pool:
        try:
            asked = [pool.submit(ask, client, number) for number in range(AT_A_TIME + 1)]
            (first,), others = wait(asked, 60, FIRST_COMPLETED)
            assert first.result().status_code == 429
            assert first.result().headers["retry-after"] == "1"
            assert first.result().json()["errors"][0]["code"] == "TOOMANYREQUESTS"
            free = [pool.submit(ask, client, number, "all") for number in range(10, 12)]
        finally:
            tree.gate.set()
        assert {each.result().status_code for each in (*others, *free)} == {404}
    assert ask(client, 99).status_code == 404, "its turn comes again"


def test_whoever_had_enough_is_refused_until_one_of_them_ends():
    searches = Searches(1)
    with searches.asked_by("one"):
        with pytest.raises(Rejected), searches.asked_by("one"):
            pass
        with searches.asked_by("two"), searches.asked_by(None), searches.asked_by(None):
            pass
    with searches.asked_by("one"):
        pass


def test_nothing_is_said_to_be_absent_at_another_commit_or_where_nothing_was_seen():
    searches = Searches(1)
    searches.went_through("first", ("apps", "pos"), {"a"})
    searches.went_through("first", ("apps", "invented"), set())
    assert searches.is_absent("first", ("apps", "pos"), "b")
    assert not searches.is_absent("first", ("apps", "pos"), "a")
    assert not searches.is_absent("second", ("apps", "pos"), "b")
    assert not searches.is_absent("first", ("apps", "invented"), "b")
    searches.went_through("second", ("apps", "grill"), {"c"})
    assert not searches.is_absent("second", ("apps", "pos"), "b")
