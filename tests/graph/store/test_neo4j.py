"""What the Neo4j adapter does beyond the contract: a readable graph, migrations, clear refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from time import monotonic
from typing import Any, LiteralString

import neo4j
import pytest
from neo4j.exceptions import ConstraintError

from graph.model.change import Cursor
from graph.model.errors import Conflict, Invalid, Unavailable
from graph.model.inventory import Cluster, Group, Hierarchy
from graph.model.names import GroupNumber, Revision
from graph.model.publication import Publication
from graph.model.selector import Everything, InNamespace
from graph.model.workload import Assignment, Choice
from graph.store.neo4j import Neo4jStore
from graph.store.neo4j_connection import Timeouts
from graph.store.neo4j_links import LABELS
from graph.store.neo4j_migrations import MIGRATIONS, SCHEMA_VERSION
from graph.store.neo4j_publications import publication_fields
from graph.store.port import Entry
from history import (
    BUSINESS,
    FULL_CLUSTER,
    GRANTS,
    SELECTORS,
    START,
    History,
    at,
    by_ref,
    cluster,
    exact,
    group,
    replay,
)
from neo4j_process import free_port
from neo4j_server import Server, server
from workload_samples import (
    ASSIGNMENTS,
    COVERED,
    DRAWER,
    FULL_WORKLOAD,
    KITCHEN,
    LAYERS,
    MENU,
    POLICIES,
    POS,
    PROHIBITIONS,
    TILL,
)

pytestmark = pytest.mark.neo4j


@pytest.fixture
def where() -> Server:
    found = server()
    found.wipe()
    return found


@pytest.fixture
async def store(where: Server) -> AsyncIterator[Neo4jStore]:
    store = await opened(where)
    yield store
    await store.close()


@pytest.fixture
async def history(store: Neo4jStore) -> History:
    history = await History.of(store)
    await history.put(*BUSINESS)
    return history


async def opened(where: Server, **options: Any) -> Neo4jStore:
    return await Neo4jStore.open(where.url, user=where.user, password=where.password, **options)


def look(where: Server, text: LiteralString, **parameters: Any) -> list[list[Any]]:
    """What an analyst sees."""
    with neo4j.GraphDatabase.driver(
        where.url, auth=(where.user, where.password), notifications_min_severity="OFF"
    ) as driver:
        found = driver.execute_query(text, parameters_=parameters)
        return [record.values() for record in found.records]


SMALL_WORKLOAD = (
    *(POS, KITCHEN, TILL, MENU, DRAWER, *ASSIGNMENTS, PROHIBITIONS[0]),
    *(*LAYERS, POLICIES[0], *COVERED),
)
PATHS: LiteralString = "MATCH (g:Group) RETURN g.path ORDER BY g.path"


# the graph


async def test_groups_show_where_they_are_after_renames_and_moves(
    where: Server, history: History
) -> None:
    texas, states = group(2, "geo", 1, "tx", "Texas"), group(1, "geo", 0, "us", "United States")
    austin = group(5, "geo", 2, "austin")
    await history.put(austin)
    assert look(where, PATHS) == [
        *(["/devices"], ["/devices/grill"], ["/geo"], ["/geo/us"]),
        *(["/geo/us/tx"], ["/geo/us/tx/austin"]),
    ]
    await history.put(replace(states, name="usa"))
    await history.put(replace(texas, parent=GroupNumber(0), name="texas"))
    assert look(where, PATHS) == [
        *(["/devices"], ["/devices/grill"], ["/geo"]),
        *(["/geo/texas"], ["/geo/texas/austin"], ["/geo/usa"]),
    ]


async def test_two_groups_swap_names_in_one_changeset(where: Server, history: History) -> None:
    one, other = group(5, "geo", 1, "north"), group(6, "geo", 1, "south")
    await history.put(one, other)
    await history.put(replace(one, name="south"), replace(other, name="north"))
    found = look(where, "MATCH (g:Group) WHERE g.number > 4 RETURN g.path ORDER BY g.number")
    assert found == [["/geo/us/south"], ["/geo/us/north"]]


async def test_clusters_share_label_values_and_unused_ones_vanish(
    where: Server, history: History
) -> None:
    values: LiteralString = (
        "MATCH (v:LabelValue) RETURN v.key, v.value, COUNT { (v)<-[:LABELLED]-() } "
        "ORDER BY v.key, v.value"
    )
    one, two = cluster(1, size="large", lanes=2), cluster(2, size="large", lanes=3)
    await history.put(one, two)
    assert look(where, values) == [["lanes", 2, 1], ["lanes", 3, 1], ["size", "large", 2]]
    await history.put(cluster(1, size="small"), cluster(2, size="large", lanes=2))
    assert look(where, values) == [["lanes", 2, 1], ["size", "large", 1], ["size", "small", 1]]
    await history.put(gone=[cluster(1), cluster(2)])
    assert look(where, values) == []


async def test_saved_selectors_point_at_the_groups_they_name(
    where: Server, history: History
) -> None:
    named: LiteralString = (
        "MATCH (s:SavedSelector)-[:NAMES]->(g:Group) RETURN s.name, g.number ORDER BY s.name, 2"
    )
    await history.put(*(cluster(number) for number in range(8)))
    await history.put(*SELECTORS)
    assert ["pilot", 2] in look(where, named)
    await history.put(replace(SELECTORS[0], selector=SELECTORS[1].selector))
    await history.put(gone=[SELECTORS[1]])
    assert {name for name, _ in look(where, named)} == {"pilot"}


async def test_grants_are_read_by_people_and_point_at_the_groups_they_name(
    where: Server, history: History
) -> None:
    seen: LiteralString = (
        "MATCH (n:Grant) OPTIONAL MATCH (n)-[:NAMES]->(g:Group) "
        "WITH n, g.path AS path ORDER BY path "
        "RETURN n.name, n.role, n.subject, n.claim, collect(path) ORDER BY n.name"
    )
    await history.put(*GRANTS, *(cluster(number) for number in range(8)))
    assert look(where, seen) == [
        ["night-crew", "reader", None, "Night crew", ["/devices/grill", "/geo", "/geo/us"]],
        ["texas", "editor", "ana", None, ["/geo/us/tx"]],
    ]
    await history.put(replace(GRANTS[0], scope=Everything()), gone=[GRANTS[1]])
    assert look(where, seen) == [["texas", "editor", "ana", None, []]]


RELATIONSHIPS: LiteralString = """
MATCH (one)-[r]->(other)
WHERE one:SavedSelector|Grant|Namespace|Application|Assignment|Prohibition|Layer|Policy
RETURN labels(one)[0], one.name, type(r), labels(other)[0], coalesce(other.path, other.name)
"""


def relationships(where: Server) -> set[str]:
    """What objects name, as lines to read."""
    return {
        f"{label} {name} {kind} {other} {called}"
        for label, name, kind, other, called in look(where, RELATIONSHIPS)
    }


async def test_the_workload_is_read_by_people(where: Server, history: History) -> None:
    await history.put(*SELECTORS[:1], FULL_CLUSTER, *SMALL_WORKLOAD)
    assert relationships(where) == {
        "SavedSelector pilot NAMES Group /geo/us/tx",
        "Application till IN_NAMESPACE Namespace pos",
        "Application till DEPENDS_ON Application menu",
        "Application till DEPENDS_ON Application drawer",
        "Application till NAMES LabelKey lanes",
        "Application till NAMES LabelKey size",
        "Application till NAMES SavedSelector pilot",
        "Application menu IN_NAMESPACE Namespace kitchen",
        "Application drawer IN_NAMESPACE Namespace pos",
        "Assignment tills CHOOSES Namespace pos",
        "Assignment tills CHOOSES Application till",
        "Assignment tills CHOOSES Application drawer",
        "Assignment tills NAMES Group /geo/us/tx",
        "Assignment gold CHOOSES Namespace kitchen",
        "Assignment gold NAMES Namespace pos",
        "Prohibition no-menu CHOOSES Application menu",
        "Prohibition no-menu NAMES Group /devices/grill",
        "Layer till-texas CONFIGURES Application till",
        "Layer till-texas NAMES Group /geo/us/tx",
        "Layer till-here CONFIGURES Application till",
        "Layer till-here NAMES Cluster us-tx-full",
        "Policy house-rules GOVERNS Namespace pos",
        "Policy house-rules GOVERNS Namespace kitchen",
        "Grant grill-maker COVERS Application till",
        "Grant grill-maker COVERS Application menu",
        "Grant grill-maker NAMES Group /devices/grill",
        "Grant franchise COVERS Namespace pos",
        "Grant franchise COVERS Namespace kitchen",
    }
    seen = look(
        where,
        "MATCH (a:Application {name: 'till'}) "
        "RETURN a.owner, a.labels, a.reconcilers, a.requestsCpuMillicores, a.reads,"
        " a.clusterScoped",
    )
    claimed = ["ClusterRole/till-reader", "PriorityClass/till"]
    assert seen == [
        ["retail", ["tier=gold"], ["flux", "argocd"], 100, ["telemetry", "channel"], claimed],
    ]


async def test_a_definition_that_changes_or_goes_leaves_no_relationship_behind(
    where: Server, history: History
) -> None:
    await history.put(*SELECTORS[:1], FULL_CLUSTER, *SMALL_WORKLOAD)
    await history.put(
        Assignment("tills", Choice("pos", ("drawer",)), Everything()),
        replace(TILL, depends_on=("drawer",), requires=None, late_bound=()),
        replace(LAYERS[0], selector=InNamespace("kitchen")),
        gone=[POLICIES[0], *COVERED, PROHIBITIONS[0], LAYERS[1]],
    )
    assert relationships(where) == {
        "SavedSelector pilot NAMES Group /geo/us/tx",
        "Application till IN_NAMESPACE Namespace pos",
        "Application till DEPENDS_ON Application drawer",
        "Application menu IN_NAMESPACE Namespace kitchen",
        "Application drawer IN_NAMESPACE Namespace pos",
        "Assignment tills CHOOSES Namespace pos",
        "Assignment tills CHOOSES Application drawer",
        "Assignment gold CHOOSES Namespace kitchen",
        "Assignment gold NAMES Namespace pos",
        "Layer till-texas CONFIGURES Application till",
        "Layer till-texas NAMES Namespace kitchen",
    }


async def test_what_is_written_again_keeps_what_points_at_it(
    where: Server, history: History
) -> None:
    await history.put(*SELECTORS[:1], FULL_CLUSTER, *SMALL_WORKLOAD)
    before = relationships(where)
    await history.put(replace(POS, title="Tills"), replace(MENU, title="Menu"))
    await history.put(replace(SELECTORS[0], title=""), replace(FULL_CLUSTER, title=""))
    assert relationships(where) == before


@pytest.mark.parametrize("label", [*LABELS.values()])
async def test_a_name_is_there_once_for_each_kind(
    where: Server, history: History, label: LiteralString
) -> None:
    with pytest.raises(ConstraintError):
        look(where, f"UNWIND [1, 2] AS n CREATE (:{label} {{name: 'same'}})")


async def test_a_changeset_says_which_loss_was_accepted(where: Server, history: History) -> None:
    await history.commit(Entry(replace(history.changeset(cluster(1)), accepted_loss=7)))
    found = look(where, "MATCH (n:Changeset) RETURN n.acceptedLoss ORDER BY n.revision")
    assert found == [[None], [7]]


async def test_a_definition_that_somebody_cut_off_is_not_believed(
    where: Server, store: Neo4jStore, history: History
) -> None:
    await history.put(KITCHEN, MENU)
    look(where, "MATCH (:Application)-[r:IN_NAMESPACE]->() DELETE r")
    with pytest.raises(Invalid, match="does not fit together"):
        await store.load()


async def test_no_changeset_has_a_relationship(where: Server, history: History) -> None:
    await history.put(cluster(1))
    found = look(where, "MATCH (n:Changeset|Receipt|Clock)--() RETURN count(*)")
    assert found == [[0]]


async def test_a_tree_as_deep_as_can_be_has_its_paths(where: Server, history: History) -> None:
    names = [f"level{depth}" for depth in range(31)]
    chain = [Group(GroupNumber(5), "deep", None, "deep")]
    for name in names:
        number = GroupNumber(chain[-1].number + 1)
        chain.append(Group(number, "deep", chain[-1].number, name))
    await history.put(*chain)
    found = look(where, "MATCH (g:Group {hierarchy: 'deep'}) RETURN max(size(g.path))")
    assert found == [[len("/deep/" + "/".join(names))]]


# opening


async def test_a_record_of_an_older_schema_is_brought_up_to_date(
    where: Server, history: History
) -> None:
    look(where, "MATCH (k:Clock) SET k.schema = 1")
    look(where, "DROP INDEX group_path IF EXISTS")
    store = await opened(where)
    assert (await store.head()).cursor == history.cursor
    await store.close()
    assert look(where, "MATCH (k:Clock) RETURN k.schema") == [[SCHEMA_VERSION]]
    assert ["group_path"] in look(where, "SHOW INDEXES YIELD name")


async def test_a_record_from_before_grants_takes_them(where: Server, history: History) -> None:
    look(where, "MATCH (k:Clock) SET k.schema = 2")
    look(where, "DROP CONSTRAINT grant IF EXISTS")
    store = await opened(where)
    assert exact(by_ref((await store.load()).entities)) == exact(history.facts)
    assert ["grant"] in look(where, "SHOW CONSTRAINTS YIELD name")
    again = await History.of(store)
    await again.put(GRANTS[0])
    assert exact(by_ref((await store.load()).entities)) == exact(again.facts)
    await store.close()


WORKLOAD_CONSTRAINTS: tuple[LiteralString, ...] = (
    *("namespace", "application", "assignment", "prohibition", "layer", "policy"),
)


async def make_older(where: Server, history: History) -> None:
    """Make the record what it was in schema version 3: selectors pointed at groups alone."""
    await history.put(*SELECTORS, *GRANTS, FULL_CLUSTER)
    for name in WORKLOAD_CONSTRAINTS:
        look(where, f"DROP CONSTRAINT {name} IF EXISTS")
    look(where, "MATCH (h:Hierarchy) REMOVE h.precedence")
    look(where, "MATCH ()-[r:NAMES]->(other) WHERE NOT other:Group DELETE r")
    look(where, "MATCH ()-[r]->() REMOVE r.place")
    look(where, "MATCH (k:Clock) SET k.schema = 3")


async def test_a_record_from_before_the_workload_keeps_all_it_had(
    where: Server, history: History
) -> None:
    await history.put(*SELECTORS, *GRANTS, FULL_CLUSTER)
    linked = relationships(where)
    await make_older(where, history)
    assert relationships(where) < linked
    store = await opened(where)
    facts = await store.load()
    assert exact(by_ref(facts.entities)) == exact(history.facts)
    assert {each.precedence for each in facts.entities if isinstance(each, Hierarchy)} == {0}
    assert (await store.head()).cursor == history.cursor
    await store.close()
    assert look(where, "MATCH (k:Clock) RETURN k.schema") == [[SCHEMA_VERSION]]
    assert relationships(where) == linked


async def test_a_record_from_before_the_workload_takes_one(where: Server, history: History) -> None:
    await make_older(where, history)
    store = await opened(where)
    found = {name for (name,) in look(where, "SHOW CONSTRAINTS YIELD name")}
    assert found.issuperset(WORKLOAD_CONSTRAINTS)
    again = await History.of(store)
    await again.put(*FULL_WORKLOAD)
    facts = await store.load()
    assert exact(by_ref(facts.entities)) == exact(again.facts)
    replayed = await replay(store.changesets(after=facts.head.horizon))
    assert exact(replayed) == exact(again.facts)
    await store.close()


async def test_an_application_of_another_program_beside_an_older_record_is_left_alone(
    where: Server, history: History
) -> None:
    await make_older(where, history)
    look(where, "CREATE (:Application {title: 'of somebody else'})")
    with pytest.raises(Invalid, match="no record of trellis"):
        await opened(where)
    assert look(where, "MATCH (k:Clock) RETURN k.schema") == [[3]]
    found = {name for (name,) in look(where, "SHOW CONSTRAINTS YIELD name")}
    assert found.isdisjoint(WORKLOAD_CONSTRAINTS)


async def test_a_record_from_before_publications_takes_them(
    where: Server, history: History
) -> None:
    await history.put(*SELECTORS, FULL_CLUSTER, *FULL_WORKLOAD)
    look(where, "DROP CONSTRAINT publication IF EXISTS")
    look(where, "MATCH (k:Clock) SET k.schema = 4")
    store = await opened(where)
    assert exact(by_ref((await store.load()).entities)) == exact(history.facts)
    assert ["publication"] in look(where, "SHOW CONSTRAINTS YIELD name")
    made = Publication("main", history.cursor, "c0ffee", actor="ann", at=START)
    await store.keep_publication(made)
    assert await store.publications() == (made,)
    await store.close()
    seen = look(where, "MATCH (p:Publication) RETURN p.name, p.cursor, p.commit, p.held, p.actor")
    assert seen == [["main", str(history.cursor), "c0ffee", "[]", "ann"]]


async def test_a_publication_of_another_program_beside_an_older_record_is_left_alone(
    where: Server, history: History
) -> None:
    look(where, "MATCH (k:Clock) SET k.schema = 4")
    look(where, "CREATE (:Publication {title: 'of somebody else'})")
    with pytest.raises(Invalid, match="no record of trellis"):
        await opened(where)
    assert look(where, "MATCH (k:Clock) RETURN k.schema") == [[4]]


async def test_a_publication_that_is_half_written_is_not_believed(
    where: Server, history: History
) -> None:
    made = Publication("main", history.cursor, "c0ffee", actor="ann", at=START)
    await history.store.keep_publication(made)
    look(where, "MATCH (p:Publication) SET p.commit = 'beef'")
    with pytest.raises(Invalid, match="does not fit together"):
        await history.store.publications()
    await history.store.keep_publication(made)
    assert await history.store.publications() == (made,), "whoever reports again mends it"


async def test_what_is_kept_of_another_history_gives_way(where: Server, history: History) -> None:
    made = Publication("main", history.cursor, "c0ffee", actor="ann", at=START)
    ahead = replace(made, cursor=Cursor(Revision(99), "f" * 16))
    row = publication_fields(ahead)
    look(where, "CREATE (p:Publication) SET p = $row", row=row)
    assert await history.store.publications() == (ahead,)
    assert await history.store.keep_publication(made) == made
    assert await history.store.publications() == (made,)


async def test_a_newer_schema_is_refused_and_left_alone(where: Server, history: History) -> None:
    look(where, "MATCH (k:Clock) SET k.schema = 99")
    with pytest.raises(Conflict, match="schema version 99"):
        await opened(where)
    assert look(where, "MATCH (k:Clock) RETURN k.schema") == [[99]]


async def test_a_database_of_another_program_is_refused_and_left_alone(where: Server) -> None:
    look(where, "CREATE (:Cluster {number: 1})")
    with pytest.raises(Invalid, match="no record of trellis"):
        await opened(where)
    assert look(where, "MATCH (n) RETURN labels(n)") == [[["Cluster"]]]


async def test_two_processes_may_begin_a_record_at_the_same_time(where: Server) -> None:
    stores = await asyncio.gather(*(opened(where) for _ in range(4)))
    heads = [await store.head() for store in stores]
    for store in stores:
        await store.close()
    assert len({head.cursor for head in heads}) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "neo4j", "bolt://127.0.0.1:port"])
async def test_what_is_no_neo4j_url_is_invalid(url: str) -> None:
    with pytest.raises(Invalid, match="not a Neo4j URL"):
        await Neo4jStore.open(url, user="neo4j", password="secret")


async def test_a_wrong_password_is_said_without_the_password(where: Server) -> None:
    with pytest.raises(Unavailable) as refusal:
        await Neo4jStore.open(where.url, user=where.user, password="hunter2")
    assert "password" in refusal.value.hint
    assert "hunter2" not in str(refusal.value)


async def test_a_server_that_is_not_there_is_unavailable_soon() -> None:
    began = monotonic()
    with pytest.raises(Unavailable) as refusal:
        await Neo4jStore.open(
            f"bolt://127.0.0.1:{free_port()}",
            user="neo4j",
            password="secret",
            timeouts=Timeouts(connect_seconds=0.5, retry_seconds=0.5, read_seconds=2),
        )
    assert refusal.value.hint
    assert monotonic() - began < 5


def test_every_migration_can_be_run_again() -> None:
    assert all("IF NOT EXISTS" in text for migration in MIGRATIONS for text in migration)


# the record


async def test_a_commit_whose_caller_goes_away_is_finished(
    where: Server, store: Neo4jStore, history: History
) -> None:
    entry = Entry(history.changeset(*(cluster(number) for number in range(500))))
    caller = asyncio.create_task(store.commit([entry], expected=history.cursor, now=at(2)))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await store.close()
    again = await opened(where)
    facts = await again.load()
    await again.close()
    assert facts.head.cursor.revision == 2
    assert facts.head.numbers.cluster == 500


async def test_a_clock_that_somebody_edited_is_not_believed(
    where: Server, store: Neo4jStore, history: History
) -> None:
    look(where, "MATCH (k:Clock) SET k.revision = 7")
    with pytest.raises(Invalid, match="does not fit together"):
        await store.head()
    with pytest.raises(Invalid, match="does not fit together"):
        await history.put(cluster(1))


async def test_a_database_emptied_under_a_store_is_unavailable(
    where: Server, store: Neo4jStore, history: History
) -> None:
    where.wipe()
    with pytest.raises(Unavailable, match="no longer holds a record"):
        await history.put(cluster(1))


async def test_a_load_is_of_one_revision_while_writers_never_rest(
    where: Server, store: Neo4jStore, history: History
) -> None:
    """Two clusters always change together; no load may see one without the other."""
    await history.put(cluster(0, lanes=0), cluster(1, lanes=0))
    done = False

    async def write() -> None:
        lanes = 0
        while not done:
            lanes += 1
            await history.put(cluster(0, lanes=lanes), cluster(1, lanes=lanes))

    writing = asyncio.create_task(write())
    reader = await opened(where)
    try:
        for _ in range(8):
            facts = by_ref((await reader.load()).entities)
            lanes = [each.labels["lanes"] for each in facts.values() if isinstance(each, Cluster)]
            assert len(lanes) == 2
            assert lanes[0] == lanes[1]
    finally:
        done = True
        await writing
        final = await reader.load()
        await reader.close()
    assert exact(by_ref(final.entities)) == exact(history.facts)
