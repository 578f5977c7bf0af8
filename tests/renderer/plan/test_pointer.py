"""Pointers are read back as they were written, whatever their lines say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import Invalid
from renderer.flow import flow
from renderer.formats.terse import terse
from renderer.plan.pointer import Line, Pointer, read_pointer

NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
KEYS = st.from_regex(r"[0-9a-f]{16}", fullmatch=True)
TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
LATE = st.dictionaries(NAMES, TEXTS | st.integers(-5, 5) | st.lists(TEXTS, max_size=2), max_size=3)
HOST = 'it\'s\n"no"'
PATCHES = st.lists(st.dictionaries(NAMES, TEXTS, min_size=1, max_size=2), max_size=3)


@st.composite
def pointers(draw: st.DrawFn) -> Pointer:
    lines: dict[str, Line] = {}
    for name in draw(st.sets(NAMES, max_size=4)):
        key = draw(KEYS)
        way = draw(st.sampled_from([f"sync/flux/{key}", f"sync/argocd/{key}", f"overlays/{key}"]))
        late = draw(LATE)
        patches = tuple(terse({"patch": flow(each)}) for each in draw(PATCHES)) if late else ()
        lines[name] = Line(f"apps/{name}/{way}", flow(late) if late else "", patches)
    namespaces = draw(st.dictionaries(NAMES, KEYS, max_size=3))
    return Pointer(draw(NAMES), draw(KEYS | st.just("")), namespaces, lines)


@given(pointers())
def test_what_was_written_is_read_back(pointer: Pointer) -> None:
    content = pointer.content()
    again = read_pointer(pointer.cluster, content)
    assert again == pointer
    assert again.content() == content


def test_a_pointer_reads_line_by_line() -> None:
    patch = flow([{"op": "add", "path": "/data/host", "value": HOST}])
    line = Line("apps/pos/sync/flux/" + "1" * 16, "host", (terse({"patch": patch}),))
    pointer = Pointer("store-00042", "2" * 16, {"pos": "3" * 16}, {"pos": line})
    assert pointer.content().decode().splitlines()[3:] == [
        "resources:",
        f"- ../../../fleet/{'2' * 16}",
        f"- ../../../namespaces/pos/{'3' * 16}",
        f"- ../../../apps/pos/sync/flux/{'1' * 16}",
        "patches:",
        "# pos host",
        """- {patch: '[{"op":"add","path":"/data/host","value":"it''s\\n\\"no\\""}]'}""",
    ]
    assert (line.application, line.key, line.reconciler) == ("pos", "1" * 16, "flux")
    assert line.late_values == {"host": HOST}


def test_a_line_of_the_first_format_tells_its_values_too() -> None:
    """One that is held is carried over as it was written then."""
    late = flow({"host": HOST})
    patch = flow({"target": {"kind": "ConfigMap", "name": "pos"}, "patch": flow([{"value": HOST}])})
    assert Line("apps/pos/overlays/" + "1" * 16, late, (patch,)).late_values == {"host": HOST}


def test_a_line_that_leads_to_an_overlay_tells_no_reconciler() -> None:
    assert Line("apps/pos/overlays/" + "1" * 16).reconciler == ""


def test_what_no_worker_writes_is_refused() -> None:
    content = Pointer("store-1").content().replace(b"resources: []", b"resources:\n- ../../../x/y")
    with pytest.raises(Invalid, match="no worker writes"):
        read_pointer("store-1", content)
