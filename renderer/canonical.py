"""YAML, read strictly and written one way. The only importer of YAML in the house.

Reading. A plain word is text unless it is plainly not: ``true``, ``false``, ``null`` and decimal
numbers are values, everything else is kept exactly as written. ``no`` stays ``"no"``, ``00042``
stays ``"00042"``, ``12:30`` and ``2026-12-24`` stay what they look like. What could surprise is
refused: a key given twice, aliases (one line of them can stand for a billion values), tags, nesting
beyond ``DEPTH_MAX`` and text beyond ``TEXT_LENGTH_MAX``.

Writing. Equal values give equal bytes, keys stay in the order of the value, nothing is folded, and
text that any reader of YAML 1.1 or 1.2 might take for something else is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import cast

import yaml

from graph.model.errors import Invalid
from graph.model.names import quoted

DEPTH_MAX = 64
TEXT_LENGTH_MAX = 32 * 1024 * 1024

_NULL = re.compile(r"(?:~|null|)")
_BOOLEAN = re.compile(r"(?:true|false)")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_DOUBTFUL = re.compile(r"[-+.0-9].*|(?:y|n|yes|no|on|off|true|false|null|~)", re.I | re.S)
_DIGITS_MAX = 400
_SEPARATOR = re.compile(r"---(?:\s|$)")
_NOTHING = re.compile(r"\s*(?:#.*)?")


class Malformed(Invalid):
    """Text that no reader of YAML takes, with the line at which that was found."""

    def __init__(self, message: str, hint: str, line: int) -> None:
        super().__init__(message, hint=hint)
        self.line = line

    @property
    def problem(self) -> str:
        """What is wrong, without the place."""
        return self.message.partition(" (line ")[0]


class RepeatedKey(Malformed):
    """A key that is given twice. Some readers take the last one; those of objects take neither."""


def read(text: str) -> object:
    """The one document in ``text``."""
    documents = list(read_all(text))
    if len(documents) != 1:
        raise Invalid(
            f"expected one YAML document and found {len(documents):,}",
            hint="documents are separated by a line with ---",
        )
    return documents[0]


def read_all(text: str) -> Iterator[object]:
    """Every document in ``text``, in order."""
    if len(text) > TEXT_LENGTH_MAX:
        raise Invalid(
            f"{len(text):,} characters of YAML are too many",
            hint=f"use at most {TEXT_LENGTH_MAX:,}, or JSON lines, which have no bound",
        )
    try:
        _check_events(_Loader(text))
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            assert node is not None, "there is a node after check_node"
            yield _value(node)
    except UnicodeEncodeError:
        raise Invalid("the text holds a lone surrogate", hint="save the file as UTF-8") from None
    except yaml.YAMLError as error:
        raise _refusal(error) from None


def check_syntax(text: str) -> None:
    """Refuse text that is no YAML; tags, aliases and repeated keys are whoever reads it's own."""
    loader = _Loader(text)
    try:
        while loader.get_event() is not None:
            pass
    except UnicodeEncodeError:
        raise Malformed("the text holds a lone surrogate", "save the file as UTF-8", 0) from None
    except yaml.YAMLError as error:
        raise _refusal(error) from None


def line_of_document(text: str, number: int) -> int:
    """The first line of the document of that number, both counted as they are read."""
    lines = text.split("\n")
    begins = [at + 1 for at, line in enumerate(lines) if _SEPARATOR.match(line)]
    before = lines[: begins[0] - 1] if begins else lines
    if not all(map(_NOTHING.fullmatch, before)):
        begins.insert(0, 0)
    at = begins[min(max(number, 0), len(begins) - 1)] if begins else 0
    while at + 1 < len(lines) and _NOTHING.fullmatch(lines[at]):
        at += 1
    return min(at, len(lines) - 1) + 1


def write(value: object) -> str:
    """``value`` as one YAML document."""
    return yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=2**31,
    )


class _Loader(yaml.CSafeLoader):
    """Parses and composes in C. Values are made of nodes here, not by its constructor."""


def _check_events(loader: _Loader) -> None:
    """Refuse what must not even be composed: composing recurses, and follows aliases."""
    depth = 0
    while (event := loader.get_event()) is not None:
        match event:
            case yaml.AliasEvent():
                raise _refused(event, "aliases are not read", "write the value out in each place")
            case yaml.CollectionStartEvent():
                depth += 1
                if depth > DEPTH_MAX:
                    raise _refused(
                        event, f"nested more than {DEPTH_MAX} levels", "make the document flatter"
                    )
            case yaml.CollectionEndEvent():
                depth -= 1
            case _:
                pass
        tag = cast("str | None", getattr(event, "tag", None))
        if tag is not None:
            raise _refused(event, f"the tag {quoted(tag)} is not read", "leave the tag out")


def _value(node: yaml.Node) -> object:
    match node:
        case yaml.MappingNode():
            return _mapping(node)
        case yaml.SequenceNode():
            return [_value(item) for item in cast("list[yaml.Node]", node.value)]
        case yaml.ScalarNode():
            text = cast("str", node.value)
            return text if node.style else _scalar(node, text)
        case _:
            raise _refused(node, "this is no value", "write a mapping, a list or a scalar")


def _mapping(node: yaml.MappingNode) -> dict[Hashable, object]:
    found: dict[Hashable, object] = {}
    for key_node, value_node in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
        key = _value(key_node)
        if isinstance(key, dict | list):
            raise _refused(key_node, "a key is a list or a mapping", "use text as a key")
        if key in found:
            twice = _refused(
                key_node, f"the key {quoted(str(key))} is given twice", "keep one of the two"
            )
            raise RepeatedKey(twice.message, twice.hint, _line(key_node))
        found[key] = _value(value_node)
    return found


def _scalar(node: yaml.ScalarNode, text: str) -> object:
    """What a plain word means; block and quoted text never comes here."""
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text == "true"
    if len(text) > _DIGITS_MAX and _FLOAT.fullmatch(text):
        raise _refused(node, f"a number of {len(text):,} digits", "quote it if it is text")
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


class _Dumper(yaml.SafeDumper):
    """Quotes doubtful text, and indents lists so that people see what they belong to."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    node = dumper.represent_str(text)
    if _DOUBTFUL.fullmatch(text):
        node.style = '"'
    elif "\n" in text:
        node.style = "|"
    return node


_Dumper.add_representer(str, _represent_text)


def _refused(where: yaml.Event | yaml.Node, message: str, hint: str) -> Invalid:
    mark = where.start_mark
    assert mark is not None, "what was parsed from text has a place in it"
    return Invalid(f"{message} (line {mark.line + 1:,}, column {mark.column + 1:,})", hint=hint)


def _line(node: yaml.Node) -> int:
    assert node.start_mark is not None, "what was parsed from text has a place in it"
    return node.start_mark.line + 1


def _refusal(error: yaml.YAMLError) -> Malformed:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        said = f"{error.problem} (line {mark.line + 1:,}, column {mark.column + 1:,})"
        return Malformed(said, "correct the YAML there", mark.line + 1)
    return Malformed(str(error).splitlines()[0], "correct the YAML", 0)
