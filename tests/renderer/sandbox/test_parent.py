from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from graph.model.errors import Unavailable
from renderer.failure import Failure, Unrenderable
from renderer.limits import Limits
from renderer.rules import Rules
from renderer.sandbox.parent import STOPS_MAX, Job, Sandbox
from renderer.sandbox.process import command
from template_samples import JSON

RULES = Rules("shop")
THING = """\
apiVersion: example.com/v1
kind: Thing
metadata: {name: it}
spec: {{ value | yaml }}
text: x {{ value | json }}
"""
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
READY = """
import os, sys, json, struct
def frame(value):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    os.write(1, struct.pack(">I", len(body)) + body)
def read():
    (length,) = struct.unpack(">I", sys.stdin.buffer.read(4))
    return json.loads(sys.stdin.buffer.read(length))
read()
frame({"ready": True})
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as one:
        yield one


def job(text: str, **values: object) -> Job:
    return Job({"a.yaml": text}, values, RULES)


def only(sandbox: Sandbox, asked: Job) -> dict[str, list[dict[str, object]]] | Failure:
    (answer,) = sandbox.run([asked])
    return answer if isinstance(answer, Failure) else dict(answer)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(JSON)
def test_what_goes_in_as_a_value_comes_out_as_that_value(sandbox: Sandbox, value: object) -> None:
    made = only(sandbox, job(THING, value=value))
    assert not isinstance(made, Failure), made
    (thing,) = made["a.yaml"]
    assert thing["spec"] == value
    assert json.loads(str(thing["text"])[2:]) == value


def test_text_is_rendered_for_whoever_wants_text(sandbox: Sandbox) -> None:
    files = {"b.txt": "{{ list | json }} {{ name }}\n", "_part": "{{ unused }}"}
    assert sandbox.render(files, {"list": ["a"], "name": '"q"'}) == {"b.txt": '["a"] "q"\n'}
    with pytest.raises(Unrenderable) as caught:
        sandbox.render({"b.txt": "\n{{ nam }}"}, {"name": "x"})
    assert (caught.value.failure.file, caught.value.failure.line) == ("b.txt", 2)


def test_somebody_else_may_ask_while_answers_are_under_way(sandbox: Sandbox) -> None:
    answers = sandbox.run(job(THING, value=number) for number in range(100))
    specs: list[object] = []
    for answer in answers:
        assert not isinstance(answer, Failure), answer
        specs.append(answer["a.yaml"][0]["spec"])
        assert sandbox.render({"b": "{{ n }}"}, {"n": len(specs)}) == {"b": str(len(specs))}
    assert specs == list(range(100))


def test_more_definitions_than_are_kept_are_rendered_in_any_order(sandbox: Sandbox) -> None:
    files = [{"a": f"{number} {{{{ n }}}}"} for number in range(20)]
    for number in (*range(20), *range(0, 20, 3), *range(20)):
        assert sandbox.render(files[number], {"n": "x"}) == {"a": f"{number} x"}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (THING + "more: [", 6, "(line 6 of the output)"),
        (THING + "kind: again", 6, 'the key "kind" is given twice (line 6 of the output)'),
        (THING + "x: &a {{ value }}\ny: *a", 7, "aliases are not read"),
        (THING + "---\n\nkind: Thing", 8, "a Thing has no apiVersion"),
        (THING + "---\n{% if value %}\nkind: {{ value }}\n{% endif %}", 8, "has the kind"),
        (THING + "{{ value }}: 1\n{{ value }}: 2", 1, "is given twice"),
        (THING.replace("it", "{{ value }} x"), 1, 'has the name "thing x"'),
    ],
)
def test_what_is_wrong_with_the_output_is_told_with_the_line_of_the_template(
    sandbox: Sandbox, text: str, line: int, said: str
) -> None:
    told = only(sandbox, job(text, value="thing"))
    assert isinstance(told, Failure)
    assert said in told.message
    assert told.hint
    assert (told.file, told.line) == ("a.yaml", line)


def test_an_answer_is_the_same_whatever_the_hash_seed() -> None:
    values: dict[str, object] = {"value": {f"k{n}": {"z": n, "a": [n]} for n in range(50)}}
    text = (
        THING + "{% for k, v in value.items() %}\n{{ k }}: {{ v | yaml }}\n{% endfor %}"
        "{% for g in value.values() | groupby('z') %}\ng{{ g[0] }}: {{ g[1] | yaml }}\n{% endfor %}"
    )
    _, _, *others = command()
    answers: list[str] = []
    for seed in ("1", "2"):
        seeded = ("/usr/bin/env", f"PYTHONHASHSEED={seed}", sys.executable, *others)
        with Sandbox(command=seeded) as one:
            made = only(one, job(text, **values))
            assert not isinstance(made, Failure), made
            answers.append(json.dumps(made))
    assert answers[0] == answers[1]


def test_values_are_in_one_order_whatever_order_they_came_in(sandbox: Sandbox) -> None:
    files = {"a": "{% for k in value %}{{ k }}{% endfor %}"}
    assert sandbox.render(files, {"value": {"b": 1, "a": 2}}) == {"a": "ab"}


def test_a_definition_that_has_to_be_stopped_is_not_tried_for_ever() -> None:
    with Sandbox(Limits(seconds_max=0.2)) as one:
        jobs = [job(ENDLESS, n=n) for n in range(20)]
        jobs.insert(10, job(THING, value=1))
        answers = list(one.run(jobs))
        assert not isinstance(answers.pop(10), Failure), "another goes on"
        messages = [answer.message for answer in answers if isinstance(answer, Failure)]
        assert len(messages) == 20
        assert messages.count("took more than 0.2 s") >= STOPS_MAX
        assert "was not tried" in messages[-1]
        (again,) = one.run([job(ENDLESS)])
        assert isinstance(again, Failure)
        assert again.message == "took more than 0.2 s", "the next time it is tried again"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("os.write(1, b'\\xff' * 100); sys.stdin.read()", "cannot be read"),
        ("frame(b'no json'); sys.stdin.read()", "cannot be read"),
        ("frame([1]); sys.stdin.read()", "cannot be read"),
        ("frame({'job': 99, 'texts': {}}); sys.stdin.read()", "cannot be read"),
        ("frame({'job': job['job']}); sys.stdin.read()", "cannot be read"),
        ("frame({'job': job['job'], 'objects': {'b': []}}); sys.stdin.read()", "cannot be read"),
        ("frame({'job': job['job'], 'objects': {'a.yaml': [5]}})", "cannot be read"),
        (
            "frame({'job': job['job'], 'objects': {'a.yaml': [{'apiVersion': 'v1',"
            " 'kind': 'Namespace', 'metadata': {'name': 'x'}}]}})",
            "cannot be read",
        ),
        ("os.write(1, b'\\0\\0'); sys.stdin.read()", "gave no answer in 1 s"),
        ("sys.stdin.read()", "gave no answer in 1 s"),
        ("sys.exit(3)", "it ended with code 3"),
        ("os.abort()", "it was ended by SIGABRT"),
    ],
)
def test_a_child_that_answers_nonsense_or_nothing_is_a_failure(script: str, said: str) -> None:
    odd = (sys.executable, "-I", "-c", f"{READY}\njob = read()\n{script}")
    with Sandbox(Limits(wait_seconds_max=1.0), command=odd) as one:
        answers = list(one.run([job(THING, value=1), job(THING, value=2)]))
        assert [isinstance(answer, Failure) for answer in answers] == [True, True]
        assert isinstance(answers[0], Failure)
        assert said in answers[0].message


def test_a_child_that_does_not_start_is_told() -> None:
    one = Sandbox(command=(sys.executable, "-I", "-c", "raise SystemExit(4)"))
    with pytest.raises(Unavailable, match="does not start") as caught:
        one.render({"a": ""}, {})
    assert "code 4" in caught.value.message


def test_a_child_has_no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRELLIS_SECRET", "x")
    script = "frame({'job': read()['job'], 'texts': {'a': json.dumps(dict(os.environ))}})"
    with Sandbox(command=(sys.executable, "-I", "-c", f"{READY}\n{script}")) as one:
        seen = json.loads(one.render({"a": ""}, {})["a"])
    assert not seen.keys() & os.environ.keys() - {"LC_CTYPE"}


def test_a_large_job_and_a_large_answer_pass_both_ways_at_once(sandbox: Sandbox) -> None:
    large = "x" * 200_000
    answers = list(sandbox.run(job(THING, value=[large, n]) for n in range(40)))
    for number, answer in enumerate(answers):
        assert not isinstance(answer, Failure), answer
        assert answer["a.yaml"][0]["spec"] == [large, number]


def test_a_sandbox_that_was_closed_starts_again() -> None:
    one = Sandbox()
    for _ in range(2):
        assert one.render({"a": "{{ 1 }}"}, {}) == {"a": "1"}
        one.close()
    one.close()
