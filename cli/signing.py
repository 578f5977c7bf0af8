"""Who makes a change on the command line, and for whom.

Whoever opens a store directly is somebody the operating system knows and nobody the store knows, so
the record names them as ``local:<user>``, whatever the environment says. They may act for a subject
of the store if its owner allows that: the owner of the store's file, and the local users that the
owner lists in the delegates file beside it. The subject's own grants then decide, and the record
names both.
"""

from __future__ import annotations

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from cli.settings import Settings
from cli.wiring import delegates_file, store_file
from graph.model.access import LOCAL, Actor
from graph.model.errors import Denied
from graph.model.names import quoted

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Author:
    """Who signs a batch, and the subject they act for; None if for nobody else."""

    name: str
    acting_for: Actor | None = None


def local_author() -> Author:
    """The user of the operating system, by the process's own identity and not by a variable."""
    return Author(f"{LOCAL}{_user_name(os.geteuid())}")


def author_of(settings: Settings, asked: str | None) -> Author:
    """Who signs a change that was ``asked`` to be made for somebody; that store is there by now."""
    author = local_author()
    subject = asked or settings.actor
    if subject in ("", author.name):
        return author
    _check_may_act(author, subject, settings)
    return Author(author.name, Actor(subject, signed_by=author.name))


def _check_may_act(author: Author, subject: str, settings: Settings) -> None:
    who = f"{quoted(author.name)} may not act for {quoted(subject)}"
    store, delegates = store_file(settings), delegates_file(settings)
    if store is None or delegates is None:
        raise Denied(
            f"{who}: a server has no owner who could allow it",
            hint=f"leave --actor out to sign as {author.name}, or let them use the API",
        )
    owner = store.stat().st_uid
    if os.geteuid() == owner or author.name.removeprefix(LOCAL) in _delegates(delegates, owner):
        return
    raise Denied(
        f"{who}: the owner of {store} is {quoted(_user_name(owner))}, who has not allowed it",
        hint=f"leave --actor out to sign as {author.name}, or let the owner write your user name"
        f" into {delegates}",
    )


def _delegates(path: Path, owner: int) -> frozenset[str]:
    """The local users that the store's owner lets act for others, one a line."""
    try:
        with path.open(encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            if about.st_uid != owner or about.st_mode & OTHERS_WRITE:
                raise Denied(
                    f"{path} is not believed: it is not the store owner's alone to write",
                    hint=f"let {quoted(_user_name(owner))} own it, and take the right to write it"
                    " from everybody else (chmod 644)",
                )
            return frozenset(line.strip() for line in file if line.strip())
    except FileNotFoundError:
        return frozenset()


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # a container runs under any number
        return str(number)
