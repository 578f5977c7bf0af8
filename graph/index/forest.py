"""Groups: who is below whom, and which clusters are in or under each.

Every group has its closure, the clusters anywhere under it, ready made. An inner group also has
the set of its direct members; for a leaf the closure is that set. What holds between calls:

F1  A cluster in the closure of a group is in the closure of every group above it.
F2  A closure is the direct members and the closures of the children, and nothing else.
F3  ``directs`` has an entry for inner groups alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from graph.index.chunks import Chunks, SetsDraft
from graph.model.cluster_set import EMPTY, ClusterSet
from graph.model.inventory import Group
from graph.model.names import ClusterNumber, GroupNumber

Children = Mapping[str, GroupNumber]
NO_CHILDREN: Children = {}
GroupPair = tuple[Group | None, Group | None]


class Forest:
    """One version of all groups, by number."""

    __slots__ = ("children", "closures", "directs", "groups", "roots")

    def __init__(
        self,
        *,
        roots: Mapping[str, GroupNumber],
        groups: Chunks[Group | None],
        children: Chunks[Children],
        closures: Chunks[ClusterSet],
        directs: Chunks[ClusterSet],
    ) -> None:
        self.roots = roots
        self.groups = groups
        self.children = children
        self.closures = closures
        self.directs = directs

    @staticmethod
    def empty() -> Forest:
        """No group at all."""
        return Forest(
            roots={},
            groups=Chunks([], None),
            children=Chunks([], NO_CHILDREN),
            closures=Chunks([], EMPTY),
            directs=Chunks([], EMPTY),
        )

    def direct_members(self, number: GroupNumber) -> ClusterSet:
        """Clusters in the group itself."""
        return (self.directs if self.children.get(number) else self.closures).get(number)

    def upwards(self, number: GroupNumber | None) -> Iterator[GroupNumber]:
        """The group and the groups above it; none for a group that is not there."""
        while number is not None:
            group = self.groups.get(number)
            if group is None:
                return
            yield number
            number = group.parent


class ForestDraft(Forest):
    """The next version, still being made."""

    __slots__ = ("_closures", "_directs", "_known_lines", "_my_children")

    def __init__(self, base: Forest) -> None:
        # The same two vectors twice: as every reader sees them, and as ours to change.
        self._closures = SetsDraft(base.closures)
        self._directs = SetsDraft(base.directs)
        self._my_children: dict[GroupNumber, dict[str, GroupNumber]] = {}
        self._known_lines: dict[GroupNumber, tuple[GroupNumber, ...]] = {}
        """Groups with those above them, until the next time that groups change."""
        super().__init__(
            roots=base.roots,
            groups=base.groups,
            children=base.children,
            closures=self._closures,
            directs=self._directs,
        )

    def freeze(self) -> Forest:
        """The version that was made."""
        return Forest(
            roots=self.roots,
            groups=self.groups.freeze(),
            children=self.children.freeze(),
            closures=self._closures.freeze(),
            directs=self._directs.freeze(),
        )

    # memberships

    def join(self, cluster: ClusterNumber, group: GroupNumber) -> None:
        """Make ``cluster`` a direct member of ``group``."""
        closures = self._closures
        if self.children.get(group):
            self._directs.own(group).add(cluster)
        for at in self._line(group):
            if cluster in closures.get(at):
                return  # and in all above (F1)
            closures.own(at).add(cluster)

    def leave(
        self, cluster: ClusterNumber, group: GroupNumber, staying: Iterable[GroupNumber]
    ) -> None:
        """End a direct membership; ``staying`` are the memberships the cluster will have.

        Groups above keep the cluster as long as another membership is under them.
        """
        if (left := self.groups.get(group)) is None:
            return  # deleted in the same changeset, and taken out of the closures with it
        if self.children.get(group):
            self._directs.own(group).discard(cluster)
        others = filter(None, map(self.groups.get, staying))
        lines = [self._line(each.number) for each in others if each.hierarchy == left.hierarchy]
        kept, closures = {at for line in lines for at in line}, self._closures
        for at in self._line(group):
            if at in kept:
                return
            closures.own(at).discard(cluster)

    def _line(self, number: GroupNumber) -> tuple[GroupNumber, ...]:
        """``upwards``, looked up once for all clusters that come and go."""
        found = self._known_lines.get(number)
        if found is None:
            found = self._known_lines[number] = tuple(self.upwards(number))
        return found

    # groups

    def regroup(self, pairs: Sequence[GroupPair]) -> None:
        """Create, rename, move and delete groups, all at once.

        Memberships stay as they are; those in a deleted group count no longer.
        """
        self._known_lines.clear()
        resettled = [pair for pair in pairs if _settled(pair[0]) != _settled(pair[1])]
        parents = {group.parent for pair in resettled for group in pair if group is not None}
        were_inner = {at: bool(self.children.get(at)) for at in parents if at is not None}
        moved = [pair for pair in resettled if self._moves_members(pair)]
        stale = {at for before, _ in moved if before for at in self.upwards(before.parent)}
        for before, _ in resettled:
            self._detach(before)
        for before, after in pairs:
            number = _number(before, after)
            self.groups = self.groups.put(number, after)
        for _, after in resettled:
            self._attach(after)
        for at, was_inner in were_inner.items():
            self._settle(at, was_inner=was_inner)
        for before, after in resettled:
            if before is not None and after is None:
                self._closures.put(before.number, EMPTY)
        stale.update(at for _, after in moved if after for at in self.upwards(after.parent))
        self._close(stale)

    def _moves_members(self, pair: GroupPair) -> bool:
        before, after = pair
        if before is None or (after is not None and before.parent == after.parent):
            return False
        return bool(self.closures.get(before.number))

    def _detach(self, group: Group | None) -> None:
        if group is None:
            return
        if group.parent is None:
            self.roots = {name: at for name, at in self.roots.items() if at != group.number}
        else:
            del self._siblings(group.parent)[group.name]

    def _attach(self, group: Group | None) -> None:
        if group is None:
            return
        if group.parent is None:
            self.roots = {**self.roots, group.hierarchy: group.number}
        else:
            self._siblings(group.parent)[group.name] = group.number

    def _siblings(self, parent: GroupNumber) -> dict[str, GroupNumber]:
        mine = self._my_children.get(parent)
        if mine is None:
            mine = self._my_children[parent] = dict(self.children.get(parent))
            self.children = self.children.put(parent, mine)
        return mine

    def _settle(self, number: GroupNumber, *, was_inner: bool) -> None:
        """Keep F3 for a group that may have got its first child or lost its last."""
        is_inner = bool(self.children.get(number))
        if is_inner and not was_inner:
            # From here on the two share one set; ``put`` makes the next change of either copy it.
            shared = self._closures.get(number)
            self._closures.put(number, shared)
            self._directs.put(number, shared)
        elif was_inner and not is_inner:
            self._closures.put(number, self._directs.get(number))
            self._directs.put(number, EMPTY)
            self._my_children.pop(number, None)
            self.children = self.children.put(number, NO_CHILDREN)

    def _close(self, stale: Iterable[GroupNumber]) -> None:
        """Keep F2 for groups that something was moved out of or into, the deepest first."""
        depths = {number: sum(1 for _ in self.upwards(number)) for number in stale}
        for number in sorted(depths, key=depths.__getitem__, reverse=True):
            if children := self.children.get(number):
                below = map(self._closures.get, children.values())
                self._closures.put(number, ClusterSet.union([self._directs.get(number), *below]))


def _settled(group: Group | None) -> tuple[GroupNumber | None, str] | None:
    """Where a group is, as seen from its parent; None if it is not there."""
    return None if group is None else (group.parent, group.name)


def _number(before: Group | None, after: Group | None) -> GroupNumber:
    group = after if after is not None else before
    assert group is not None, "a change has a before or an after"
    return group.number
