"""What must hold of an embedded store that something happened to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph.model.change import Cursor, Entity
from graph.model.ref import Ref
from graph.store.codec import encode_body, seal
from graph.store.embedded import EmbeddedStore
from graph.store.port import Head
from history import apply, by_ref, exact


async def check_recovered(path: Path, acknowledged: Sequence[Cursor]) -> Head:
    """Open the store; nothing acknowledged is lost, nothing is missing, all of it agrees."""
    store = await EmbeddedStore.open(path)
    try:
        facts = await store.load()
        head = facts.head
        assert head.horizon.revision == 0
        chain, replayed = head.horizon_chain, dict[Ref, Entity]()
        cursors = [head.horizon]
        async for changeset in store.changesets(after=head.horizon):
            assert changeset.revision == len(cursors), "a gap in the revisions"
            chain = seal(chain, encode_body(changeset))
            assert changeset.chain == chain, f"the chain is broken at {changeset.revision}"
            cursors.append(changeset.cursor)
            apply(replayed, changeset)
        assert cursors[-1] == head.cursor
        assert exact(by_ref(facts.entities)) == exact(replayed), "facts differ from the log"
        lost = [cursor for cursor in acknowledged if cursor not in set(cursors)]
        assert not lost, f"lost {len(lost)} acknowledged, first {lost[0]}"
        return head
    finally:
        await store.close()
