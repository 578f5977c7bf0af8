"""What of the workload is in sight, to a reader of some clusters who is covered for some of it.

One set of rules for a view of today, where all is known, and for a side of a changeset, where only
what is certain counts (``graph.targeting.past``). They ask for something to be there and never for
something to be missing, so whoever knows less sees less.

W1  With a coverage, an application is there if that names it or its namespace, and nothing else of
    the workload exists. Without one it is there if an assignment that takes it reaches a visible
    cluster.
W2  A namespace is there if it is covered or an application of it is; without a coverage, if one of
    its assignments reaches a visible cluster.
W3  An assignment, prohibition or layer is there if it reaches a visible cluster and is about
    something that is there. A fleet layer is about all applications: no coverage takes it in.
W4  A policy is there if it governs a namespace that is there, or reaches a visible cluster.
W5  What is there names nothing that is not: it is shown without such names.
W6  Who is covered for a part, and besides sees some clusters with their whole workload, sees what a
    reader of those alone sees; an application that is there by that is as good as covered. So
    nothing is taken out of sight by a further grant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from graph.model.access import Coverage
from graph.model.change import ref_of
from graph.model.ref import Kind, Ref
from graph.model.selector import Selector
from graph.model.view import FleetView
from graph.model.workload import (
    Application,
    Assignment,
    Choice,
    Layer,
    Namespace,
    OfWorkload,
    Policy,
    Prohibition,
    Workload,
)
from graph.targeting.trim import T, dispensable, without

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredBesides(Coverage):
    """The coverage of a reader who sees some clusters with their whole workload besides (W6)."""

    wholly: Selector
    """Those clusters."""


class Held(Protocol):
    """The applications and assignments that are known of."""

    def application(self, name: str) -> Application | None:
        """The application called ``name``."""
        ...

    def applications(self) -> Iterable[Application]:
        """All of them."""
        ...

    def assignments_of(self, namespace: str) -> Iterable[Assignment]:
        """The assignments of one namespace."""
        ...


class HeldBy:
    """Everything a view holds."""

    def __init__(self, view: FleetView) -> None:
        self._view = view

    def application(self, name: str) -> Application | None:
        """The application called ``name``."""
        return self._view.workload.applications.get(name)

    def applications(self) -> Iterable[Application]:
        """All of them."""
        return self._view.workload.applications.values()

    def assignments_of(self, namespace: str) -> Iterator[Assignment]:
        """The assignments of one namespace, found by who names it."""
        assignments = self._view.workload.assignments
        for ref in self._view.referrers(Ref(Kind.NAMESPACE, namespace)):
            if ref.kind is Kind.ASSIGNMENT:
                found = assignments[str(ref.key)]
                if found.choice.namespace == namespace:
                    yield found


def _nothing(_ref: Ref) -> bool:
    return False


class Sight:
    """The rules above, over what is ``held``; what was found is remembered.

    ``reaches`` tells whether a selector chooses a visible cluster, ``shows_label`` whether a label
    key is there. What is ``kept`` is there in any case, and so is what is there ``beside`` (W6).
    """

    def __init__(
        self,
        held: Held,
        reaches: Callable[[Selector], bool],
        shows_label: Callable[[str], bool],
        covered: Coverage | None,
        kept: Callable[[Ref], bool] = _nothing,
        beside: Sight | None = None,
    ) -> None:
        self._held = held
        self._reaches_some = reaches
        self._shows_label = shows_label
        self._covered = covered
        self._kept = kept
        self._beside = beside
        self._reached: dict[Ref, bool] = {}
        self._shown: dict[Ref, bool] = {}

    def of(self, entity: T) -> T | None:
        """``entity`` as far as it is in sight; None if it is not there."""
        if not self._is_there(entity) and not self._is_beside(entity):
            return None
        hidden = self.hidden(entity)
        return without(entity, hidden) if hidden else entity

    def shows(self, ref: Ref) -> bool:
        """Whether an application, a namespace or a label key is there."""
        shown = self._shown.get(ref)
        if shown is None:
            shown = self._kept(ref) or self._shows(ref)
            shown = shown or (self._beside is not None and self._beside.shows(ref))
            self._shown[ref] = shown
        return shown

    def hidden(self, entity: OfWorkload) -> frozenset[Ref]:
        """What ``entity`` names and is not there; what it cannot be without is not counted."""
        if isinstance(entity, Assignment) and not entity.choice.labels and self._covered is None:
            return frozenset()  # where it reaches a cluster, all it names are there by that
        return frozenset(ref for ref in dispensable(entity) if not self.shows(ref))

    def _shows(self, ref: Ref) -> bool:
        match ref.kind, ref.key:
            case Kind.APPLICATION, str(name):
                application = self._held.application(name)
                return application is not None and self._shows_application(application)
            case Kind.NAMESPACE, str(name):
                return self._shows_namespace(name)
            case Kind.LABEL_KEY, str(name):
                return self._shows_label(name)
            case _:
                return False

    def _shows_application(self, application: Application) -> bool:
        if self._covered is not None:
            return self._covered.covers(application.namespace, application.name)
        assignments = self._held.assignments_of(application.namespace)
        return any(each.choice.takes(application) and self._reaches(each) for each in assignments)

    def _shows_namespace(self, name: str) -> bool:
        if self._covered is None:
            return any(map(self._reaches, self._held.assignments_of(name)))
        covered = map(self._held.application, self._covered.applications)
        return name in self._covered.namespaces or any(
            each is not None and each.namespace == name for each in covered
        )

    def _is_beside(self, entity: OfWorkload) -> bool:
        return self._beside is not None and self._beside.of(entity) is not None

    def _is_there(self, entity: OfWorkload) -> bool:
        match entity:
            case _ if self._kept(ref_of(entity)):
                there = True
            case Application():
                there = self._shows_application(entity)
            case Namespace():
                there = self.shows(ref_of(entity))
            case Assignment() | Prohibition():
                there = self._is_about(entity.choice) and self._reaches(entity)
            case Layer():
                there = self._is_layer_there(entity)
            case Policy(selector=None):
                there = any(self.shows(Ref(Kind.NAMESPACE, name)) for name in entity.namespaces)
            case Policy():
                there = self._reaches(entity)
        return there

    def _is_layer_there(self, layer: Layer) -> bool:
        ref = Ref(Kind.APPLICATION, layer.application)
        shown = self.shows(ref) if layer.application else self._covered is None
        return shown and self._reaches(layer)

    def _is_about(self, choice: Choice) -> bool:
        """Whether some of the applications that are there may be meant."""
        if choice.applications:
            return any(self.shows(Ref(Kind.APPLICATION, name)) for name in choice.applications)
        if choice.namespace and self._covered is None:
            return self.shows(Ref(Kind.NAMESPACE, choice.namespace))
        if self._covered is not None and choice.namespace in self._covered.namespaces:
            return True
        applications = self._held.applications()
        return any(choice.takes(each) and self.shows(ref_of(each)) for each in applications)

    def _reaches(self, entity: Assignment | Prohibition | Layer | Policy) -> bool:
        ref = ref_of(entity)
        reached = self._reached.get(ref)
        if reached is None:
            reached = entity.selector is not None and self._reaches_some(entity.selector)
            self._reached[ref] = reached
        return reached


def in_sight(workload: Workload, look: Look) -> Workload:
    """``workload`` as far as ``look`` shows it."""
    return Workload(
        namespaces=InSight(workload.namespaces, look),
        applications=InSight(workload.applications, look),
        assignments=InSight(workload.assignments, look),
        prohibitions=InSight(workload.prohibitions, look),
        layers=InSight(workload.layers, look),
        policies=InSight(workload.policies, look),
    )


class Look(Protocol):
    """Shows an object as far as it is in sight; None if it is not there."""

    def __call__(self, entity: T, /) -> T | None: ...  # noqa: D102 - described above


class InSight(Mapping[str, V]):
    """What is there of a mapping, looked at when asked for: there may be thousands."""

    __slots__ = ("_all", "_look", "_seen")

    def __init__(self, held: Mapping[str, V], look: Callable[[V], V | None]) -> None:
        self._all = held
        self._look = look
        self._seen: dict[str, V | None] = {}

    def __getitem__(self, name: str) -> V:
        if name in self._seen:
            found = self._seen[name]
        else:
            found = self._seen[name] = self._look(self._all[name])
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._all if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
