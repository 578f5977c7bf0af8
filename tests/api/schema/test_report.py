"""The report tells apart what breaks a client, what may surprise it, and the rest."""

from __future__ import annotations

import os
import subprocess

import pytest

from api.schema.report import FILE, compare, last_release, report

BEFORE = '''
"""Ask here."""
type Query { fleet(asOf: Int = 1): Fleet!  size: Size! }
type Fleet { revision: Int!  age: Float! }
type Gone { name: String  share: Float }
enum Size { SMALL LARGE }
union Answer = Fleet | Gone
input Question { text: String }
type Mutation { ask(input: Question!): Answer }
'''


def test_the_same_schema_has_nothing_to_report():
    found = compare(BEFORE, BEFORE)
    assert found.lines() == ["0 breaking changes, 0 dangerous changes"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("age: Float! }", "}", "Field Fleet.age was removed."),
        ("age: Float! }", "age: Float }", "Field Fleet.age changed type from Float! to Float."),
        ("SMALL LARGE", "LARGE", "Enum value Size.SMALL was removed."),
        ("= Fleet | Gone", "= Fleet", "Gone was removed from union type Answer."),
        (
            "text: String }",
            "text: String! }",
            "Field Question.text changed type from String to String!.",
        ),
        (
            "asOf: Int = 1",
            "asOf: Int = 1, at: Int!",
            "A required argument Query.fleet(at:) was added.",
        ),
    ],
)
def test_what_makes_a_working_query_fail_is_breaking(old, new, said):
    assert old in BEFORE
    found = compare(BEFORE, BEFORE.replace(old, new))
    assert said in found.breaking


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SMALL LARGE", "SMALL LARGE HUGE"),
        ("= Fleet | Gone", "= Fleet | Gone | Query"),
        ("asOf: Int = 1", "asOf: Int = 3"),
    ],
)
def test_what_may_change_an_answer_is_dangerous_and_breaks_nothing(old, new):
    assert old in BEFORE
    found = compare(BEFORE, BEFORE.replace(old, new))
    assert found.breaking == ()
    assert len(found.dangerous) == 1
    assert found.lines()[0] == "0 breaking changes, 1 dangerous change"


def test_an_addition_or_another_description_is_neither():
    after = BEFORE.replace("age: Float! }", "age: Float!  clusters: Int! }").replace("Ask", "Look")
    assert compare(BEFORE, after) == compare(BEFORE, BEFORE)


def git(directory, *arguments):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    subprocess.run(
        ["git", *who, *arguments], cwd=directory, env=clean, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "--quiet")
    (tmp_path / FILE).write_text(BEFORE, "utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "a schema")
    return tmp_path


def test_without_a_release_there_is_nothing_to_compare_with(repository):
    git(repository, "tag", "nightly")
    assert last_release(repository) is None
    assert report(repository) == ["no release tag holds a schema: there is nothing to compare with"]


def test_a_directory_that_is_no_repository_has_no_release(tmp_path):
    assert last_release(tmp_path) is None


def test_a_release_without_a_schema_is_no_release(repository):
    git(repository, "rm", "--quiet", FILE)
    git(repository, "commit", "--quiet", "-m", "none")
    git(repository, "tag", "v0.0.1")
    assert last_release(repository) is None


def test_the_report_names_the_release_and_every_change(repository):
    git(repository, "tag", "v1.2.0")
    (repository / FILE).write_text(BEFORE.replace("age: Float! }", "}"), "utf-8")
    assert report(repository) == [
        "schema.graphql against v1.2.0: 1 breaking change, 0 dangerous changes",
        "  breaking   Field Fleet.age was removed.",
    ]
