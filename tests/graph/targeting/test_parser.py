"""Text to tree: what is read, and what is refused where."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from graph.model.change import Change
from graph.model.errors import SelectorInvalid, SelectorNotFound, Span
from graph.model.inventory import Group
from graph.model.names import GROUP_DEPTH_MAX
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
from graph.model.view import group_at
from graph.targeting.normal import CLAUSES_MAX, DEPTH_MAX, LIST_LENGTH_MAX, TEXT_LENGTH_MAX
from graph.targeting.parser import parse
from twin import Twin

Refusal = SelectorInvalid | SelectorNotFound


def refusal(text: str, twin: Twin) -> Refusal:
    with pytest.raises((SelectorInvalid, SelectorNotFound)) as caught:
        parse(text, twin)
    error = caught.value
    assert isinstance(error, SelectorInvalid | SelectorNotFound)
    return error


def pointed_at(error: Refusal) -> str:
    start = error.span.column - 1
    return error.text[start : start + error.span.length]


def under(path: str, twin: Twin) -> Under:
    number = group_at(twin, path)
    assert number is not None
    return Under(number)


# what each form means


def test_a_path_is_bound_to_the_number_of_its_group(twin: Twin) -> None:
    assert parse("/geo/us/northeast", twin) == under("/geo/us/northeast", twin)


def test_the_root_of_a_hierarchy_is_a_group(twin: Twin) -> None:
    assert parse("/geo", twin) == under("/geo", twin)


def test_only_means_direct_members(twin: Twin) -> None:
    assert parse("only /geo/us", twin) == Only(under("/geo/us", twin).group)


def test_a_wildcard_keeps_the_last_known_group_and_the_rest_as_written(twin: Twin) -> None:
    us = under("/geo/us", twin).group
    assert parse("/geo/us/*/ny", twin) == Matching(us, ("*", "ny"))
    assert parse("only /geo/us/*", twin) == Matching(us, ("*",), only=True)


@pytest.mark.parametrize("sign", ["=", "!=", "<", "<=", ">", ">="])
def test_every_comparison_reads_with_and_without_spaces(sign: str, twin: Twin) -> None:
    expected = LabelIs("lanes", Comparison(sign), 2)
    assert parse(f"lanes {sign} 2", twin) == parse(f"lanes{sign}2", twin) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", Everything()),
        ("has lanes", HasLabel("lanes")),
        ("size in (large, small)", LabelIn("size", ("large", "small"))),
        ("cluster ny-1", IsCluster(0)),
        ('"cluster" = blue', LabelIs("cluster", Comparison.EQ, "blue")),
        ('has "cluster"', HasLabel("cluster")),
        ("drive-through = true", LabelIs("drive-through", Comparison.EQ, True)),
        ('size = "very large"', LabelIs("size", Comparison.EQ, "very large")),
        (r'size = "say \"hi\" \\ \u00e9"', LabelIs("size", Comparison.EQ, 'say "hi" \\ é')),
        ("size = Zürich", LabelIs("size", Comparison.EQ, "Zürich")),
    ],
)
def test_every_clause_has_its_tree(text: str, expected: Selector, twin: Twin) -> None:
    assert parse(text, twin) == expected


def test_a_saved_selector_is_named_with_an_at_sign(
    twin: Twin, save: Callable[[str, str], None]
) -> None:
    save("pilot", "/geo/us")
    assert parse("@pilot", twin) == Saved("pilot")


@pytest.mark.parametrize("space", [" ", "\n", "\t", "\r\n", "\u00a0"])
def test_a_selector_may_run_over_several_lines(space: str, twin: Twin) -> None:
    assert parse(f"all{space}and{space}has{space}lanes", twin) == parse("all and has lanes", twin)


# precedence

A, B, C, D = (LabelIs("store", Comparison.EQ, name) for name in "abcd")
PRECEDENCE: list[tuple[str, Selector]] = [
    ("A and B or C and D", Or((And((A, B)), And((C, D))))),
    ("A or B and C", Or((A, And((B, C))))),
    ("(A or B) and C", And((Or((A, B)), C))),
    ("A and B except C", And((A, Except(B, C)))),
    ("A except B and C", And((Except(A, B), C))),
    ("A except B except C", Except(Except(A, B), C)),
    ("A except (B except C)", Except(A, Except(B, C))),
    ("A except B or C", Or((Except(A, B), C))),
    ("not A and B", And((Not(A), B))),
    ("not (A and B)", Not(And((A, B)))),
    ("not A except B", Except(Not(A), B)),
    ("A except not B", Except(A, Not(B))),
    ("not A or not B", Or((Not(A), Not(B)))),
    ("not (not A)", Not(Not(A))),
    ("A and (B and (C and D))", And((A, B, C, D))),
    ("(A or B) or (C or D)", Or((A, B, C, D))),
    ("A and A", A),
    ("A or B or A", Or((A, B))),
    ("((A))", A),
]


@pytest.mark.parametrize(("text", "expected"), PRECEDENCE)
def test_not_binds_before_except_before_and_before_or(
    text: str, expected: Selector, twin: Twin
) -> None:
    for name in "ABCD":
        text = text.replace(name, f"store={name.lower()}")
    assert parse(text, twin) == expected


# values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("store = 2301", "2301"),
        ("store = true", "true"),
        ("store = 1e3", "1e3"),
        ('store = "2301"', "2301"),
        ("store = 2026-11-16", "2026-11-16"),
        ("store = 06:30", "06:30"),
        ("lanes = 2301", 2301),
        ("lanes = 2.0", 2),
        ("lanes = -0.5", -0.5),
        ("lanes = 1e3", 1000),
        ("lanes = +2", 2),
        ("lanes = -0", 0),
    ],
)
def test_a_value_is_read_by_the_type_of_its_key(text: str, value: object, twin: Twin) -> None:
    found = parse(text, twin)
    assert isinstance(found, LabelIs)
    assert found.value == value
    assert type(found.value) is type(value)


@pytest.mark.parametrize("word", ["or", "in", "and", "not", "all", "true", "cluster"])
def test_a_keyword_is_a_value_where_only_a_value_can_stand(word: str, twin: Twin) -> None:
    assert parse(f"state = {word}", twin) == LabelIs("state", Comparison.EQ, word)
    assert parse(f"state in ({word}, ny) or all", twin) == Or(
        (LabelIn("state", (word, "ny")), Everything())
    )


def test_values_given_twice_are_kept_once(twin: Twin) -> None:
    assert parse("lanes in (1, 2.0, 2, 1)", twin) == LabelIn("lanes", (1, 2))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("size < 3", "<"),
        ("drive-through >= true", ">="),
        ("lanes = large", "large"),
        ('lanes = "3"', '"3"'),
        ("lanes in (1, two, 3)", "two"),
        ("drive-through = yes", "yes"),
        ("drive-through = 1", "1"),
        ('drive-through = "true"', '"true"'),
        ("lanes = 1e999", "1e999"),
        ("lanes = 9007199254740993", "9007199254740993"),
        (f"lanes = {'9' * 5_000}", "9" * 5_000),
        (r'size = "a\n"', r'"a\n"'),
        ('size = "two\nlines"', '"two\nlines"'),
        (r'size = "\ud800"', r'"\ud800"'),
        (f"size = {'x' * 257}", "x" * 257),
    ],
)
def test_a_value_that_does_not_fit_its_key_is_refused_where_it_stands(
    text: str, at: str, twin: Twin
) -> None:
    error = refusal(text, twin)
    assert isinstance(error, SelectorInvalid)
    assert pointed_at(error) == at
    assert error.hint


# names that are not there


def test_an_unknown_hierarchy_is_refused_as_the_transcript_shows(twin: Twin) -> None:
    error = refusal("/gio/us and size = large", twin)
    assert isinstance(error, SelectorNotFound)
    assert error.message == 'no hierarchy called "gio"'
    assert error.span == Span(column=2, length=3)
    assert error.hint == (
        "did you mean /geo/us?  "
        "hierarchies: delivery, devices, franchise, geo, marketing, planogram"
    )
    assert error.nearest == ("geo",)


def test_an_unknown_group_points_at_its_segment_and_offers_its_siblings(twin: Twin) -> None:
    error = refusal("has lanes and /geo/us/northest/ny", twin)
    assert isinstance(error, SelectorNotFound)
    assert error.message == 'no group called "northest" in /geo/us'
    assert pointed_at(error) == "northest"
    assert error.hint == (
        "did you mean /geo/us/northeast/ny or /geo/us/west?  groups in /geo/us: northeast, west"
    )
    assert error.nearest == ("northeast", "west")


def test_a_corrected_path_goes_only_as_far_as_it_leads(twin: Twin) -> None:
    assert "did you mean /geo/us?" in refusal("/gio/us/nowhere", twin).hint
    assert "did you mean /geo/us/*/x?" in refusal("/gio/us/*/x", twin).hint


def test_upper_case_names_are_not_there_but_the_lower_case_one_is_offered(twin: Twin) -> None:
    assert "did you mean /geo/us?" in refusal("/geo/US", twin).hint
    assert "did you mean size?" in refusal("Size = large", twin).hint


@pytest.mark.parametrize(
    ("text", "at", "near"),
    [
        ("sizes = large", "sizes", ("size",)),
        ('has "lane"', '"lane"', ("lanes",)),
        ("cluster ny-3", "ny-3", ("ny-2", "ny-1")),
        ("@pilt", "pilt", ("pilot",)),
        ("/c/ny-9 or all", "ny-9", ("ny-2", "ny-1")),
        ("/m/tipe/corp", "tipe", ("type",)),
        ("/g/gio", "gio", ("geo",)),
    ],
)
def test_every_unknown_name_is_an_error_with_the_nearest_that_exist(
    text: str, at: str, near: tuple[str, ...], twin: Twin, save: Callable[[str, str], None]
) -> None:
    save("pilot", "all")
    error = refusal(text, twin)
    assert isinstance(error, SelectorNotFound)
    assert pointed_at(error) == at
    assert set(error.nearest) >= set(near)
    assert near[0] in error.hint


@pytest.mark.parametrize("text", ["all and namespace grill", "all and /n/grill"])
def test_a_namespace_is_looked_up_and_the_nearest_are_told(
    text: str, twin: Twin, assign: Callable[..., None]
) -> None:
    error = refusal(text, twin)
    assert isinstance(error, SelectorNotFound)
    assert error.message == 'no namespace called "grill"'
    assert pointed_at(error) == "grill"
    assert error.hint == "namespaces: none yet"
    assign("grills")
    assign("pos")
    error = refusal(text, twin)
    assert isinstance(error, SelectorNotFound)
    assert error.nearest == ("grills",)
    assert error.hint == "did you mean grills?  namespaces: grills, pos"
    assign("grill")
    assert parse(text, twin) == And((Everything(), InNamespace("grill")))


@pytest.mark.parametrize("text", ["only /n/grill", "/n/grill/more", "/n", "only namespace grill"])
def test_a_namespace_is_no_group(text: str, twin: Twin, assign: Callable[..., None]) -> None:
    assign("grill")
    assert isinstance(refusal(text, twin), SelectorInvalid)


def test_a_long_list_of_names_is_cut_in_the_hint(twin: Twin) -> None:
    parent = under("/geo/us", twin).group
    for number in range(30):
        twin.apply([Change(None, Group(twin.numbers.group, "geo", parent, f"z{number:02}"))])
    assert refusal("/geo/us/qqq", twin).hint == (
        "groups in /geo/us: northeast, west, z00, z01, z02, z03, z04, z05, and 24 more"
    )


# text that is no selector


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("", "", "write all"),
        ("   ", " ", "write all"),
        ("/geo AND all", "AND", "keywords are lower-case: and"),
        ("NOT /geo", "NOT", "keywords are lower-case: not"),
        ("ALL", "ALL", "keywords are lower-case: all"),
        ("size IN (large)", "IN", "keywords are lower-case: in"),
        ("HAS lanes", "HAS", "keywords are lower-case: has"),
        ("/geo && all", "&", "write and"),
        ("/geo || all", "|", "write or"),
        ("!all", "!", "write not"),
        ("size == large", "=", "one = compares"),
        ("size = 'large'", "'", "double quotes"),
        ("size = lar*", "*", "one whole segment of a path"),
        ('size = "large', '"large', "never closed"),
        ("large", "large", "has large, /large or @large"),
        ("geo/us", "geo/us", "a path starts with a slash: /geo/us"),
        ("size =", "", "expected a value"),
        ("size = and = 3", "=", "expected and, or, except"),
        ("all and", "", "expected a clause"),
        ("all and and all", "and", '"and" = value'),
        ("and = 1", "and", '"and" = value'),
        ("cluster = blue", "=", '"cluster" = value'),
        ("not not all", "not", "keyword"),
        ("all all", "all", "expected and, or, except"),
        ("all andx = 1", "andx", "expected and, or, except"),
        ("(all", "", "a closing parenthesis"),
        ("all)", ")", "expected and, or, except"),
        ("()", ")", "expected a clause"),
        ("size in large", "large", "an opening parenthesis"),
        ("size in ()", ")", "expected a value"),
        ("size in (a b)", "b", "a comma or a closing parenthesis"),
        ("size in (a,)", ")", "expected a value"),
        ("has", "", "a label key"),
        ("only all", "all", "a group path"),
        ("only has lanes", "has", "a group path"),
        ("cluster", "", "expected a name"),
        ("@", "", "expected a name"),
        ("@/geo", "/geo", "expected a name"),
        ("/", "/", "write /geo"),
        ("/geo/us/", "/", "write /geo/us"),
        ("/geo//us", "/", "write /geo/us"),
        ("//geo", "/", "write /geo"),
        ("/*/us", "*", "/geo/*"),
        ("/geo/*/US", "US", "lower-case"),
        ("/g", "/g", "/g/path is a group"),
        ("/m/type", "/m/type", "/m/key/value"),
        ("/m/type/a/b", "/m/type/a/b", "/m/key/value"),
        ("/c/a/b", "/c/a/b", "/c/name"),
        ("only /m/type/corp", "/m/type/corp", "only goes with a group path"),
        ("only /c/2", "/c/2", "only goes with a group path"),
    ],
)
def test_text_that_is_no_selector_is_refused_in_plain_words(
    text: str, at: str, says: str, twin: Twin
) -> None:
    error = refusal(text, twin)
    assert isinstance(error, SelectorInvalid)
    assert pointed_at(error) == at
    assert says in str(error)


def test_the_column_counts_characters_not_bytes(twin: Twin) -> None:
    assert refusal('size = "ä😀" and /gio', twin).span == Span(column=18, length=3)


# Res-Edge


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("/g/geo/us/northeast", "/geo/us/northeast"),
        ("/g/geo", "/geo"),
        ("/g/geo or /g/devices", "/geo or /devices"),
        ("/g/geo/*/west", "/geo/*/west"),
        ("only /g/geo/us", "only /geo/us"),
        ("/m/type/corp", "type = corp"),
        ("/m/store/2301", 'store = "2301"'),
        ("/m/lanes/2", "lanes = 2"),
        ("/m/lanes/1.5", "lanes = 1.5"),
        ("/c/2", "cluster 2"),
        ("not /g/geo and (/c/2 or /m/type/corp)", "not /geo and (cluster 2 or type = corp)"),
    ],
)
def test_the_published_res_edge_forms_are_read_unchanged(
    theirs: str, ours: str, twin: Twin
) -> None:
    assert parse(theirs, twin) == parse(ours, twin)


# bounds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lanes = 1 or " * 10_000 + "all", "characters"),
        ("has lanes or " * 4_000 + "all", "1,000 clauses"),
        ("all except " * 4_000 + "all", "1,000 clauses"),
        ("(" * 1_000 + "all" + ")" * 1_000, "64 deep"),
        ("not (" * 1_000 + "all" + ")" * 1_000, "64 deep"),
        ("(" * 32_000, "64 deep"),
        ("all except " * (DEPTH_MAX + 1) + "all", "64 deep"),
        ("x" * 2**20, "1,048,576 characters"),
        ("size in (" + "a, " * 10_000 + "a)", "10,001 values"),
        ("/geo" + "/a" * 1_000, "1,001 levels"),
        ("/geo" + "/*" * GROUP_DEPTH_MAX, "33 levels"),
        ("all\0", "U+0000"),
        ("size = \ud800", "U+D800"),
        ('size = "\x1b[31m"', "U+001B"),
        ("/" * 60_000, "hierarchy first"),
        ('"' * 60_000, "expected"),
        ("/geo/" + "a" * 60_000, "no group called"),
        ("a" * 60_000 + " = 1", "no label key called"),
        ("cluster " + "a" * 60_000, "no cluster called"),
        ("@" + "a" * 60_000, "no saved selector called"),
    ],
)
def test_hostile_text_is_a_quick_and_clear_refusal(text: str, says: str, twin: Twin) -> None:
    parse("all", twin)
    start = time.process_time()
    error = refusal(text, twin)
    assert time.process_time() - start < 1
    assert says in str(error)
    assert len(str(error)) < 500
    assert error.hint or error.message
    error.text.encode()
    error.message.encode()


@pytest.mark.parametrize(
    "text",
    [
        " or ".join(f"store = s{number}" for number in range(CLAUSES_MAX)),
        "(" * DEPTH_MAX + "all" + ")" * DEPTH_MAX,
        "all except " * DEPTH_MAX + "all",
        "not (" * (DEPTH_MAX - 1) + "not all" + ")" * (DEPTH_MAX - 1),
        "store in (" + ", ".join(f"s{number}" for number in range(LIST_LENGTH_MAX)) + ")",
        "/geo" + "/*" * (GROUP_DEPTH_MAX - 1),
        "all".ljust(TEXT_LENGTH_MAX),
        'size = "' + "x" * 256 + '"',
    ],
)
def test_what_is_just_within_the_bounds_is_read(text: str, twin: Twin) -> None:
    parse(text, twin)
