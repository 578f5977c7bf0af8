"""Where a repository is, how it is reached, and who signs: said once, checked at the door.

Credentials come from a helper or a key file and from nowhere else: none is part of a URL, of an
argument, of a commit or of a line of a log.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from graph.model.errors import Invalid
from graph.model.names import quoted

PROTOCOLS = ("https", "ssh", "file")

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*", re.ASCII)
_PLAIN = re.compile(r"[\x21-\x7e]+")
_PERSON = re.compile(r"[^\x00-\x1f\x7f-\x9f<>\ud800-\udfff]{1,200}")


@dataclass(frozen=True, slots=True)
class Access:
    """How a remote is reached."""

    credential_helper: str = ""
    """A git credential helper: its name or path, with its arguments. Never a shell snippet."""
    key_file: Path | None = None
    """The private key for ssh."""
    known_hosts: Path | None = None
    """Keys of hosts that ssh trusts; the user's own file where none is given."""
    ca_file: Path | None = None
    """Certificates that https trusts, besides none: the system's where none is given."""

    def __post_init__(self) -> None:
        """Refuse what could hide a secret."""
        if self.credential_helper.startswith("!") or not self.credential_helper.isprintable():
            raise Invalid(
                "the credential helper is a shell snippet",
                hint="name a helper program; a secret typed into a setting ends up in a log",
            )


@dataclass(frozen=True, slots=True)
class Signing:
    """How commits are signed."""

    key: str
    """The file of an ssh key, or the identity of an OpenPGP key."""
    format: Literal["ssh", "openpgp"] = "ssh"
    home: Path | None = None
    """The directory of OpenPGP's keys."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the commits say they are from."""

    name: str = "Trellis"
    email: str = "trellis@localhost"
    signing: Signing | None = None

    def __post_init__(self) -> None:
        """Refuse what would break a commit."""
        for value, noun in ((self.name, "name"), (self.email, "e-mail address")):
            if not _PERSON.fullmatch(value) or value != value.strip(" .,:;\"'"):
                raise Invalid(
                    f"{quoted(value)} cannot be the {noun} of a committer",
                    hint="use letters and digits, without angle brackets or line breaks",
                )


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how often."""

    command_timeout_seconds: float = 60.0
    """One git command on this machine."""
    transfer_timeout_seconds: float = 600.0
    """One fetch or push, and one tidying up."""
    lock_timeout_seconds: float = 10.0
    """Waiting for a lock file that somebody else holds."""
    attempts_max: int = 4
    """Pushes and fetches, before giving up on a remote that does not answer."""
    backoff_seconds: float = 0.5
    """The first pause between attempts; each one after doubles."""
    commits_max: int = 10_000
    """How far back the newest commit of a worker is looked for."""
    tree_entries_max: int = 400_000
    """Entries of directories kept in memory: about 100 bytes each."""
    blob_bytes_max: int = 64 * 1024 * 1024
    """The biggest file that is read."""
    loose_max: int = 5_000
    """Loose objects before tidying up packs them."""
    packs_max: int = 50
    """Packs before tidying up joins them."""


def is_url(place: str) -> bool:
    """Whether a repository is elsewhere: anything with a scheme, or as ssh's short form has it."""
    return "://" in place or "::" in place or bool(re.match(r"[^/]+@[^/]+:", place))


def checked_url(url: str) -> str:
    """``url`` if it may be used."""
    parts = urlsplit(url)
    shown = quoted(url.rpartition("@")[2])
    if "://" not in url or parts.scheme not in PROTOCOLS or not _PLAIN.fullmatch(url):
        raise Invalid(
            f"{shown} is no address to publish to",
            hint="write https://host/path, ssh://user@host/path or file:///path",
        )
    if parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        raise Invalid(
            f"the address of {shown} holds a credential",
            hint="take it out; give a credential helper or a key file instead",
        )
    if parts.scheme != "file" and (not parts.hostname or parts.hostname.startswith("-")):
        raise Invalid(f"{shown} names no host", hint="write the host right after the scheme")
    return url


def checked_branch(name: str) -> str:
    """``name`` if a branch may be called so by everybody's rules."""
    wrong = ".." in name or name.endswith((".", ".lock")) or ".lock/" in name or len(name) > 200
    if wrong or not _BRANCH.fullmatch(name):
        raise Invalid(
            f"{quoted(name)} is no name of a branch",
            hint="use letters, digits, dots, dashes and slashes, as in main or fleet/live",
        )
    return name
