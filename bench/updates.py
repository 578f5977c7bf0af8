"""How soon a change is visible, against the seed sentence's count in the same run.

A change is given to the index as the log gives it: edit, apply, freeze, which ends in a snapshot
every reader may have. The same hundred memberships are made one at a time and in one batch.
Deciding and recording come on top and are measured end to end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count as counter
from itertools import cycle

from bench.fleet import CURSOR, snapshot
from bench.result import Row, row
from bench.scale import Measured, Scale
from bench.stores import ACTOR, EmbeddedFleet, embedded
from bench.timing import Spent, Watch, Work
from cli.sample import SEED_SENTENCE
from graph.index.builder import edit
from graph.index.snapshot import Snapshot
from graph.model.change import Change, Cursor
from graph.model.command import Batch, Join, Leave
from graph.model.inventory import Cluster
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.view import group_at, subtree
from graph.targeting.evaluate import count
from graph.targeting.parser import parse

BATCH = 100
NEXT = Cursor(Revision(CURSOR.revision + 1), CURSOR.chain)
SEED_COUNT = "the seed sentence's count"
UNUSED = "/planogram/seasonal/holiday"
"""A group with no direct members in the sample: whoever joins it can leave without a trace."""

Changes = Sequence[Change]


def visible(base: Snapshot, changes: Changes) -> Snapshot:
    """The snapshot in which ``changes`` have happened."""
    draft = edit(base)
    draft.apply(changes)
    return draft.freeze(NEXT)


def run(scale: Scale) -> Measured:
    """Every kind of change, and a whole command."""
    view = snapshot(scale.clusters)
    selector = parse(SEED_SENTENCE, view)
    size = f"{scale.clusters:,} clusters"
    kinds = kinds_of_change(view)
    works: dict[str, Work] = {SEED_COUNT: partial(count, selector, view)}
    works |= {kind: _in_turn(view, changes) for kind, changes in kinds.items()}
    spent = scale.timed(works)
    rows = [row(f"{SEED_COUNT}, {size}", "Trellis", spent[SEED_COUNT].cpu * 1e6, "us")]
    for kind, changes in kinds.items():
        of_batch = max(map(len, changes)) == BATCH
        found = spent[kind].each(BATCH if of_batch else 1)
        rows.append(_row(f"{kind}, {size}", found, spent[SEED_COUNT]))
    whole = asyncio.run(_executed(embedded(scale.clusters), scale.commits))
    rows.append(_row(f"one command end to end, embedded store, {size}", whole, spent[SEED_COUNT]))
    return Measured(rows)


def kinds_of_change(view: Snapshot) -> dict[str, list[Changes]]:
    """For each kind, changesets that may each follow ``view``."""
    joins = [_join(*pair) for pair in _pairs(view)]
    return {
        "one membership joined": [(each,) for each in joins],
        "one membership left": [(_left(each),) for each in _sampled(view, BATCH)],
        "one place in geo changed": [(_moved(view, each),) for each in _sampled(view, BATCH)],
        "100 memberships joined in one batch, each": [tuple(joins)],
        "one cluster registered": [(_registered(view, each),) for each in _sampled(view, BATCH)],
        "one cluster relabelled": [(_relabelled(each),) for each in _sampled(view, BATCH)],
        "a state moved to another region": [_regrouped(view, "/geo/us/central/tx", "/geo/us/west")],
        "a region moved to another country": [_regrouped(view, "/geo/us/northeast", "/geo/ca")],
    }


def _row(measure: str, spent: Spent, seed: Spent) -> Row:
    over = seed.cpu * 1e6
    return row(measure, "Trellis", spent.cpu * 1e6, "us", over=over, ratio_to=SEED_COUNT)


def _in_turn(view: Snapshot, changesets: list[Changes]) -> Work:
    turns = cycle(changesets)
    return lambda: visible(view, next(turns))


def _sampled(view: Snapshot, wanted: int) -> list[Cluster]:
    """Clusters spread over the whole fleet."""
    numbers = list(view.everything())
    found = (view.cluster(each) for each in numbers[:: max(1, len(numbers) // wanted)][:wanted])
    return [each for each in found if each is not None]


def _pairs(view: Snapshot) -> Iterator[tuple[Cluster, GroupNumber]]:
    """A hundred clusters, each with a kind of grill it has not."""
    models = [
        each for each in subtree(view, _group(view, "/devices/grill")) if _is_leaf(view, each)
    ]
    for position, cluster in enumerate(_sampled(view, BATCH)):
        choice = (models[(position + step) % len(models)] for step in counter())
        yield cluster, next(each for each in choice if each not in cluster.memberships)


def _join(cluster: Cluster, group: GroupNumber) -> Change:
    memberships = tuple(sorted((*cluster.memberships, group)))
    return _changed(cluster, replace(cluster, memberships=memberships))


def _left(cluster: Cluster) -> Change:
    *kept, _ = cluster.memberships
    return _changed(cluster, replace(cluster, memberships=tuple(kept)))


def _moved(view: Snapshot, cluster: Cluster) -> Change:
    """To another place in the country that holds most of the fleet."""
    here = next(each for each in cluster.memberships if _hierarchy(view, each) == "geo")
    places = (each for each in subtree(view, _group(view, "/geo/us")) if each != here)
    there = next(each for each in places if _is_leaf(view, each))
    memberships = tuple(sorted((*(each for each in cluster.memberships if each != here), there)))
    return _changed(cluster, replace(cluster, memberships=memberships))


def _registered(view: Snapshot, cluster: Cluster) -> Change:
    number = view.numbers.cluster
    new = replace(cluster, number=number, name=f"{cluster.name}-new", changed=NEXT.revision)
    return Change(None, new)


def _relabelled(cluster: Cluster) -> Change:
    size = "large" if cluster.labels["size"] != "large" else "small"
    return _changed(cluster, replace(cluster, labels={**cluster.labels, "size": size}))


def _regrouped(view: Snapshot, path: str, parent: str) -> Changes:
    group = view.group(_group(view, path))
    assert group is not None
    after = replace(group, parent=_group(view, parent), changed=NEXT.revision)
    return (Change(group, after),)


def _changed(before: Cluster, after: Cluster) -> Change:
    return Change(before, replace(after, changed=NEXT.revision))


def _group(view: Snapshot, path: str) -> GroupNumber:
    number = group_at(view, path)
    assert number is not None, f"the sample has no {path}"
    return number


def _hierarchy(view: Snapshot, group: GroupNumber) -> str:
    found = view.group(group)
    assert found is not None
    return found.hierarchy


def _is_leaf(view: Snapshot, group: GroupNumber) -> bool:
    return not view.children(group)


async def _executed(fleet: EmbeddedFleet, commits: int) -> Spent:
    """CPU of this process, its store's threads included, for one caller after the other."""
    async with fleet.engine() as engine:
        names = [engine.view.cluster_name(ClusterNumber(each)) for each in range(commits)]
        watch = Watch()
        for name in names:
            await engine.execute(Batch((Join(name, UNUSED),), ACTOR, "measured"))
        spent = watch.spent().each(commits)
        leave = tuple(Leave(name, UNUSED) for name in names)
        await engine.execute(Batch(leave, ACTOR, "as it was"))
        return spent
