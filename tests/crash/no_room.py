"""A writer that may not grow its files: prints what was acknowledged, then the refusal."""

from __future__ import annotations

import asyncio
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from graph.model.errors import TrellisError
from graph.store.embedded import EmbeddedStore
from history import History, cluster

BYTES_MAX = 300_000


async def main(path: Path) -> int:
    store = await EmbeddedStore.open(path)
    history = await History.of(store)
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES_MAX, BYTES_MAX))
    for step in range(1_000):
        try:
            receipt = await history.put(cluster(step % 50, str(step)))
        except TrellisError as error:
            print(f"{type(error).__name__}: {error.message}", flush=True)
            assert (await store.head()).cursor == history.cursor
            return 3
        print(receipt.cursor, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))
