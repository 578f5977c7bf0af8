"""Many commands in batches, in a way that can be interrupted and run again.

Each batch carries an idempotency key made of everything up to its end, so a load that was cut
short is run again with the same words: what was committed is recognised and passed over, and the
rest follows. A file corrected further down keeps the keys of what comes before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from cli.documents import Placed
from cli.progress import Advance
from cli.signing import Author
from graph.engine import Engine
from graph.model.change import Receipt
from graph.model.command import Batch
from graph.model.errors import Rejected, TrellisError


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load came to."""

    commands: int
    batches: int
    known: int
    """Batches that had been loaded before."""


async def load_commands(
    engine: Engine,
    commands: Iterable[Placed],
    *,
    author: Author,
    reason: str,
    batch_commands: int,
    salt: str,
    advance: Advance,
    declare_labels: bool = False,
) -> Loaded:
    """Commit ``commands`` in order, ``batch_commands`` at a time."""
    digest = hashlib.sha256(f"{batch_commands}\0{reason}\0{salt}".encode())
    count = batches = known = 0
    for batch in _batched(commands, batch_commands):
        for placed in batch:
            digest.update(repr(placed.command).encode())
        before = engine.view.cursor.revision
        key = f"load-{digest.hexdigest()[:40]}"
        try:
            receipt = await commit(
                engine,
                batch,
                author=author,
                reason=reason,
                key=key,
                declare_labels=declare_labels,
            )
        except Rejected as error:
            raise _for_apply(error, batch) from None
        known += receipt.changed and receipt.revision <= before
        batches += 1
        count += len(batch)
        advance(len(batch))
    return Loaded(count, batches, known)


async def commit(
    engine: Engine,
    batch: tuple[Placed, ...],
    *,
    author: Author,
    reason: str,
    key: str | None,
    loss: int | None = None,
    declare_labels: bool = False,
) -> Receipt:
    """One batch, all or nothing; a refusal says where in the file it comes from."""
    commands = tuple(placed.command for placed in batch)
    made = Batch(
        commands,
        author.name,
        reason,
        idempotency_key=key,
        expected_loss=loss,
        declare_labels=declare_labels,
    )
    try:
        return await engine.execute(made, author.acting_for)
    except TrellisError as error:
        raise located(error, batch) from None


def located(error: TrellisError, batch: tuple[Placed, ...]) -> TrellisError:
    """``error`` with the place in the file of the command it is about, if it is about one."""
    match error.path:
        case ("commands", int(position), *_):
            error.message = f"{batch[position].where}: {error.message}"
        case _:
            pass
    return error


def _for_apply(error: Rejected, batch: tuple[Placed, ...]) -> Rejected:
    """A refused loss, with the way to state it.

    A load states none: run again with another number it would not know what it has loaded.
    """
    if error.loss is not None:
        error.hint = (
            f"nothing from {batch[0].where} on was loaded; give the commands up to"
            f" {batch[-1].where} to trellis apply with --expect-loss {error.loss},"
            " and load what comes after them"
        )
        error.loss = None
    return error


def _batched(commands: Iterable[Placed], size: int) -> Iterator[tuple[Placed, ...]]:
    stream = iter(commands)
    while batch := tuple(islice(stream, size)):
        yield batch
