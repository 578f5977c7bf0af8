"""What is wrong with text that is no selector, in plain words.

The parser knows which tokens could have come next; people want to know what *kind of thing* was
missing, and which habit from another language led them here.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import cast

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from graph.model.errors import SelectorInvalid, Span
from graph.model.names import quoted, shortened

KEYWORDS = frozenset(
    {"and", "or", "not", "except", "all", "only"}
    | {"cluster", "namespace", "in", "has", "true", "false"}
)
KEY_PREFIX = rf"(?!(?:{'|'.join(sorted(KEYWORDS))})/)[\w.-]+/"
"""The prefix of a bare label key, as a regular expression; ``not/geo`` is ``not /geo``."""

_CLAUSE = (
    "a clause: /path, key = value, has key, cluster name, namespace name, @name, all, not, or ("
)
_COMPARISON = "a comparison after the key: = != < <= > >= or in (...)"
_NAME = "a name"
_CONNECTIVE = "and, or, except, or the end"

_EXPECTED = (
    ("COMPARISON", _COMPARISON),
    ("VALUE", "a value: a word, a number, true, false, or quoted text"),
    ("NAME", _NAME),
    ("_COMMA", "a comma or a closing parenthesis"),
    ("ALL", _CLAUSE),
    ("PATH", "a group path after only"),
    ("KEY", "a label key"),
    ("_OPEN", "an opening parenthesis after in, as size in (small, large)"),
)
"""The first of these that could have come next says where in the grammar we stand."""

_HABITS = {
    "&": "write and",
    "|": "write or",
    "!": "write not",
    "'": "text is quoted with double quotes",
    "*": "* stands for one whole segment of a path; in a value, quote it",
}

_WORD = re.compile(r"[\w.:+-]+")
_KEY = re.compile(r"[\w.:+-]+(?:/[\w.:+-]+)?")


def complaint(error: UnexpectedInput, text: str) -> SelectorInvalid:
    """The refusal of ``text`` that the parser's ``error`` amounts to."""
    position, found = _offender(error, text)
    expected = _expected(error)
    return (
        _wrong_case(text, position, found)
        or (_no_key(text, position, found) if expected == _COMPARISON else None)
        or _plain(text, position, found, expected)
    )


def keyword_as_key(text: str, position: int, word: str) -> SelectorInvalid:
    """The refusal of a bare keyword where a clause begins."""
    return _refusal(
        f"{quoted(word)} is a keyword; expected {_CLAUSE}",
        text,
        position,
        len(word),
        hint=f'a label key that equals a keyword is quoted: "{word}" = value',
    )


def _wrong_case(text: str, position: int, word: str) -> SelectorInvalid | None:
    if word in KEYWORDS or word.lower() not in KEYWORDS:
        return None
    return _refusal(
        f"{quoted(word)} is not a keyword",
        text,
        position,
        len(word),
        hint=f"keywords are lower-case: {word.lower()}",
    )


def _no_key(text: str, position: int, found: str) -> SelectorInvalid | None:
    """A bare word that no comparison follows, with what it may have been meant as."""
    word, start = _key_before(text, position)
    if not word:
        return None
    if refusal := _wrong_case(text, start, word):
        return refusal
    if word in KEYWORDS:
        return keyword_as_key(text, start, word)
    goes_on = found.startswith("/") and start + len(word) == position
    if goes_on or "/" in word:
        whole = word + found if goes_on else word
        or_key = "" if goes_on else f"; or compare the label: {shortened(word)} = value"
        return _refusal(
            f"{quoted(whole)} is not a group path",
            text,
            start,
            len(whole),
            hint=f"a path starts with a slash: /{shortened(whole)}{or_key}",
        )
    if found and not _WORD.fullmatch(found):
        return None
    shown = shortened(word)
    return _refusal(
        f"{quoted(word)} is no clause by itself; expected {_COMPARISON}",
        text,
        start,
        len(word),
        hint=f"write key = {shown}, has {shown}, /{shown} or @{shown}",
    )


def _plain(text: str, position: int, found: str, expected: str) -> SelectorInvalid:
    if not found:
        missing = "a closing parenthesis" if expected == _CONNECTIVE else expected
        message, hint = f"the selector ends too early; expected {missing}", ""
        return _refusal(message, text, len(text.rstrip()), 1, hint=hint)
    if found == '"' and expected != _CONNECTIVE:
        return _refusal(
            "the quoted text is never closed",
            text,
            position,
            len(text) - position,
            hint='end it with "; inside, write \\" for a quote',
        )
    hint = _HABITS.get(found, "")
    if found == "=" and text[position - 1 : position] == "=":
        hint = "one = compares"
    if expected == _NAME and found in "!=<>":
        hint = 'a label key that equals a keyword is quoted: "cluster" = value'
    message = f"{quoted(found)} cannot stand here; expected {expected}"
    return _refusal(message, text, position, len(found), hint=hint)


def _refusal(message: str, text: str, at: int, length: int, *, hint: str) -> SelectorInvalid:
    return SelectorInvalid(message, text=text, span=Span(at + 1, max(length, 1)), hint=hint)


def _offender(error: UnexpectedInput, text: str) -> tuple[int, str]:
    """Where the parser stopped, and the word or sign there; no word at the end of the text."""
    if isinstance(error, UnexpectedToken):
        token = cast("Token", error.token)  # pyright: ignore[reportUnknownMemberType] lark's own
        if token.type == "$END":
            return len(text), ""
        return token.start_pos or 0, str(token)
    position = error.pos_in_stream or 0
    word = _WORD.match(text, position)
    return position, word.group() if word else text[position : position + 1]


def _key_before(text: str, position: int) -> tuple[str, int]:
    """The key that ends before ``position`` and where it starts; looked for backwards, and once."""
    end = len(text[:position].rstrip())
    backwards = _KEY.match(text[:end][::-1])
    start = end - (backwards.end() if backwards else 0)
    return text[start:end], start


def _expected(error: UnexpectedInput) -> str:
    names: Collection[str] = ()
    if isinstance(error, UnexpectedToken):
        names = error.expected
    elif isinstance(error, UnexpectedCharacters):
        names = error.allowed or ()
    return next((words for name, words in _EXPECTED if name in names), _CONNECTIVE)
