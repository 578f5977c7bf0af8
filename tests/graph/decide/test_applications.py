"""Applications: defined whole, in one namespace, needing no circle of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from at_work import refused, working
from graph.decide.applications import chain_back
from graph.model.access import Role
from graph.model.command import (
    CreateGroup,
    DeclareLabel,
    DeleteGroup,
    GrantAccess,
    RemoveLabel,
)
from graph.model.errors import (
    Conflict,
    Invalid,
    NotFound,
    Rejected,
    SelectorNotFound,
    TrellisError,
)
from graph.model.inventory import Capacity, LabelType, Reconciler
from graph.model.names import Revision
from graph.model.selector import HasLabel, InNamespace
from graph.model.values import Values
from graph.model.workload import (
    Application,
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    FieldTarget,
    LateBound,
)
from graph.model.workload_command import (
    DefineApplication,
    DefineNamespace,
    DeleteApplication,
    Prohibit,
    RemoveLayer,
    Unassign,
)
from small import give, small

HOST = LateBound("host", "pos-{size}.example", (FieldTarget("Ingress/pos", "/spec/host"),))
POS = DefineApplication(
    "pos",
    "shop",
    title="Point of sale",
    owner="retail",
    labels={"tier": "front"},
    requires="has lanes",
    reconcilers=(Reconciler.FLUX, Reconciler.ARGOCD),
    depends_on=("till", "menu"),
    requests=Capacity(100, 100),
    source=Base("base/v1", (Binding("tag", BindingKind.IMAGE, "pos"),)),
    values={"tag": "1", "lanes": 2},
    schema={"type": "object", "properties": {"lanes": {"type": "integer"}}},
    late_bound=(HOST,),
    reads=("telemetry", "proxy"),
)


def test_an_application_is_what_the_command_says_and_its_sets_are_in_one_order():
    fleet = working()
    give(fleet, POS)
    assert fleet.workload.applications["pos"] == Application(
        "pos",
        "shop",
        title="Point of sale",
        owner="retail",
        labels={"tier": "front"},
        requires=HasLabel("lanes"),
        reconcilers=(Reconciler.ARGOCD, Reconciler.FLUX),
        depends_on=("menu", "till"),
        requests=Capacity(100, 100),
        source=POS.source,
        values=Values.of({"lanes": 2, "tag": "1"}),
        schema=Values.of({"type": "object", "properties": {"lanes": {"type": "integer"}}}),
        late_bound=(HOST,),
        reads=("proxy", "telemetry"),
        changed=Revision(3),
    )


def test_the_same_definition_again_changes_nothing_in_whatever_order_it_lists():
    fleet = working()
    give(fleet, POS)
    again = replace(POS, depends_on=("menu", "till"), reads=("proxy", "telemetry"))
    assert give(fleet, again) == ()


def test_true_instead_of_one_is_another_definition():
    fleet = working()
    give(fleet, DefineApplication("pos", "shop", values={"a": 1}))
    for other in (True, 1.0):
        assert len(give(fleet, DefineApplication("pos", "shop", values={"a": other}))) == 1


def test_an_application_sees_what_the_batch_has_made_before_it():
    fleet = small()
    give(
        fleet,
        DefineNamespace("new"),
        DefineApplication("one", "new"),
        DefineApplication("two", "new", depends_on=("one",)),
    )
    assert list(fleet.workload.applications) == ["one", "two"]


# its namespace


def test_the_namespace_of_an_application_exists():
    refusal = refused(NotFound, working(), DefineApplication("pos", "shopp"))
    assert refusal.hint == "did you mean shop?"
    assert refusal.path == ("commands", 0, "namespace")


def test_the_namespace_of_an_application_is_final():
    refusal = refused(Conflict, working(), DefineApplication("till", "kitchen"))
    assert refusal.message == 'application "till" is in namespace "shop"'
    fleet = working()
    give(fleet, DefineNamespace("bar"), DefineApplication("pub", "bar"))
    give(fleet, DeleteApplication("pub"), DefineApplication("pub", "shop"))
    assert fleet.workload.applications["pub"].namespace == "shop"


# what it depends on


@pytest.mark.parametrize(
    ("batch", "chain"),
    [
        ((DefineApplication("till", "shop", depends_on=("till",)),), "till -> till"),
        ((DefineApplication("till", "shop", depends_on=("menu",)),), "till -> menu -> till"),
        (
            (
                DefineApplication("grill", "kitchen", depends_on=("menu",)),
                DefineApplication("till", "shop", depends_on=("grill",)),
            ),
            "till -> grill -> menu -> till",
        ),
    ],
    ids=["itself", "two", "three"],
)
def test_applications_that_would_need_each_other_are_refused_with_the_chain(
    batch: tuple[DefineApplication, ...], chain: str
):
    refusal = refused(Rejected, working(), *batch)
    assert refusal.message == f'application "till" would depend on itself: {chain}'
    assert "applications that need each other share a namespace" in refusal.hint
    assert refusal.path == ("commands", len(batch) - 1, "depends_on")


def test_the_chain_is_found_without_recursion():
    last = 5_000
    needs = {f"a{at}": (f"a{at - 1}",) for at in range(1, last + 1)} | {"a0": ()}
    assert chain_back("new", ("a5000",), needs.__getitem__) is None
    found = chain_back("a0", ("a5000",), needs.__getitem__)
    assert found == ["a0", *(f"a{at}" for at in range(last, -1, -1))]


def test_a_dependency_may_be_turned_around_in_one_batch():
    fleet = working()
    give(
        fleet,
        DefineApplication("menu", "shop"),
        DefineApplication("till", "shop", depends_on=("menu",)),
    )
    assert fleet.workload.applications["till"].depends_on == ("menu",)


def test_a_dependency_exists():
    refusal = refused(NotFound, working(), DefineApplication("pos", "shop", depends_on=("tll",)))
    assert refusal.hint == "did you mean till or grill?"
    assert refusal.path == ("commands", 0, "depends_on", 0)


# what is wrong in itself

LATE = (LateBound("site.host", "{cluster}"),)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"name": "Pos"}, '"Pos" is not an application name'),
        ({"name": "kube-proxy"}, '"kube-proxy" cannot name an application'),
        ({"name": "trellis"}, '"trellis" cannot name an application'),
        ({"title": "\x07"}, "the title holds the character"),
        ({"owner": "a\nb"}, "the owner holds the character"),
        ({"labels": {"a b": "x"}}, '"a b" is not a label key'),
        ({"labels": {"a": "x" * 64}}, 'label "a" has 64 characters'),
        ({"reconcilers": (Reconciler.FLUX, Reconciler.FLUX)}, 'list "flux" twice'),
        ({"depends_on": ("till", "till")}, 'the dependencies list "till" twice'),
        ({"requests": Capacity(1, -1)}, "a request is negative or too large"),
        ({"values": {"fleet": {}}}, 'the values set "fleet"'),
        ({"values": {"a": float("nan")}}, "the values cannot be written as JSON"),
        ({"values": {"a": "x" * 70_000}}, "the values are 70,008 characters long"),
        ({"values": {"a": object()}}, "the values cannot be written as JSON"),
        ({"schema": {"pattern": "a*"}}, "pattern"),
        ({"schema": {"type": "number"}}, "the schema asks for values that are no map"),
        ({"labels": {f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 44}/x": "y"}}, "is not a label key"),
        ({"reads": ("..telemetry",)}, '"..telemetry" is not a fleet setting name'),
        ({"reads": ("proxy", "proxy")}, 'the settings it reads list "proxy" twice'),
        (
            {"schema": {"properties": {"lanes": {"type": "integer"}}}, "values": {"lanes": "2"}},
            'the values of application "pos": lanes must be integer',
        ),
        (
            {"late_bound": LATE, "values": {"site": {"host": "x"}}},
            "the values set site.host, and site.host is late-bound",
        ),
        (
            {"late_bound": LATE, "values": {"site": "x"}},
            "the values set site.host, and site.host is late-bound",
        ),
        (
            {
                "late_bound": LATE,
                "source": Base("b", (Binding("site.host", BindingKind.REPLICAS, "pos"),)),
            },
            "the source uses site.host, and site.host is late-bound",
        ),
        (
            {"late_bound": LATE, "source": Base("b", components=(Component("site", "c"),))},
            "the source uses site, and site.host is late-bound",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_an_application_that_cannot_be_is_refused(wrong: dict[str, object], says: str):
    command = replace(DefineApplication("pos", "shop"), **wrong)
    refusal = refused(Invalid, working(), command)
    assert says in refusal.message
    assert refusal.path[:2] == ("commands", 0)
    assert refusal.path[2] in wrong


def test_values_beside_a_late_bound_key_are_fine():
    fleet = working()
    give(fleet, DefineApplication("pos", "shop", late_bound=LATE, values={"site": {"zone": 1}}))
    assert fleet.workload.applications["pos"].values.data == {"site": {"zone": 1}}


def test_what_it_requires_is_read_against_the_fleet():
    refusal = refused(
        SelectorNotFound, working(), DefineApplication("pos", "shop", requires="/geo/usa")
    )
    assert refusal.span.column == 6
    assert refusal.path == ("commands", 0, "requires")
    refused(NotFound, working(), DefineApplication("pos", "shop", requires=InNamespace("nowhere")))


# deleting it, and what it keeps from vanishing


def test_an_application_that_only_its_namespace_assigns_is_deleted():
    fleet = working()
    give(fleet, RemoveLayer("menu-tx"), DeleteApplication("menu"))
    assert "menu" not in fleet.workload.applications


def test_what_names_an_application_keeps_it_and_is_listed():
    fleet = working()
    give(fleet, GrantAccess("tills", Role.EDITOR, "ana", applications=("till", "grill")))
    refusal = refused(Rejected, fleet, DeleteApplication("till"))
    assert refusal.reasons == ("grant tills", "application menu", "prohibition no-till")
    assert refusal.message == (
        'application "till" is named by 1 grant, 1 application and 1 prohibition'
    )
    assert refused(Rejected, fleet, DeleteApplication("grill")).reasons == (
        "grant tills",
        "assignment grill-tx",
    )
    assert refused(Rejected, fleet, DeleteApplication("menu")).reasons == ("layer menu-tx",)
    assert refused(NotFound, fleet, DeleteApplication("mnu")).hint == "did you mean menu?"


def test_an_application_keeps_what_it_requires_and_reads_its_keys_from():
    fleet = working()
    give(
        fleet,
        CreateGroup("/geo/mx"),
        DeclareLabel("zone", LabelType.TEXT),
        DeclareLabel("shelf", LabelType.TEXT),
        DefineApplication(
            "pos", "shop", requires="/geo/mx or has zone", late_bound=(LateBound("a", "{shelf}"),)
        ),
    )
    for command in (DeleteGroup("/geo/mx"), RemoveLabel("zone"), RemoveLabel("shelf")):
        assert refused(Rejected, fleet, command).reasons == ("application pos",)


def test_a_batch_may_take_back_what_names_an_application_and_delete_it():
    fleet = working()
    give(fleet, Unassign("grill-tx"), DeleteApplication("grill"))
    assert "grill" not in fleet.workload.applications


# expected revisions


@pytest.mark.parametrize(
    "command",
    [
        DefineApplication("till", "shop"),
        DeleteApplication("till"),
        DefineApplication("new", "shop"),
        DefineApplication("new", "kitchen", depends_on=("till",)),
        DefineApplication("new", "kitchen", requires="namespace shop"),
        DefineApplication("new", "kitchen", late_bound=(LateBound("a", "{size}"),)),
        Prohibit("new", Choice(applications=("till",)), "all"),
    ],
    ids=str,
)
def test_an_application_or_what_it_names_has_changed_since(command: DefineApplication):
    fleet = working()
    give(
        fleet,
        DefineApplication("till", "shop", title="Till"),
        DefineNamespace("shop", title="Shop", labels={"team": "x"}),
        DeclareLabel("size", LabelType.TEXT, title="Size", allowed=("small", "large")),
    )
    with pytest.raises(TrellisError, match="has changed at revision 3") as refusal:
        give(fleet, command, expected=2)
    assert isinstance(refusal.value, Conflict)
    give(fleet, DefineApplication("grill", "kitchen", title="Grill"), expected=2)
