from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.access import Grant, Role
from graph.model.change import Change, Changeset, Entity, ref_of
from graph.model.errors import Invalid
from graph.model.hours import WEEKDAYS, Interval, OpeningHours
from graph.model.inventory import (
    Capacity,
    Cluster,
    ClusterKind,
    Group,
    Hierarchy,
    LabelKey,
    LabelType,
    Mode,
    Reconciler,
    SavedSelector,
)
from graph.model.names import Revision
from graph.model.ref import Kind
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    HasLabel,
    InNamespace,
    IsCluster,
    LabelIn,
    LabelIs,
    Matching,
    Not,
    Only,
    Or,
    Saved,
    Selector,
    Under,
)
from graph.store.codec import (
    count_changes,
    decode_body,
    decode_changes,
    decode_entity,
    decode_hours,
    decode_moment,
    decode_selector,
    encode_body,
    encode_entity,
    encode_hours,
    encode_moment,
    encode_selector,
    genesis,
    seal,
)
from history import EVERY_CLAUSE, FULL_CLUSTER, GRANTS, SELECTORS, START, at, cluster

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
numbers = st.integers(0, 2**40)
revisions = st.integers(0, 2**40).map(Revision)
values = (
    texts
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
)
times = st.times().map(lambda time: time.strftime("%H:%M"))
intervals = st.lists(st.builds(Interval, times, times), max_size=3).map(tuple)
hours = st.builds(
    OpeningHours,
    st.dictionaries(st.sampled_from(WEEKDAYS), intervals),
    st.dictionaries(st.dates().map(lambda day: day.isoformat()), intervals, max_size=3),
)
clauses = st.one_of(
    st.just(Everything()),
    st.builds(Under, numbers),
    st.builds(Only, numbers),
    st.builds(Matching, numbers, st.lists(names | st.just("*")).map(tuple), st.booleans()),
    st.builds(LabelIs, names, st.sampled_from(Comparison), values),
    st.builds(LabelIn, names, st.lists(values, max_size=4).map(tuple)),
    st.builds(HasLabel, names),
    st.builds(IsCluster, numbers),
    st.builds(Saved, names),
    st.builds(InNamespace, names),
)


def combined(inner: st.SearchStrategy[Selector]) -> st.SearchStrategy[Selector]:
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Not, inner),
        st.builds(Except, inner, inner),
    )


selectors: st.SearchStrategy[Selector] = st.recursive(clauses, combined, max_leaves=12)
clusters = st.builds(
    Cluster,
    numbers,
    names,
    texts,
    st.sampled_from(ClusterKind),
    st.sampled_from(Reconciler),
    st.dictionaries(names, values, max_size=4),
    st.lists(numbers, max_size=4).map(tuple),
    st.none() | st.builds(Capacity, numbers, numbers, numbers),
    texts,
    st.none() | hours,
    revisions,
)
entities: st.SearchStrategy[Entity] = st.one_of(
    clusters,
    st.builds(Group, numbers, names, st.none() | numbers, names, texts, revisions),
    st.builds(
        Hierarchy,
        names,
        st.sampled_from(Mode),
        st.booleans(),
        texts,
        st.integers(-(2**40), 2**40),
        revisions,
    ),
    st.builds(
        LabelKey,
        names,
        st.sampled_from(LabelType),
        texts,
        texts,
        st.lists(values, max_size=3).map(tuple),
        revisions,
    ),
    st.builds(SavedSelector, names, selectors, texts, revisions),
    st.builds(
        Grant,
        names,
        st.sampled_from(Role),
        selectors,
        texts,
        texts,
        texts,
        st.lists(names, max_size=3).map(tuple),
        st.lists(names, max_size=3).map(tuple),
        revisions,
    ),
)
moments = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
)


@given(entities)
def test_every_entity_comes_back_from_its_bytes(entity: Entity) -> None:
    data = encode_entity(entity)
    found = decode_entity(ref_of(entity).kind, data)
    assert found == entity
    # Equality takes 1, 1.0 and true for the same; their bytes do not.
    assert encode_entity(found) == data
    assert orjson.loads(data)["changed"] == entity.changed


@given(selectors)
def test_every_selector_comes_back_from_its_bytes(selector: Selector) -> None:
    data = encode_selector(selector)
    assert decode_selector(data) == selector
    assert encode_selector(decode_selector(data)) == data


@given(hours)
def test_opening_hours_come_back_from_their_bytes(week: OpeningHours) -> None:
    assert decode_hours(encode_hours(week)) == week


@given(
    st.lists(st.tuples(entities, st.booleans(), st.booleans()), max_size=4),
    texts,
    moments,
    st.integers(0, 2**40),
)
def test_every_changeset_comes_back_from_its_body(
    states: list[tuple[Entity, bool, bool]], reason: str, moment: datetime, loss: int
) -> None:
    changes = tuple(
        Change(entity if before or not after else None, entity if after else None)
        for entity, before, after in states
    )
    changeset = Changeset(Revision(3), moment, reason, reason, changes, loss, "f" * 64, reason)
    body = encode_body(changeset)
    assert decode_body(body, "f" * 64) == changeset
    assert encode_body(decode_body(body, "")) == body
    assert tuple(decode_changes(body)) == changes
    assert count_changes(body) == (len(changes), changeset.header.grant_count)


@given(moments, moments)
def test_moments_sort_as_text_as_they_do_as_time(one: datetime, other: datetime) -> None:
    assert decode_moment(encode_moment(one)) == one
    assert (encode_moment(one) < encode_moment(other)) == (one < other)


def test_a_moment_is_written_in_utc_whatever_its_zone() -> None:
    there = datetime(2026, 11, 1, 2, 30, 0, 123_999, timezone(timedelta(hours=2)))
    assert encode_moment(there) == "2026-11-01T00:30:00.123Z"


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(Invalid, match="no time zone"):
        encode_moment(datetime(2026, 11, 1))


def test_equal_entities_have_equal_bytes_whatever_order_they_were_filled_in() -> None:
    one = Cluster(cluster(1).number, "a", labels={"x": 1, "y": 2})
    other = Cluster(cluster(1).number, "a", labels={"y": 2, "x": 1})
    assert encode_entity(one) == encode_entity(other)


def test_the_written_form_stays_as_it_is() -> None:
    """These bytes are in every store and archive: a change here needs a new schema version."""
    assert encode_entity(FULL_CLUSTER) == (
        b'{"capacity":[8000,32768,512000],"changed":0,"kind":"host",'
        b'"labels":{"drive-through":false,"lanes":2.5,"size":"large"},"memberships":[1,2,4],'
        b'"name":"us-tx-full","number":7,"opening_hours":["monday 06:00-14:00 16:00-24:00",'
        b'"sunday","2026-12-24 08:00-12:00","2026-12-25"],"reconciler":"ansible",'
        b'"time_zone":"America/Chicago","title":"Everything a cluster can have"}'
    )
    assert encode_selector(EVERY_CLAUSE) == (
        b'["or",["and",["under",1],["label","lanes",">=",2],["has","size"]],'
        b'["except",["all"],["matching",0,["*","tx"],true]],'
        b'["not",["or",["only",4],["cluster",7]]],["in","size",["small","large"]],'
        b'["label","drive-through","!=",true],["matching",0,["us","*"],false],["saved","pilot"]]'
    )
    assert encode_entity(GRANTS[0]) == (
        b'{"changed":0,"name":"texas","role":"editor","scope":["under",2],"subject":"ana",'
        b'"title":"Texas"}'
    )
    assert encode_entity(GRANTS[1]).startswith(b'{"changed":0,"claim":"Night crew","name":"night')
    changeset = Changeset(Revision(1), START, "ann", "why", (Change(None, SELECTORS[0]),))
    body = encode_body(changeset)
    assert body == (
        b'{"actor":"ann","at":"2026-11-01T00:00:00.000Z","changes":[["saved_selector",null,'
        b'{"changed":0,"name":"pilot","selector":["under",2],"title":"Pilot"}]],'
        b'"reason":"why","revision":1}'
    )
    assert encode_body(replace(changeset, accepted_loss=7)) == (
        b'{"accepted_loss":7,' + body.removeprefix(b"{")
    )
    acting = replace(changeset, on_behalf_of="bo")
    assert encode_body(acting) == body.replace(b'"reason"', b'"on_behalf_of":"bo","reason"')
    assert decode_body(encode_body(acting), "c") == replace(acting, chain="c")
    assert genesis("0") == "74669db32b2ed6ed3274ff89d2ef7b14d4f4c712ceb8b5306ffdb3f1a09e7f95"
    assert (
        seal(genesis("0"), b"{}")
        == "eeb80870f263dc25498e4dc3c6da68dea87dac15657d6a0fab9086777bc2733b"
    )


def test_a_chain_changes_with_any_byte_of_any_body_before() -> None:
    bodies = [
        encode_body(Changeset(Revision(n), at(n), "ann", "why", (Change(None, cluster(n)),)))
        for n in (1, 2, 3)
    ]

    def chain(of: list[bytes]) -> str:
        link = genesis("a store")
        for body in of:
            link = seal(link, body)
        return link

    whole = chain(bodies)
    assert chain(bodies[1:]) != whole
    assert chain([bodies[1], bodies[0], bodies[2]]) != whole
    assert chain([bodies[0].replace(b"ann", b"bob"), *bodies[1:]]) != whole


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"5", b"null", b"{}", b'{"number":1}', b"\xff", b'"text"', b'{"name":[]}'],
)
@pytest.mark.parametrize("kind", Kind)
def test_bytes_that_are_no_entity_are_refused(kind: Kind, data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        decode_entity(kind, data)


@pytest.mark.parametrize(
    "data", [b"[]", b"{}", b'["under"]', b'["__class__",1]', b'["label","a","~",1]', b'[["all"]]']
)
def test_bytes_that_are_no_selector_are_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        decode_selector(data)


@pytest.mark.parametrize("body", [b"{", b"{}", b'{"changes":[["cluster",null,{}]]}', b"[1]"])
def test_bytes_that_are_no_changeset_are_refused(body: bytes) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        decode_body(body, "")
    with pytest.raises(Invalid, match="cannot read"):
        list(decode_changes(body))


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot be written"):
        encode_entity(cluster(0, title="\udc00"))


def test_nesting_beyond_what_is_kept_is_refused() -> None:
    selector: Selector = Everything()
    for _ in range(500):
        selector = Not(selector)
    with pytest.raises(Invalid, match="cannot be written"):
        encode_selector(selector)


def test_equal_opening_hours_are_shared() -> None:
    one = decode_entity(Kind.CLUSTER, encode_entity(FULL_CLUSTER))
    other = decode_entity(Kind.CLUSTER, encode_entity(FULL_CLUSTER))
    assert isinstance(one, Cluster)
    assert isinstance(other, Cluster)
    assert one.opening_hours is other.opening_hours
