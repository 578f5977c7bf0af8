"""Artifacts of the newest commit, and those that were handed out before.

L1  A tag leads to what the newest commit holds, whole: never ahead of it, never between two, and
    no further behind than the head was looked at last. Whoever asks after that time waits for the
    next look, but not for one that is slow.
L2  What a tag led to, and what that pins, is answered by digest after the commit has moved on, for
    as long as there is room: the longest unasked goes first.
L3  A digest that is not at hand is looked for in the newest commit, so a process that was just
    started, or another one behind the same name, answers what its neighbour pinned. That goes a
    few overlays at a time, and those who ask for tags are answered in between.
L4  Nobody but the publisher is asked. If it cannot be reached, the last commit is served.

A digest of an earlier commit that no longer fits, or was handed out before a restart, is unknown:
the store says so, asks for its pointer again, and is led to what there is now.

One thread reads and packs, another one looks; answers are remembered and sent on the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from graph.model.errors import NotFound, TrellisError, Unavailable
from renderer.artifact.artifact import Artifact
from renderer.artifact.edition import Edition, Recipe
from renderer.artifact.kept import Kept
from renderer.artifact.packer import Packer, recipes
from renderer.serve.answer import Answer, for_now, of_blob, of_manifest
from renderer.serve.searches import Searches
from renderer.tree import Head

CURRENT = "current"
LOOK_SECONDS_MAX = 1.0
"""How long those who ask wait for a look at what is published."""
SEARCHED_AT_ONCE = 50
"""Overlays that are gone through before others have their turn."""
CLUSTERS, APPS = "clusters", "apps"
MIB = 1024 * 1024
_T = TypeVar("_T")
_log = logging.getLogger(__name__)

Name = tuple[str, str]
"""``clusters`` or ``apps``, and which."""
Found = list[tuple[Name, Artifact]]


class Library:
    """Answers by tag and by digest."""

    def __init__(
        self,
        packer: Packer,
        read_head: Callable[[], Head],
        *,
        head_seconds: float = 0.5,
        kept_bytes_max: int = 256 * MIB,
        waiting_max: int = 2_000,
        searches_max: int = 8,
        private: bool = False,
    ) -> None:
        self._packer = packer
        self._read_head = read_head
        self._head_seconds = head_seconds
        self._waiting_max = waiting_max
        self._private = private
        self._edition: Edition | None = None
        self._tags: dict[tuple[Name, str], Answer] = {}
        self._digests = Kept[tuple[Name, str, bool], Answer](
            kept_bytes_max, lambda it: len(it.body)
        )
        self._waiting: dict[tuple[object, ...], asyncio.Future[Answer | None]] = {}
        self._searches = Searches(searches_max)
        self._reader = ThreadPoolExecutor(1, "artifacts")
        self._looker = ThreadPoolExecutor(1, "head")
        self._looked = float("-inf")
        self._looking: asyncio.Task[None] | None = None
        self._slow = False

    @property
    def commit(self) -> str | None:
        """The commit that is served; None before there was one."""
        return self._edition.commit if self._edition else None

    async def tagged(self, name: Name, tag: str) -> Answer | None:
        """What a tag leads to at the newest commit; None where there is no such thing."""
        edition = await self._newest()
        found = self._tags.get((name, tag))
        if found is not None:
            return found
        return await self._once((edition.commit, name, tag), lambda: self._tag(edition, name, tag))

    async def by_digest(
        self, name: Name, digest: str, *, manifest: bool, asker: Hashable | None = None
    ) -> Answer | None:
        """A manifest or a blob; None where nothing here has that digest.

        ``Rejected`` where ``asker`` has too many looked for already; nobody in particular has not.
        """
        found = self._digests.get((name, digest, manifest))
        if found is not None:
            return found
        edition = await self._newest()
        if self._searches.is_absent(edition.commit, name, digest):
            return None

        async def search() -> Answer | None:
            with self._searches.asked_by(asker):
                for each, artifact in await self._find(edition, name, digest):
                    self._keep(each, artifact)
            return self._digests.get((name, digest, manifest))

        return await self._once((edition.commit, name, digest, manifest), search)

    async def look(self) -> None:
        """See what is published now."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            head = await loop.run_in_executor(self._looker, self._read_head)
        except (TrellisError, OSError) as error:
            _log.warning("what is published cannot be read: %s", error)
            return
        finally:
            self._looked = loop.time()
            self._slow = self._looked - began > LOOK_SECONDS_MAX
        if self._edition is None or head.commit != self._edition.commit:
            self._edition, self._tags = Edition(head.tree, head.commit), {}

    def close(self) -> None:
        """Let the threads go."""
        self._looker.shutdown(wait=True, cancel_futures=True)
        self._reader.shutdown(wait=True, cancel_futures=True)

    async def _newest(self) -> Edition:
        if asyncio.get_running_loop().time() - self._looked >= self._head_seconds:
            await self._wait_for_look()
        if self._edition is None:
            raise Unavailable("nothing that is published can be read", hint="try again later")
        return self._edition

    async def _wait_for_look(self) -> None:
        """Look again, once for all who ask; nobody waits for one that was slow the last time."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self.look())
        if self._edition is None or not self._slow:
            done, _ = await asyncio.wait((self._looking,), timeout=LOOK_SECONDS_MAX)
            self._slow = not done

    async def _tag(self, edition: Edition, name: Name, tag: str) -> Answer | None:
        found = await self._read(lambda: self._pack(edition, name, tag))
        if not found:
            return None
        answer = for_now(
            of_manifest(found[-1][1].digest, found[-1][1].manifest.content),
            max(1, round(self._head_seconds)),
            private=self._private,
        )
        for each, artifact in found:
            self._keep(each, artifact)
        if edition is self._edition:
            self._tags[name, tag] = answer
        return answer

    async def _find(self, edition: Edition, name: Name, digest: str) -> Found:
        """What has a digest, among everything of its repository."""
        kind, which = name
        if kind == CLUSTERS:
            return await self._read(lambda: self._pack_cluster(edition, which))
        waiting = await self._read(lambda: list(recipes(edition, which)))
        seen: set[str] = set()
        for start in range(0, len(waiting), SEARCHED_AT_ONCE):
            part = waiting[start : start + SEARCHED_AT_ONCE]
            found = await self._read(partial(self._go_through, edition, part, digest, seen))
            if found is not None:
                return [(name, found)]
        self._searches.went_through(edition.commit, name, seen)
        return []

    def _keep(self, name: Name, artifact: Artifact) -> None:
        """For those who were led to it."""
        held = self._digests
        if held.get((name, artifact.digest, True)) is None:
            held.put((name, artifact.digest, True), of_manifest(*artifact.manifest))
        for blob in artifact.blobs:
            if held.get((name, blob.digest, False)) is None:
                held.put((name, blob.digest, False), of_blob(*blob))

    async def _once(
        self, key: tuple[object, ...], make: Callable[[], Awaitable[Answer | None]]
    ) -> Answer | None:
        """Make it once for all who wait for it."""
        under_way = self._waiting.get(key)
        if under_way is None:
            if len(self._waiting) >= self._waiting_max:
                raise Unavailable("too many artifacts are being made", hint="try again later")
            under_way = self._waiting[key] = asyncio.ensure_future(make())
            under_way.add_done_callback(lambda _: self._waiting.pop(key, None))
        return await asyncio.shield(under_way)

    async def _read(self, body: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._reader, body)

    # What follows runs on the reader's thread.

    def _pack(self, edition: Edition, name: Name, tag: str) -> Found:
        """What a tag leads to, at the end, behind what that pins."""
        kind, which = name
        if kind == CLUSTERS:
            return self._pack_cluster(edition, which) if tag == CURRENT else []
        for recipe in recipes(edition, which):
            if recipe.tag == tag:
                return [(name, self._packer.overlay(edition, recipe))]
        return []

    def _pack_cluster(self, edition: Edition, cluster: str) -> Found:
        packed = self._packer.cluster(edition, cluster)
        found: Found = []
        for recipe, _ in packed.pins:
            overlay = edition.overlays.get(recipe)
            if overlay is not None:
                found.append(((APPS, recipe.application), overlay))
        return [*found, ((CLUSTERS, cluster), packed.artifact)]

    def _go_through(
        self, edition: Edition, waiting: Sequence[Recipe], digest: str, seen: set[str]
    ) -> Artifact | None:
        """The one that has a digest; those of the others are ``seen``."""
        for recipe in waiting:
            try:
                artifact = self._packer.overlay(edition, recipe)
            except NotFound:
                continue
            seen |= {artifact.digest, *(blob.digest for blob in artifact.blobs)}
            if digest in seen:
                return artifact
        return None
