"""Jinja2, as far as a definition may use it. Its only importer, and it runs in the sandbox's child.

A template sees the values it is given and nothing else: no files but its own, no clock, no chance,
no attribute that begins with an underscore, nothing it could change. A name that is not there is an
error and never empty. What an expression gives arrives as what it is: text as text, a number as a
number; maps and lists through ``| yaml``. Every refusal names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, cast

from jinja2 import (
    DictLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    Undefined,
    UndefinedError,
    pass_context,
)
from jinja2.exceptions import SecurityError
from jinja2.filters import do_indent, do_trim
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from graph.model.names import did_you_mean, nearest, quoted
from renderer.failure import Failure, Unrenderable
from renderer.flow import flow
from renderer.limits import Limits
from renderer.pasted import Captured, Data, Pasted, Spelled, capture, mark, unmark

Parts = list[str]
"""What a file gave, piece by piece: see ``renderer.pasted``."""

_LEFT_OUT = (
    # By chance, or by where something lies in memory: other bytes in another process.
    *("random", "pprint"),
    # Made for HTML, and wrong anywhere else.
    *("e", "escape", "forceescape", "safe", "striptags", "urlize", "xmlattr"),
    # A second way to an attribute, and nobody needs it.
    "attr",
)
_NAME = re.compile(r"'([^']+)' is undefined|has no attribute '([^']+)'")
_KEPT_FROM_TEMPLATES = "leave it out: a template sees its values and can change nothing"


class TooLong(BaseException):
    """Raised into whatever is at work when its time is over. Nothing on the way catches it."""


class Definition:
    """The files of one definition, compiled when first used."""

    def __init__(self, files: Mapping[str, str], limits: Limits) -> None:
        self._files = files
        self._environment = _Environment(loader=DictLoader(files))
        self._limits = limits

    def render(self, file: str, values: Mapping[str, object], left: int) -> Parts:
        """What ``file`` gives, or ``Unrenderable``; ``left`` characters are left to all files."""
        parts: Parts = []
        length, length_max = 0, min(left, self._limits.file_length_max)
        with self._telling(file, values):
            template, pieces = self._pieces(file, values)
            for part in pieces:
                parts.append(part)
                length += len(part)
                if length > length_max:
                    failure = self._limits.too_much(length, file, _line(template, pieces))
                    raise Unrenderable(failure)
        return parts

    def line_of(self, file: str, values: Mapping[str, object], output_line: int) -> int:
        """The line of ``file`` that gave a line of its output, as near as can be told."""
        template, pieces = self._pieces(file, values)
        reached, found = 1, 1
        for part in pieces:
            here = [part] if isinstance(part, Pasted) else part.split("\n")
            if not 0 <= output_line - reached < len(here):
                reached += len(here) - 1
                continue
            line = _line(template, pieces)
            said = here[output_line - reached].strip()
            found = self._written(file, said, line) if said and type(part) is str else line
            reached += len(here) - 1
        return found

    def _written(self, file: str, said: str, line: int) -> int:
        """Where ``said`` is written, at ``line`` or further down: plain text has no line itself."""
        lines = self._files[file].split("\n")
        further = (at for at, each in enumerate(lines[line - 1 :], line) if said in each)
        return next(further, line)

    def _pieces(self, file: str, values: Mapping[str, object]) -> tuple[Template, Iterator[str]]:
        template = self._environment.get_template(file)
        return template, template.root_render_func(template.new_context(dict(values)))

    @contextmanager
    def _telling(self, file: str, values: Mapping[str, object]) -> Generator[None]:
        try:
            yield
        except Unrenderable:
            raise
        except (Exception, TooLong) as error:
            raise Unrenderable(_failure(error, file, values, self._limits)) from None


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, with less in it and with its text kept apart."""

    concat = staticmethod(capture)  # macros and blocks end up here

    def __init__(self, loader: DictLoader) -> None:
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            finalize=_finalize,
            autoescape=False,
            auto_reload=False,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        for name in _LEFT_OUT:
            del self.filters[name]
        del self.globals["lipsum"]
        # What Jinja2 calls a namespace; here that is where an application runs.
        self.globals["scope"] = self.globals.pop("namespace")
        self.filters.update(_FILTERS)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """``values.items`` is the value called so; the method, where no value is."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]  # pyright: ignore[reportUnknownVariableType]  # what was given
        return super().getattr(obj, attribute)


@pass_context  # what is known beforehand would be pasted as if its author had written it
def _finalize(_: Context, value: object) -> str:
    """What an expression gives, as a piece of output."""
    if isinstance(value, Spelled | Data | Captured):
        return value
    if isinstance(value, str):
        return Pasted(value)
    if value is None or isinstance(value, bool | int | float):
        return Spelled(flow(value))
    if isinstance(value, Undefined):
        return str(value)  # raises, and says which name
    if isinstance(value, dict | list | tuple):
        raise _NoText(f"a {'map' if isinstance(value, dict) else 'list'} is no text")
    raise _NoText("this is nothing that can be written")


class _NoText(TemplateError):
    """An expression gave what cannot stand in a text."""


def _spell(value: object) -> str:
    """Data on one line, for YAML and JSON alike."""
    text = flow(_plain(value))
    return (Data if text[0] in '"[{' else Spelled)(text)


def _plain(value: object) -> object:
    if isinstance(value, Undefined):
        return str(value)  # raises
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        held = cast("dict[object, object]", value)
        return {_key(key): _plain(item) for key, item in held.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[object]", value)]
    return value


def _key(key: object) -> str:
    return str.__str__(key) if isinstance(key, str) else flow(key)


def _quote(value: object) -> str:
    """Anything as quoted text."""
    return _spell(value if isinstance(value, str | Undefined) else flow(_plain(value)))


def _keeping_apart(change: Callable[..., str]) -> Callable[..., str]:
    """A filter of layout: what a macro gave is still known apart behind it."""

    def changed(text: str, *arguments: object, **options: object) -> str:
        if not isinstance(text, Captured):
            return change(text, *arguments, **options)
        marked, texts = mark(text.parts)
        return unmark(change(marked, *arguments, **options), texts)

    return changed


_FILTERS: dict[str, Callable[..., Any]] = {
    "yaml": _spell,
    "json": _spell,
    "tojson": _spell,
    "quote": _quote,
    "indent": _keeping_apart(do_indent),
    "trim": _keeping_apart(do_trim),
}


def _line(template: Template, pieces: Iterator[str]) -> int:
    frame = getattr(pieces, "gi_frame", None)
    return template.get_corresponding_lineno(frame.f_lineno) if frame is not None else 0


def _failure(
    error: BaseException, file: str, values: Mapping[str, object], limits: Limits
) -> Failure:
    if isinstance(error, TemplateSyntaxError):
        return Failure(
            error.message or "cannot be read",
            hint="correct the template there",
            file=error.name or file,
            line=error.lineno,
        )
    place, line = _place(error.__traceback__, file)
    if isinstance(error, TooLong):
        return limits.too_long(place, line)
    if isinstance(error, MemoryError):
        return limits.too_large(place, line)
    message, hint = _told(error, values)
    return Failure(message, hint, place, line)


def _place(traceback: TracebackType | None, file: str) -> tuple[str, int]:
    """The innermost file and line of a template that was at work."""
    line = 0
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            file = template.name or file
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return file, line


def _told(error: BaseException, values: Mapping[str, object]) -> tuple[str, str]:
    text = str(error).partition("\n")[0] or type(error).__name__
    if isinstance(error, UndefinedError):
        return text, _hint_for_missing(text, values)
    if isinstance(error, TemplateNotFound):
        return f"there is no file {quoted(str(error))} beside it", "include files of its own"
    for kind, message, hint in _TOLD:
        if isinstance(error, kind):
            return message or text, hint
    return text, "look at the types of the values there"


_TOLD: tuple[tuple[type[Exception], str, str], ...] = (
    (SecurityError, "", _KEPT_FROM_TEMPLATES),
    (OSError, "needs something outside", _KEPT_FROM_TEMPLATES),
    (_NoText, "", "write {{ ... | yaml }} for a map or a list, and name() for a method"),
    (RecursionError, "calls itself too deeply", "let it end, or make it flatter"),
    (SyntaxError, "is too deeply nested", "make it flatter"),
    (OverflowError, "", "make it smaller"),
)
"""What is said of an error instead of what it says itself, and what to do."""


def _hint_for_missing(text: str, values: Mapping[str, object]) -> str:
    found = _NAME.search(text)
    meant = did_you_mean(nearest(found[1] or "", values)) if found else ""
    return meant or "give the value in a layer or a default, or write | default(...)"
