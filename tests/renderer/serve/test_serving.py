"""Artifacts over HTTP: the read-only half of the distribution API, on a real listener."""

from __future__ import annotations

import json
import socket
import threading
from hashlib import sha256

import httpx
import pytest

from artifact_server import Published, served
from graph.model.errors import Invalid
from published import ARGO_CD, FLUX, GRILL, HOST, PLAIN, POS, built, sample, unpack
from renderer import paths
from renderer.artifact.artifact import NOWHERE
from renderer.serve.settings import ArtifactSettings, ServeSettings

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CURRENT = f"/v2/clusters/{FLUX}/manifests/current"
BASE = "apps/pos/base/v12/parts/cm.yaml"


@pytest.fixture
def published():
    return Published()


@pytest.fixture
def client(published):
    with served(published) as registry, httpx.Client(base_url=registry.url) as client:
        yield client


def bumped(tree, word=b"later"):
    return tree.after({BASE: tree.files[BASE].replace(b"unset", word)})


def settled(client, published, path=CURRENT):
    """What the newest commit answers: whoever asks waits for the look."""
    found = client.get(path)
    assert client.get("/readyz").text == f"serving {published.commit}\n"
    return found


def code(response):
    return response.json()["errors"][0]["code"]


def test_it_says_that_it_is_such_an_api(client):
    for path in ("/v2/", "/v2"):
        found = client.get(path)
        assert found.status_code == 200
        assert found.headers["docker-distribution-api-version"] == "registry/2.0"


@pytest.mark.parametrize("cluster", [FLUX, ARGO_CD, PLAIN, HOST])
def test_a_pointer_is_fetched_as_a_registry_client_does(client, tmp_path, cluster):
    found = client.get(f"/v2/clusters/{cluster}/manifests/current")
    assert found.status_code == 200
    assert found.headers["content-type"] == MANIFEST
    digest = found.headers["docker-content-digest"]
    assert digest == f"sha256:{sha256(found.content).hexdigest()}"
    assert client.get(f"/v2/clusters/{cluster}/manifests/{digest}").content == found.content
    manifest = found.json()
    for each in (manifest["config"], *manifest["layers"]):
        blob = client.get(f"/v2/clusters/{cluster}/blobs/{each['digest']}")
        assert f"sha256:{sha256(blob.content).hexdigest()}" == each["digest"]
        assert len(blob.content) == each["size"]
    if cluster != HOST:
        built(unpack(blob.content, tmp_path))


def test_a_head_says_what_a_get_says_without_the_body(client):
    for path in ("/v2/", CURRENT, "/v2/clusters/none/manifests/current"):
        got, asked = client.get(path), client.head(path)
        assert asked.status_code == got.status_code
        assert asked.content == b""
        for name in ("content-length", "content-type"):
            assert asked.headers[name] == got.headers[name]


def pinned(client, tmp_path, application="pos"):
    manifest = client.get(CURRENT).json()
    layer = client.get(f"/v2/clusters/{FLUX}/blobs/{manifest['layers'][0]['digest']}")
    sync = unpack(layer.content, tmp_path) / f"apps/{application}/sync/flux"
    (file,) = sync.rglob("sync.yaml")
    line = next(each for each in file.read_text().splitlines() if '"digest"' in each)
    return json.loads(line.removeprefix("spec: "))["ref"]["digest"]


def test_what_a_pointer_pins_can_be_fetched(client, tmp_path):
    digest = pinned(client, tmp_path / "pointer")
    manifest = client.get(f"/v2/apps/pos/manifests/{digest}")
    assert manifest.status_code == 200
    layer = client.get(f"/v2/apps/pos/blobs/{manifest.json()['layers'][0]['digest']}")
    built(unpack(layer.content, tmp_path / "overlay") / paths.overlay("pos", POS))


def test_another_process_answers_what_its_neighbour_pinned(client, tmp_path):
    digest = pinned(client, tmp_path)
    with served(Published()) as other:
        manifest = httpx.get(f"{other.url}/v2/apps/pos/manifests/{digest}")
        layer = manifest.json()["layers"][0]["digest"]
    assert manifest.status_code == 200
    with served(Published()) as third:
        assert httpx.get(f"{third.url}/v2/apps/pos/blobs/{layer}").status_code == 200


def test_an_unchanged_pointer_costs_a_head_and_no_body(client):
    first = client.get(CURRENT)
    for method in ("GET", "HEAD"):
        again = client.request(method, CURRENT, headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["etag"] == first.headers["etag"]
        assert again.headers["docker-content-digest"] == first.headers["docker-content-digest"]
    other = client.get(CURRENT, headers={"If-None-Match": f'"{NOWHERE}"'})
    assert other.status_code == 200


def test_what_has_a_digest_may_be_kept_for_ever_and_a_tag_for_a_moment(client):
    tagged = client.get(CURRENT)
    digest = tagged.headers["docker-content-digest"]
    fixed = client.get(f"/v2/clusters/{FLUX}/manifests/{digest}")
    assert "immutable" in fixed.headers["cache-control"]
    assert tagged.headers["cache-control"] == "public, max-age=1"


def test_a_commit_that_leaves_a_store_alone_leaves_its_pointer_alone(client, published):
    before = client.get(CURRENT).headers["etag"]
    published.publish(published.tree.after({"README.md": b"new\n"}), "second")
    assert settled(client, published).headers["etag"] == before


def test_an_overlay_that_changes_moves_the_pointer_and_the_old_digest_still_answers(
    client, published, tmp_path
):
    digest = pinned(client, tmp_path / "one")
    before = client.get(CURRENT).headers["docker-content-digest"]
    published.publish(bumped(published.tree), "second")
    assert settled(client, published).headers["docker-content-digest"] != before
    assert pinned(client, tmp_path / "two") != digest
    assert client.get(f"/v2/clusters/{FLUX}/manifests/{before}").status_code == 200
    old = client.get(f"/v2/apps/pos/manifests/{digest}")
    assert old.status_code == 200
    layer = old.json()["layers"][0]["digest"]
    assert client.get(f"/v2/apps/pos/blobs/{layer}").status_code == 200


def test_nothing_is_served_that_is_not_published_yet(client, published):
    before = client.get(CURRENT).content
    ahead = bumped(published.tree)
    with served(Published(ahead, "ahead")) as other:
        later = httpx.get(f"{other.url}{CURRENT}").headers["docker-content-digest"]
    for _ in range(20):
        assert client.get(CURRENT).content == before
    assert client.get(f"/v2/clusters/{FLUX}/manifests/{later}").status_code == 404


def test_it_serves_on_while_the_publisher_is_away(client, published):
    before = client.get(CURRENT)
    published.away = True
    for _ in range(5):
        assert client.get(CURRENT).content == before.content
        assert client.get(f"/v2/clusters/{ARGO_CD}/manifests/current").status_code == 200
    published.away = False
    published.publish(bumped(published.tree), "second")
    assert settled(client, published).content != before.content


def test_a_look_that_takes_long_holds_nobody_up_for_long(published):
    gate = threading.Event()
    real = published.head

    def slow():
        found = real()
        if published.looks > 1:
            assert gate.wait(60)
        return found

    published.head = slow
    with served(published) as registry, httpx.Client(base_url=registry.url, timeout=30) as client:
        try:
            digest = client.get(CURRENT).headers["docker-content-digest"]
            for _ in range(20):
                found = client.get(f"/v2/clusters/{FLUX}/manifests/{digest}")
                assert found.status_code == 200
                assert client.get(CURRENT).status_code == 200
        finally:
            gate.set()


def test_without_anything_published_it_says_so_and_comes_back():
    published = Published(away=True)
    with served(published) as registry, httpx.Client(base_url=registry.url) as client:
        found = client.get(CURRENT)
        assert found.status_code == 503
        assert found.headers["retry-after"]
        assert client.get("/readyz").status_code == 503
        published.away = False
        assert settled(client, published).status_code == 200


def test_the_head_is_looked_at_no_more_often_than_told():
    published = Published()
    settings = ServeSettings(port=0, head_milliseconds=60_000)
    with (
        served(published, serve=settings) as registry,
        httpx.Client(base_url=registry.url) as client,
    ):
        for _ in range(20):
            client.head(CURRENT)
    assert published.looks == 1


def test_only_reading_is_answered(client):
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        found = client.request(method, f"/v2/clusters/{FLUX}/blobs/uploads/", content=b"x" * 10)
        assert found.status_code == 405
        assert found.headers["allow"] == "GET, HEAD"
        assert code(found) == "UNSUPPORTED"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v2/clusters/store-99999/manifests/current", "MANIFEST_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/manifests/latest", "MANIFEST_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/manifests/{NOWHERE}", "MANIFEST_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/blobs/{NOWHERE}", "BLOB_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/blobs/current", "BLOB_UNKNOWN"),
        ("/v2/apps/nothing/manifests/" + POS, "MANIFEST_UNKNOWN"),
        (f"/v2/apps/pos/blobs/{NOWHERE}", "BLOB_UNKNOWN"),
        ("/v2/other/x/manifests/current", "NAME_UNKNOWN"),
        ("/v2/clusters/..%2f..%2fetc/manifests/current", "NAME_UNKNOWN"),
        ("/v2/clusters/%2e%2e/manifests/current", "NAME_UNKNOWN"),
        ("/v2/clusters/a%00b/manifests/current", "NAME_UNKNOWN"),
        ("/v2/clusters/A/manifests/current", "NAME_UNKNOWN"),
        ("/v2/clusters/" + "x" * 5_000 + "/manifests/current", "NAME_UNKNOWN"),
        ("/v2/clusters/é/manifests/current", "NAME_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/manifests/sha256:xyz", "NAME_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/manifests/current/", "NAME_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/manifests/current%0a", "NAME_UNKNOWN"),
        (f"/v2/clusters/{FLUX}/tags/list", "NAME_UNKNOWN"),
        ("/v2/_catalog", "NAME_UNKNOWN"),
    ],
)
def test_what_is_not_there_is_told_as_the_distribution_api_does(client, path, expected):
    found = client.get(path)
    assert found.status_code == 404
    assert code(found) == expected
    assert found.headers["cache-control"] == "no-store"


def test_an_overlay_has_a_tag(client):
    for tag in (POS, f"{POS}-oci"):
        assert client.get(f"/v2/apps/pos/manifests/{tag}").status_code == 200
    assert client.get(f"/v2/apps/grill/manifests/{GRILL}").status_code == 200


def test_a_broken_application_is_pinned_to_nothing_and_nothing_is_found_there(published):
    gone = {f"{paths.overlay('pos', POS)}/kustomization.yaml": b"resources: [../../../../x]\n"}
    published.publish(published.tree.after(gone), "broken")
    with served(published) as registry, httpx.Client(base_url=registry.url) as client:
        assert client.get(CURRENT).status_code == 200
        assert client.get(f"/v2/apps/pos/manifests/{NOWHERE}").status_code == 404
        assert client.get(f"/v2/apps/pos/manifests/{POS}").status_code == 404


def test_a_prefix_of_the_url_is_part_of_the_name(published):
    artifact = ArtifactSettings(url="oci://registry.example/fleet/eu")
    with (
        served(published, artifact=artifact) as registry,
        httpx.Client(base_url=registry.url) as client,
    ):
        assert client.get(CURRENT).status_code == 404
        found = client.get(f"/v2/fleet/eu/clusters/{FLUX}/manifests/current")
        assert found.status_code == 200


def test_a_foreign_host_name_is_refused_where_nobody_needs_a_token(client):
    found = client.get(CURRENT, headers={"Host": "evil.example"})
    assert found.status_code == 403
    assert code(found) == "DENIED"


def test_without_tokens_only_this_machine_is_served(published):
    settings = ServeSettings(host="0.0.0.0", port=0)
    with pytest.raises(Invalid, match="to anybody"), served(published, serve=settings):
        pass


def test_a_request_that_never_ends_is_closed_and_others_are_answered(published):
    settings = ServeSettings(port=0, request_seconds=0.3)
    with served(published, serve=settings) as registry:
        host, _, port = registry.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as stalled:
            stalled.sendall(b"GET /v2/ HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            assert httpx.get(f"{registry.url}{CURRENT}").status_code == 200
            assert stalled.recv(1_000) == b""


def test_a_head_without_end_is_refused(published):
    with served(published) as registry:
        host, _, port = registry.address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as endless:
            endless.sendall(b"GET /v2/ HTTP/1.1\r\n")
            try:
                for _ in range(100):
                    endless.sendall(b"X-Padding: " + b"x" * 1_000 + b"\r\n")
                said = endless.recv(1_000)
            except OSError:
                said = b""
            assert said == b"" or b" 400 " in said.split(b"\r\n")[0]
        assert httpx.get(f"{registry.url}/v2/").status_code == 200


def test_the_pointer_is_the_same_from_two_servers():
    found = set()
    for _ in range(2):
        artifact = ArtifactSettings(url="oci://registry.example")
        with served(Published(sample()), artifact=artifact) as registry:
            found.add(httpx.get(f"{registry.url}{CURRENT}").content)
    assert len(found) == 1
