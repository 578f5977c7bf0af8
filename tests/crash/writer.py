"""A process that is there to be killed.

It loads everything once, then for each line ``ROLE PATH SEED`` on its input forks a child that
plays the role on the store at PATH until somebody kills it. The child says on the output what it
was promised; the parent says ``started PID`` before and ``ended`` after.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from graph.store.embedded import EmbeddedStore
from graph.store.port import Claim, Entry
from history import BUSINESS, History, cluster


def say(text: object) -> None:
    os.write(1, f"{text}\n".encode())


async def commit_one_by_one(path: Path, random: Random) -> None:
    """Single commits, as fast as the disk allows."""
    store = await EmbeddedStore.open(path, checkpoint_pages=64)
    history = await _begun(store)
    while True:
        say((await history.put(cluster(random.randrange(100), random.randbytes(4).hex()))).cursor)


async def commit_groups(path: Path, random: Random) -> None:
    """Groups of all sizes with claims, while others read the store."""
    store = await EmbeddedStore.open(path, checkpoint_pages=64)
    history = await _begun(store)

    async def read() -> None:
        reader = await EmbeddedStore.open(path, write=False)
        while True:
            await reader.load()
            await store.head()

    async def write() -> None:
        while True:
            batches = [
                [
                    cluster(random.randrange(300), random.randbytes(4).hex())
                    for _ in range(random.choice((1, 2, 50)))
                ]
                for _ in range(random.choice((1, 3, 12)))
            ]
            receipts = await history.commit(
                *(
                    Entry(changeset, Claim("ann", f"k-{changeset.revision}", "d"))
                    for changeset in history.changesets(*batches)
                )
            )
            for receipt in receipts:
                say(receipt.cursor)

    await asyncio.gather(write(), read(), read())


async def restore_to_and_fro(path: Path, random: Random) -> None:
    """One backup, then the other; the lines say which."""
    store = await EmbeddedStore.open(path)
    say("open")
    while True:
        for name in ("one", "other"):
            await store.restore(path.with_name(f"{name}.backup"))
            say(name)


async def back_up_again_and_again(path: Path, random: Random) -> None:
    """Backups under new names, while commits go on."""
    store = await EmbeddedStore.open(path)
    history = await _begun(store)

    async def write() -> None:
        while True:
            say((await history.put(cluster(random.randrange(100), str(random.random())))).cursor)

    async def back_up() -> None:
        while True:
            await store.backup(path.with_name(f"{random.getrandbits(60):x}.backup"))

    await asyncio.gather(write(), back_up())


async def _begun(store: EmbeddedStore) -> History:
    history = await History.of(store)
    if not history.facts:
        say((await history.put(*BUSINESS)).cursor)
    return history


ROLES: dict[str, Callable[[Path, Random], Awaitable[None]]] = {
    "single": commit_one_by_one,
    "groups": commit_groups,
    "restore": restore_to_and_fro,
    "backup": back_up_again_and_again,
}


async def play(role: str, path: Path, random: Random) -> None:
    await ROLES[role](path, random)


def main() -> None:
    for line in sys.stdin:
        role, path, seed = line.split()
        child = os.fork()
        if child == 0:
            asyncio.run(play(role, Path(path), Random(int(seed))))
            os._exit(1)
        say(f"started {child}")
        os.waitpid(child, 0)
        say("ended")


if __name__ == "__main__":
    main()
