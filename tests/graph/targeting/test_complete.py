"""Candidates for a selector editor: the right ones, in a useful order, whatever was typed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from changes import random_fleet, random_selector
from graph.index.builder import build
from graph.model.change import Numbers, ref_of
from graph.model.command import (
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    RegisterCluster,
    SaveSelector,
)
from graph.model.errors import TrellisError
from graph.model.inventory import Cluster, Group, Hierarchy, LabelKey, LabelType, Mode
from graph.model.names import ClusterNumber, GroupNumber
from graph.scoped import ScopedView
from graph.targeting.candidate import Completion, CompletionKind
from graph.targeting.complete import complete
from graph.targeting.grammar import Opening, read_opening
from graph.targeting.parser import parse
from graph.targeting.syntax import to_text
from small import give, small
from twin import START, Twin


def offered(twin: Twin, typed: str, **options: int) -> list[str]:
    """What is offered where ``|`` stands in ``typed``."""
    text, position = typed.replace("|", ""), typed.index("|")
    return [each.insert for each in complete(text, position, twin, **options)]


def applied(text: str, completion: Completion) -> str:
    return text[: completion.from_] + completion.insert + text[completion.to :]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("/geo/us/nor|", ["northeast"]),
        ("/geo/us/|", ["northeast", "west"]),
        ("/geo/us/northeast/|", ["ny", "ma"]),
        ("/geo/us/east|", ["northeast"]),
        ("/g/geo/us/w|", ["west"]),
        ("/geo/*/north|", ["northeast"]),
        ("/geo/us/*/|", ["ny", "ma", "or"]),
        ("/geo/us/nowhere/|", []),
        ("/nowhere/|", []),
        ("/d|", ["devices", "delivery"]),
        ("only /geo/us/w|", ["west"]),
        ("lanes |", ["=", "!=", "<", "<=", ">", ">=", "in ("]),
        ("lanes >|", [">", ">="]),
        ("lanes !|", ["!="]),
        ("size |", ["=", "!=", "in ("]),
        ("drive-through |", ["=", "!=", "in ("]),
        ("drive-through = |", ["false", "true"]),
        ("size = |", ["large", "small"]),
        ("size = s|", ["small"]),
        ("size =|", ["large", "small"]),
        ("size in (large, s|", ["small"]),
        ("size in (large |", [",", ")"]),
        ("size in |", ["("]),
        ('size = "l|', ['"large"', '"small"']),
        ("lanes = |", ["1.5", "2", "3"]),
        ('lanes = "|', []),
        ("state = o|", ['"or"']),
        ("unknown = |", []),
        ("has s|", ["size", "state", "store", '"cluster"', "lanes"]),
        ('has "cl|', ['"cluster"']),
        ("cluster ny|", ["ny-1", "ny-2"]),
        ("cluster NY-1|", ["ny-1"]),
        ("cluster zz|", []),
        ("/geo |", ["and", "or", "except"]),
        ("(/geo |", ["and", "or", "except", ")"]),
        ("/geo an|", ["and"]),
        ("not not|", []),
        ("@fl|", ["flagship"]),
        ("namespace |", ["back-office", "pos"]),
        ("namespace ba|", ["back-office"]),
        ("name|", ["namespace"]),
        ("/n/|", ["back-office", "pos"]),
        ("/geo or /n/off|", ["back-office"]),
        ("only /n/|", []),
        ("fr|", ["/franchise"]),
        ("clus|", ['"cluster"', "cluster"]),
    ],
)
def test_a_place_is_completed_with_what_may_stand_there(
    typed: str,
    expected: list[str],
    twin: Twin,
    save: Callable[[str, str], None],
    assign: Callable[..., None],
) -> None:
    save("flagship", "size = large and lanes > 2")
    assign("back-office")
    assign("pos", stores="/geo")
    assert offered(twin, typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("/geo AND size = la|", ["large"]),
        ("/geo && /franchise/c|", ["corporate"]),
        (") size = la|", ["large"]),
        ("size == la|", ["large"]),
        ("/geo /geo size in (|", ["large", "small"]),
    ],
)
def test_broken_text_is_taken_up_behind_the_break(
    typed: str, expected: list[str], twin: Twin
) -> None:
    assert offered(twin, typed) == expected


@pytest.mark.parametrize(
    ("typed", "chosen", "becomes"),
    [
        ("size = la|rg and has lanes", "large", "size = large and has lanes"),
        ("/geo/us/nor|th/ny and all", "northeast", "/geo/us/northeast/ny and all"),
        ('size = "la|rge" and state = "ny"', '"large"', 'size = "large" and state = "ny"'),
        ('size = "la| and state = "ny"', '"large"', 'size = "large" and state = "ny"'),
        ("lanes |> 2", ">=", "lanes >=> 2"),
        ("lanes >|= 2", ">=", "lanes >= 2"),
        ("|lan = 2", "lanes", "lanes = 2"),
        ("al|", "all", "all"),
    ],
)
def test_a_candidate_takes_the_place_of_the_whole_word(
    typed: str, chosen: str, becomes: str, twin: Twin
) -> None:
    text, position = typed.replace("|", ""), typed.index("|")
    [found] = [each for each in complete(text, position, twin) if each.insert == chosen]
    assert applied(text, found) == becomes


def test_a_candidate_says_what_it_is_and_how_many_clusters_it_would_mean(
    twin: Twin, save: Callable[[str, str], None]
) -> None:
    save("flagship", "size = large and lanes > 2")
    hierarchy = Hierarchy("geo", Mode.SINGLE, title="Geography")
    twin.put(ref_of(hierarchy), hierarchy)

    def first(typed: str) -> Completion:
        return complete(typed, len(typed), twin)[0]

    kind = CompletionKind
    assert first("/g") == Completion("geo", 1, 2, kind.HIERARCHY, 5, "Geography")
    assert first("/geo/us/w") == Completion("west", 8, 9, kind.GROUP, 1)
    assert first("only /geo/u") == Completion("us", 10, 11, kind.GROUP, 1)
    assert first("siz") == Completion("size", 0, 3, kind.LABEL_KEY)
    assert first("size ") == Completion("=", 5, 5, kind.COMPARISON)
    assert first("size = ") == Completion("large", 7, 7, kind.VALUE, 3)
    assert first("size != l") == Completion("large", 8, 9, kind.VALUE, 2)
    assert first("lanes >= ") == Completion("1.5", 9, 9, kind.VALUE, 3)
    assert first("@") == Completion("flagship", 1, 1, kind.SAVED_SELECTOR, 1)
    assert first("cluster o") == Completion("or-1", 8, 9, kind.CLUSTER, 1)
    assert first("al") == Completion("all", 0, 2, kind.KEYWORD)


def test_values_that_are_allowed_are_offered_before_any_cluster_has_them(twin: Twin) -> None:
    key = LabelKey("colour", LabelType.TEXT, allowed=("red", "dark blue"))
    twin.put(ref_of(key), key)
    assert offered(twin, "colour = |") == ['"dark blue"', "red"]


def test_an_empty_text_offers_some_of_every_kind_that_begins_a_selector(
    twin: Twin, save: Callable[[str, str], None]
) -> None:
    save("flagship", "size = large")
    found = complete("", 0, twin, 12)
    assert len(found) == 12
    kind = CompletionKind
    assert {each.kind for each in found} == {
        kind.HIERARCHY, kind.LABEL_KEY, kind.SAVED_SELECTOR, kind.KEYWORD,
    }  # fmt: skip


def test_nothing_is_offered_of_an_empty_fleet_but_what_is_always_true() -> None:
    assert offered(Twin(), "|") == ["not", "all", "("]


def test_the_answer_is_bounded_and_ordered_by_size_then_name(twin: Twin) -> None:
    assert offered(twin, "/geo/us/|", count_max=1) == ["northeast"]
    assert offered(twin, "/geo/us/|", count_max=0) == []
    assert offered(twin, "a" * 70_000 + "|") == []


def test_a_fleet_of_many_names_is_completed_by_their_beginning() -> None:
    wide = 20_000
    entities = [
        Hierarchy("geo", Mode.MANY),
        LabelKey("store", LabelType.TEXT),
        Group(GroupNumber(0), "geo", None, "geo"),
        *(Group(GroupNumber(n + 1), "geo", GroupNumber(0), f"city-{n:05}") for n in range(wide)),
        *(
            Cluster(
                ClusterNumber(n),
                f"shop-{n:05}",
                labels={"store": f"s{n:05}"},
                memberships=(GroupNumber(n + 1),),
            )
            for n in range(wide)
        ),
    ]
    numbers = Numbers(ClusterNumber(wide), GroupNumber(wide + 1))
    view = build(entities, cursor=START, numbers=numbers)
    for typed, name in (
        ("/geo/city-1999", "city-1999"),
        ("cluster shop-1999", "shop-1999"),
        ("store = s0099", "s0099"),
    ):
        found = [each.insert for each in complete(typed, len(typed), view)]
        assert found == [f"{name}{digit}" for digit in range(10)]
    whole = complete("store = s19999", 14, view)
    assert [each.insert for each in whole] == ["s19999"], "a whole value is found among any number"
    assert [each.insert for each in complete("/geo/", 5, view, 2)] == ["city-00000", "city-00001"]


def test_what_a_view_hides_is_never_offered() -> None:
    fleet = small()
    give(
        fleet,
        CreateHierarchy("secret", Mode.MANY),
        CreateGroup("/geo/us/secret-state"),
        DeclareLabel("secret-key", LabelType.TEXT),
        RegisterCluster(
            "secret-shop",
            labels={"secret-key": "secret", "size": "large", "lanes": 4_711},
            groups=("/geo/us/secret-state", "/secret"),
        ),
        SaveSelector("secret-set", "cluster secret-shop"),
    )
    view = ScopedView(fleet, parse("/geo/us/tx", fleet))
    hidden = ("secret", "4711", "york", "ny", "camera")
    offered_all: set[str] = set()
    for typed in (
        "", "s", "/", "/geo/", "/geo/us/", "/geo/*/", "/devices/", "only /geo/us/s", "has ", "@",
        "cluster ", "cluster s", "cluster y", "secret-key ", "secret-key = ", "size = ",
        "lanes = ", "lanes > 4", "/secret/", "/geo/us/secret-state/", "not ", "@secret",
    ):  # fmt: skip
        for found in complete(typed, len(typed), view, 1_000):
            offered_all.add(found.insert)
            assert not any(each in found.insert for each in hidden), (typed, found)
            assert found.clusters is None or found.clusters <= 2, (typed, found)
    assert {"tx", "austin-1", "large", "texas", "lanes"} <= {
        each.strip("@/") for each in offered_all
    }


# whatever is typed

WORDS = ("/", "/geo", "/geo/us/", "size", "and ", "not ", "in ", "has ", "cluster ", "only ", "la")
SIGNS = (*" =>(),@\"\\*&'\né\ud800\x00", "&&")
FRAGMENTS = st.sampled_from((*WORDS, *SIGNS))


@given(st.lists(FRAGMENTS, max_size=12).map("".join) | st.text(max_size=40), st.integers(-3, 60))
@example('"' * 9, 9)
@example("/" * 50, 50)
@settings(max_examples=400, deadline=None)
def test_no_text_and_no_position_is_too_odd(text: str, position: int) -> None:
    fleet = Twin.of(random_fleet(Random(7)))
    for found in complete(text, position, fleet, 5):
        assert 0 <= found.from_ <= found.to <= len(text)
        assert found.insert


def test_every_candidate_in_the_beginning_of_a_selector_begins_a_selector(scale: str) -> None:
    rng = Random(11)
    tried = 0
    for _ in range(150 if scale == "test" else 3_000):
        twin = Twin.of(random_fleet(rng, clusters=12, groups=12))
        text = to_text(random_selector(rng, twin), twin)
        for _ in range(4):
            position = rng.randint(0, len(text))
            for found in complete(text, position, twin):
                begun = text[: found.from_] + found.insert
                assert isinstance(read_opening(begun), Opening), (text, position, found)
                tried += 1
    assert tried > 1_000


def test_completing_again_and_again_ends_in_a_selector_that_is_read(scale: str) -> None:
    rng = Random(5)
    for _ in range(150 if scale == "test" else 3_000):
        twin = Twin.of(random_fleet(rng, clusters=12, groups=12))
        text = to_text(random_selector(rng, twin), twin)
        written = _written(rng, twin, text[: rng.randint(0, len(text))])
        parse(written, twin)


def _written(rng: Random, twin: Twin, text: str) -> str:
    """``text`` completed, word by word, until it is a selector; dead ends are left again."""
    ways = ["", text]
    for step in range(400):
        text = ways[-1]
        found = complete(text, len(text), twin, 40)
        closing = [each for each in found if each.insert in ("all", ")")]
        if not found:
            ways = ways[:-1] or [""]
            continue
        chosen = rng.choice(closing if closing and step > 6 else found)
        text = applied(text, chosen)
        if _is_read(text, twin) and (step > 3 or rng.random() < 0.3):
            return text
        is_place = chosen.kind in (CompletionKind.GROUP, CompletionKind.HIERARCHY)
        ways.append(text + ("/" if is_place and rng.random() < 0.3 else " "))
    raise AssertionError(ways)


def _is_read(text: str, twin: Twin) -> bool:
    try:
        parse(text, twin)
    except TrellisError:
        return False
    return True
