"""Files of commands: JSON lines and YAML, read strictly, and the way back.

JSON lines are a stream: one command a line, one line in memory, files of any length. YAML is for
people: a file of documents, each a command or a list of commands, read whole and bounded. Every
refusal names the file and the line or document, says what is wrong there and what to do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from cli.document_models import SHAPES
from cli.running import interrupted_at_once
from graph.model.command import Command, Revert
from graph.model.errors import Invalid, NotFound
from graph.model.names import did_you_mean, nearest, quoted
from graph.model.workload import Base, Template
from graph.model.workload_command import Assign, Prohibit
from renderer import canonical

LINE_BYTES_MAX = 1024 * 1024
YAML_BYTES_MAX = 32 * 1024 * 1024
STANDARD_INPUT = "-"

JSON_LINES = (".jsonl", ".ndjson", ".json")
YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Placed:
    """A command, and where in which file it stands."""

    command: Command
    where: str


def read_commands(file: str) -> Iterator[Placed]:
    """The commands of ``file`` in order; ``-`` is standard input, as JSON lines."""
    if file == STANDARD_INPUT:
        yield from _json_lines(_piped, "standard input")
        return
    path = Path(file)
    suffix = path.suffix.lower()
    if suffix not in (*JSON_LINES, *YAML):
        raise Invalid(
            f"{quoted(file)} is neither JSON lines nor YAML",
            hint=f"name it {', '.join((*JSON_LINES, *YAML))}, or pipe JSON lines into -",
        )
    try:
        with path.open("rb") as stream:
            if suffix in JSON_LINES:
                yield from _json_lines(stream.readline, file)
            else:
                yield from _yaml(stream, file)
    except FileNotFoundError:
        raise NotFound(f"there is no file {quoted(file)}", hint="check the path") from None
    except OSError as error:
        raise Invalid(
            f"{quoted(file)} cannot be read: {error.strerror or error}",
            hint="give a file this user may read",
        ) from None


def command_of(document: object) -> Command:
    """The command one document states."""
    if not isinstance(document, Mapping) or len(cast("Mapping[object, object]", document)) != 1:
        raise Invalid(
            "a command is a mapping with one key",
            hint='write {"join": {"cluster": "...", "group": "/..."}}',
        )
    ((key, body),) = cast("Mapping[object, object]", document).items()
    found = SHAPES.get(key) if isinstance(key, str) else None
    if found is None:
        close = nearest(str(key), SHAPES)
        raise Invalid(
            f"there is no command {quoted(str(key))}",
            hint=did_you_mean(close) or f"use {', '.join(SHAPES)}",
        )
    shape, command = found
    try:
        return command(**shape.model_validate(body).given())
    except ValidationError as error:
        raise _refusal(str(key), error) from None


def document_of(command: Command) -> dict[str, Any]:
    """The document that states ``command``; the inverse of ``command_of``."""
    if isinstance(command, Revert):
        raise Invalid("a revert has no form in a file", hint="use trellis revert")
    for field in ("selector", "scope", "requires"):
        if not isinstance(getattr(command, field, None), str | None):
            raise Invalid(
                f"the {field} of {quoted(str(getattr(command, 'name', '')))} is a tree",
                hint="give its canonical text; files hold text",
            )
    name = type(command).__name__
    return {name[0].lower() + name[1:]: _plain(command)}


def json_line(command: Command) -> str:
    """``command`` as one line of JSON, its line break included."""
    return json.dumps(document_of(command), ensure_ascii=False, separators=(",", ":")) + "\n"


def _piped(size: int) -> bytes:
    """A line of standard input, which may be long in coming."""
    with interrupted_at_once():
        return sys.stdin.buffer.readline(size)


def _json_lines(readline: Callable[[int], bytes], file: str) -> Iterator[Placed]:
    number = 0
    while line := readline(LINE_BYTES_MAX + 1):
        number += 1
        where = f"{file}, line {number:,}"
        if len(line) > LINE_BYTES_MAX:
            raise Invalid(
                f"{where}: the line is longer than {LINE_BYTES_MAX:,} bytes",
                hint="write one command a line",
            )
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield Placed(_placed(_json(line, where), where), where)


def _json(line: bytes, where: str) -> object:
    try:
        document: object = json.loads(
            line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
        if b"\\u" in line:  # an escape can write half a character, which no file could hold
            json.dumps(document, ensure_ascii=False).encode("utf-8")
        return document
    except Invalid as error:
        raise Invalid(f"{where}: {error.message}", hint=error.hint) from None
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{where}: byte {error.start + 1:,} is not UTF-8", hint="save the file as UTF-8"
        ) from None
    except UnicodeEncodeError:
        raise Invalid(
            f"{where}: an escape stands for half a character", hint="write whole characters"
        ) from None
    except json.JSONDecodeError as error:
        raise Invalid(
            f"{where}: this is not JSON: {error.msg} at column {error.colno:,}",
            hint="write one JSON object a line",
        ) from None
    except (ValueError, RecursionError):
        raise Invalid(
            f"{where}: a number too long or a value too deep", hint="write plain commands"
        ) from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise Invalid(f"the key {quoted(key)} is given twice", hint="keep one of the two")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise Invalid(f"{name} is not a number", hint="leave the value out")


def _yaml(stream: BinaryIO, file: str) -> Iterator[Placed]:
    data = stream.read(YAML_BYTES_MAX + 1)
    if len(data) > YAML_BYTES_MAX:
        raise Invalid(
            f"{file}: more than {YAML_BYTES_MAX:,} bytes of YAML",
            hint="write JSON lines, which have no bound",
        )
    try:
        documents = list(canonical.read_all(data.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{file}: byte {error.start + 1:,} is not UTF-8", hint="save the file as UTF-8"
        ) from None
    except Invalid as error:
        raise Invalid(f"{file}: {error.message}", hint=error.hint) from None
    for number, document in enumerate(documents, start=1):
        where = f"{file}, document {number:,}"
        if not isinstance(document, list):
            yield Placed(_placed(document, where), where)
            continue
        for position, item in enumerate(cast("list[object]", document), start=1):
            place = f"{where}, item {position:,}"
            yield Placed(_placed(item, place), place)


def _placed(document: object, where: str) -> Command:
    try:
        return command_of(document)
    except Invalid as error:
        raise Invalid(f"{where}: {error.message}", hint=error.hint) from None


def _refusal(key: str, error: ValidationError) -> Invalid:
    """The first fault pydantic found, in our words."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    at = ".".join(str(part) for part in (key, *first["loc"]))
    message = first["msg"][:1].lower() + first["msg"][1:]
    match first["type"]:
        case "extra_forbidden":
            known = [to_camel(name) for name in SHAPES[key][0].model_fields]
            close = nearest(str(first["loc"][-1]), known, count=1)
            hint = did_you_mean(close) or f"{key} has {', '.join(known)}"
            return Invalid(f"{at} is not a field", hint=hint)
        case "missing":
            return Invalid(f"{at} is missing", hint="add it")
        case _:
            return Invalid(f"{at}: {message}", hint="correct the value; types are not converted")


@cache
def _camel(name: str) -> str:
    return to_camel(name)


def _plain(value: object) -> Any:
    """A noun as plain data: fields that have their default are left out."""
    match value:
        case Assign() | Prohibit():
            whole = _fields(value)
            plain: Any = {**whole.pop("choice", {}), **whole}
        case Base() | Template():
            plain = {type(value).__name__.lower(): _fields(value)}
        case Mapping():
            items = cast("Mapping[str, object]", value).items()
            plain = {key: _plain(item) for key, item in items}
        case Enum():
            plain = value.value
        case tuple():
            plain = [_plain(item) for item in cast("tuple[object, ...]", value)]
        case _:
            plain = _fields(value) if is_dataclass(value) else value
    return plain


def _fields(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(value):
        held = getattr(value, each.name)
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        if default is MISSING or held != default:
            found[_camel(each.name)] = _plain(held)
    return found
