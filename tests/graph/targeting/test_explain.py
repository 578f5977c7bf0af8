"""Why a cluster is in or out, and what would change that."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from changes import random_fleet, random_selector
from graph.model.change import ref_of
from graph.model.errors import NotFound
from graph.model.inventory import Hierarchy, LabelKey, LabelType, Mode, SavedSelector
from graph.model.label import NUMBER_MAX
from graph.model.names import ClusterNumber
from graph.model.ref import Kind, Ref
from graph.model.selector import And, Not, Or, Saved
from graph.model.view import group_at
from graph.targeting.cycles import in_order
from graph.targeting.explain import Explanation, Reason, explain
from graph.targeting.facts import facts_of, known_names, true_of
from graph.targeting.parser import parse
from graph.targeting.step import JoinGroup, after
from twin import Twin, twin_select


def why(name: str, text: str, twin: Twin) -> Explanation:
    number = twin.cluster_number(name)
    assert number is not None
    return explain(parse(text, twin), number, twin)


def transcript(explanation: Explanation) -> str:
    """As the command shows it: what holds first, each with its fact."""
    lines = sorted(explanation.clauses, key=lambda each: not each.holds)
    shown = [f"  {'yes' if e.holds else 'no':3}  {e.text:28}{e.fact}".rstrip() for e in lines]
    flip = f"nearest change: {explanation.proposal}" if explanation.nearest else "no change"
    return "\n".join([explanation.summary, *shown, flip])


def test_an_explanation_reads_like_the_transcript(twin: Twin) -> None:
    found = why("ny-1", "/franchise/corporate and size = large and lanes >= 2", twin)
    assert transcript(found) == (
        "no: 2 of 3 clauses hold\n"
        "  yes  size = large\n"
        "  yes  lanes >= 2                  lanes is 3\n"
        "  no   /franchise/corporate        it is in /franchise/master041/fr07\n"
        "nearest change: join /franchise/corporate"
    )


def test_reasons_keep_the_authors_order(twin: Twin) -> None:
    found = why("ny-1", "/franchise/corporate and size = large and lanes >= 2", twin)
    texts = [each.text for each in found.clauses]
    assert texts == ["/franchise/corporate", "size = large", "lanes >= 2"]


@pytest.mark.parametrize(
    ("name", "text", "fact"),
    [
        ("ny-1", "/geo/us", "it is in /geo/us/northeast/ny"),
        ("us-hq", "/geo/us", ""),
        ("us-hq", "only /geo/us", ""),
        ("ny-1", "only /geo/us", "it is in /geo/us/northeast/ny"),
        ("or-1", "/franchise/corporate", "it is in no group of /franchise"),
        ("ny-2", "/devices/grill", "it is in /devices/grill/acme/acme3001"),
        ("ny-2", "/delivery", "it is in no group of /delivery"),
        ("ny-2", "/geo/*/west", "it is in /geo/us/northeast/ny"),
        ("ny-2", "/devices/*", "it is in /devices/fryer and /devices/grill/acme/acme3001"),
        ("ny-1", "lanes >= 4", "lanes is 3"),
        ("ny-1", "lanes = 3", ""),
        ("ny-1", "lanes in (1, 2)", "lanes is 3"),
        ("ny-1", "has lanes", "lanes is 3"),
        ("or-1", "has lanes", "it has no label lanes"),
        ("or-1", "lanes != 2", "it has no label lanes"),
        ("or-1", "state = ny", 'state is "or"'),
        ("or-1", "state = or", ""),
        ("ny-1", "drive-through = false", "drive-through is true"),
        ("ny-2", '"cluster" = red', '"cluster" is blue'),
        ("ny-1", "cluster ny-2", "it is ny-1"),
        ("ny-1", "all", ""),
    ],
)
def test_every_clause_rests_on_a_plain_fact(name: str, text: str, fact: str, twin: Twin) -> None:
    assert why(name, text, twin).reason.fact == fact


def test_a_fact_names_the_objects_its_history_can_be_looked_up_for(twin: Twin) -> None:
    cluster = Ref(Kind.CLUSTER, 0)
    place = group_at(twin, "/franchise/master041/fr07")
    assert place is not None
    assert why("ny-1", "/franchise/corporate", twin).reason.about == (
        cluster,
        Ref(Kind.GROUP, place),
    )
    assert why("ny-1", "lanes > 1", twin).reason.about == (cluster, Ref(Kind.LABEL_KEY, "lanes"))


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("all", "yes"),
        ("not all", "no"),
        ("/geo and size = small", "no: 1 of 2 clauses holds"),
        ("/geo and size = large", "yes: 2 of 2 clauses hold"),
        ("cluster 2 or size = small", "no: 0 of 2 clauses hold"),
        ("/geo except size = large", "no"),
    ],
)
def test_the_summary_counts_the_clauses_of_the_outermost_operator(
    text: str, summary: str, twin: Twin
) -> None:
    assert why("ny-1", text, twin).summary == summary


def test_operators_inside_are_explained_part_by_part(twin: Twin) -> None:
    found = why("ny-1", "/geo and not (size = large or has state)", twin)
    negation = found.clauses[1]
    assert (negation.text, negation.holds) == ("not (size = large or has state)", False)
    [either] = negation.parts
    assert [(each.text, each.holds) for each in either.parts] == [
        ("size = large", True),
        ("has state", True),
    ]


def test_a_saved_selector_is_opened(twin: Twin, save: Callable[[str, str], None]) -> None:
    save("big", "size = large and lanes > 5")
    found = why("ny-1", "/geo and @big", twin)
    saved = found.clauses[1]
    assert (saved.text, saved.holds) == ("@big", False)
    assert [each.text for each in saved.parts[0].parts] == ["size = large", "lanes > 5"]
    assert found.proposal == "set lanes = 6"


# the nearest flip


@pytest.mark.parametrize(
    ("name", "text", "proposal"),
    [
        ("ny-1", "/franchise/corporate", "join /franchise/corporate"),
        ("ny-1", "/geo/us", "leave /geo/us/northeast/ny"),
        ("ny-1", "size = small", "set size = small"),
        ("ny-1", "size = large", "remove label size"),
        ("ny-1", "size != large", "set size = small"),
        ("ny-1", "size != small", "set size = small"),
        ("ny-1", "lanes >= 5", "set lanes = 5"),
        ("ny-1", "lanes > 5", "set lanes = 6"),
        ("ny-1", "lanes < 2.5", "set lanes = 2"),
        ("ny-1", "lanes >= 2", "set lanes = 1"),
        ("ny-1", "lanes in (1, 2)", "set lanes = 1"),
        ("ny-1", "has lanes", "remove label lanes"),
        ("or-1", "has lanes", "set lanes = 1.5"),
        ("ny-1", "drive-through = false", "set drive-through = false"),
        ("ny-1", "only /geo/us", "join /geo/us"),
        ("ny-1", "/devices/*/acme", "leave /devices/grill/acme/acme3000"),
        ("or-1", "/devices/*/acme", "join /devices/grill/acme"),
        ("ny-2", "/devices", "leave /devices/fryer, then leave /devices/grill/acme/acme3001"),
        ("ny-1", "/geo and size = small and lanes = 9", "set size = small, then set lanes = 9"),
        ("ny-1", "cluster 2 or size = small", "set size = small"),
        ("ny-1", "/geo/us except /geo/us/northeast", "join /geo/us"),
        (
            "ny-1",
            "/devices except /devices/grill",
            "leave /devices/grill/acme/acme3000, then join /devices",
        ),
        ("2", "/geo/us and /geo/us/northeast/ny", "join /geo/us/northeast/ny"),
        ("2", "lanes >= 2 and lanes <= 4", "set lanes = 2"),
        ("2", "lanes > 2 and lanes < 4", "set lanes = 3"),
        ("ny-1", "not (size = large and lanes = 3 and has state)", "remove label size"),
    ],
)
def test_the_nearest_flip_is_the_fewest_changes(
    name: str, text: str, proposal: str, twin: Twin
) -> None:
    assert why(name, text, twin).proposal == proposal


@pytest.mark.parametrize(
    "text",
    [
        "all",
        "not all",
        "cluster 2",
        "cluster ny-1",
        "/geo/*/nowhere",
        "/geo/us/west and /geo/us/northeast",
        "lanes > 3 and lanes < 3",
    ],
)
def test_nothing_is_proposed_where_no_change_would_do(text: str, twin: Twin) -> None:
    assert why("ny-1", text, twin).nearest is None


def test_a_join_in_a_single_hierarchy_says_what_it_replaces(twin: Twin) -> None:
    assert why("ny-1", "/franchise/corporate", twin).nearest == (
        JoinGroup(
            group_at(twin, "/franchise/corporate") or 0,
            "/franchise/corporate",
            replaces="/franchise/master041/fr07",
        ),
    )
    found = why("ny-1", "/devices/fryer", twin).nearest
    assert found is not None
    assert isinstance(found[0], JoinGroup)
    assert found[0].replaces == ""


def test_a_proposed_value_is_one_the_key_allows(twin: Twin) -> None:
    key = LabelKey("lanes", LabelType.NUMBER, allowed=(1, 2, 3, 4, 8))
    twin.put(ref_of(key), key)
    assert why("ny-1", "lanes > 4", twin).proposal == "set lanes = 8"
    assert why("ny-1", "lanes in (9, 8)", twin).proposal == "set lanes = 8"
    assert why("ny-1", "lanes in (5, 6)", twin).nearest is None
    assert why("ny-1", "lanes = 5", twin).nearest is None


def test_a_value_in_use_that_is_no_longer_allowed_is_not_proposed(twin: Twin) -> None:
    key = LabelKey("lanes", LabelType.NUMBER, allowed=(4, 8))
    twin.put(ref_of(key), key)
    assert why("or-1", "has lanes", twin).proposal == "set lanes = 4"


def test_a_number_beyond_the_largest_is_not_proposed(twin: Twin) -> None:
    assert why("ny-1", f"lanes > {NUMBER_MAX}", twin).nearest is None
    assert why("ny-1", f"lanes < -{NUMBER_MAX}", twin).nearest is None


@pytest.mark.parametrize(
    ("text", "proposal"),
    [
        ("/geo", ""),
        ("/geo/us", "join /geo"),
        ("/geo/us/northeast", "join /geo/us"),
        ("only /geo/us/northeast/ny", "join /geo/us/northeast"),
        ("/geo/us/*/ny", "join /geo/us"),
        ("/geo and size = large", "remove label size"),
        ("/geo/us/west and not /geo/us/northeast", "join /geo/us/west"),
        ("/devices", ""),
        ("/devices/grill", "join /devices, then leave /devices/grill/acme/acme3000"),
        (
            "/devices/fryer and not /devices/grill",
            "join /devices/fryer, then leave /devices/grill/acme/acme3000",
        ),
        ("/franchise", "leave /franchise/master041/fr07"),
    ],
)
def test_a_proposal_never_leaves_a_required_hierarchy(text: str, proposal: str, twin: Twin) -> None:
    for name, mode in (("geo", Mode.SINGLE), ("devices", Mode.MANY)):
        required = Hierarchy(name, mode, required=True)
        twin.put(ref_of(required), required)
    assert why("ny-1", text, twin).proposal == proposal


def test_a_hierarchy_that_is_left_already_may_stay_so(twin: Twin) -> None:
    required = Hierarchy("geo", Mode.SINGLE, required=True)
    twin.put(ref_of(required), required)
    assert why("2", "has lanes", twin).proposal == "set lanes = 1.5"


def test_a_cluster_that_is_not_there_cannot_be_explained(twin: Twin) -> None:
    with pytest.raises(NotFound, match="no cluster with number 99"):
        explain(parse("all", twin), ClusterNumber(99), twin)


def test_a_namespace_is_opened_into_its_assignments(
    twin: Twin, assign: Callable[..., None]
) -> None:
    assign("pos", east="/geo/us/northeast", hq="cluster us-hq", large="size = large")
    found = why("ny-1", "namespace pos", twin)
    assert found.holds
    assert found.reason.fact == "assignments east and large choose it"
    assert found.reason.about == (Ref(Kind.ASSIGNMENT, "east"), Ref(Kind.ASSIGNMENT, "large"))
    told = [(each.text, each.holds) for each in found.reason.parts]
    assert told == [("/geo/us/northeast", True), ("cluster us-hq", False), ("size = large", True)]
    assert found.proposal == "leave /geo/us/northeast/ny, then remove label size"
    assert why("or-1", "not namespace pos", twin).proposal == "remove label size"


def test_a_namespace_that_does_not_choose_a_cluster_says_what_would(
    twin: Twin, assign: Callable[..., None]
) -> None:
    assign("pos", east="/geo/us/northeast and lanes > 1", west="/geo/us/west")
    found = why("2", "namespace pos", twin)
    assert found.reason.fact == "no assignment chooses it"
    assert found.proposal == "join /geo/us/west"
    assign("empty")
    assert why("2", "namespace empty", twin).nearest is None
    assert why("2", "namespace empty", twin).reason.fact == "no assignment chooses it"


def test_a_namespace_is_not_opened_if_one_of_its_assignments_may_not_be_read(
    twin: Twin, assign: Callable[..., None]
) -> None:
    assign("pos", open="/geo/us/west", secret="size = large")
    secret = parse("size = large", twin)
    selector = parse("namespace pos", twin)
    found = explain(selector, ClusterNumber(0), twin, readable=lambda each: each != secret)
    assert found.holds
    assert (found.reason.fact, found.reason.about, found.reason.parts) == ("", (), ())
    assert found.nearest is None


@pytest.mark.parametrize("seed", range(24))
def test_reasons_and_flips_are_true_for_any_fleet(seed: int) -> None:
    rng = Random(seed)
    twin = Twin.of(random_fleet(rng, clusters=8))
    for _ in range(6):
        selector = random_selector(rng, twin, depth=3)
        meanings = in_order(selector, twin)
        members = twin_select(selector, twin)
        for cluster in twin.clusters():
            found = explain(selector, cluster.number, twin)
            assert found.holds is (cluster.number in members)
            assert not _lies(found.reason, twin, cluster.number)
            if found.nearest is not None:
                facts = facts_of(cluster.number, cluster.labels, cluster.memberships, twin)
                changed = after(found.nearest, facts, twin)
                assert changed is not None
                flipped = true_of(selector, changed, known_names(meanings, changed))
                assert flipped is not found.holds


def _lies(reason: Reason, twin: Twin, cluster: int) -> bool:
    """Whether some part claims what evaluating its own text denies."""
    told = cluster in twin_select(parse(reason.text, twin), twin)
    return told is not reason.holds or any(_lies(part, twin, cluster) for part in reason.parts)


def test_saved_selectors_that_multiply_are_opened_only_so_far(twin: Twin) -> None:
    base = SavedSelector("s0", parse("size = large and has lanes", twin))
    twin.put(ref_of(base), base)
    for level in range(30):
        below = Saved(f"s{level}")
        both = SavedSelector(f"s{level + 1}", Or((And((below, Not(below))), below)))
        twin.put(ref_of(both), both)
    found = explain(Saved("s30"), ClusterNumber(0), twin)
    assert found.holds
    assert _size(found.reason) < 20_000


def _size(reason: Reason) -> int:
    return 1 + sum(map(_size, reason.parts))
