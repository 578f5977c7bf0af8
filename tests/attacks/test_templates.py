"""What a template's author, or the author of a value, might try."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
import yaml

from renderer.failure import Failure, Unrenderable
from renderer.limits import Limits
from renderer.sandbox.parent import Sandbox
from template_samples import AWKWARD, configured, render, templated

VALUES: dict[str, object] = {"text": "x", "list": [1, 2], "map": {"a": {"b": 1}}, "count": 2}
FORBIDDEN = {
    "attribute walk": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "walk by item": "{{ ''['__class__'] }}",
    "walk by filter": "{{ '' | attr('__class__') }}",
    "walk by map": "{{ [''] | map(attribute='__class__') | list }}",
    "walk by selectattr": "{{ [''] | selectattr('__class__') | list }}",
    "walk by groupby": "{{ [''] | groupby('__class__') }}",
    "walk by sort": "{{ [list, map] | sort(attribute='__class__') }}",
    "walk by concatenation": "{{ ''['__cla' ~ 'ss__'] }}",
    "globals of a global": "{{ cycler.__init__.__globals__ }}",
    "globals of a macro": "{% macro m() %}{% endmacro %}{{ m.__globals__ }}",
    "frame of a generator": "{{ (list | map('upper')).gi_frame }}",
    "the template itself": "{{ self._TemplateReference__context }}",
    "format string": "{{ '{0.__class__}'.format(text) }}",
    "format map": "{{ '{a.__class__}'.format_map(map) }}",
    "format behind a filter": "{{ ['{0.__class__}'] | map('format', text) | list }}",
    "format by name": "{% set f = '{0.__class__}'.format %}{{ f(text) }}",
    "mutated list": "{{ list.append(3) }}",
    "mutated map": "{{ map.update({'c': 1}) }}",
    "emptied map": "{{ map.clear() }}",
    "set default": "{{ map.setdefault('c', 1) }}",
    "popped": "{{ list.pop() }}",
    "absolute include": "{% include '/etc/passwd' %}",
    "include upwards": "{% include '../../etc/passwd' %}",
    "import": "{% import 'os' as os %}{{ os.environ }}",
    "extends": "{% extends '/etc/hostname' %}",
    "large range": "{% for i in range(10**9) %}{% endfor %}",
    "including itself": "{% include 'a.yaml' %}",
    "macro of itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "nested parentheses": "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}",
    "nested lists": "{{ " + "[" * 5_000 + "]" * 5_000 + " }}",
    "nested blocks": "{% if 1 %}" * 2_000 + "{% endif %}" * 2_000,
    "nested flow": "a: " + "[" * 5_000,
    "alias bomb": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "tag": "a: !!python/object/apply:os.system [id]",
    "command to Flux": "apiVersion: kustomize.toolkit.fluxcd.io/{{ 'v1' }}\nkind: Kustomization\n"
    "metadata: {name: pos}\nspec: {serviceAccountName: '', path: ./clusters}\n",
    "command to Argo CD": "{% set kind = 'App' ~ 'lication' %}apiVersion: argoproj.io/v1alpha1\n"
    "kind: {{ kind }}\nmetadata: {name: pos}\nspec: {project: default}\n",
}
COSTLY = {
    "multiplied text": "{{ 'x' * 10**9 }}",
    "multiplied list": "{{ [0] * 10**9 }}",
    "centered text": "{{ 'x'.center(2 * 10**8).center(4 * 10**8) }}",
    "padded number": "{{ '%0999999999d' % 1 }}",
    "width of a format": "{{ '{:>999999999}'.format(1) }}",
    "doubling": "{% set n = scope(t='x') %}{% for i in range(64) %}"
    "{% set n.t = n.t ~ n.t %}{% endfor %}",
    "power": "{{ 9**9**9**9 }}",
    "endless loop": "{% for a in range(99999) %}{% for b in range(99999) %}"
    "{% endfor %}{% endfor %}",
    "one long step": "{{ (range(99999) | list * 30) | sort | unique | list | length }}"
    "{{ ('x' * 10**7).split('y' * 10**6) }}{{ ('a' * 10**8) | replace('a', 'bb') | length }}",
    "large output": "{% for i in range(99999) %}{{ 'x' * 5000 }}{% endfor %}",
    "large macro": "{% macro m() %}{% for i in range(99999) %}{{ 'x' * 5000 }}{% endfor %}"
    "{% endmacro %}{{ m() }}",
    "macros that double": "{% macro a() %}xxxxxxxxxx{% endmacro %}"
    + "".join(
        f"{{% macro {chr(b)}() %}}{f'{{{{ {chr(b - 1)}() }}}}' * 10}{{% endmacro %}}"
        for b in range(ord("b"), ord("k"))
    )
    + "{{ j() }}",
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds_max=0.5)) as one:
        yield one


def refused(sandbox: Sandbox, text: str) -> Failure:
    made = render(sandbox, configured(templated(a__yaml=text), VALUES))  # type: ignore[arg-type]
    assert isinstance(made, Failure), made
    return made


def goes_on(sandbox: Sandbox) -> bool:
    return sandbox.render({"a": "{{ list | yaml }}{{ map | yaml }}"}, VALUES) == {
        "a": '[1,2]{"a":{"b":1}}'
    }


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_a_template_may_not_do_is_refused_and_changes_nothing(
    sandbox: Sandbox, name: str
) -> None:
    told = refused(sandbox, FORBIDDEN[name])
    assert told.hint
    assert told.file == "a.yaml"
    assert "/root" not in told.message
    assert "root:" not in told.message
    assert goes_on(sandbox)


@pytest.mark.parametrize("name", COSTLY)
def test_what_takes_too_much_is_stopped_and_the_next_goes_on(sandbox: Sandbox, name: str) -> None:
    told = refused(sandbox, COSTLY[name])
    assert any(
        said in told.message
        for said in ("took more than 0.5 s", "needed more than 384 MiB", "gave more than", "64-bit")
    ), told
    assert goes_on(sandbox)


def test_many_files_may_not_give_more_than_one_may_together() -> None:
    files = {f"f{number}": "{{ 'x' * 900 }}" for number in range(10)}
    with Sandbox(Limits(file_length_max=1_000, overlay_length_max=5_000)) as one:
        with pytest.raises(Unrenderable, match="gave more than 5,000 characters with"):
            one.render(files, {})
        assert len(one.render(dict(list(files.items())[:5]), {})) == 5


@pytest.mark.parametrize("text", AWKWARD)
@pytest.mark.parametrize(
    "place",
    ["{{ text }}", '"{{ text }}"', "'{{ text }}'", "|-\n  {{ text }}", "x {{ text | json }}"],
)
def test_a_value_never_becomes_structure(sandbox: Sandbox, text: str, place: str) -> None:
    thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: it}\nvalue: "
    pos = templated(a__yaml=thing + place + "\n")
    made = render(sandbox, configured(pos, {"text": text}), {})
    assert not isinstance(made, Failure), made
    written = yaml.safe_load(made["a.yaml"])
    assert written.keys() == {"apiVersion", "kind", "metadata", "value"}
    value = written["value"]
    assert (json.loads(value[2:]) if "json" in place else value) == text


CONFINED = """
from renderer.sandbox.child import confine
from renderer.limits import Limits
import os, socket
confine(Limits())
for attempt in (
    lambda: open("/etc/hostname"),
    lambda: open("/dev/null", "w"),
    lambda: socket.socket(),
    lambda: os.pipe(),
    lambda: os.listdir("/"),
    lambda: bytearray(400 * 1024 * 1024),
):
    try:
        attempt()
    except (OSError, MemoryError):
        print("refused")
    else:
        print("allowed")
"""


def test_code_that_broke_out_would_find_no_file_no_socket_and_no_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CONFINED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["refused"] * 6
