"""Refusals as a person reads them on a terminal: what is wrong, where, what to do next."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cli.settings import escapes_wanted
from graph.model.errors import (
    LabelUndeclared,
    Rejected,
    SelectorInvalid,
    SelectorNotFound,
    Span,
    TrellisError,
)
from graph.model.names import did_you_mean

WIDTH = 96
"""Characters of a selector that are shown around the place an error points at."""
REASONS_SHOWN_MAX = 20


def refusal(error: TrellisError) -> str:
    """The lines to print for ``error``; the first starts with ``error:``."""
    return "\n".join(_lines(error))


def print_refusal(error: TrellisError) -> None:
    """Say on standard error why something was refused."""
    head, _, rest = refusal(error).partition("\n")
    begin = click.style("error:", fg="red", bold=True) if escapes_wanted() else "error:"
    click.echo(begin + head.removeprefix("error:"), err=True)
    if rest:
        click.echo(rest, err=True)


def _lines(error: TrellisError) -> Iterator[str]:
    yield f"error: {error.message}"
    if isinstance(error, SelectorInvalid | SelectorNotFound) and error.text.strip():
        yield from _pointed(error.text, error.span)
    if isinstance(error, Rejected):
        yield from (f"  - {reason}" for reason in error.reasons[:REASONS_SHOWN_MAX])
        if (more := len(error.reasons) - REASONS_SHOWN_MAX) > 0:
            yield f"  - and {more:,} more"
    if error.hint:
        yield f"  {told_hint(error)}"


def told_hint(error: TrellisError) -> str:
    """What to do next, in the words of the command line."""
    if isinstance(error, Rejected) and error.loss is not None:
        return f"look at what it takes away; --expect-loss {error.loss} says that it is meant"
    if isinstance(error, LabelUndeclared):
        how = "a new key takes declareLabel, or the option --declare-labels"
        return f"{did_you_mean(error.nearest)}  {how}".strip()
    return error.hint


def _pointed(text: str, span: Span) -> Iterator[str]:
    """The part of ``text`` around ``span``, with carets under it."""
    start = span.column - 1
    begin = max(0, start - WIDTH // 2) if len(text) > WIDTH else 0
    end = min(len(text), begin + WIDTH)
    before, after = "..." if begin else "", "..." if end < len(text) else ""
    carets = "^" * max(1, min(span.length, end - start))
    yield f"  {before}{_visible(text[begin:end])}{after}"
    yield f"  {' ' * (len(before) + start - begin)}{carets}"


def _visible(text: str) -> str:
    """One visible character for each, so that the carets stay under what they point at."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
