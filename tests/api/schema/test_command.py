"""Every command travels, and arrives as the command it was."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random
from typing import Any, get_args

import pytest
import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig

from api.schema.assignment_commands import LiftProhibitionInput
from api.schema.cluster_commands import LeaveInput
from api.schema.command import ApplyInput, CommandInput
from api.schema.layer_commands import SetLayerInput
from api.schema.names import SCALARS
from api.schema.selector import SelectorInput
from changes import random_fleet
from command_inputs import camel, input_of, literal, name_of, random_command
from doors import context, opened
from engines import give
from graph.access import access_of
from graph.decide.selectors import meaning
from graph.model import command as core
from graph.model import workload_command as workload
from graph.model.access import Actor, Role
from graph.model.command import Command, GrantAccess, Revert
from graph.model.errors import Denied, TrellisError
from graph.model.workload import Choice
from small import small
from twin import Twin

CASES = {"test": 300, "campaign": 20_000}


@strawberry.type
class Echo:
    """Takes a command and keeps what it was read as."""

    @strawberry.field
    def read(self, info: strawberry.Info[Any, None], command: CommandInput) -> bool:
        info.context["read"].append(command.chosen().command())
        return True


SCHEMA = strawberry.Schema(query=Echo, config=StrawberryConfig(scalar_map=SCALARS))


def read(command: dict[str, Any], view: Twin, *, as_text: bool = False) -> Command:
    kept: dict[str, Any] = {"read": []}
    if as_text:
        found = SCHEMA.execute_sync(f"{{ read(command: {literal(command)}) }}", context_value=kept)
    else:
        document = "query ($command: CommandInput!) { read(command: $command) }"
        found = SCHEMA.execute_sync(document, {"command": command}, context_value=kept)
    if found.errors:
        raise found.errors[0].original_error or found.errors[0]
    (arrived,) = kept["read"]
    return _decided(arrived, view)


def _decided(command: Command, view: Twin) -> Command:
    """With its selector read, if it came as a tree: the core does that where the command stands."""
    trees = {
        name: meaning(tree, view, name)
        for name in ("selector", "scope", "requires")
        if isinstance(tree := getattr(command, name, None), dict)
    }
    return replace(command, **trees)


@pytest.mark.volume
def test_every_command_arrives_as_it_was_sent_in_variables_and_in_the_document(scale):
    rng = Random(4)
    kinds = set()
    for case in range(CASES[scale]):
        if case % 50 == 0:
            twin = Twin.of(random_fleet(rng))
        command = random_command(rng, twin)
        written = {name_of(command): input_of(command, twin)}
        arrived = read(written, twin), read(written, twin, as_text=True)
        assert arrived == (command, command)
        assert repr(arrived) == repr((command, command)), "1, 1.0 and true are equal to Python"
        kinds.add(type(command))
    assert kinds == set(get_args(Command)) - {Revert}


def test_there_is_an_input_for_every_command_but_a_revert():
    commands = {camel(kind.__name__) for kind in get_args(Command)} - {"revert"}
    assert {camel(field.name) for field in fields(CommandInput)} == commands


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"createHierarchy": {"name": "geo"}}, core.CreateHierarchy("geo")),
        ({"declareLabel": {"name": "size", "type": "TEXT"}}, core.DeclareLabel("size", "text")),
        ({"createGroup": {"path": "/geo/us"}}, core.CreateGroup("/geo/us")),
        ({"deleteGroup": {"path": "/geo/us"}}, core.DeleteGroup("/geo/us")),
        ({"registerCluster": {"name": "a"}}, core.RegisterCluster("a")),
        ({"updateCluster": {"name": "a"}}, core.UpdateCluster("a")),
        ({"updateHierarchy": {"name": "geo"}}, core.UpdateHierarchy("geo")),
        (
            {"saveSelector": {"name": "t", "selector": {"text": "/new/one"}}},
            core.SaveSelector("t", "/new/one"),
        ),
        ({"defineNamespace": {"name": "n"}}, workload.DefineNamespace("n")),
        (
            {"defineApplication": {"name": "a", "namespace": "n"}},
            workload.DefineApplication("a", "n"),
        ),
        (
            {"assign": {"name": "x", "namespace": "n", "selector": {"text": "all"}}},
            workload.Assign("x", Choice("n"), "all"),
        ),
        (
            {"prohibit": {"name": "x", "selector": {"text": "all"}}},
            workload.Prohibit("x", Choice(), "all"),
        ),
        (
            {"setLayer": {"name": "x", "selector": {"text": "all"}, "values": {}}},
            workload.SetLayer("x", "all", {}),
        ),
        ({"setPolicy": {"name": "x"}}, workload.SetPolicy("x")),
    ],
)
def test_what_is_left_out_has_the_default_of_the_core(given, meant):
    assert read(given, small()) == meant


def test_null_removes_what_can_be_removed():
    labels = [{"key": "size", "value": None}, {"key": "lanes", "value": 2}]
    given = {"name": "a", "capacity": None, "openingHours": None, "labels": labels}
    meant = core.UpdateCluster(
        "a", capacity=None, opening_hours=None, labels={"size": None, "lanes": 2}
    )
    assert read({"updateCluster": given}, small()) == meant


@pytest.mark.parametrize(
    ("command", "message", "path"),
    [
        ({"updateCluster": {"name": "a", "title": None}}, "title cannot be null", ("title",)),
        ({"updateCluster": {"name": "a", "kind": None}}, "kind cannot be null", ("kind",)),
        (
            {"updateCluster": {"name": "a", "timeZone": None}},
            "timeZone cannot be null",
            ("timeZone",),
        ),
        (
            {"updateHierarchy": {"name": "geo", "required": None}},
            "required cannot be null",
            ("required",),
        ),
        (
            {"updateCluster": {"name": "a", "labels": [{"key": "size"}]}},
            'label "size" has no value',
            ("labels", 0),
        ),
        (
            {
                "registerCluster": {
                    "name": "a",
                    "labels": [{"key": "size", "value": "s"}, {"key": "size", "value": "l"}],
                }
            },
            'label "size" is given twice',
            ("labels", 1),
        ),
        (
            {
                "registerCluster": {
                    "name": "a",
                    "capacity": {"cpuMillicores": 1, "memoryMib": 0.5},
                }
            },
            "0.5 is no whole number",
            ("capacity", "memoryMib"),
        ),
        (
            {
                "registerCluster": {
                    "name": "a",
                    "openingHours": {"weekly": [{"day": "monday", "intervals": []}] * 2},
                }
            },
            'day "monday" is given twice',
            ("openingHours", "weekly", 1),
        ),
        (
            {"saveSelector": {"name": "t", "selector": {"and": [{"group": "/gio/us"}]}}},
            'no hierarchy called "gio"',
            ("selector", "and", 0, "group"),
        ),
        (
            {"defineApplication": {"name": "a", "namespace": "n", "values": [1]}},
            "values is no map",
            ("values",),
        ),
        (
            {"defineApplication": {"name": "a", "namespace": "n", "schema": "any"}},
            "schema is no map",
            ("schema",),
        ),
        (
            {"setLayer": {"name": "x", "selector": {"text": "all"}, "values": 5}},
            "values is no map",
            ("values",),
        ),
        (
            {
                "defineNamespace": {
                    "name": "n",
                    "quota": {"cpuMillicores": 1, "memoryMib": 1, "storageMib": 0.5},
                }
            },
            "0.5 is no whole number",
            ("quota", "storageMib"),
        ),
        (
            {"defineNamespace": {"name": "n", "labels": [{"key": "a", "value": "b"}] * 2}},
            'label "a" is given twice',
            ("labels", 1),
        ),
        (
            {
                "defineApplication": {
                    "name": "a",
                    "namespace": "n",
                    "source": {"template": {"files": [{"name": "f", "text": ""}] * 2}},
                }
            },
            'file "f" is given twice',
            ("source", "template", "files", 1),
        ),
        (
            {"grantAccess": {"name": "t", "role": "READER", "scope": {"cluster": "gone"}}},
            'no cluster called "gone"',
            ("scope", "cluster"),
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(command, message, path):
    with pytest.raises(TrellisError) as refused:
        read(command, small())
    assert (refused.value.message, refused.value.path) == (message, path)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ({}, "exactly one"),
        ({"createGroup": None}, "non-null"),
        ({"createGroup": {"path": "/geo/x"}, "join": None}, "exactly one"),
        (
            {"createGroup": {"path": "/geo/x"}, "retireCluster": {"name": "austin-1"}},
            "exactly one",
        ),
        ({"saveSelector": {"name": "x", "selector": {"text": "all", "saved": "y"}}}, "exactly one"),
        ({"revert": {}}, "unknown field"),
        ({"createGroup": {"path": "/geo/x", "colour": "red"}}, "unknown field"),
        ({"createGroup": {"path": 5}}, "no path"),
        ({"createGroup": {"path": "/geo/x", "title": None}}, "non-null"),
        ({"createHierarchy": {"name": "x", "mode": "BOTH"}}, "Mode"),
        ({"registerCluster": {"name": "x", "labels": [{"key": "a", "value": [1]}]}}, "label value"),
        ({"registerCluster": {"name": "x", "labels": [{"key": "a", "value": None}]}}, "non-null"),
        ({"defineApplication": {"name": "x"}}, "namespace"),
        ({"defineApplication": {"name": "x", "namespace": "n", "source": {}}}, "exactly one"),
        ({"assign": {"name": "x", "selector": {"text": "all"}}}, "namespace"),
        ({"setLayer": {"name": "x", "selector": {"text": "all"}}}, "values"),
        (
            {"setLayer": {"name": "x", "selector": {"text": "all"}, "values": {"a": [2**64]}}},
            "too many digits",
        ),
        ({"setPolicy": {"name": "x", "oversubscription": "IGNORE"}}, "Enforcement"),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_an_input_of_another_shape_never_becomes_a_command(command, complaint, as_text):
    with pytest.raises((GraphQLError, TrellisError)) as refused:
        read(command, small(), as_text=as_text)
    assert complaint in str(refused.value)


def test_every_field_of_every_input_is_described():
    types = SCHEMA._schema.type_map
    inputs = [each for name, each in types.items() if name.endswith(("Input", "Update"))]
    assert len(inputs) > 20
    bare = [
        f"{each.name}.{name}"
        for each in inputs
        for name, field in each.fields.items()
        if not field.description
    ]
    assert not bare and all(each.description for each in inputs)


async def test_a_batch_says_why_since_when_under_which_key_and_at_what_loss(tmp_path):
    given = ApplyInput(
        commands=[], reason="why", expected_revision=0, idempotency_key="", expected_loss=0
    )
    async with opened(tmp_path) as engine:
        asked = context(engine)
    assert given.batch(asked) == core.Batch((), "ana", "why", 0, "", 0)
    left_out = ApplyInput(commands=[], reason="why")
    assert left_out.batch(asked) == core.Batch((), "ana", "why", None, None, None)


@pytest.mark.parametrize("role", [None, Role.READER])
async def test_of_a_batch_by_somebody_who_may_change_nothing_one_command_is_read(tmp_path, role):
    async with opened(tmp_path) as engine:
        if role is not None:
            await give(engine, GrantAccess("r", role, subject="ron", scope="/geo/us/tx"))
        allowed = access_of(Actor("ron"), engine.view.grants())
        asked = replace(context(engine), access=allowed)
        leave = CommandInput(leave=LeaveInput(cluster="austin-00", group="/geo/us"))
        nothing = CommandInput()  # which can be read as no command
        batch = ApplyInput(commands=[leave, nothing], reason="r")
        with pytest.raises(Denied, match="editor") as refused:
            batch.batch(asked)
        assert refused.value.path == ("commands", 0)
        with pytest.raises(IndexError):
            batch.batch(context(engine))


async def test_a_role_over_a_part_of_the_workload_is_enough_to_be_read(tmp_path):
    """Whether it is enough for what is asked is the core's to say."""
    async with opened(tmp_path) as engine:
        covered = GrantAccess("c", Role.EDITOR, subject="cook", namespaces=("kitchen",))
        await give(engine, covered)
        allowed = access_of(Actor("cook"), engine.view.grants())
        asked = replace(context(engine), access=allowed)
        layer = SetLayerInput(name="x", selector=SelectorInput(text="all"), values={})
        batch = ApplyInput(commands=[CommandInput(set_layer=layer)], reason="r").batch(asked)
        assert batch.commands == (workload.SetLayer("x", "all", {}),)
        lift = CommandInput(lift_prohibition=LiftProhibitionInput(name="no-gold"))
        with pytest.raises(Denied, match="operator"):
            ApplyInput(commands=[lift], reason="r").batch(asked)
