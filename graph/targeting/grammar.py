"""The grammar, and a parse tree from text.

Keywords are contextual: where only a value can stand, ``or`` is a value, so ``state = or`` means
Oregon. A value of a list is another rule than a value after a comparison, though they look alike:
that keeps their parser states apart, and so the refusal can say which of the two went wrong. A key
may have a prefix, as ``example.com/size``; one that is a keyword is quoted with its key, so that
``not/geo`` is still ``not /geo``. The
parser is table-driven and keeps its own stack, so no input makes Python recurse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput

from graph.targeting.complaint import KEY_PREFIX, complaint

ParseTree = Tree[Token]

_GRAMMAR = r"""
?start: or_
?or_: and_ (_OR and_)*
?and_: except_ (_AND except_)*
?except_: not_ (_EXCEPT not_)*
?not_: _NOT atom -> not_
     | atom
?atom: _OPEN or_ _CLOSE
     | ALL -> everything
     | PATH -> under
     | _ONLY PATH -> only
     | _CLUSTER NAME -> cluster
     | _NAMESPACE NAME -> namespace
     | _AT NAME -> saved
     | _HAS key -> has
     | key COMPARISON value -> compare
     | key _IN _OPEN item (_COMMA item)* _CLOSE -> among
key: KEY | STRING
value: VALUE | STRING
item: VALUE | STRING

_AND.2: /and(?![\w.:+-])/
_OR.2: /or(?![\w.:+-])/
_NOT.2: /not(?![\w.:+-])/
_EXCEPT.2: /except(?![\w.:+-])/
ALL.2: /all(?![\w.:+-])/
_ONLY.2: /only(?![\w.:+-])/
_CLUSTER.2: /cluster(?![\w.:+-])/
_NAMESPACE.2: /namespace(?![\w.:+-])/
_IN.2: /in(?![\w.:+-])/
_HAS.2: /has(?![\w.:+-])/
_OPEN: "("
_CLOSE: ")"
_COMMA: ","
_AT: "@"
COMPARISON: /!=|<=|>=|=|<|>/
PATH: /\/[^\s()",=<>!@&|']*/
STRING: /"(?:[^"\\]|\\.)*"/s
KEY: /(?:@KEY_PREFIX@)?[\w.:+-]+/
VALUE: /[\w.:+-]+/
NAME: /[\w.:+-]+/
%ignore /\s+/
"""


def read(text: str) -> ParseTree:
    """``text`` as a parse tree, or a refusal that says where and what was expected."""
    try:
        return _parser().parse(text)  # pyright: ignore[reportUnknownMemberType] lark's own
    except UnexpectedInput as error:
        raise complaint(error, text) from None


@dataclass(frozen=True, slots=True)
class Opening:
    """How a text that may go on begins: its tokens, and the terminals that may come next."""

    tokens: tuple[Token, ...]
    accepts: frozenset[str]


def read_opening(text: str) -> Opening | int:
    """``text`` as the beginning of a selector, or where it ceases to be one."""
    parser = _parser().parse_interactive(text)  # pyright: ignore[reportUnknownMemberType] lark's own
    try:
        tokens = tuple(parser.exhaust_lexer())
    except UnexpectedInput as error:
        return error.pos_in_stream or 0
    accepts = cast("set[str]", parser.accepts())  # type: ignore[no-untyped-call] # lark's own
    return Opening(tokens, frozenset(accepts))


@cache
def _parser() -> Lark:
    grammar = _GRAMMAR.replace("@KEY_PREFIX@", KEY_PREFIX.replace("/", r"\/"))
    return Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False)
