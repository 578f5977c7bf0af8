from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli import documents
from cli.document_models import SHAPES
from cli.documents import command_of, document_of, json_line, read_commands
from cli.sample import sample
from graph.model.access import Role
from graph.model.command import (
    UNSET,
    Command,
    CreateGroup,
    CreateHierarchy,
    DeclareLabel,
    DeleteGroup,
    DeleteHierarchy,
    DeleteSelector,
    GrantAccess,
    Join,
    Leave,
    MoveGroup,
    RegisterCluster,
    RemoveLabel,
    RenameGroup,
    RetireCluster,
    Revert,
    RevokeAccess,
    SaveSelector,
    UpdateCluster,
    UpdateGroup,
    UpdateHierarchy,
)
from graph.model.errors import Invalid, NotFound
from graph.model.hours import Interval, OpeningHours
from graph.model.inventory import Capacity, ClusterKind, LabelType, Mode, Reconciler
from graph.model.names import Revision
from graph.model.selector import Everything
from graph.model.workload import (
    Base,
    Binding,
    BindingKind,
    Choice,
    Component,
    Enforcement,
    FieldTarget,
    LateBound,
    SecretProvider,
    SecretReference,
    Template,
)
from graph.model.workload_command import (
    Assign,
    DefineApplication,
    DefineNamespace,
    DeleteApplication,
    DeleteNamespace,
    LiftProhibition,
    OrderHierarchies,
    Prohibit,
    RemoveLayer,
    RemovePolicy,
    SetLayer,
    SetPolicy,
    Unassign,
)
from renderer import canonical

HOURS = OpeningHours(
    weekly={"monday": (Interval("06:00", "14:00"), Interval("16:00", "24:00"))},
    exceptions={"2026-12-24": ()},
)

COMMANDS: list[Command] = [
    CreateHierarchy("geo"),
    CreateHierarchy("devices", Mode.MANY, required=True, title="Devices"),
    UpdateHierarchy("geo"),
    UpdateHierarchy("geo", mode=Mode.SINGLE, required=False, title=""),
    DeleteHierarchy("geo"),
    DeclareLabel("lanes", LabelType.NUMBER, "Lanes", "lanes", (0, 1, 2.5)),
    DeclareLabel("open", LabelType.BOOLEAN, allowed=(True, False)),
    DeclareLabel("size", LabelType.TEXT, allowed=("no", "00042", "été")),
    RemoveLabel("lanes"),
    CreateGroup("/geo/us", "United States"),
    UpdateGroup("/geo/us", ""),
    RenameGroup("/geo/us", "usa"),
    MoveGroup("/geo/us", "/geo/america"),
    DeleteGroup("/geo/us"),
    DeleteGroup("/geo/us", cascade=True),
    RegisterCluster("us-0001"),
    RegisterCluster(
        "us-0002",
        "Store 2",
        ClusterKind.HOST,
        Reconciler.ANSIBLE,
        {"size": "large", "lanes": 3, "open": True, "area": 1.5, "store": "00042"},
        ("/geo/us", "/devices/grill"),
        Capacity(4_000, 8_192, 100),
        "America/New_York",
        HOURS,
    ),
    UpdateCluster("us-0001"),
    UpdateCluster(
        "us-0001",
        "",
        ClusterKind.KUBERNETES,
        Reconciler.ARGOCD,
        {"size": None, "lanes": 0},
        None,
        "",
        None,
    ),
    UpdateCluster("us-0001", capacity=Capacity(1, 2), opening_hours=HOURS),
    RetireCluster("us-0001"),
    Join("us-0001", "/geo/us"),
    Leave("us-0001", "/geo/us"),
    SaveSelector("pilot", "/geo/us and size = large", "Pilot"),
    DeleteSelector("pilot"),
    GrantAccess("everybody", Role.READER, claim="staff"),
    GrantAccess("texas", Role.OPERATOR, "ana", scope="/geo/us/tx or size = large", title="Texas"),
    GrantAccess("grills", Role.EDITOR, "ana", namespaces=("kitchen",), applications=("grill",)),
    RevokeAccess("texas"),
    OrderHierarchies(("geo", "devices")),
    DefineNamespace(
        "kitchen", "Kitchen", ("ana",), "cc-7", {"tier": "edge"}, Capacity(1, 2, 3), Capacity(1, 1)
    ),
    DefineNamespace(
        "kitchen",
        secrets=(SecretReference("db", SecretProvider.SECRETS_STORE, "azure", {"a.b": "x/y#z"}),),
    ),
    DeleteNamespace("kitchen"),
    DefineApplication("grill", "kitchen"),
    DefineApplication(
        "grill",
        "kitchen",
        "Grill",
        "ana",
        {"tier": "edge"},
        "gpu = true",
        (Reconciler.FLUX,),
        ("hood",),
        Capacity(100, 64),
        Base(
            "base/v1",
            (Binding("image.tag", BindingKind.IMAGE, "grill"),),
            (Component("debug", "components/debug"),),
        ),
        {"replicas": 1, "on": True, "list": [{"name": "a"}], "none": None},
        {"type": "object"},
        (LateBound("host", "grill-{cluster}", (FieldTarget("Ingress/grill", "/spec/host"),)),),
        ("telemetry",),
        ("ClusterRole/grill",),
    ),
    DefineApplication("menu", "kitchen", source=Template({"menu.yaml": "kind: ConfigMap\n"})),
    DeleteApplication("grill"),
    Assign("grill-us", Choice("kitchen"), "/geo/us"),
    Assign("grill-us", Choice("kitchen", ("grill",), {"tier": "edge"}), "all", "Grills"),
    Unassign("grill-us"),
    Prohibit("law", Choice(labels={"tier": "edge"}), "/geo/us/tx", "A law"),
    LiftProhibition("law"),
    SetLayer("grill-tx", "/geo/us/tx", {"replicas": 2}, "grill", 3, "Texas"),
    SetLayer("satellite", "all", {"telemetry": {"traces": False}}),
    RemoveLayer("grill-tx"),
    SetPolicy("caps", ("kitchen",), quota_max=Capacity(1, 2), required_labels=("tier",)),
    SetPolicy(
        "pilot",
        selector="/geo/us",
        registries=("registry.example.com",),
        oversubscription=Enforcement.REPORT,
        title="Pilot",
    ),
    RemovePolicy("caps"),
]


def test_every_command_but_restore_has_a_shape() -> None:
    made = {command for _, command in SHAPES.values()}
    assert made == set(Command.__args__) - {Revert}
    assert made == {type(command) for command in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: type(each).__name__)
def test_a_command_survives_json_and_yaml(command: Command) -> None:
    document = document_of(command)
    assert command_of(json.loads(json_line(command))) == command
    assert command_of(canonical.read(canonical.write(document))) == command


def test_a_field_left_out_stays_unset() -> None:
    command = command_of({"updateCluster": {"name": "us-0001", "capacity": None}})
    assert isinstance(command, UpdateCluster)
    assert command.capacity is None
    assert command.title is UNSET


def test_defaults_are_left_out_of_files() -> None:
    assert document_of(RegisterCluster("us-0001")) == {"registerCluster": {"name": "us-0001"}}


def test_types_are_not_converted() -> None:
    one = command_of({"registerCluster": {"name": "a", "labels": {"x": 1, "y": True, "z": "1"}}})
    assert isinstance(one, RegisterCluster)
    assert [type(each) for each in one.labels.values()] == [int, bool, str]


@pytest.mark.parametrize(
    "command",
    [
        Revert(Revision(1), "everything", Revision(2), ()),
        SaveSelector("all", Everything()),
        GrantAccess("all", Role.READER, "ana", scope=Everything()),
    ],
    ids=str,
)
def test_what_only_the_engine_makes_has_no_form_in_a_file(command: Command) -> None:
    with pytest.raises(Invalid) as refusal:
        document_of(command)
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("document", "message", "hint"),
    [
        ([], "a command is a mapping with one key", "write"),
        ({}, "a command is a mapping with one key", "write"),
        ({"join": {}, "leave": {}}, "a command is a mapping with one key", "write"),
        ({"regsterCluster": {}}, 'there is no command "regsterCluster"', "registerCluster"),
        ({"restore": {"to": 1}}, 'there is no command "restore"', ""),
        ({7: {}}, 'there is no command "7"', ""),
        ({"join": None}, "join: ", "correct"),
        ({"join": {"cluster": "a"}}, "join.group is missing", "add it"),
        ({"join": {"cluster": 5, "group": "/geo"}}, "join.cluster: ", "not converted"),
        (
            {"createGroup": {"path": "/geo/us", "titel": "x"}},
            "createGroup.titel is not a field",
            "did you mean title?",
        ),
        ({"registerCluster": {"name": "a", "labels": {"x": None}}}, "registerCluster.labels", ""),
        ({"registerCluster": {"name": "a", "labels": {"x": [1]}}}, "registerCluster.labels", ""),
        ({"registerCluster": {"name": "a", "kind": "toaster"}}, "registerCluster.kind", ""),
        ({"grantAccess": {"name": "a", "role": "boss"}}, "grantAccess.role", "correct"),
        ({"grantAccess": {"name": "a", "subject": "ana"}}, "grantAccess.role is missing", "add it"),
        ({"revokeAcess": {"name": "a"}}, 'there is no command "revokeAcess"', "revokeAccess"),
    ],
)
def test_a_wrong_document_is_refused_where_it_is_wrong(
    document: object, message: str, hint: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        command_of(document)
    assert refusal.value.message.startswith(message)
    assert hint in refusal.value.hint


def test_json_lines_are_read_in_order_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "fleet.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"createGroup":{"path":"/geo/us"}}\n\n{"join":'
        b'{"cluster":"a","group":"/geo/us"}}'
    )
    assert [(each.command, each.where) for each in read_commands(str(file))] == [
        (CreateGroup("/geo/us"), f"{file}, line 1"),
        (Join("a", "/geo/us"), f"{file}, line 3"),
    ]


def test_yaml_holds_commands_and_lists_of_commands(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text(
        "createGroup: {path: /geo/us}\n"
        "---\n"
        "- join:\n    cluster: a\n    group: /geo/us\n"
        "- registerCluster:\n    name: b\n    labels: {store: 00042, open: no, lanes: 2}\n"
    )
    assert [(each.command, each.where) for each in read_commands(str(file))] == [
        (CreateGroup("/geo/us"), f"{file}, document 1"),
        (Join("a", "/geo/us"), f"{file}, document 2, item 1"),
        (
            RegisterCluster("b", labels={"store": "00042", "open": "no", "lanes": 2}),
            f"{file}, document 2, item 2",
        ),
    ]


def test_a_fleet_survives_a_file(tmp_path: Path) -> None:
    file = tmp_path / "fleet.jsonl"
    file.write_text("".join(map(json_line, sample(200))), encoding="utf-8")
    assert [each.command for each in read_commands(str(file))] == list(sample(200))


def test_json_lines_before_a_fault_are_given(tmp_path: Path) -> None:
    file = tmp_path / "fleet.jsonl"
    file.write_text('{"createGroup":{"path":"/geo/us"}}\nnonsense\n')
    stream = read_commands(str(file))
    assert next(stream).command == CreateGroup("/geo/us")
    with pytest.raises(Invalid, match="line 2"):
        next(stream)


HOSTILE: list[tuple[str, bytes, str]] = [
    ("nul.jsonl", b'{"createGroup":{"path":"/geo/\x00"}}', "line 1: this is not JSON"),
    ("cut.jsonl", b'{"createGroup":{"path":', "line 1: this is not JSON"),
    ("bytes.jsonl", b'{"createGroup":{"path":"\xff"}}', "line 1: byte 25 is not UTF-8"),
    ("surrogate.jsonl", rb'{"createGroup":{"path":"\ud800"}}', "line 1: an escape stands for half"),
    ("key.jsonl", rb'{"createGroup":{"\udfff":"/geo/us"}}', "line 1: an escape stands for half"),
    ("long.jsonl", b'{"x":"' + b"a" * 10_000_000 + b'"}', "line 1: the line is longer"),
    ("twice.jsonl", b'{"join":{"cluster":"a","cluster":"b"}}', 'line 1: the key "cluster" is'),
    ("deep.jsonl", b"[" * 100_000, "line 1: "),
    ("nan.jsonl", b'{"declareLabel":{"name":"a","allowed":[NaN]}}', "line 1: NaN is not"),
    ("digits.jsonl", b'{"x":' + b"9" * 5_000 + b"}", "line 1: a number too long"),
    ("unknown.jsonl", b'{"dropTables":{}}', 'line 1: there is no command "dropTables"'),
    ("nul.yaml", b"a: \x00", "control characters"),
    ("bytes.yaml", b"a: \xff", "byte 4 is not UTF-8"),
    ("surrogate.yaml", rb'createGroup: {path: "\ud800"}', "surrogate.yaml: "),
    ("twice.yaml", b"join: {cluster: a, cluster: b}", 'the key "cluster" is given twice'),
    ("bomb.yaml", b"a: &a [x]\nb: [*a, *a]", "aliases are not read"),
    ("deep.yaml", b"[" * 100_000, "nested more than"),
    ("unknown.yaml", b"dropTables: {}", 'document 1: there is no command "dropTables"'),
    ("empty.yaml", b"---\n", "document 1: a command is a mapping"),
    ("notes.txt", b"hello", "neither JSON lines nor YAML"),
]


@pytest.mark.parametrize(("name", "content", "message"), HOSTILE, ids=[each[0] for each in HOSTILE])
def test_a_hostile_file_is_refused_with_its_place(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(Invalid) as refusal:
        list(read_commands(str(file)))
    assert message in refusal.value.message
    assert name in refusal.value.message
    assert refusal.value.hint


def test_yaml_beyond_the_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "YAML_BYTES_MAX", 10)
    file = tmp_path / "big.yaml"
    file.write_text("x" * 11)
    with pytest.raises(Invalid, match="more than 10 bytes of YAML"):
        list(read_commands(str(file)))


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        list(read_commands(str(tmp_path / "none.jsonl")))


@pytest.mark.parametrize("make", [Path.mkdir], ids=["directory"])
def test_what_is_no_file_is_refused(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "fleet.jsonl")
    with pytest.raises(Invalid, match="cannot be read"):
        list(read_commands(str(tmp_path / "fleet.jsonl")))


def test_a_key_given_twice_among_many_costs_no_more_than_a_line_without(tmp_path: Path) -> None:
    keys = [f"key-{number}" for number in range(20_000)]

    def cost(names: list[str], refusal: str) -> float:
        """Processor seconds, the least of three: others share this machine."""
        file = tmp_path / "commands.jsonl"
        file.write_text("{" + ",".join(f'"{name}":0' for name in names) + "}")
        spent: list[float] = []
        for _ in range(3):
            started = time.process_time()
            with pytest.raises(Invalid, match=refusal):
                list(read_commands(str(file)))
            spent.append(time.process_time() - started)
        return min(spent)

    honest = cost(keys, "a mapping with one key")
    assert cost([*keys, keys[-1]], '"key-19999" is given twice') < 10 * honest
