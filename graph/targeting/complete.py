"""What may be written next in a selector: candidates for an editor, at a position.

Names come from the view alone, so a view that hides something never completes to it. A candidate
that begins as the word does goes before one that merely holds it, and the one that means more
clusters before the one that means fewer. Work is bounded however large the fleet: cluster names
are searched in their order, and long lists of names are ranked by name instead of by size.

Every candidate keeps what is left of it readable: when the text up to the word is the beginning of
a selector, so is the text up to the end of the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from graph.model.cluster_set import ClusterSet
from graph.model.inventory import LabelKey, LabelType, LabelValue
from graph.model.names import GroupNumber
from graph.model.selector import Comparison, InNamespace, LabelIs
from graph.model.view import FleetView
from graph.targeting.candidate import Completion, CompletionKind, best, ranked
from graph.targeting.evaluate import count, matched_groups
from graph.targeting.normal import TEXT_LENGTH_MAX
from graph.targeting.partial import Place, Written, place_at
from graph.targeting.value import quote, show_key, show_value

GROUPS_LOOKED_MAX = 50_000
"""Groups below one place that are looked at."""

VALUES_LOOKED_MAX = 5_000
"""Values of one label that are looked at; a whole one is found among any number."""


def complete(text: str, position: int, view: FleetView, count_max: int = 20) -> list[Completion]:
    """At most ``count_max`` candidates for the word at ``position``, best first.

    Positions are characters from 0; one outside the text means its nearer end.
    """
    if len(text) > TEXT_LENGTH_MAX or count_max < 1:
        return []
    return _Completer(view, place_at(text, position), count_max).candidates()


@dataclass(frozen=True, slots=True)
class _Completer:
    """One place in one text, completed from one view."""

    view: FleetView
    place: Place
    count_max: int

    def candidates(self) -> list[Completion]:
        """Some of each kind that may stand here, those that begin as the word does first."""
        kinds = [list(islice(kind, self.count_max)) for kind in self._kinds()]
        return best(kinds, self.place.said.rpartition("/")[2], self.count_max)

    def _kinds(self) -> Iterator[Iterable[Completion]]:
        """The candidates of each kind that may stand here."""
        place = self.place
        match place.written:
            case Written.PATH:
                if place.accepts("PATH"):
                    yield self._segments()
            case Written.SIGN:
                if place.accepts("COMPARISON"):
                    yield self._comparisons()
            case Written.QUOTED:
                yield from self._labels()
            case Written.WORD | Written.NOTHING:
                if place.accepts("PATH"):
                    yield self._hierarchies("/")
                yield from self._labels()
                if place.accepts("_AT") or place.last == "_AT":
                    yield self._saved("" if place.last == "_AT" else "@")
                if place.last == "_CLUSTER":
                    yield self._clusters()
                if place.last == "_NAMESPACE":
                    yield self._namespaces(place.word)
                yield self._keywords()

    def _labels(self) -> Iterator[Iterable[Completion]]:
        if self.place.accepts("KEY"):
            yield self._keys()
        if self.place.accepts("VALUE"):
            yield self._values()
        if self.place.accepts("COMPARISON") and self.place.written is not Written.QUOTED:
            yield self._comparisons()

    # paths

    def _segments(self) -> Iterator[Completion]:
        above, _, said = self.place.word.rpartition("/")
        names = above.split("/")[1:]
        if names[:1] == ["g"]:
            names = names[1:]
        elif names == ["n"] and self.place.last != "_ONLY":
            return self._namespaces(said)
        if not names:
            return self._hierarchies("", said)
        root = self.view.root(names[0])
        parents = [] if root is None else matched_groups(root, names[1:], self.view)
        return self._groups(parents, said)

    def _hierarchies(self, slash: str, said: str | None = None) -> Iterator[Completion]:
        found = {each.name: each for each in self.view.hierarchies()}
        said = self.place.word if said is None else said

        def members(name: str) -> int:
            root = self.view.root(name)
            return 0 if root is None else len(self._members([root]))

        for name in self._ranked(found, said, members):
            yield self._candidate(
                slash + name, CompletionKind.HIERARCHY, members(name), found[name].title, said
            )

    def _groups(self, parents: Sequence[GroupNumber], said: str) -> Iterator[Completion]:
        found = self._below(parents, said.lower())

        def members(name: str) -> int:
            return len(self._members(found[name]))

        for name in self._ranked(found, said, members):
            group = self.view.group(found[name][0])
            title = "" if group is None else group.title
            yield self._candidate(name, CompletionKind.GROUP, members(name), title, said)

    def _below(self, parents: Sequence[GroupNumber], said: str) -> dict[str, list[GroupNumber]]:
        """The groups right below that hold ``said``, by name; below a wildcard, several of one."""
        found: dict[str, list[GroupNumber]] = {}
        below = (pair for each in parents for pair in self.view.children(each).items())
        for name, number in islice(below, GROUPS_LOOKED_MAX):
            if said in name:
                found.setdefault(name, []).append(number)
        return found

    def _members(self, groups: Sequence[GroupNumber]) -> ClusterSet:
        if self.place.last == "_ONLY":
            return ClusterSet.union([self.view.direct_members(each) for each in groups])
        return self.view.members_of_any(groups)

    # labels

    def _keys(self) -> Iterator[Completion]:
        found = {each.name: each for each in self.view.label_keys()}
        for name in self._ranked(found, self.place.said):
            yield self._candidate(
                self._spelled_key(name), CompletionKind.LABEL_KEY, None, found[name].title
            )

    def _comparisons(self) -> Iterator[Completion]:
        key = self.view.label_key(self.place.key)
        for each in Comparison:
            if each.startswith(self.place.word) and (key is None or _compares(key, each)):
                yield self._candidate(each, CompletionKind.COMPARISON)

    def _values(self) -> Iterator[Completion]:
        name, comparison = self.place.compared()
        key = self.view.label_key(name)
        if key is None or not self._fits(key, comparison):
            return
        held = {_said(value): (value, clusters) for value, clusters in self._held(key)}
        for said in self._ranked(held, self.place.said, lambda said: held[said][1]):
            value, clusters = held[said]
            if comparison not in (None, Comparison.EQ):
                clusters = count(LabelIs(name, comparison, value), self.view)
            yield self._candidate(self._spelled(value), CompletionKind.VALUE, clusters)

    def _fits(self, key: LabelKey, comparison: Comparison | None) -> bool:
        """Whether any value of the key may be written here, as it was begun."""
        if self.place.written is Written.QUOTED and key.type is not LabelType.TEXT:
            return False
        return comparison is None or _compares(key, comparison)

    def _held(self, key: LabelKey) -> Iterator[tuple[LabelValue, int]]:
        """Values the key may have or has, each with how many clusters have it."""
        known: Sequence[LabelValue] = key.allowed
        if key.type is LabelType.BOOLEAN:
            known = (True, False)
        elif key.type is LabelType.TEXT:
            # found whole even where there are more values than are looked at
            whole = self.place.said
            known = (*known, whole) if self.view.label_equal(key.name, whole) else known
        for value in known:
            yield value, len(self.view.label_equal(key.name, value))
        for value, clusters in islice(self.view.label_values(key.name), VALUES_LOOKED_MAX):
            yield value, len(clusters)

    def _spelled_key(self, key: str) -> str:
        return quote(key) if self.place.written is Written.QUOTED else show_key(key)

    def _spelled(self, value: LabelValue) -> str:
        if self.place.written is Written.QUOTED and isinstance(value, str):
            return quote(value)
        return show_value(value)

    # names and keywords

    def _saved(self, at: str) -> Iterator[Completion]:
        found = {each.name: each for each in self.view.saved_selectors()}
        for name in self._ranked(found, self.place.word):
            clusters = count(found[name].selector, self.view)
            yield self._candidate(
                at + name, CompletionKind.SAVED_SELECTOR, clusters, found[name].title
            )

    def _namespaces(self, said: str) -> Iterator[Completion]:
        found = self.view.workload.namespaces
        for name in self._ranked(found, said):
            clusters = count(InNamespace(name), self.view)
            title = found[name].title
            yield self._candidate(name, CompletionKind.NAMESPACE, clusters, title, said)

    def _clusters(self) -> Iterator[Completion]:
        """Clusters whose name begins as the word, by name: a fleet is too large for more."""
        view, said = self.view, self.place.word.lower()
        whole = view.cluster_number(said)
        later = view.in_name_order(view.everything(), said)
        for number in chain(() if whole is None else (whole,), later):
            cluster = view.cluster(number)
            if cluster is None or not cluster.name.startswith(said):
                return
            yield self._candidate(cluster.name, CompletionKind.CLUSTER, 1, cluster.title)

    def _keywords(self) -> Iterator[Completion]:
        for terminal, word in _KEYWORDS.items():
            leads = terminal not in _NEEDS or _NEEDS[terminal](self.view)
            if leads and self.place.accepts(terminal) and word.startswith(self.place.word):
                yield self._candidate(word, CompletionKind.KEYWORD)

    def _ranked(
        self, names: Iterable[str], said: str, size: Callable[[str], int] | None = None
    ) -> Iterator[str]:
        return ranked(names, said, size, self.count_max)

    def _candidate(
        self,
        insert: str,
        kind: CompletionKind,
        clusters: int | None = None,
        title: str = "",
        said: str | None = None,
    ) -> Completion:
        """A candidate in place of ``said``, the end of the word; of all of it by default."""
        place = self.place
        start = place.start if said is None else place.start + len(place.word) - len(said)
        return Completion(insert, start, place.stop, kind, clusters, title)


_KEYWORDS = {
    "_AND": "and",
    "_OR": "or",
    "_EXCEPT": "except",
    "_IN": "in (",
    "_COMMA": ",",
    "_CLOSE": ")",
    "_NOT": "not",
    "ALL": "all",
    "_ONLY": "only",
    "_HAS": "has",
    "_CLUSTER": "cluster",
    "_NAMESPACE": "namespace",
    "_OPEN": "(",
}
"""Words and signs by their terminal."""

_NEEDS: dict[str, Callable[[FleetView], bool]] = {
    "_ONLY": lambda view: bool(view.hierarchies()),
    "_HAS": lambda view: bool(view.label_keys()),
    "_CLUSTER": lambda view: bool(view.everything()),
    "_NAMESPACE": lambda view: bool(view.workload.namespaces),
}
"""What there must be for a keyword to lead anywhere."""


def _compares(key: LabelKey, comparison: Comparison) -> bool:
    return key.type is LabelType.NUMBER or comparison in (Comparison.EQ, Comparison.NE)


def _said(value: LabelValue) -> str:
    """A value as it is compared with what was typed."""
    return value if isinstance(value, str) else show_value(value)
