"""The fleet through a scope against a twin of nothing but what may be seen."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from random import Random

import pytest

from changes import (
    Selectors,
    random_changes,
    random_coverage,
    random_fleet,
    random_scope,
    random_value,
)
from graph.index.builder import build, edit
from graph.index.snapshot import Snapshot
from graph.model.access import Grant, Role
from graph.model.change import Change, Entity, ref_of
from graph.model.cluster_set import ClusterSet
from graph.model.command import SaveSelector
from graph.model.errors import SelectorNotFound
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelType, Mode
from graph.model.names import ClusterNumber, GroupNumber, Revision
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    HasLabel,
    InNamespace,
    LabelIs,
    Not,
    Or,
    Saved,
    Selector,
    Under,
    mentions,
)
from graph.model.view import entity_of, path_of, subtree
from graph.model.workload import Workload
from graph.scoped import ScopedView, readable
from graph.targeting.evaluate import count, evaluate
from graph.targeting.explain import explain
from graph.targeting.parser import parse
from graph.targeting.sight import CoveredBesides
from graph.targeting.syntax import to_text
from graph.targeting.trim import dispensable
from restricted import restricted
from small import give, small
from twin import START, Twin, same_fleet, twin_select

CASES = {"test": 4_000, "campaign": 2_000_000}
STEPS = 4
SCOPES_A_STEP = 4
SELECTORS_A_SCOPE = 25


@dataclass(slots=True)
class Tally:
    """What was compared, so that a run that compares too little fails."""

    selectors: int = 0
    chosen: int = 0
    hidden: int = 0
    scopes: int = 0
    refused: int = 0
    unreadable: int = 0
    uncovered: int = 0
    workload: int = 0
    trimmed: int = 0


@pytest.mark.volume
@pytest.mark.timeout(6 * 3600)
def test_a_scoped_view_is_a_fleet_of_nothing_but_what_the_scope_shows(scale: str) -> None:
    tally = Tally()
    seed = 0
    while tally.selectors < CASES[scale]:
        live_through(seed, tally)
        seed += 1
    assert tally.chosen > tally.selectors, "the selectors chose next to nothing"
    assert tally.hidden > tally.selectors, "the scopes hid next to nothing"
    assert tally.refused > tally.selectors // 10, "hardly a text named something hidden"
    assert tally.unreadable > tally.scopes // 20, "hardly a saved selector was to be withheld"
    assert tally.uncovered > tally.scopes // 10, "hardly a namespace was covered by nobody"
    assert tally.workload > tally.scopes, "hardly anything of the workload was in sight"
    assert tally.trimmed > tally.scopes // 100, "hardly a hidden name was taken out"
    print(f"{tally}, {seed:,} fleets")


def live_through(seed: int, tally: Tally) -> None:
    """One random fleet through a few changesets, each looked at through random scopes."""
    rng = Random(seed)
    facts = [_narrowed(rng, each) for each in random_fleet(rng)]
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=START, numbers=twin.numbers)
    for step in range(STEPS):
        earlier, earlier_twin = snapshot, twin.copy()
        changes = random_changes(rng, twin, Revision(step + 2))
        twin.apply(changes)
        snapshot = advanced(snapshot, changes)
        scopes = Selectors(rng, twin.groups(), twin.label_keys(), twin.clusters(), [])
        for _ in range(SCOPES_A_STEP):
            scope = scopes.tree(2)
            tally.scopes += 1
            compare(f"seed {seed}, {scope}", rng, scope, snapshot, twin, tally)
            # grants are today's, evaluated at the revision read
            covered = random_coverage(rng)
            old = ScopedView(earlier, scope, covered=covered)
            found = same_fleet(old, restricted(earlier_twin, scope, covered))
            told = f"seed {seed}, {scope}, {covered}, one revision earlier"
            assert found is None, f"{told}: {found}"
            compare_covered(told, rng, old, earlier_twin, tally)


def compare_covered(what: str, rng: Random, view: ScopedView, twin: Twin, tally: Tally) -> None:
    """A coverage takes the rest of the workload out of the fleet, whoever names it."""
    assert view.covered is not None
    whole = restricted(twin, Everything(), view.covered)
    for name in twin.workload.namespaces:
        found = set(evaluate(InNamespace(name), view))
        assert found == twin_select(InNamespace(name), whole) & set(view.everything()), what
        tally.uncovered += name not in whole.workload.namespaces
    selectors = Selectors.over(rng, whole)
    for _ in range(3):
        selector = selectors.tree(3)
        found = set(evaluate(selector, view))
        assert found == twin_select(selector, whole) & set(view.everything()), (what, selector)


@pytest.mark.parametrize("seed", range(60))
def test_a_coverage_besides_takes_nothing_out_of_sight(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng))
    snapshot = build(twin.entities(), cursor=START, numbers=twin.numbers)
    wholly, elsewhere = random_scope(rng, twin), random_scope(rng, twin)
    part = random_coverage(rng)
    besides = CoveredBesides(part.namespaces, part.applications, wholly=wholly)
    view = ScopedView(snapshot, Or((wholly, elsewhere)), covered=besides)
    assert same_fleet(view, restricted(twin, view.scope, besides)) is None
    alone = ScopedView(snapshot, wholly)
    covered = ScopedView(snapshot, elsewhere, covered=part)
    for table in fields(Workload):
        mine = getattr(view.workload, table.name)
        for each in (alone, covered):
            for name, entity in getattr(each.workload, table.name).items():
                assert name in mine
                assert dispensable(entity) <= dispensable(mine[name]), "nor any of its names"
    for each in view.workload.applications.values():
        named = part.covers(each.namespace, each.name)
        assert named or each.name in alone.workload.applications
    assert {each.name for each in alone.saved_selectors()} <= {
        each.name for each in view.saved_selectors()
    }
    selectors = Selectors.over(rng, twin)
    for _ in range(20):
        selector = selectors.tree(3)
        found = evaluate(selector, view)
        assert found & alone.everything() == evaluate(selector, alone)
        assert found == evaluate(selector, view.whole) & view.everything()


def _narrowed(rng: Random, entity: Entity) -> Entity:
    """A label key with a list of allowed values, now and then."""
    if isinstance(entity, LabelKey) and rng.random() < 0.5:
        values = {random_value(rng, entity) for _ in range(3)}
        return replace(entity, allowed=tuple(sorted(values, key=str)))
    return entity


def advanced(snapshot: Snapshot, changes: tuple[Change, ...]) -> Snapshot:
    draft = edit(snapshot)
    draft.apply(changes)
    return draft.freeze(START)


def compare(
    what: str, rng: Random, scope: Selector, snapshot: Snapshot, twin: Twin, tally: Tally
) -> None:
    view, oracle = ScopedView(snapshot, scope), restricted(twin, scope)
    difference = same_fleet(view, oracle)
    assert difference is None, f"{what}: {difference}"
    visible = view.everything()
    selectors = Selectors.over(rng, twin)
    for _ in range(SELECTORS_A_SCOPE):
        selector = selectors.tree(3)
        whole = evaluate(selector, snapshot)
        found = evaluate(selector, view)
        assert found == whole & visible, f"{what}: {selector}"
        assert set(found) == twin_select(selector, twin) & set(visible), f"{what}: {selector}"
        assert count(selector, view) == len(found), f"{what}: count of {selector}"
        read_again(what, selector, snapshot, view, oracle, tally)
        tally.selectors += 1
        tally.chosen += len(found)
        tally.hidden += len(whole) - len(found)
    explain_some(what, rng, view)
    for kind in fields(Workload):
        there, all_of_them = (getattr(each.workload, kind.name) for each in (view, snapshot))
        tally.workload += len(there)
        tally.trimmed += sum(each != all_of_them[name] for name, each in there.items())
    tally.unreadable += sum(not readable(saved.selector, view) for saved in view.saved_selectors())


def read_again(
    what: str,
    selector: Selector,
    snapshot: Snapshot,
    view: ScopedView,
    oracle: Twin,
    tally: Tally,
) -> None:
    """The text of a selector means the same under a scope, or names something that is not there."""
    text = to_text(selector, snapshot)
    shown = all(entity_of(view, ref) is not None for ref in mentions(selector))
    try:
        meaning = parse(text, view)
    except SelectorNotFound as error:
        assert not shown, f"{what}: {text}: {error}"
        with pytest.raises(SelectorNotFound) as wanted:
            parse(text, oracle)
        assert str(error) == str(wanted.value), "a hint is what it is without the hidden"
        assert error.nearest == wanted.value.nearest
        tally.refused += 1
    else:
        assert shown, f"{what}: {text} names something hidden and was read"
        assert meaning == parse(text, snapshot)


def explain_some(what: str, rng: Random, view: ScopedView) -> None:
    """An explanation names nothing hidden: whatever it shows can be looked up in the view."""
    clusters = list(view.everything())
    saved = [f"@{each.name}" for each in view.saved_selectors()]
    for text in saved:
        if clusters:
            number = rng.choice(clusters)
            tree = parse(text, view)
            found = explain(tree, number, view, readable=lambda each: readable(each, view))
            assert found.holds == (number in evaluate(tree, view)), what
            waiting = [found.reason]
            while waiting:
                reason = waiting.pop()
                waiting.extend(reason.parts)
                parse(reason.text, view)
                assert all(entity_of(view, ref) is not None for ref in reason.about), what


def test_a_grant_is_not_there_under_a_scope() -> None:
    rng = Random(1)
    facts = random_fleet(rng)
    twin = Twin.of(facts)
    scope = Under(twin.groups()[-1].number)
    grant = Grant("all-of-it", Role.ADMIN, scope, subject="ana")
    snapshot = build([*facts, grant], cursor=START, numbers=twin.numbers)
    view = ScopedView(snapshot, scope)
    assert snapshot.grant("all-of-it") == grant
    assert (view.grant("all-of-it"), list(view.grants())) == (None, [])
    named = [ref for ref in mentions(scope) if ref_of(grant) in snapshot.referrers(ref)]
    assert named
    assert all(ref_of(grant) not in view.referrers(ref) for ref in named)


@pytest.mark.parametrize("number", [-1, 10**6, 2**32, 2**70])
def test_a_number_that_never_was_is_missing_under_a_scope_too(number: int) -> None:
    rng = Random(2)
    facts = random_fleet(rng)
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=START, numbers=twin.numbers)
    view = ScopedView(snapshot, Selectors(rng, twin.groups(), [], [], []).clause())
    assert view.cluster(ClusterNumber(number)) is None
    assert view.cluster_name(ClusterNumber(number)) == ""
    assert view.memberships(ClusterNumber(number)) == ()


def test_a_scope_that_names_what_was_not_there_yet_shows_nothing_of_it() -> None:
    facts: list[Entity] = [
        Hierarchy("geo", Mode.SINGLE),
        Group(GroupNumber(0), "geo", None, "geo"),
        LabelKey("lanes", LabelType.TEXT),
        *(Cluster(ClusterNumber(each), f"c{each}", labels={"lanes": "two"}) for each in range(3)),
    ]
    twin = Twin.of(facts)
    snapshot = build(facts, cursor=START, numbers=twin.numbers)
    new = (Under(GroupNumber(5_000)), Under(GroupNumber(7_000)))
    retyped = And((HasLabel("lanes"), LabelIs("lanes", Comparison.GE, 2)))
    for scope in (new[0], Or(new), retyped, LabelIs("lanes", Comparison.NE, 2), Not(Or(new))):
        view = ScopedView(snapshot, scope)
        assert set(view.everything()) == twin_select(scope, twin)
        assert view.group(GroupNumber(5_000)) is None
        assert same_fleet(view, restricted(twin, scope)) is None


@dataclass(frozen=True, slots=True)
class Case:
    """A scope over the small fleet, and the paths that are there under it."""

    scope: str
    paths: str


TEXAS = "/geo /geo/us /geo/us/tx /geo/us/tx/austin /devices /devices/grill /devices/grill/acme3000"
PATHS = [
    Case("/geo/us/tx", TEXAS),
    Case("/geo/us/*/austin", TEXAS),
    Case("/geo/ca", "/geo /geo/ca"),
    Case("/geo/us/ny", "/geo /geo/us /geo/us/ny /devices /devices/camera"),
    Case("size = small", "/geo /geo/us /geo/us/tx /geo/us/tx/austin"),
    Case("/geo/us except /geo/us/tx", "/geo /geo/us /geo/us/ny /devices /devices/camera"),
    Case("not /geo/us/tx", "/geo /geo/us /geo/us/ny /devices /devices/camera"),
    Case("all except /geo", ""),
]


@pytest.mark.parametrize("case", PATHS, ids=lambda case: case.scope)
def test_a_group_is_there_by_what_it_holds_or_by_being_named(case: Case) -> None:
    twin = small()
    view = ScopedView(twin, parse(case.scope, twin))
    roots = [view.root(each.name) for each in view.hierarchies()]
    found = {path_of(view, at) for root in roots if root is not None for at in subtree(view, root)}
    assert found == set(case.paths.split())


def test_a_saved_selector_is_withheld_where_its_text_names_something_hidden() -> None:
    twin = small()
    give(
        twin,
        SaveSelector("both", "/geo/us/tx or /geo/us/ny"),
        SaveSelector("by-value", "size = small or has size"),
        SaveSelector("by-name", "/geo/us/*/austin or lanes > 1"),
        SaveSelector("pattern", "/geo/*/ny or has size"),
        SaveSelector("through", "@both or cluster austin-1"),
        SaveSelector("hidden", "/geo/us/ny"),
        SaveSelector("through-hidden", "@hidden or has size"),
    )
    view = ScopedView(twin, parse("/geo/us/tx and size = large", twin))
    shown = {each.name: readable(each.selector, view) for each in view.saved_selectors()}
    assert shown == {
        "both": False,
        "by-value": False,
        "by-name": True,
        "pattern": False,
        "texas": True,
        "through": True,
        "through-hidden": False,
    }
    assert all(readable(each.selector, twin) for each in twin.saved_selectors())
    assert all(evaluate(Saved(name), view) for name in shown)
    assert evaluate(Saved("hidden"), view) == ClusterSet()
