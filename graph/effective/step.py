"""From one state to the next, at the cost of what changed.

Things hang on each other in one order: definitions, places, what is asked of clusters, and the
verdict. Each stage looks at those applications whose inputs turned out otherwise, and keeps the
others as they are. It looks at them through a lens: on the clusters for which anything can differ,
and no further. That says what a change does; the next state is put together from it, and from the
state before, as far as somebody reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic

from graph.effective.demand import Asked, Demand, demand_after, leniency_of
from graph.effective.judgement import NOWHERE, Judgement, Placement, Verdict
from graph.effective.later import Later
from graph.effective.lens import FEW_MAX, Few, Lens, P, Sets
from graph.effective.near import NearFew, NearMany, Shifting
from graph.effective.news import News
from graph.effective.place import UNPLACED, Place
from graph.effective.share import Share, Turn, same_share, share_after
from graph.effective.shift import Shift
from graph.effective.state import NOTHING_ASKED, State, Stride
from graph.model.change import Change
from graph.model.cluster_set import EMPTY
from graph.model.view import FleetView


def advance(state: State, after: FleetView, changes: Sequence[Change]) -> State:
    """The state once ``changes`` have led from the view of ``state`` to ``after``."""
    news = News(state, after, changes)
    before, now = state.reach, news.ground.reach
    if news.only is not None and len(news.only) <= FEW_MAX:
        few = Few(news.only)
        return _Step(news, few, NearFew(few, state.view, before, now)).state()
    lens = Sets(news.only)
    return _Step(news, lens, NearMany(lens, before, now)).state()


class _Step(Generic[P]):
    def __init__(self, news: News, lens: Lens[P], shifting: Shifting[P]) -> None:
        self._was: State = news.was
        self._news = news
        self._lens: Lens[P] = lens
        layers = news.turned_layers()
        still: Shift[P] = Shift({}, lens)
        self._turn: Turn[P] = Turn(
            lens,
            news.ground,
            shifting,
            still,
            layers,
            layers.get("", ()),
            news.touched.labels,
        )

    def state(self) -> State:
        """The next state."""
        was, news = self._was, self._news
        shares = self._shares()
        demand = self._demand(shares)
        verdicts = self._verdicts(shares, demand)
        places, placements = was.places, was.placements
        if verdicts or news.gone:
            places = Later(partial(_places, was.places, verdicts, news.gone))
            placements = Later(partial(_placements, was.placements, verdicts, news.gone, places))
        return State(
            placements=placements,
            definitions=news.definitions,
            fleet=news.fleet,
            fleet_configurations=news.fleet_configurations(),
            reach=news.reach,
            machines=news.ground.machines,
            demand=demand,
            order=news.order,
            dependents=news.dependents,
            places=places,
            view=news.view,
            since=was.mark,
            touched=news.among,
            stride=Stride(news.ground, verdicts, news.gone),
        )

    # places

    def _shares(self) -> dict[str, Share[P]]:
        """The applications that stand otherwise, or may."""
        was, news = self._was, self._news
        displaced = set(news.displaced())
        concerned = displaced.union(news.concerned(self._turn.layers))
        shares: dict[str, Share[P]] = {}
        for name in _those(news.order, concerned):
            old, definition = was.definitions.get(name), news.definitions[name]
            needed = definition.application.depends_on
            share = share_after(
                was.places.get(name, UNPLACED),
                definition if old is None else old,
                definition,
                self._turn,
                displaced=old is None or name in displaced,
                vetoes=[self._veto(each, shares) for each in needed],
            )
            if share is None and old is None:
                share = same_share(UNPLACED, self._lens)
            if share is not None:
                shares[name] = share
                dependents = news.dependents.get(name)
                if dependents and share.vetoes_otherwise:
                    displaced |= dependents
                    concerned |= dependents
        return shares

    def _veto(self, name: str, shares: Mapping[str, Share[P]]) -> P:
        """Where an application may not be."""
        share = shares.get(name)
        if share is not None and share.standing is not None:
            return share.standing.veto
        return self._lens.cut(self._was.places.get(name, UNPLACED).standing.veto)

    # what is asked, and the verdict

    def _demand(self, shares: Mapping[str, Share[P]]) -> Demand:
        was, news, told = self._was, self._news, self._lens.set
        moves: list[tuple[Asked, Asked]] = []
        for name, share in shares.items():
            old, new = was.definitions.get(name), news.definitions[name]
            if old is not new or share.had is not share.placed:
                before = None if old is None else old.application.requests
                now = (new.application.requests, told(share.placed))
                moves.append(((before, told(share.had)), now))
        for name in news.gone:
            requests = was.definitions[name].application.requests
            moves.append(((requests, was.places[name].placed), NOTHING_ASKED))
        return demand_after(was.demand, moves, news.touched.machines, news.ground.machines)

    def _verdicts(self, shares: Mapping[str, Share[P]], demand: Demand) -> dict[str, Verdict[P]]:
        was, news, lens = self._was, self._news, self._lens
        judged = {*shares, *self._strained(demand)}
        verdicts: dict[str, Verdict[P]] = {}
        if not judged:
            return verdicts

        def effective(name: str) -> P:
            found = verdicts.get(name)
            return lens.cut(was.placements[name].effective) if found is None else found.effective

        leniency = leniency_of(news.view.workload.policies.values(), news.ground.reach)
        judgement: Judgement[P] = Judgement(demand, leniency, effective)
        for name in _those(news.order, judged):
            share = shares.get(name)
            if share is None:
                share = same_share(was.places[name], lens)
            before, application = (
                was.placements.get(name, NOWHERE),
                news.definitions[name].application,
            )
            verdicts[name] = verdict = judgement.of(before, application, share)
            dependents = news.dependents.get(name)
            if dependents and not verdict.is_same:
                judged |= dependents
        return verdicts

    def _strained(self, demand: Demand) -> Iterator[str]:
        """Applications that capacity may block otherwise than before."""
        was, now = self._was.demand.over, demand.over
        swayed = self._news.sways_policies
        differing = EMPTY if was is now else was ^ now
        reviewed = was | now if swayed else differing
        for name, place in self._was.places.items() if reviewed else ():
            definition = self._news.definitions.get(name)
            asks = definition is not None and definition.application.requests is not None
            if asks and place.placed.meets(reviewed):
                yield name


def _places(
    was: Mapping[str, Place], verdicts: Mapping[str, Verdict[P]], gone: Collection[str]
) -> dict[str, Place]:
    made = {name: each for name, each in was.items() if name not in gone}
    made.update((name, each.share.place()) for name, each in verdicts.items())
    return made


def _placements(
    was: Mapping[str, Placement],
    verdicts: Mapping[str, Verdict[P]],
    gone: Collection[str],
    places: Mapping[str, Place],
) -> dict[str, Placement]:
    made = {name: each for name, each in was.items() if name not in gone}
    made.update((name, each.placement(places[name])) for name, each in verdicts.items())
    return made


def _those(order: Iterable[str], chosen: set[str]) -> Iterator[str]:
    """The ``chosen`` ones in order; more may be chosen on the way, if they come later."""
    return (name for name in order if name in chosen) if chosen else iter(())
