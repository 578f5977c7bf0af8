"""Addresses that end up in files: what is safe is taken, all else is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.decide.addresses import (
    check_file_name,
    check_object,
    check_object_name,
    check_path,
    check_pointer,
)
from graph.model.errors import Invalid


@pytest.mark.parametrize(
    ("check", "fine"),
    [
        (check_pointer, ["/a", "/spec/rules/0/host", "/a~1b/m~0n", "/metadata/annotations/x.y"]),
        (check_object, ["Deployment/pos", "Ingress/a.b-c", "K/0"]),
        (check_object_name, ["pos", "a.b", "a-0", "0"]),
        (check_path, ["base", "base/v12", "a.b/c_d", "_x"]),
        (check_file_name, ["deployment.yaml", "a", "_b-c.yml.j2"]),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_an_address_is_taken_as_it_is(check: Callable[[str], str], fine: list[str]):
    assert [check(each) for each in fine] == fine


EVERYWHERE = ["", " ", "a b", "a\n", "ä", "a/../b", "..", "{{x}}", "a\x00", "x" * 600]


@pytest.mark.parametrize(
    ("check", "wrong", "says"),
    [
        (check_pointer, ["a", "/", "a/b", "//", "/a/", "/a~", "/a~2", "/a b"], "JSON pointer"),
        (check_object, ["pos", "/", "Deployment/", "/pos", "deployment/pos"], "is not"),
        (check_object, ["Deployment/Pos", "Deployment/a/b", "apps/v1/Deployment"], "is not"),
        (check_object_name, ["Pos", "-a", "a-", "a_b", ".a"], "is not the name of an object"),
        (check_path, ["/", "/a", "a/", "a//b", ".", "./a", "a/.git", "-a"], "is not a path"),
        (check_path, ["..", "a/..", "../a", "a\\b", "a;b", "$a", "~"], "is not a path"),
        (check_file_name, ["a/b", ".hidden", "-x", "a\\b"], "is not a file name"),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_what_is_no_such_address_is_refused(
    check: Callable[[str], str], wrong: list[str], says: str
):
    for each in (*wrong, *EVERYWHERE):
        with pytest.raises(Invalid, match=says) as refusal:
            check(each)
        assert refusal.value.hint
