"""Text to tree.

``parse`` reads a selector against a view and returns the tree with every name looked up. What it
refuses, it refuses with the column: ``SelectorInvalid`` for text that is no selector here,
``SelectorNotFound`` for names that are not there. Every bound is checked before anything could
grow with it, and no step recurses, so hostile text costs no more than honest text of its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeGuard

from lark import Token, Tree

from graph.model.errors import SelectorInvalid, Span
from graph.model.inventory import LabelKey
from graph.model.names import RESERVED_HIERARCHIES, shortened
from graph.model.selector import (
    And,
    Comparison,
    Everything,
    Except,
    HasLabel,
    LabelIn,
    LabelIs,
    Not,
    Or,
    Selector,
    SelectorValue,
)
from graph.model.view import FleetView
from graph.targeting.complaint import KEYWORDS, keyword_as_key
from graph.targeting.grammar import ParseTree, read
from graph.targeting.lookup import Lookup
from graph.targeting.missing import Segment
from graph.targeting.normal import (
    CLAUSES_MAX,
    DEPTH_MAX,
    LIST_LENGTH_MAX,
    TEXT_LENGTH_MAX,
    all_of,
    any_of,
    too_deep,
    too_many_clauses,
)
from graph.targeting.value import check_order, read_value, unquote

_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*"?|[()]', re.DOTALL)
"""Quoted text or a parenthesis. A quote that is never closed takes the rest, and is read once."""


def parse(text: str, view: FleetView) -> Selector:
    """The tree ``text`` stands for in the fleet that ``view`` shows."""
    _check_text(text)
    _check_nesting(text)
    return _Reader(Lookup(view, text)).read(read(text))


def _check_text(text: str) -> None:
    if len(text) > TEXT_LENGTH_MAX:
        raise SelectorInvalid(
            f"the selector has {len(text):,} characters",
            text="",
            span=Span(1, 1),
            hint=f"use at most {TEXT_LENGTH_MAX:,}; save parts and use them as @name",
        )
    if found := _UNREADABLE.search(text):
        raise SelectorInvalid(
            f"the selector holds the character U+{ord(found.group()):04X}",
            text=_UNREADABLE.sub("\ufffd", text),
            span=Span(found.start() + 1, 1),
            hint="control characters and lone surrogates mean nothing here; leave them out",
        )
    if not text.strip():
        raise SelectorInvalid(
            "the selector is empty",
            text=text,
            span=Span(1, 1),
            hint="an empty selector selects nothing by accident; write all",
        )


def _check_nesting(text: str) -> None:
    """Stop at the first parenthesis too many, before the parser carries them all."""
    depth = 0
    for found in _NESTING.finditer(text):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth > DEPTH_MAX:
            error = too_deep()
            span = Span(found.start() + 1, 1)
            raise SelectorInvalid(error.message, text=text, span=span, hint=error.hint)


class _Reader:
    """One parse tree on its way to a selector: operands wait on a stack, each with its depth."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._done: list[tuple[Selector, int]] = []
        self._clauses = 0

    def read(self, tree: ParseTree) -> Selector:
        """Clauses and operators from left to right, operands before their operator."""
        waiting: list[tuple[ParseTree, bool]] = [(tree, False)]
        while waiting:
            at, operands_done = waiting.pop()
            if at.data not in _OPERATORS:
                self._clause(str(at.data), _tokens(at))
            elif operands_done:
                self._operator(str(at.data), len(at.children))
            else:
                waiting.append((at, True))
                waiting += [(each, False) for each in reversed(at.children) if _is_tree(each)]
        [(selector, _)] = self._done
        return selector

    def _operator(self, rule: str, count: int) -> None:
        operands = self._done[-count:]
        del self._done[-count:]
        depth = _depth(rule, operands)
        if depth > DEPTH_MAX:
            with self._lookup.located(0, len(self._lookup.text)):
                raise too_deep()
        self._done.append((_OPERATORS[rule]([selector for selector, _ in operands]), depth))

    def _clause(self, rule: str, tokens: Sequence[Token]) -> None:
        self._clauses += 1
        if self._clauses > CLAUSES_MAX:
            with self._lookup.located(_start(tokens[0]), len(tokens[0])):
                raise too_many_clauses()
        self._done.append((self._read(rule, tokens), 0))

    def _read(self, rule: str, tokens: Sequence[Token]) -> Selector:
        if rule in ("cluster", "saved", "namespace"):
            return self._named(rule, str(tokens[0]), _start(tokens[0]))
        match rule:
            case "under" | "only":
                return self._path(tokens[0], only=rule == "only")
            case "compare":
                return self._compare(tokens)
            case "among":
                return self._among(tokens)
            case "has":
                return HasLabel(self._key(tokens[0]).name)
            case _:
                return Everything()

    def _named(self, rule: str, name: str, start: int) -> Selector:
        if rule == "cluster":
            return self._lookup.cluster(name, start)
        if rule == "saved":
            return self._lookup.saved(name, start)
        return self._lookup.namespace(name, start)

    def _path(self, token: Token, *, only: bool) -> Selector:
        segments = self._lookup.segments(str(token), _start(token))
        if segments[0].name not in RESERVED_HIERARCHIES:
            return self._lookup.group(segments, only=only)
        return self._res_edge(token, segments, only=only)

    def _res_edge(self, token: Token, segments: Sequence[Segment], *, only: bool) -> Selector:
        """Res-Edge's forms; no hierarchy has the name of their first segment."""
        lookup = self._lookup
        match segments[0].name, segments[1:]:
            case "g", [_, *_] as path:
                return lookup.group(path, only=only)
            case "c", [cluster] if not only:
                return lookup.cluster(cluster.name, cluster.start)
            case "n", [namespace] if not only:
                return lookup.namespace(namespace.name, namespace.start)
            case "m", [label, value] if not only:
                key = lookup.label_key(label.name, label.start, len(label.name))
                found = self._value(key, value.name, value.start)
                return LabelIs(key.name, Comparison.EQ, found)
            case _:
                raise lookup.invalid(
                    "only goes with a group path"
                    if only and segments[0].name != "g"
                    else f"{shortened(str(token))} is no whole path",
                    _start(token),
                    len(token),
                    hint="/g/path is a group, /m/key/value a label, /c/name a cluster, "
                    "/n/name a namespace; other paths start with a hierarchy",
                )

    def _compare(self, tokens: Sequence[Token]) -> Selector:
        key_token, sign, token = tokens
        key = self._key(key_token)
        comparison = Comparison(str(sign))
        with self._lookup.located(_start(sign), len(sign)):
            check_order(key, comparison)
        return LabelIs(key.name, comparison, self._value(key, str(token), _start(token)))

    def _among(self, tokens: Sequence[Token]) -> Selector:
        key = self._key(tokens[0])
        listed = tokens[1:]
        if len(listed) > LIST_LENGTH_MAX:
            token = listed[LIST_LENGTH_MAX]
            raise self._lookup.invalid(
                f"{len(listed):,} values in one list",
                _start(token),
                len(token),
                hint=f"use at most {LIST_LENGTH_MAX:,}",
            )
        values = [self._value(key, str(token), _start(token)) for token in listed]
        return LabelIn(key.name, tuple(dict.fromkeys(values)))

    def _key(self, token: Token) -> LabelKey:
        name = str(token)
        if name in KEYWORDS:
            raise keyword_as_key(self._lookup.text, _start(token), name)
        if name.startswith('"'):
            with self._lookup.located(_start(token), len(token)):
                name = unquote(name)
        return self._lookup.label_key(name, _start(token), len(token))

    def _value(self, key: LabelKey, token: str, start: int) -> SelectorValue:
        with self._lookup.located(start, len(token)):
            return read_value(token, key)


def _excepting(operands: Sequence[Selector]) -> Selector:
    """``a except b except c`` takes both from ``a``."""
    left = operands[0]
    for right in operands[1:]:
        left = Except(left, right)
    return left


def _negated(operands: Sequence[Selector]) -> Selector:
    return Not(operands[0])


_OPERATORS: dict[str, Callable[[Sequence[Selector]], Selector]] = {
    "or_": any_of,
    "and_": all_of,
    "except_": _excepting,
    "not_": _negated,
}

_MELTS: dict[str, type[Or] | type[And]] = {"or_": Or, "and_": And}
"""Operands of this type melt into the operator, which then nests no deeper than they did."""


def _depth(rule: str, operands: Sequence[tuple[Selector, int]]) -> int:
    """How deep the operator will be."""
    if rule == "except_":
        return reduce(lambda left, right: 1 + max(left, right), (depth for _, depth in operands))
    melts = _MELTS.get(rule, ())
    return max(depth + (not isinstance(selector, melts)) for selector, depth in operands)


def _is_tree(child: ParseTree | Token) -> TypeGuard[ParseTree]:
    return isinstance(child, Tree)


def _tokens(tree: ParseTree) -> list[Token]:
    """The tokens of one clause, left to right."""
    return list(tree.scan_values(lambda each: isinstance(each, Token)))


def _start(token: Token) -> int:
    return token.start_pos or 0
