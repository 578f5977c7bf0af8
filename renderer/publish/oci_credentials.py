"""Who to be at a registry: what ``docker login`` leaves in a file, and what a registry asks for."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from graph.model.errors import Invalid

_CHALLENGE = re.compile(r'([a-z]+)="([^"]*)"', re.I)


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user and a password, or a token as it is."""

    user: str = ""
    password: str = ""
    token: str = ""

    def __repr__(self) -> str:
        return "Credentials(...)"

    @property
    def basic(self) -> str | None:
        """The header of a user and a password."""
        if not self.user:
            return None
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()

    @property
    def bearer(self) -> str | None:
        """The header of a token."""
        return f"Bearer {self.token}" if self.token else None


NOBODY = Credentials()


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a registry asks for."""

    scheme: str
    realm: str = ""
    service: str = ""
    scope: str = ""


def read_challenge(header: str) -> Challenge:
    """The first challenge of a header."""
    scheme, _, rest = header.strip().partition(" ")
    found = {name.lower(): value for name, value in _CHALLENGE.findall(rest)}
    wanted = {key: found.get(key, "") for key in ("realm", "service", "scope")}
    return Challenge(scheme.lower(), **wanted)


def read_credentials(path: Path, host: str) -> Credentials:
    """What a file says about a registry."""
    try:
        found: Any = orjson.loads(path.read_bytes())["auths"][host]
        user, password = str(found.get("username", "")), str(found.get("password", ""))
        if found.get("auth"):
            user, _, password = b64decode(found["auth"], validate=True).decode().partition(":")
        token = str(found.get("registrytoken", "") or found.get("registryToken", ""))
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}", hint="check the path") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Invalid(
            f"{path} has no credentials for {host}",
            hint='write {"auths":{"HOST":{"username":"...","password":"..."}}}, as docker login'
            " does",
        ) from None
    return Credentials(user, password, token)
