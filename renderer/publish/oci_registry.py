"""A registry that artifacts are pushed to, over the distribution API.

What is there already is not sent again. Requests that may succeed later are sent again a few times,
a little later each time. Credentials go to the registry, and to where it sends for tokens, and only
over https or on this machine. What was pushed is written down, for the day it is retired.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlencode, urljoin, urlsplit

from graph.model.errors import Denied, Invalid, Unavailable
from graph.model.names import quoted
from renderer.artifact.artifact import MANIFEST, Artifact, Blob, digest_of
from renderer.publish.oci import Place
from renderer.publish.oci_credentials import NOBODY, Challenge, Credentials, read_challenge
from renderer.publish.oci_ledger import Ledger

PAUSE_SECONDS = 0.2
PAUSE_SECONDS_MAX = 10.0
ANSWER_BYTES_MAX = 8 * 1024 * 1024
PAGES_MAX = 1_000
"""Of tags of one repository."""
_NEXT = re.compile(r"<([^>]*)>[^,]*;\s*rel=\"?next\"?", re.I)
_AGAIN = (408, 425, 429, 500, 502, 503, 504)


class Reply(NamedTuple):
    """What a registry said."""

    status: int
    headers: dict[str, str]
    body: bytes


class Registry:
    """An outlet that is a registry."""

    def __init__(
        self,
        url: str,
        credentials: Credentials = NOBODY,
        *,
        connections: int = 4,
        request_seconds: float = 30.0,
        tries_max: int = 5,
        delivered: Path | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._at = checked(url)
        self._credentials = credentials
        self._request_seconds = request_seconds
        self._tries_max = tries_max
        self._pause = pause
        self._authorization: dict[str, str] = {}
        """Headers that were accepted, by repository."""
        self._local = threading.local()
        self._open: list[HTTPConnection] = []
        self._closed = False
        self._pool = ThreadPoolExecutor(connections, "registry")
        self._ledger = Ledger(delivered, self._at.geturl())

    def digest(self, place: Place) -> str | None:
        """What a tag leads to."""
        reply = self._ask("HEAD", place.repository, f"manifests/{place.tag}", accept=MANIFEST)
        if reply.status == 404:
            return None
        self._expect(reply, 200, f"the tag {place.tag} of {place.repository}")
        if "docker-content-digest" in reply.headers:
            return reply.headers["docker-content-digest"]
        reply = self._ask("GET", place.repository, f"manifests/{place.tag}", accept=MANIFEST)
        return digest_of(reply.body) if reply.status == 200 else None

    def tags(self, repository: str) -> Iterable[str]:
        """The tags of a repository: those it tells of, and those it was given."""
        found = self._ledger.in_use(repository).union(self._listed(repository))
        return sorted(found - self._ledger.dropped(repository))

    def repositories(self) -> Iterable[str]:
        """Those that were given something which is not taken away yet."""
        return self._ledger.repositories()

    def _listed(self, repository: str) -> Iterator[str]:
        """The tags it tells of, page by page; none where it is not there, or will not tell."""
        where = self._path(repository, "tags/list")
        for _ in range(PAGES_MAX):
            reply = self._send("GET", where, repository, {}, b"")
            if reply.status != 200:
                return
            yield from (str(tag) for tag in json.loads(reply.body).get("tags") or ())
            more = _NEXT.search(reply.headers.get("link", ""))
            if more is None:
                return
            where = self._here(urljoin(where, more[1]), "tags")

    def bring(self, items: Iterable[tuple[Place, Artifact]], now: float) -> None:
        """Several at a time; each of them blobs first, tag last."""
        waiting = list(items)
        for place, _ in waiting:
            self._ledger.note(place)
        self._ledger.save()
        try:
            for done in [self._pool.submit(self._put, *item) for item in waiting]:
                done.result()
        except (RuntimeError, CancelledError):  # the pool was closed
            raise Unavailable("the registry is let go of", hint="start the worker again") from None

    def keep(self, places: Iterable[Place]) -> None:
        """They are written down as in use, whoever pushed them."""
        for place in places:
            self._ledger.note(place)

    def drop(self, places: Iterable[Place], now: float) -> None:
        """They are taken away later."""
        for place in places:
            self._ledger.drop(place, now)
        self._ledger.save()

    def collect(self, before: float) -> tuple[Place, ...]:
        """Take tags away whose time is over; a registry may not allow it."""
        left: list[Place] = []
        for place in self._ledger.due(before):
            reply = self._ask("DELETE", place.repository, f"manifests/{place.tag}")
            if reply.status not in (200, 202, 404):
                left.append(place)
            self._ledger.forget(place)
        self._ledger.save()
        return tuple(left)

    def close(self) -> None:
        """Let go of every connection; whoever is under way gets no further."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)
        for each in self._open:
            each.close()

    def _put(self, place: Place, artifact: Artifact) -> None:
        for blob in artifact.blobs:
            self._put_blob(place.repository, blob)
        for reference in (artifact.digest, place.tag):
            what = f"manifests/{reference}"
            content = artifact.manifest.content
            reply = self._ask("PUT", place.repository, what, content, MANIFEST)
            self._expect(reply, 201, f"{place.repository}:{reference}")

    def _put_blob(self, repository: str, blob: Blob) -> None:
        if self._ask("HEAD", repository, f"blobs/{blob.digest}").status == 200:
            return
        reply = self._ask("POST", repository, "blobs/uploads/")
        self._expect(reply, 202, f"an upload to {repository}")
        where = self._upload_path(reply.headers.get("location", ""), blob.digest)
        kind = "application/octet-stream"
        done = self._send("PUT", where, repository, {"Content-Type": kind}, blob.content)
        self._expect(done, 201, f"the blob {blob.digest} of {repository}")

    def _upload_path(self, location: str, digest: str) -> str:
        """Where a registry wants a blob."""
        where = self._here(location, "uploads")
        return f"{where}{'&' if '?' in where else '?'}{urlencode({'digest': digest})}"

    def _here(self, location: str, what: str) -> str:
        """Where a registry sends for more: it must be this registry, or somebody else is asked."""
        there = urlsplit(urljoin(self._at.geturl(), location))
        if not location or (there.scheme, there.netloc) != (self._at.scheme, self._at.netloc):
            raise Invalid(
                f"{self._at.netloc} sends {what} to {quoted(there.netloc)}",
                hint="use a registry that takes them itself",
            )
        return f"{there.path}?{there.query}" if there.query else there.path

    def _ask(
        self,
        method: str,
        repository: str,
        what: str,
        body: bytes = b"",
        content_type: str = "",
        accept: str = "",
    ) -> Reply:
        headers = {"Content-Type": content_type} if content_type else {}
        if accept:
            headers["Accept"] = accept
        return self._send(method, self._path(repository, what), repository, headers, body)

    def _path(self, repository: str, what: str) -> str:
        prefix = self._at.path.strip("/")
        name = f"{prefix}/{repository}" if prefix else repository
        return f"/v2/{name}/{what}"

    def _send(
        self, method: str, path: str, repository: str, headers: dict[str, str], body: bytes
    ) -> Reply:
        """One request, sent again while that may help; with a token once one is asked for."""
        asked, failure = False, "it is let go of"
        for attempt in range(self._tries_max):
            if self._closed:
                break
            if attempt:
                self._pause(min(PAUSE_SECONDS * 2**attempt, PAUSE_SECONDS_MAX))
            given = self._authorization.get(repository)
            sent = {**headers, "Authorization": given} if given else headers
            try:
                reply = self._exchange(method, path, sent, body)
                if reply.status == 401 and not asked:
                    asked = True
                    self._introduce(repository, reply.headers.get("www-authenticate", ""))
                    sent = {**headers, "Authorization": self._authorization[repository]}
                    reply = self._exchange(method, path, sent, body)
            except (OSError, HTTPException) as error:
                self._close()
                failure = str(error) or type(error).__name__
                continue
            if reply.status not in _AGAIN:
                return reply
            failure = f"it answers {reply.status}"
        raise Unavailable(
            f"the registry {self._at.netloc} cannot be used: {failure}",
            hint="what is there stays as it is; the worker tries again",
        )

    def _introduce(self, repository: str, wanted: str) -> None:
        known, challenge = self._credentials, read_challenge(wanted)
        header = known.bearer or known.basic
        if challenge.scheme == "bearer" and not known.bearer:
            header = f"Bearer {self._token(challenge)}"
        if header is None:
            raise Denied(
                f"the registry {self._at.netloc} wants to know who pushes",
                hint="set TRELLIS_ARTIFACT_CREDENTIALS_FILE",
            )
        self._authorization[repository] = header

    def _token(self, challenge: Challenge) -> str:
        realm = checked(challenge.realm)
        asked = {"service": challenge.service, "scope": challenge.scope}
        query = urlencode({key: value for key, value in asked.items() if value})
        headers = {"Authorization": self._credentials.basic} if self._credentials.basic else {}
        connection = _connection(realm, self._request_seconds)
        try:
            connection.request("GET", f"{realm.path or '/'}?{query}", headers=headers)
            response = connection.getresponse()
            body = response.read(ANSWER_BYTES_MAX)
            if response.status != 200:
                raise Denied(
                    f"{realm.netloc} gives no token: it answers {response.status}",
                    hint="check the credentials, and what they may do",
                )
            found = json.loads(body)
        finally:
            connection.close()
        return str(found.get("token") or found.get("access_token") or "")

    def _exchange(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = _connection(self._at, self._request_seconds)
            self._open.append(connection)
        needs = method in ("PUT", "POST", "PATCH")
        connection.request(method, path, body if needs else None, headers)
        response = connection.getresponse()
        content = response.read(ANSWER_BYTES_MAX + 1)
        if len(content) > ANSWER_BYTES_MAX:
            raise HTTPException("the answer is too long")
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, content)

    def _close(self) -> None:
        connection: HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()  # the next request opens it again

    def _expect(self, reply: Reply, status: int, what: str) -> None:
        if reply.status in (401, 403):
            raise Denied(
                f"the registry {self._at.netloc} refuses {what}",
                hint="check the credentials, and what they may do",
            )
        if reply.status != status:
            told = reply.body[:200].decode("utf-8", "replace")
            raise Unavailable(
                f"the registry {self._at.netloc} answers {reply.status} to {what}: {told}",
                hint="what is there stays as it is; the worker tries again",
            )


def checked(url: str) -> SplitResult:
    """A URL whose secrets are safe: https, or on this machine."""
    found = urlsplit(url)
    if "@" in found.netloc:
        raise Invalid(
            "the URL of a registry carries a user or password",
            hint="set TRELLIS_ARTIFACT_CREDENTIALS_FILE instead",
        )
    if found.scheme == "https" or (found.scheme == "http" and _is_loopback(found.hostname or "")):
        return found
    raise Invalid(f"{quoted(url)} is not safe", hint="use https://, or http:// on this machine")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _connection(at: SplitResult, seconds: float) -> HTTPConnection:
    kind = HTTPSConnection if at.scheme == "https" else HTTPConnection
    return kind(at.hostname or "", at.port, timeout=seconds)
