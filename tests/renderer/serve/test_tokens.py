"""Tokens: who may fetch what."""

from __future__ import annotations

import base64
import os
import time
from hashlib import sha256

import httpx
import pytest

from artifact_server import Published, served
from graph.model.errors import Invalid
from published import ARGO_CD, FLUX, POS
from renderer.serve.settings import ServeSettings
from renderer.serve.tokens import LOOK_SECONDS, Tokens, read_scopes


def line(token, scope):
    return f"{sha256(token.encode()).hexdigest()} {scope}\n"


@pytest.fixture
def tokens_file(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(
        "# who may fetch what\n\n"
        + line("one", FLUX)
        + line("some", "store-0004[0-2]")
        + line("two", FLUX)
        + line("two", ARGO_CD)
        + line("all", "*")
    )
    return path


@pytest.fixture
def client(tokens_file):
    settings = ServeSettings(port=0, tokens_file=str(tokens_file), head_milliseconds=0)
    with (
        served(Published(), serve=settings) as registry,
        httpx.Client(base_url=registry.url) as client,
    ):
        yield client


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def basic(token):
    return {"Authorization": "Basic " + base64.b64encode(f"anybody:{token}".encode()).decode()}


def status(client, cluster, headers):
    return client.get(f"/v2/clusters/{cluster}/manifests/current", headers=headers).status_code


@pytest.mark.parametrize("shown", [bearer, basic])
@pytest.mark.parametrize(
    ("token", "flux", "argo_cd"),
    [("one", 200, 404), ("some", 200, 404), ("two", 200, 200), ("all", 200, 200)],
)
def test_a_token_opens_the_clusters_it_is_for(client, shown, token, flux, argo_cd):
    assert status(client, FLUX, shown(token)) == flux
    assert status(client, ARGO_CD, shown(token)) == argo_cd


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        bearer("wrong"),
        basic("wrong"),
        basic(""),
        {"Authorization": "Basic !!!"},
        {"Authorization": "Basic " + base64.b64encode(b"one").decode()},
        {"Authorization": "Digest one"},
        {"Authorization": "one"},
        bearer(sha256(b"one").hexdigest()),
    ],
)
def test_whoever_shows_no_token_is_asked_for_one(client, headers):
    found = client.get("/v2/", headers=headers)
    assert found.status_code == 401
    assert found.headers["www-authenticate"].startswith("Basic ")
    assert found.json()["errors"][0]["code"] == "UNAUTHORIZED"
    assert status(client, FLUX, headers) == 401


def test_what_may_not_be_seen_is_told_like_what_is_not_there(client):
    hidden = client.get(f"/v2/clusters/{ARGO_CD}/manifests/current", headers=bearer("one"))
    missing = client.get("/v2/clusters/store-99999/manifests/current", headers=bearer("one"))
    assert (hidden.status_code, hidden.content) == (missing.status_code, missing.content)


def test_a_store_reaches_applications_by_digest_and_not_by_tag(client):
    tagged = client.get(f"/v2/apps/pos/manifests/{POS}", headers=bearer("all"))
    digest = tagged.headers["docker-content-digest"]
    assert client.get(f"/v2/apps/pos/manifests/{POS}", headers=bearer("one")).status_code == 404
    found = client.get(f"/v2/apps/pos/manifests/{digest}", headers=bearer("one"))
    assert found.status_code == 200


def test_a_pointer_behind_a_token_is_kept_by_no_shared_cache(client):
    found = client.get(f"/v2/clusters/{FLUX}/manifests/current", headers=bearer("one"))
    assert found.headers["cache-control"].startswith("private")


def test_a_token_that_is_taken_out_of_the_file_opens_nothing(tokens_file):
    tokens = Tokens(tokens_file)
    given = b"Bearer one"
    assert tokens.scope_of(given).takes(FLUX)
    tokens_file.write_text(line("two", FLUX))
    tokens.refresh()
    assert tokens.scope_of(given) is None
    assert tokens.scope_of(b"Bearer two").takes(FLUX)


def test_a_file_that_cannot_be_read_changes_nothing_and_is_told_of(tokens_file, caplog):
    tokens = Tokens(tokens_file)
    tokens_file.write_text("nonsense\n")
    tokens.refresh()
    assert tokens.scope_of(b"Bearer one").takes(FLUX)
    assert "tokens stay as they were" in caplog.text
    tokens_file.unlink()
    tokens.refresh()
    assert tokens.scope_of(b"Bearer one").takes(FLUX)


def test_a_token_that_is_taken_out_is_refused_a_moment_later_whatever_is_asked(client, tokens_file):
    """Also of a server that has no reason to look at what is published."""
    assert client.get("/v2/", headers=bearer("one")).status_code == 200
    tokens_file.write_text(line("two", FLUX))
    until = time.monotonic() + 20 * LOOK_SECONDS
    while client.get("/v2/", headers=bearer("one")).status_code != 401:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert client.get("/v2/", headers=bearer("two")).status_code == 200


def test_a_file_that_is_written_twice_in_a_moment_is_read_as_it_is_at_last(tokens_file):
    """A clock of files ticks slower than somebody writes, and both writes may have one length."""
    tokens_file.write_text(line("one", FLUX))
    tokens = Tokens(tokens_file)
    written = tokens_file.stat().st_mtime_ns
    tokens_file.write_text(line("two", FLUX))
    os.utime(tokens_file, ns=(written, written))
    tokens.refresh()
    assert tokens.scope_of(b"Bearer one") is None


def test_a_file_that_is_no_text_changes_nothing(tokens_file):
    tokens = Tokens(tokens_file)
    tokens_file.write_bytes(b"\xff\xfe")
    tokens.refresh()
    assert tokens.scope_of(b"Bearer one").takes(FLUX)


@pytest.mark.parametrize("text", ["one *", "ab" * 32, "ab" * 32 + " a/b", "ab" * 32 + " a b"])
def test_a_line_that_is_none_is_refused(text):
    with pytest.raises(Invalid, match="line 2"):
        read_scopes(f"# first\n{text}\n")


def test_a_pattern_takes_whole_names():
    scope = read_scopes("ab" * 32 + " store-0?")["ab" * 32]
    assert scope.takes("store-01")
    assert not scope.takes("store-011")
    assert not scope.takes("my-store-01")
