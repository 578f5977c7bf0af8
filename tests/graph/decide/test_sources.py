"""Sources of manifests, and the late-bound keys beside them."""

from __future__ import annotations

import pytest

from at_work import refused, working
from graph.decide.sources import FILES_MAX, TEXT_LENGTH_MAX
from graph.model.errors import Invalid, NotFound
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Component,
    FieldTarget,
    LateBound,
    Source,
    Template,
)
from graph.model.workload_command import DefineApplication
from small import give

IMAGE = Binding("image", BindingKind.IMAGE, "registry.example:5000/pos")
BASE = Base(
    "base/v12",
    (
        IMAGE,
        Binding("replicas", BindingKind.REPLICAS, "pos"),
        Binding("log.level", BindingKind.CONFIG_MAP, "pos-config", "app.properties"),
        Binding("fleet.proxy.url", BindingKind.FIELD, "Deployment/pos", "/spec/template/x"),
    ),
    (Component("gpu.enabled", "components/gpu"),),
)


def pos(source: Source | None = None, *late: LateBound) -> DefineApplication:
    return DefineApplication("pos", "shop", source=source, late_bound=late)


def test_a_base_is_taken_as_it_is():
    fleet = working()
    give(fleet, pos(BASE))
    assert fleet.workload.applications["pos"].source == BASE


def test_the_files_of_a_template_are_kept_by_name():
    fleet = working()
    give(fleet, pos(Template({"b.yaml": "{{ x }}\n\tb", "a.yaml": "ä"})))
    source = fleet.workload.applications["pos"].source
    assert isinstance(source, Template)
    assert list(source.files.items()) == [("a.yaml", "ä"), ("b.yaml", "{{ x }}\n\tb")]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (Base(""), "is not a path below"),
        (Base("/etc"), "is not a path below"),
        (Base("a/../../b"), "is not a path below"),
        (Base("b", (Binding("a..b", BindingKind.IMAGE, "pos"),)), "is not the key of a value"),
        (Base("b", (Binding("a", BindingKind.IMAGE, "p s"),)), "is not the name of an image"),
        (Base("b", (Binding("a", BindingKind.IMAGE, "pos", "x"),)), "names a field"),
        (Base("b", (Binding("a", BindingKind.REPLICAS, "Pos"),)), "is not the name of an object"),
        (Base("b", (Binding("a", BindingKind.REPLICAS, "pos", "x"),)), "names a field"),
        (Base("b", (Binding("a", BindingKind.CONFIG_MAP, "c"),)), "an entry of a ConfigMap"),
        (Base("b", (Binding("a", BindingKind.CONFIG_MAP, "c", "a/b"),)), "an entry of a Config"),
        (Base("b", (Binding("a", BindingKind.FIELD, "pos", "/a"),)), "not an object of a manif"),
        (Base("b", (Binding("a", BindingKind.FIELD, "Job/pos", "a"),)), "is not a JSON pointer"),
        (Base("b", (IMAGE, IMAGE)), 'the bindings list "image registry.example:5000/pos" twice'),
        (Base("b", components=(Component("", "c"),)), "is not the key of a value"),
        (Base("b", components=(Component("a", "../c"),)), "is not a path below"),
        (Base("b", components=(Component("a", "c"), Component("b", "c"))), 'list "c" twice'),
        (Template({}), "a template of 0 files"),
        (Template({f"f{at}": "" for at in range(FILES_MAX + 1)}), "a template of 65 files"),
        (Template({"../a": ""}), "is not a file name"),
        (Template({"a": "x" * (TEXT_LENGTH_MAX + 1)}), "have 131,073 characters"),
        (Template({"a": "b\x00"}), r"a holds the character U+0000 at 1"),
        (Template({"a": "\ud800"}), r"a holds the character U+D800 at 0"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_source_that_cannot_be_is_refused(source: Source, says: str):
    assert says in refused(Invalid, working(), pos(source)).message


HOST = FieldTarget("Ingress/pos", "/spec/rules/0/host")


@pytest.mark.parametrize(
    ("late", "says"),
    [
        ((LateBound(""),), "is not the key of a value"),
        ((LateBound("a b"),), "is not the key of a value"),
        ((LateBound("fleet"),), "fleet cannot be late-bound"),
        ((LateBound("fleet.proxy"),), "fleet.proxy cannot be late-bound"),
        ((LateBound("a"), LateBound("a", "x")), 'the late-bound keys list "a" twice'),
        (
            (LateBound("a.b.c"), LateBound("x"), LateBound("a.b")),
            "the late-bound key a.b.c lies inside the late-bound key a.b",
        ),
        ((LateBound("a", "{size"),), "the source of a cannot be read"),
        ((LateBound("a", "{}"),), "the source of a cannot be read"),
        ((LateBound("a", "{{size}}"),), "the source of a cannot be read"),
        ((LateBound("a", "{si ze}"),), "the source of a cannot be read"),
        ((LateBound("a", "x\ny"),), "the source of a holds the character"),
        ((LateBound("a", "x" * 201),), "the source of a has 201 characters"),
        ((LateBound("a", "", (FieldTarget("pos", "/a"),)),), "not an object of a manifest"),
        ((LateBound("a", "", (FieldTarget("Job/pos", "a"),)),), "is not a JSON pointer"),
        (
            (LateBound("a", "", (HOST,)), LateBound("b", "", (HOST,))),
            'list "Ingress/pos /spec/rules/0/host" twice',
        ),
        (tuple(LateBound(f"k{at}") for at in range(51)), "51 late-bound keys"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_late_bound_keys_that_cannot_be_are_refused(late: tuple[LateBound, ...], says: str):
    assert says in refused(Invalid, working(), pos(None, *late)).message


def test_a_late_bound_key_takes_its_value_from_labels_there_are():
    late = (LateBound("a", "{cluster}"), LateBound("b", "{size}-{lanez}"))
    refusal = refused(NotFound, working(), pos(None, *late))
    assert refusal.message == 'no label key called "lanez"'
    assert refusal.hint == "did you mean lanes?"
    assert refusal.path == ("commands", 0, "late_bound", 1, "source")
    fleet = working()
    fine = (LateBound("a", "{cluster}"), LateBound("b.c", "{size}.x"), LateBound("b.d"))
    give(fleet, pos(None, *fine))
    assert fleet.workload.applications["pos"].late_bound == fine
