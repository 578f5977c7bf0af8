"""The one writer of a process: batches in a queue, decided in order, committed in groups.

While one group is being made durable the next one gathers, so the cost of a commit is shared by
everybody who waited for it. Each batch is decided on the view its predecessor leaves. Nobody sees
a revision before the store has it. When another process wrote first, the group is decided again
from the newer view; when a commit is cut off, the outcome is unknown and the caller is told how to
ask for it. While the store is known to be out of reach batches are refused at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256

from graph.access import access_of
from graph.consequence import consequence_of
from graph.decide.batch import check_batch
from graph.effective.state import State
from graph.index.builder import edit
from graph.index.snapshot import Snapshot
from graph.model.access import Actor
from graph.model.change import CHAIN_DIGITS, Changeset, Cursor, Receipt
from graph.model.command import Batch, Revert
from graph.model.errors import Conflict, OutcomeUnknown, TrellisError, Unavailable
from graph.model.names import Revision
from graph.permission import decide_for
from graph.settings import GraphSettings
from graph.store.port import Claim, Entry, Kept, Store
from graph.trace import Trace, untraced

_log = logging.getLogger(__name__)

_UNSEALED = "0" * CHAIN_DIGITS
"""Stands for the chain of a revision the store has not sealed yet."""


@dataclass(frozen=True, slots=True)
class Step:
    """A revision that is durable: its changeset, and what it leads to."""

    changeset: Changeset
    snapshot: Snapshot
    state: State | None = None
    """What then runs where, if it was worked out."""


@dataclass(slots=True)
class _Request:
    batch: Batch
    actor: Actor | None
    answer: asyncio.Future[Receipt]
    tries: int = 0
    context: Context = field(default_factory=copy_context)
    """Of whoever waits."""


@dataclass(slots=True)
class _Group:
    """What one transaction will hold."""

    base: Snapshot
    start: State
    """What runs where at the base."""
    entries: list[Entry] = field(default_factory=list[Entry])
    requests: list[_Request] = field(default_factory=list[_Request])
    snapshots: list[Snapshot] = field(default_factory=list[Snapshot])
    states: list[State] = field(default_factory=list[State])
    answers: list[tuple[_Request, Receipt | TrellisError]] = field(
        default_factory=list["tuple[_Request, Receipt | TrellisError]"]
    )
    """What needs no commit: refusals, and batches that change nothing. True if the base is."""
    kept: list[tuple[_Request, Receipt]] = field(default_factory=list["tuple[_Request, Receipt]"])
    """Batches that took effect before."""
    keys: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    @property
    def view(self) -> Snapshot:
        """The view the next batch is decided on."""
        return self.snapshots[-1] if self.snapshots else self.base

    @property
    def state(self) -> State:
        """What runs where in that view."""
        return self.states[-1] if self.states else self.start


class Writer:
    """Takes batches, gives receipts.

    It holds ``turn`` while a group is under way, so that nobody else moves the view meanwhile;
    ``catch_up`` is called while it is held.
    """

    def __init__(
        self,
        store: Store,
        settings: GraphSettings,
        *,
        view: Callable[[], Snapshot],
        state: Callable[[], Awaitable[State]],
        advance: Callable[[Sequence[Step]], None],
        catch_up: Callable[[], Awaitable[None]],
        turn: asyncio.Lock,
        now: Callable[[], datetime],
        trace: Trace = untraced,
    ) -> None:
        self._store = store
        self._settings = settings
        self._view = view
        self._state = state
        self._advance = advance
        self._catch_up = catch_up
        self._turn = turn
        self._now = now
        self._trace = trace
        self._last: datetime | None = None
        self._waiting: deque[_Request] = deque()
        self._running: asyncio.Task[None] | None = None
        self._closed = False

    async def execute(self, batch: Batch, actor: Actor | None = None) -> Receipt:
        """Decide and commit ``batch`` for ``actor``; the receipt means it is durable.

        What the actor may do is looked up in the view the batch is decided on, so that a grant
        given or taken away counts from the next batch on.
        """
        check_batch(batch)
        if self._closed:
            raise Unavailable("the engine is closing", hint="send the batch again, elsewhere")
        if len(self._waiting) >= self._settings.writes_waiting_max:
            raise Unavailable(
                f"{len(self._waiting):,} batches are waiting to be written",
                hint="send the batch again in a moment, with the same idempotency key",
            )
        self._store.check_available()
        request = _Request(batch, actor, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        return await request.answer

    def saw(self, at: datetime | None) -> None:
        """Another process made a changeset ``at``; ours come no earlier."""
        if at is not None:
            self._last = at if self._last is None else max(at, self._last)

    async def close(self) -> None:
        """Finish what waits, take nothing more; a caller that gives up does not stop it."""
        self._closed = True
        if self._running is not None:
            await asyncio.shield(self._running)

    async def _run(self) -> None:
        while self._waiting:
            count = min(len(self._waiting), self._settings.group_commit_max)
            requests = [self._waiting.popleft() for _ in range(count)]
            try:
                async with self._turn:
                    await self._write(requests)
            except Exception as error:
                if not isinstance(error, TrellisError):
                    _log.exception("a group of batches could not be written")
                for request in requests:
                    _settle(request, error)

    async def _write(self, requests: Sequence[_Request]) -> None:
        group = _Group(self._view(), await self._state())
        waiting = [request for request in requests if not request.answer.done()]
        claims = [claim_of(request.batch) for request in waiting]
        kept = await asyncio.gather(*map(self._kept, claims))
        for request, claim, found in zip(waiting, claims, kept, strict=True):
            self._join(group, request, claim, found)
        try:
            receipts = await self._commit(group)
        except Conflict:
            await self._catch_up()
            self._again([*group.requests, *(request for request, _ in group.answers)])
        except Unavailable as error:
            told = _unknown(error) if isinstance(error, OutcomeUnknown) else error
            for request in group.requests:
                _settle(request, told)
            for request, _ in group.answers:
                _settle(request, error)
            await self._catch_up()
        else:
            self._finish(group, receipts)
        for request, receipt in group.kept:
            if receipt.revision > self._view().cursor.revision:
                await self._catch_up()  # it was given through another process
            _settle(request, receipt)

    async def _commit(self, group: _Group) -> Sequence[Receipt]:
        """Write the group; or, with nothing to write, make sure that it was decided on the head.

        Another process may have written since: then what was refused may be right by now.
        """
        base = group.base.cursor
        if group.entries:
            # in the context of the first who waits: a trace of theirs shows it
            context = group.requests[0].context
            return await asyncio.create_task(self._store_group(group), context=context)
        if group.answers and (await self._store.head()).cursor != base:
            raise Conflict("the view was not the head")
        return ()

    async def _store_group(self, group: _Group) -> Sequence[Receipt]:
        with self._trace("commit", batches=len(group.entries)):
            return await self._store.commit(
                group.entries, expected=group.base.cursor, now=self._now()
            )

    def _join(
        self, group: _Group, request: _Request, claim: Claim | None, kept: Kept | None
    ) -> None:
        """Decide a batch into the group, or answer it without."""
        if claim is not None and (claim.actor, claim.key) in group.keys:
            self._waiting.appendleft(request)  # its twin is in this group; ask again after it
            return
        try:
            if kept is not None:
                group.kept.append((request, _same_batch(kept, request.batch)))
                return
            view, actor = group.view, request.actor
            access = None if actor is None else access_of(actor, view.grants())
            draft = edit(view)
            changes = decide_for(access, request.batch, view, draft, lambda: edit(view))
            consequence = consequence_of(
                access, request.batch, changes, group.state, draft, self._settings
            )
            if consequence.refusals:
                raise consequence.refusals[0]
        except TrellisError as refusal:
            group.answers.append((request, refusal))
            return
        except Exception as fault:  # ours; it must not take the other batches along
            _log.exception("a batch could not be decided")
            _settle(request, fault)
            return
        if not changes and claim is None and not group.snapshots:
            group.answers.append((request, Receipt(group.base.cursor, changed=False)))
            return
        changeset: Changeset | None = None
        if changes:
            revision = Revision(group.view.cursor.revision + 1)
            batch = request.batch
            loss = min(batch.expected_loss or 0, consequence.loss)
            changeset = Changeset(
                revision,
                self._moment(),
                batch.actor,
                batch.reason,
                changes,
                loss,
                on_behalf_of=batch.on_behalf_of,
            )
            numbers = group.view.numbers.after(changes)
            snapshot = draft.freeze(Cursor(revision, _UNSEALED), numbers=numbers)
            group.snapshots.append(snapshot)
            group.states.append(replace(consequence.state, view=snapshot))
        group.entries.append(Entry(changeset, claim))
        group.requests.append(request)
        if claim is not None:
            group.keys.add((claim.actor, claim.key))

    async def _kept(self, claim: Claim | None) -> Kept | None:
        return None if claim is None else await self._store.kept(claim.actor, claim.key)

    def _again(self, requests: Sequence[_Request]) -> None:
        for request in reversed(requests):
            request.tries += 1
            if request.tries >= self._settings.decide_again_max:
                _settle(
                    request,
                    Conflict(
                        f"other writers came first {request.tries} times",
                        hint="send the batch again in a moment",
                    ),
                )
            else:
                self._waiting.appendleft(request)

    def _finish(self, group: _Group, receipts: Sequence[Receipt]) -> None:
        steps: list[Step] = []
        made = zip(group.snapshots, group.states, strict=True)
        for entry, receipt in zip(group.entries, receipts, strict=True):
            if entry.changeset is not None:
                unsealed, state = next(made)
                snapshot = edit(unsealed).freeze(receipt.cursor)
                steps.append(Step(_sealed(entry.changeset, receipt), snapshot, state))
        self._advance(steps)
        for request, receipt in zip(group.requests, receipts, strict=True):
            _settle(request, receipt)
        for request, answer in group.answers:
            _settle(request, answer)

    def _moment(self) -> datetime:
        """Now, to the millisecond; never before the last changeset of this process."""
        now = self._now()
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        self._last = now if self._last is None else max(now, self._last)
        return self._last


def claim_of(batch: Batch) -> Claim | None:
    """The batch's idempotency key with a digest of what it asks for."""
    if batch.idempotency_key is None:
        return None
    asked = [(each.to, each.scope) if isinstance(each, Revert) else each for each in batch.commands]
    said: tuple[object, ...] = (asked, batch.reason, batch.expected_revision)
    if batch.expected_loss is not None:  # so that a batch without one is the one it always was
        said = (*said, batch.expected_loss)
    if batch.declare_labels:
        said = (*said, "label keys are declared")
    if batch.on_behalf_of:
        said = (*said, "on behalf of", batch.on_behalf_of)
    body = repr(said)
    return Claim(batch.actor, batch.idempotency_key, sha256(body.encode()).hexdigest())


def _same_batch(kept: Kept, batch: Batch) -> Receipt:
    """The receipt of ``batch``; leave to declare changes nothing of one that did not need it."""
    same = (claim_of(batch), claim_of(replace(batch, declare_labels=False)))
    if all(kept.claim != claim for claim in same):
        raise Conflict(
            "this idempotency key was used for another batch",
            hint="a key names one batch; use a new one for a new batch",
        )
    return kept.receipt


def _sealed(changeset: Changeset, receipt: Receipt) -> Changeset:
    return replace(changeset, chain=receipt.cursor.chain)


def _unknown(error: Unavailable) -> Unavailable:
    return Unavailable(
        f"{error.message}; whether the batch took effect is not known",
        hint="send it again with the same idempotency key, or read the fleet first",
    )


def _settle(request: _Request, answer: Receipt | BaseException) -> None:
    if request.answer.done():
        return  # the caller has gone
    if isinstance(answer, Receipt):
        request.answer.set_result(answer)
    else:
        request.answer.set_exception(answer)
