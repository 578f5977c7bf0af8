"""Pushing to a registry: a real one, and one that fails in every way."""

from __future__ import annotations

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from crane import crane, registry
from graph.model.errors import Denied, Invalid, Unavailable
from published import ARGO_CD, FLUX, GRILL, HOST, PLAIN, POS, built, sample, unpack
from renderer import paths
from renderer.artifact.artifact import Flavour
from renderer.artifact.edition import Edition, Recipe
from renderer.artifact.packer import Packer
from renderer.artifact.pinned import Origin
from renderer.publish.oci import Delivery, Place
from renderer.publish.oci_credentials import Credentials, read_credentials
from renderer.publish.oci_registry import Registry

ORIGIN = Origin("oci://registry.example")
BASE = "apps/pos/base/v12/parts/cm.yaml"
CLUSTERS = (FLUX, ARGO_CD, PLAIN, HOST)


@contextmanager
def opened(url, *given, **settings):
    found = Registry(url, *given, pause=lambda _: None, **settings)
    try:
        yield found
    finally:
        found.close()


def artifact():
    return Packer(ORIGIN).overlay(Edition(sample()), Recipe("pos", POS, Flavour.FLUX))


def test_a_real_registry_gets_everything_and_a_real_client_finds_it_well_formed(tmp_path):
    edition = Edition(sample())
    packer = Packer(ORIGIN)
    with registry() as address, opened(f"http://{address}/fleet") as outlet:
        done = Delivery(packer, outlet, grace_seconds=1.0).deliver(edition, 0.0)
        assert done.refused == ()
        for cluster in CLUSTERS:
            name = f"{address}/fleet/clusters/{cluster}:current"
            crane("validate", "--remote", name)
            assert crane("digest", name).strip() == packer.cluster(edition, cluster).artifact.digest
        for application, key in (("pos", POS), ("grill", GRILL)):
            crane("validate", "--remote", f"{address}/fleet/apps/{application}:{key}")
        manifest = json.loads(crane("manifest", f"{address}/fleet/clusters/{FLUX}:current"))
        out = tmp_path / "pointer.tar"
        crane("export", f"{address}/fleet/clusters/{FLUX}:current", str(out))
        assert paths.pointer(FLUX).encode() in out.read_bytes()
    assert manifest["layers"][0]["mediaType"] == "application/vnd.cncf.flux.content.v1.tar+gzip"


def test_the_same_again_moves_nothing_and_a_change_moves_what_it_touches():
    tree = sample()
    changed = tree.after({BASE: tree.files[BASE].replace(b"unset", b"later")})
    with registry() as address, opened(f"http://{address}") as outlet:
        out = Delivery(Packer(ORIGIN), outlet, grace_seconds=1.0)
        first = out.deliver(Edition(tree), 0.0)
        with opened(f"http://{address}") as other:
            again = Delivery(Packer(ORIGIN), other, grace_seconds=1.0)
            assert again.deliver(Edition(tree), 1.0).moved == 0
        before = outlet.digest(Place("apps/grill", GRILL))
        done = out.deliver(Edition(changed), 2.0)
        assert 0 < done.moved < first.moved
        assert outlet.digest(Place("apps/grill", GRILL)) == before


def test_a_dropped_overlay_is_taken_away_after_its_grace_time():
    tree = sample()
    gone = {path: None for path in tree.files if f"/sync/flux/{POS}/" in path}
    gone[f"{paths.pointer(FLUX)}/kustomization.yaml"] = None
    place = Place("apps/pos", POS)
    with registry() as address, opened(f"http://{address}") as outlet:
        out = Delivery(Packer(ORIGIN), outlet, grace_seconds=10.0)
        out.deliver(Edition(tree), 0.0)
        done = out.deliver(Edition(tree.after(gone)), 1.0)
        assert done.dropped == 2
        assert outlet.digest(place) is not None
        out.deliver(Edition(tree.after(gone)), 5.0)
        assert outlet.digest(place) is not None
        done = out.deliver(Edition(tree.after(gone)), 12.0)
        assert (outlet.digest(place) is None) or (place in done.left)


def test_what_was_retired_while_nobody_delivered_is_taken_away_after_its_grace_time(tmp_path):
    tree = sample()
    less = tree.after(
        {path: None for path in tree.files if path.startswith((paths.pointer(FLUX), "apps/grill/"))}
    )
    gone = [Place(f"clusters/{FLUX}", "current"), Place("apps/grill", GRILL)]
    with registry() as address:

        def deliver(tree, now):
            with opened(f"http://{address}", delivered=tmp_path / "state" / "told.json") as outlet:
                done = Delivery(Packer(ORIGIN), outlet, grace_seconds=10.0).deliver(
                    Edition(tree), now
                )
                return done, [outlet.digest(place) for place in gone]

        deliver(tree, 0.0)
        done, found = deliver(less, 1.0)
        assert done.dropped == 3
        assert None not in found
        assert deliver(less, 5.0)[0].dropped == 0, "it has its first time still"
        done, found = deliver(less, 12.0)
        assert done.left == ()
        assert found == [None, None]
        kept = json.loads((tmp_path / "state" / "told.json").read_bytes())["tags"]
        assert not {place.repository for place in gone} & kept.keys()
        assert {"apps/pos", f"clusters/{PLAIN}"} <= kept.keys()


def test_a_tag_that_comes_back_within_its_grace_time_stays(tmp_path):
    tree = sample()
    less = tree.after({path: None for path in tree.files if path.startswith(paths.pointer(FLUX))})
    with registry() as address, opened(f"http://{address}") as outlet:
        out = Delivery(Packer(ORIGIN), outlet, grace_seconds=10.0)
        for moment, each in enumerate((tree, less, tree)):
            out.deliver(Edition(each), float(moment))
        out.deliver(Edition(tree), 100.0)
        assert outlet.digest(Place(f"clusters/{FLUX}", "current")) is not None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"registry":"http://127.0.0.1:1","tags":{}}'])
def test_a_file_that_does_not_say_what_was_pushed_is_written_anew(tmp_path, content):
    path = tmp_path / "told.json"
    path.write_bytes(content)
    with fake() as there, opened(there.url, delivered=path) as outlet:
        assert list(outlet.repositories()) == []
        outlet.bring([(Place("apps/pos", POS), artifact())], 0.0)
    with opened(there.url, delivered=path) as outlet:
        assert list(outlet.repositories()) == ["apps/pos"]


def test_a_disk_that_takes_nothing_holds_no_delivery_up(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with fake() as there, opened(there.url, delivered=tmp_path / "file" / "told.json") as outlet:
        outlet.bring([(Place("apps/pos", POS), artifact())], 0.0)
        assert POS in there.manifests


def test_tags_are_read_to_the_last_page_and_at_no_other_registry():
    pages = {
        "": (
            200,
            {"Link": '</v2/apps/pos/tags/list?n=2&last=b>; rel="next"'},
            b'{"tags":["a","b"]}',
        ),
        "?n=2&last=b": (200, {"Link": '<?last=c>; rel="next"'}, b'{"tags":["c"]}'),
        "?last=c": (200, {}, b'{"tags":null}'),
    }
    with fake() as there, opened(there.url) as outlet:
        there.fail = lambda _, path, __: pages[path.removeprefix("/v2/apps/pos/tags/list")]
        assert list(outlet.tags("apps/pos")) == ["a", "b", "c"]
        outlet.drop([Place("apps/pos", "b")], 0.0)
        assert list(outlet.tags("apps/pos")) == ["a", "c"]
        pages["?n=2&last=b"] = (200, {"Link": "<http://127.0.0.2:9/x>; rel=next"}, b"{}")
        with pytest.raises(Invalid, match=r"127\.0\.0\.2"):
            list(outlet.tags("apps/pos"))


def test_what_was_pushed_builds_where_it_is_unpacked(tmp_path):
    made = artifact()
    with registry() as address, opened(f"http://{address}") as outlet:
        outlet.bring([(Place("apps/pos", POS), made)], 0.0)
        layer = tmp_path / "layer"
        name = f"{address}/apps/pos@{made.layer.digest}"
        layer.write_bytes(_blob(name))
    built(unpack(layer.read_bytes(), tmp_path / "out") / paths.overlay("pos", POS))


def _blob(name):
    import subprocess

    from crane import crane_program

    done = subprocess.run(
        [str(crane_program()), "blob", name], capture_output=True, timeout=60, check=True
    )
    return done.stdout


class Fake:
    """A small registry that can be told to fail; what it was asked, in order."""

    def __init__(self):
        self.blobs, self.manifests, self.asked = {}, {}, []
        self.fail = lambda *_: None
        self.location = "/v2/upload/1?state=x"

    def answer(self, method, path, headers, body):
        self.asked.append((method, path))
        told = self.fail(method, path, headers)
        if told:
            return told
        if method == "POST":
            return 202, {"Location": self.location}, b""
        if method == "PUT" and "digest=" in path:
            self.blobs[path.partition("digest=")[2].replace("%3A", ":")] = body
            return 201, {}, b""
        if method == "PUT":
            manifest = json.loads(body)
            for each in (manifest["config"], *manifest["layers"]):
                if each["digest"] not in self.blobs:
                    return 404, {}, b"a blob is missing"
            self.manifests[path.rpartition("/")[2]] = body
            return 201, {}, b""
        if "/blobs/" in path:
            return (200 if path.rpartition("/")[2] in self.blobs else 404), {}, b""
        if "/tags/" in path:
            return 404, {}, b""
        return (200 if path.rpartition("/")[2] in self.manifests else 404), {}, b""


@contextmanager
def fake():
    state = Fake()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            told = state.answer(self.command, self.path, self.headers, body)
            if told == "cut":
                self.close_connection = True
                self.connection.close()
                return
            status, headers, content = told
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _do  # noqa: N815 # the base looks for these

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def test_blobs_come_before_the_manifest_and_that_before_the_tag():
    made = artifact()
    with fake() as there, opened(there.url) as outlet:
        outlet.bring([(Place("apps/pos", POS), made)], 0.0)
    puts = [path.partition("?")[0].rpartition("/")[2] for how, path in there.asked if how == "PUT"]
    assert puts == ["1", "1", made.digest, POS]


def test_what_is_there_is_not_sent_again():
    made = artifact()
    with fake() as there, opened(there.url) as outlet:
        outlet.bring([(Place("apps/pos", POS), made)], 0.0)
        there.asked.clear()
        outlet.bring([(Place("apps/pos", POS), made)], 0.0)
    assert [how for how, _ in there.asked] == ["HEAD", "HEAD", "PUT", "PUT"]


@pytest.mark.parametrize("stop", range(12))
def test_whoever_stops_while_pushing_leaves_old_tags_and_goes_on_later(stop):
    tree = sample()
    changed = tree.after({BASE: tree.files[BASE].replace(b"unset", b"later")})
    place = Place("apps/pos", POS)
    old, new = (
        Packer(ORIGIN).overlay(Edition(each), Recipe("pos", POS, Flavour.FLUX))
        for each in (tree, changed)
    )
    with fake() as there, opened(there.url, tries_max=1) as outlet:
        outlet.bring([(place, old)], 0.0)
        count = len(there.asked) + stop
        there.fail = lambda *_: "cut" if len(there.asked) > count else None
        try:
            outlet.bring([(place, new)], 1.0)
            finished = True
        except Unavailable:
            finished = False
        assert there.manifests[POS] == (new if finished else old).manifest.content
        there.fail = lambda *_: None
        outlet.bring([(place, new)], 2.0)
        assert there.manifests[POS] == new.manifest.content
    assert finished == (stop >= 8)


@pytest.mark.parametrize("told", [(503, {}, b""), (429, {}, b""), "cut"])
def test_what_may_succeed_later_is_sent_again_a_few_times(told):
    with fake() as there, opened(there.url, tries_max=4) as outlet:
        there.fail = lambda *_: told if len(there.asked) % 3 else None
        outlet.bring([(Place("apps/pos", POS), artifact())], 0.0)
        assert POS in there.manifests
        there.asked.clear()
        there.fail = lambda *_: told
        with pytest.raises(Unavailable):
            outlet.digest(Place("apps/pos", POS))
        assert len(there.asked) == 4


def test_a_refusal_is_not_sent_again():
    with fake() as there, opened(there.url) as outlet:
        there.fail = lambda method, *_: (403, {}, b"") if method == "POST" else None
        with pytest.raises(Denied):
            outlet.bring([(Place("apps/pos", POS), artifact())], 0.0)
        assert [how for how, _ in there.asked] == ["HEAD", "POST"]


def test_uploads_are_sent_to_nobody_else():
    with fake() as there, opened(there.url) as outlet:
        there.location = "http://127.0.0.2:9/upload"
        with pytest.raises(Invalid, match=r"127\.0\.0\.2"):
            outlet.bring([(Place("apps/pos", POS), artifact())], 0.0)


def test_a_registry_that_keeps_tags_is_told_of():
    with fake() as there, opened(there.url) as outlet:
        there.fail = lambda method, *_: (405, {}, b"") if method == "DELETE" else None
        place = Place("apps/pos", POS)
        outlet.drop([place], 0.0)
        assert outlet.collect(0.0) == ()
        assert outlet.collect(1.0) == (place,)


def test_a_password_is_shown_when_it_is_asked_for():
    wanted = "Basic " + base64.b64encode(b"robot:hidden").decode()

    def fail(method, path, headers):
        if headers.get("Authorization") == wanted:
            return None
        return 401, {"WWW-Authenticate": 'Basic realm="x"'}, b""

    with fake() as there, opened(there.url, Credentials("robot", "hidden")) as outlet:
        there.fail = fail
        outlet.bring([(Place("apps/pos", POS), artifact())], 0.0)
        assert POS in there.manifests
    with fake() as there, opened(there.url) as outlet:
        there.fail = fail
        with pytest.raises(Denied, match="who pushes"):
            outlet.digest(Place("apps/pos", POS))


def test_a_token_is_fetched_where_the_registry_says():
    with fake() as there, opened(there.url, Credentials("robot", "hidden")) as outlet:

        def fail(method, path, headers):
            shown = headers.get("Authorization") or ""
            if path.startswith("/token"):
                allowed = shown.startswith("Basic ") and "scope=repository" in path
                return (200, {}, b'{"token":"t1"}') if allowed else (401, {}, b"")
            if shown == "Bearer t1":
                return None
            realm = f'Bearer realm="{there.url}/token",service="s",scope="repository:x:push"'
            return 401, {"WWW-Authenticate": realm}, b""

        there.fail = fail
        outlet.bring([(Place("apps/pos", POS), artifact())], 0.0)
        assert POS in there.manifests


@pytest.mark.parametrize("url", ["http://registry.example", "ftp://127.0.0.1", "registry.example"])
def test_secrets_go_nowhere_in_the_clear(url):
    with pytest.raises(Invalid, match="not safe"):
        Registry(url)
    with pytest.raises(Invalid, match="carries"):
        Registry("https://user:word@registry.example")


def test_credentials_are_read_as_docker_login_writes_them(tmp_path):
    path = tmp_path / "config.json"
    auth = base64.b64encode(b"robot:a:b").decode()
    path.write_text(json.dumps({"auths": {"one.example": {"auth": auth}, "two": {}}}))
    assert read_credentials(path, "one.example") == Credentials("robot", "a:b")
    assert "robot" not in repr(read_credentials(path, "one.example"))
    with pytest.raises(Invalid, match=r"three\.example"):
        read_credentials(path, "three.example")
    with pytest.raises(Invalid, match="cannot be read"):
        read_credentials(tmp_path / "gone", "one.example")
