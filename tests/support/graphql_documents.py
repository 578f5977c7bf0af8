"""Random GraphQL documents that are valid for a schema, over a fleet whose names they mostly know.

Everything follows from the generator: aliases, fragments named and inline, on types and interfaces,
one inside another, skip and include, repeated fields that merge, arguments as literals, variables
and defaults. A response key stands for one field with one set of arguments throughout a document,
so that whatever is repeated can be merged.

Some documents are errands: they go straight to one field, each field of the schema in its turn. An
argument, a field of an input or a member of a list that was never given is given when it is met.
So whatever is in the schema is asked for sooner or later, however deep it lies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    Undefined,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
)

DEPTH_MAX = 6
"""Levels of fields and fragments."""
INPUT_DEPTH_MAX = 3
WRONG = 0.12
"""How often a name is one that is not there, or no name at all."""
ERRANDS = 0.25
"""How many documents go straight to one field."""
NONSENSE = ("", "nowhere", "A B", "/", "/nowhere/at/all", "x" * 70, "é", "a'b\"c\\", "../x", "1")
TIMES = ("2026-11-16T12:00:02Z", "1999-01-01T00:00:00Z", "2999-01-01T00:00:00+01:00")

STRINGS = {
    "BaseSourceInput.path": ("base/v12", "base"),
    "ComponentInput.path": ("components/night",),
    "ComponentInput.key": ("night", "image.tag"),
    "BindingInput.key": ("image.tag", "lanes"),
    "BindingInput.name": ("grill", "Deployment/grill"),
    "BindingInput.field": ("", "/spec/replicas"),
    "TemplateFileInput.name": ("a.yaml", "b.yaml"),
    "LateBoundInput.key": ("host", "store.id"),
    "LateBoundInput.source": ("", "{cluster}.example.com", "{size}-{cluster}"),
    "FieldTargetInput.object": ("Ingress/grill",),
    "FieldTargetInput.pointer": ("/spec/rules/0/host", "/metadata/name"),
    "DefineApplicationInput.reads": ("telemetry",),
    "SetPolicyInput.registries": ("registry.example.com", "registry.example:5000/pos"),
}
"""What is mostly written where not any text will do."""
VALUES: tuple[Any, ...] = (
    {"lanes": 2}, {"lanes": None}, {"lanes": "two"}, {"image": {"tag": "1.3"}}, {"host": "h-1"},
    {"items": [{"name": "a"}, {"name": "a"}]}, {"telemetry": {"traces": False}}, {"fleet": 1},
)  # fmt: skip
SCHEMAS: tuple[Any, ...] = (
    {"type": "object"}, {"properties": {"lanes": {"type": "integer"}}}, {"required": ["lanes"]},
    {"properties": {"lanes": {"pattern": "(a+)+"}}}, {"type": "array"},
)  # fmt: skip
KINDS = {
    "UnassignInput.name": "assignment", "AssignInput.name": "assignment",
    "ProhibitInput.name": "prohibition", "LiftProhibitionInput.name": "prohibition",
    "SetLayerInput.name": "layer", "RemoveLayerInput.name": "layer",
    "SetPolicyInput.name": "policy", "RemovePolicyInput.name": "policy",
    "GrantAccessInput.name": "grant", "RevokeAccessInput.name": "grant",
}  # fmt: skip
"""Whose names are expected where."""

Composite = GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType
Way = tuple[tuple[GraphQLObjectType | GraphQLInterfaceType, str], ...]
"""Fields, each of the type that the one before it leads to."""


@dataclass(frozen=True)
class Words:
    """What a fleet calls things, for documents that ask about it."""

    clusters: Sequence[str] = ()
    paths: Sequence[str] = ()
    keys: Sequence[str] = ()
    hierarchies: Sequence[str] = ()
    saved: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    applications: Sequence[str] = ()
    selectors: Sequence[str] = ()
    ids: Sequence[str] = ()
    pages: Sequence[str] = ()
    """Cursors of pages."""
    places: Sequence[str] = ()
    """Cursors of the log."""
    revision: int = 0
    """The newest; documents also ask for the one after it, if there are ``ahead``."""
    ahead: bool = True
    values: Sequence[Any] = ("small", "large", 1, 2.5, True, "é")


@dataclass(frozen=True)
class Generated:
    """A document and what is sent with it."""

    text: str
    variables: dict[str, Any]
    operation_name: str | None = None
    others: dict[str, Any] = field(default_factory=dict)
    """Other variables that fit as well: what was worked out for the first must not show."""


@dataclass
class Maker:
    """Makes documents; ``avoid`` names fields, as ``Type.field``, that are left out."""

    schema: GraphQLSchema
    rng: Random
    words: Words
    avoid: frozenset[str] = frozenset()
    errand_share: float = ERRANDS
    keys: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    variables: dict[str, tuple[str, str, Any, Any]] = field(default_factory=dict)
    """For each its type, its default as it is written, and two values; ``...`` for none."""
    fragments: dict[str, tuple[Composite, str]] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    """Arguments, fields of inputs and members of enums that were given at least once."""
    errands: dict[str, list[Way]] = field(default_factory=dict)
    """By root type, the ways still to go."""
    has_new: bool = False
    """Whether the document gives something that was never given."""

    def document(self) -> Generated:
        """One query."""
        root = self.schema.query_type
        assert root is not None
        straight = self._chance(self.errand_share)
        return self._made("query", root, self._errand if straight else self._anyhow)

    def mutation(self) -> Generated:
        """One mutation, each in its turn."""
        root = self.schema.mutation_type
        assert root is not None
        return self._made("mutation", root, self._errand)

    def _made(
        self, kind: str, root: GraphQLObjectType, select: Callable[[GraphQLObjectType], str]
    ) -> Generated:
        self.keys, self.variables, self.fragments, self.has_new = {}, {}, {}, False
        body = select(root)
        fragments = "".join(f"\n{text}" for _, text in self.fragments.values())
        several = self._chance(0.1)
        named = several or self._chance(0.4)
        head = f"{kind}{' Main' if named else ''}{self._definitions()}"
        if kind == "query" and not named and not self.variables and self._chance(0.5):
            head = ""
        other = "\nquery Other { fleet { revision } }" if several else ""
        given = {name: each[2] for name, each in self.variables.items() if each[2] is not ...}
        others = {name: each[3] for name, each in self.variables.items() if each[3] is not ...}
        name = "Main" if several else None
        return Generated(f"{head} {body}{fragments}{other}", given, name, others)

    def arguments(self, kind: GraphQLObjectType, name: str) -> str:
        """The arguments of one field, as literals."""
        parts = [
            f"{key}: {self._plain(each.type, self._value(each.type, f'{name}.{key}', 0))}"
            for key, each in kind.fields[name].args.items()
            if is_required_argument(each) or self._chance(0.6)
        ]
        return f"({', '.join(parts)})" if parts else ""

    # selections

    def _anyhow(self, root: GraphQLObjectType) -> str:
        return self._selections(root, 0)

    def _errand(self, root: GraphQLObjectType) -> str:
        """Straight to the next field in turn."""
        if not self.errands.get(root.name):
            self.errands[root.name] = list(self._ways(root, root is self.schema.query_type))
            self.rng.shuffle(self.errands[root.name])
        return self._along(root, self.errands[root.name].pop())

    def _ways(self, root: GraphQLObjectType, far: bool) -> Iterator[Way]:
        """The shortest way to every field that can be reached from ``root``, or that is near."""
        known = {root.name}
        waiting: list[tuple[Composite, Way]] = [(root, ())]
        for kind, way in waiting:
            fields = {} if isinstance(kind, GraphQLUnionType) else kind.fields
            for name, each in fields.items():
                if f"{kind.name}.{name}" in self.avoid:
                    continue
                assert not isinstance(kind, GraphQLUnionType)
                here = (*way, (kind, name))
                yield here
                inner = get_named_type(each.type)
                if not is_leaf_type(inner) and inner.name not in known and (far or not way):
                    known.add(inner.name)
                    waiting.append((inner, here))
            for member in self.schema.get_possible_types(kind) if is_abstract_type(kind) else ():
                if member.name not in known:
                    known.add(member.name)
                    waiting.append((member, way))

    def _along(self, kind: Composite, way: Way) -> str:
        if not way:
            return self._selections(kind, DEPTH_MAX - 1)
        (on, name), *rest = way
        chosen = on.fields[name]
        text = self._keyed(name, self._arguments(on, name, chosen), str(chosen.type))
        inner = get_named_type(chosen.type)
        if not is_leaf_type(inner):
            assert isinstance(inner, GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType)
            text = f"{text} {self._along(inner, tuple(rest))}"
        return "{ " + (text if on is kind else f"... on {on.name} {{ {text} }}") + " }"

    def _selections(self, kind: Composite, depth: int) -> str:
        count = self.rng.choice((1, 1, 2, 2, 3, 4)) if depth else self.rng.choice((1, 1, 1, 2))
        parts = [self._selection(kind, depth) for _ in range(count)]
        if self._chance(0.15):
            parts.append(self.rng.choice(parts))  # the same again, which merges
        return "{ " + " ".join(parts) + " }"

    def _selection(self, kind: Composite, depth: int) -> str:
        draw = self.rng.random()
        if depth < DEPTH_MAX:
            if draw < 0.1:
                return self._inline(kind, depth)
            if draw < 0.2:
                return self._spread(kind, depth)
        if isinstance(kind, GraphQLUnionType):
            return self._inline(kind, depth) if draw < 0.8 and depth < DEPTH_MAX else "__typename"
        if draw < 0.25:
            return self._keyed("__typename", "", "String!") + self._directives()
        return self._field(kind, depth)

    def _inline(self, kind: Composite, depth: int) -> str:
        inside = self._part(kind)
        condition = "" if inside is kind and self._chance(0.5) else f" on {inside.name}"
        return f"...{condition}{self._directives()} {self._selections(inside, depth + 1)}"

    def _spread(self, kind: Composite, depth: int) -> str:
        fitting = [
            name for name, (on, text) in self.fragments.items() if text and self._fits(on, kind)
        ]
        if fitting and self._chance(0.6):
            name = self.rng.choice(fitting)
        else:
            name = f"F{len(self.fragments)}"
            inside = self._part(kind)
            self.fragments[name] = (inside, "")  # it must not spread itself
            body = self._selections(inside, depth + 1)
            self.fragments[name] = (inside, f"fragment {name} on {inside.name} {body}")
        return f"...{name}{self._directives()}"

    def _part(self, kind: Composite) -> Composite:
        """A type that a fragment inside ``kind`` may be on."""
        if isinstance(kind, GraphQLObjectType):
            return self.rng.choice([kind, kind, *kind.interfaces])
        members = self.schema.get_possible_types(kind)
        return self.rng.choice([*members, kind])

    def _fits(self, on: Composite, kind: Composite) -> bool:
        return bool(self._members(on) & self._members(kind))

    def _members(self, kind: Composite) -> set[str]:
        if isinstance(kind, GraphQLObjectType):
            return {kind.name}
        return {each.name for each in self.schema.get_possible_types(kind)}

    def _field(self, kind: GraphQLObjectType | GraphQLInterfaceType, depth: int) -> str:
        fields = [
            (name, each)
            for name, each in kind.fields.items()
            if f"{kind.name}.{name}" not in self.avoid
            and (depth < DEPTH_MAX or is_leaf_type(get_named_type(each.type)))
        ]
        if not fields:
            return "__typename"
        name, chosen = self.rng.choice(fields)
        if depth == 0 and self._chance(0.6):  # where everything is
            name, chosen = "fleet", kind.fields["fleet"]
        arguments = self._arguments(kind, name, chosen)
        text = self._keyed(name, arguments, str(chosen.type)) + self._directives()
        inner = get_named_type(chosen.type)
        if is_leaf_type(inner):
            return text
        assert isinstance(inner, GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType)
        return f"{text} {self._selections(inner, depth + 1)}"

    def _keyed(self, name: str, arguments: str, kind: str) -> str:
        """The field under a response key that means the same wherever it stands."""
        meaning = (name, arguments, kind)
        known = [key for key, each in self.keys.items() if each == meaning]
        if known and self._chance(0.7):
            key = self.rng.choice(known)
        elif name not in self.keys and self._chance(0.8):
            key = name
        else:
            key = f"a{len(self.keys)}"
        self.keys[key] = meaning
        return f"{name}{arguments}" if key == name else f"{key}: {name}{arguments}"

    def _directives(self) -> str:
        if not self._chance(0.12):
            return ""
        kinds = self.rng.sample(("skip", "include"), self.rng.choice((1, 1, 2)))
        return "".join(f" @{kind}(if: {self._condition()})" for kind in kinds)

    def _condition(self) -> str:
        truth = self._chance(0.5)
        if self._chance(0.5):
            return json.dumps(truth)
        if self._chance(0.3):
            return self._variable("Boolean", json.dumps(truth), ..., not truth)
        return self._variable("Boolean!", "", truth, not truth)

    # arguments

    def _arguments(
        self, kind: GraphQLObjectType | GraphQLInterfaceType, name: str, chosen: GraphQLField
    ) -> str:
        parts: list[str] = []
        for key, argument in chosen.args.items():
            if is_required_argument(argument) or self._is_given(
                f"{kind}.{name}.{key}", argument, 0.5
            ):
                parts.append(f"{key}: {self._argument(name, key, argument)}")
        self.rng.shuffle(parts)
        return f"({', '.join(parts)})" if parts else ""

    def _argument(self, name: str, key: str, argument: GraphQLArgument) -> str:
        value = self._value(argument.type, f"{name}.{key}", 0)
        if not self._chance(0.3):
            return self._literal(argument.type, value)
        return self._by_variable(argument, value, f"{name}.{key}", 0)

    def _by_variable(
        self, position: GraphQLArgument | GraphQLInputField, value: Any, place: str, depth: int
    ) -> str:
        kind = str(position.type)
        other = self._other(lambda: self._value(position.type, place, depth))
        if self._chance(0.3) and value is not None:
            either = self.rng.choice((kind, kind.removesuffix("!")))
            return self._variable(either, self._plain(position.type, value), ..., other)
        nullable = not isinstance(position.type, GraphQLNonNull)
        absent = nullable and not self.has_new and self._chance(0.2)
        return self._variable(kind, "", ... if absent else value, other)

    def _other(self, make: Callable[[], Any]) -> Any:
        """A value that not every test sends, so that nothing is given by it."""
        given = set(self.given)
        made = make()
        self.given = given
        return made

    def _variable(self, kind: str, default: str, value: Any, other: Any) -> str:
        name = f"v{len(self.variables)}"
        self.variables[name] = (kind, default, value, other)
        return f"${name}"

    def _definitions(self) -> str:
        parts = [
            f"${name}: {kind}" + (f" = {default}" if default else "")
            for name, (kind, default, _, _) in self.variables.items()
        ]
        return f"({', '.join(parts)})" if parts else ""

    # values

    def _value(self, kind: Any, place: str, depth: int) -> Any:
        if isinstance(kind, GraphQLNonNull):
            return self._present(kind.of_type, place, depth)
        absent = self._chance(0.1) and not self._has_news(kind)
        return None if absent else self._present(kind, place, depth)

    def _present(self, kind: Any, place: str, depth: int) -> Any:
        if isinstance(kind, GraphQLList):
            count = max(self.rng.choice((0, 1, 1, 2, 3)), self._has_news(kind))
            return [self._value(kind.of_type, place, depth) for _ in range(count)]
        if isinstance(kind, GraphQLInputObjectType):
            return self._object(kind, depth + 1)
        if isinstance(kind, GraphQLEnumType):
            return self._least_given(kind.name, list(kind.values))
        return self._leaf(kind, place)

    def _is_given(
        self, place: str, what: GraphQLArgument | GraphQLInputField, share: float
    ) -> bool:
        """Whether something optional is given: always while that gives something new."""
        new = place not in self.given
        self.given.add(place)
        self.has_new |= new
        return new or self._has_news(what.type) or self._chance(share)

    def _least_given(self, kind: str, names: Sequence[str]) -> str:
        """One of some names, one that was never given first."""
        new = [each for each in names if f"{kind}.{each}" not in self.given]
        name = self.rng.choice(new or names)
        self.given.add(f"{kind}.{name}")
        self.has_new |= bool(new)
        return name

    def _has_news(self, kind: Any) -> bool:
        """Whether there is something in an input or an enum that was never given."""
        return self._news(get_named_type(kind), set())

    def _news(self, kind: Any, known: set[str]) -> bool:
        if kind.name in known or kind.name in self.given:
            return False
        known.add(kind.name)
        match kind:
            case GraphQLEnumType():
                news = any(f"{kind.name}.{each}" not in self.given for each in kind.values)
            case GraphQLInputObjectType():
                news = any(
                    f"{kind.name}.{name}" not in self.given
                    or self._news(get_named_type(each.type), known)
                    for name, each in kind.fields.items()
                )
            case _:
                news = False
        if not news and len(known) == 1:
            self.given.add(kind.name)  # all of it: nothing is left to look for
        return news

    def _object(self, kind: GraphQLInputObjectType, depth: int) -> dict[str, Any]:
        fields = list(kind.fields.items())
        if kind.is_one_of:
            plain = [each for each in fields if _is_plain(each[1])]
            among = [name for name, _ in (depth > INPUT_DEPTH_MAX and plain) or fields]
            news = [each for each in among if self._has_news(kind.fields[each].type)]
            name = self._least_given(kind.name, news if self._chance(0.5) and news else among)
            if "text" in kind.fields and self._chance(0.6):
                name = "text"
            inner = _bare(kind.fields[name].type)
            return {name: self._present(inner, f"{kind.name}.{name}", depth)}
        return {
            name: self._value(each.type, f"{kind.name}.{name}", depth)
            for name, each in fields
            if self._is_given(f"{kind.name}.{name}", each, 0.4) or is_required_input_field(each)
        }

    def _leaf(self, kind: GraphQLNamedType, place: str) -> Any:
        made: dict[str, Callable[[str], Any]] = {
            "Int": self._number,
            "Float": lambda _: self.rng.choice((0, 1.5, -2, 4096.0)),
            "Boolean": lambda _: self._chance(0.5),
            "String": self._string,
            "ID": lambda _: self._one_of(self.words.ids),
            "Name": self._name,
            "GroupPath": lambda _: self._one_of(self.words.paths),
            "Revision": lambda _: self._revision(),
            "RevisionOrTime": lambda _: self.rng.choice((self._revision(), *TIMES)),
            "Cursor": lambda _: self.rng.choice(self.words.places),
            "LabelValue": lambda _: self.rng.choice(tuple(self.words.values)),
            "JSON": self._json,
        }
        return made[kind.name](place)

    def _number(self, place: str) -> int:
        if place.endswith((".first", ".depth")):
            return self.rng.choice((0, 1, 2, 2, 3, 3, 5, 7, -1))
        return self.rng.choice((0, 1, 2, 5, 10, 1000, -1))

    def _string(self, place: str) -> str:
        if place.endswith(".text"):
            return self._one_of(self.words.selectors)
        if place.endswith(".after"):
            return self._one_of(self.words.pages)
        if place.endswith(".comparison"):
            return self.rng.choice(("=", "!=", "<", "<=", ">", ">=", "~"))
        if place.endswith("LabelInput.value"):
            return self.rng.choice(("gold", "iron", "tin"))
        if place in STRINGS:
            return self._one_of(STRINGS[place])
        return self.rng.choice(("", "because", "ana", *NONSENSE))

    def _json(self, place: str) -> Any:
        odd = ({}, {"a": {"b": [1, 1.0, True, None]}}, [], "x")
        return self.rng.choice((*odd, *(SCHEMAS if place.endswith("schema") else VALUES)))

    def _name(self, place: str) -> str:
        words = self.words
        pools = {"WorkloadLabelInput.key": ("tier",), "key": words.keys, "label": words.keys}
        pools |= {"hierarchy": words.hierarchies}
        pools |= {"saved": words.saved, "savedSelector.name": words.saved}
        pools |= {"namespace": words.namespaces, "namespace.name": words.namespaces}
        pools |= {"application": words.applications, "application.name": words.applications}
        pools |= {"ApplicationInput.name": (*words.applications, "new")}
        pools |= {"NamespaceInput.name": (*words.namespaces, "new")}
        pools |= {"applications": words.applications, "dependsOn": words.applications}
        pools |= {"namespaces": words.namespaces, "requiredLabels": ("tier",)}
        pools |= {"OrderHierarchiesInput.names": words.hierarchies}
        pools |= {end: self._known(kind) for end, kind in KINDS.items()}
        for end, pool in pools.items():
            if place.endswith(end):
                return self._one_of(pool)
        return self._one_of(words.clusters)

    def _known(self, kind: str) -> list[str]:
        """Names of objects of a kind, as far as their ids are known, and a new one."""
        ids = (each.partition(":") for each in self.words.ids)
        return [*(name for of, _, name in ids if of == kind), "new"]

    def _revision(self) -> int:
        head = self.words.revision
        return self.rng.choice((0, 1, max(head - 1, 0), head, head, head + self.words.ahead))

    def _one_of(self, pool: Sequence[str]) -> str:
        if not pool or self._chance(WRONG):
            return self.rng.choice(NONSENSE)
        return self.rng.choice(pool)

    # how values are written

    def _literal(self, kind: Any, value: Any) -> str:
        """The value as a literal; parts of it may be variables."""
        return self._written(kind, value, vary=True)

    def _plain(self, kind: Any, value: Any) -> str:
        """The value as a literal without variables, as a default must be."""
        return self._written(kind, value, vary=False)

    def _written(self, kind: Any, value: Any, *, vary: bool) -> str:
        bare = _bare(kind)
        if value is None:
            return "null"
        if isinstance(bare, GraphQLList):
            return f"[{', '.join(self._written(bare.of_type, each, vary=vary) for each in value)}]"
        if isinstance(bare, GraphQLInputObjectType):
            parts = [
                f"{name}: {self._part_of_object(bare, name, each, vary=vary)}"
                for name, each in value.items()
            ]
            return "{" + ", ".join(parts) + "}"
        return str(value) if isinstance(bare, GraphQLEnumType) else _json(value)

    def _part_of_object(
        self, kind: GraphQLInputObjectType, name: str, value: Any, *, vary: bool
    ) -> str:
        inner = kind.fields[name]
        if not vary or not self._chance(0.15):
            return self._written(inner.type, value, vary=vary)
        place = f"{kind.name}.{name}"
        if kind.is_one_of:  # a variable there may not be null
            other = self._other(lambda: self._present(_bare(inner.type), place, INPUT_DEPTH_MAX))
            return self._variable(f"{_bare(inner.type)}!", "", value, other)
        return self._by_variable(inner, value, place, INPUT_DEPTH_MAX)

    def _chance(self, share: float) -> bool:
        return self.rng.random() < share


def _json(value: Any) -> str:
    """JSON as a literal: the keys of objects are bare."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_json(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value)


def _bare(kind: Any) -> Any:
    return kind.of_type if isinstance(kind, GraphQLNonNull) else kind


def _is_plain(given: GraphQLInputField) -> bool:
    inner = _bare(given.type)
    return inner is not Undefined and is_leaf_type(inner)
