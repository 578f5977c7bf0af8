"""Tokens: who they say the caller is, and whether to believe it.

A token of the issuer is believed when one of the issuer's keys signed it with a listed algorithm,
and when it was made by this issuer, for this audience, and for now. Whatever else its header says
of keys (``jku``, ``x5u``, ``jwk``) is not looked at. A static token is believed when it is one of
those in the settings. A token that is not believed is ``Invalid``, with the reason.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError, MissingClaimError
from joserfc.jws import JWSRegistry, deserialize_compact
from joserfc.jwt import JWTClaimsRegistry

from api.caller.keys import Keys
from graph.decide.batch import ACTOR_LENGTH_MAX
from graph.model.access import LOCAL, Actor, Role
from graph.model.errors import Invalid
from graph.model.names import check_text, counted, quoted

ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
"""Algorithms that can be listed: whoever checks a signature of theirs cannot make one."""
TOKEN_LENGTH_MAX = 16_384
GROUPS_MAX = 1_000
"""Groups one token may list."""
GROUP_LENGTH_MAX = 200
NEVER_SECONDS = 1e12
"""A time no token reaches; a later one is as good."""

_COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)", re.ASCII)
_RENEW = "get a new token from the issuer"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a token of the issuer must say."""

    issuer: str
    audience: str
    algorithms: frozenset[str]
    leeway_seconds: int
    claim: str
    """The claim that lists the actor's groups."""
    first_admins: frozenset[str]


class _Signatures(JWSRegistry):
    """The listed algorithms and no other; headers we do not know are allowed."""

    max_header_length = 4_096
    max_payload_length = TOKEN_LENGTH_MAX

    def get_alg(self, name: str) -> Any:
        """As the base does, without its warning: EdDSA is what issuers still call Ed25519."""
        if name not in (self.allowed or ()):
            raise Invalid(f"the token is signed with {quoted(name)}", hint=_RENEW)
        return self.algorithms[name]


async def believe(token: str, expected: Expected, keys: Keys, now: float) -> tuple[Actor, float]:
    """Who a token of the issuer speaks for, and until when, in seconds of the epoch."""
    header = _header(token)
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in expected.algorithms:
        raise Invalid(
            "the token is not signed with an accepted algorithm",
            hint=f"accepted: {', '.join(sorted(expected.algorithms))}",
        )
    if kid is not None and not isinstance(kid, str):
        raise Invalid("the token's key id is not text", hint=_RENEW)
    key = await keys.find(kid, algorithm)
    if key is None:
        raise Invalid("the token is signed with a key the issuer does not have", hint=_RENEW)
    registry = _Signatures(algorithms=[*expected.algorithms], strict_check_header=False)
    try:
        signed = deserialize_compact(token, key, registry=registry)
        claims = json.loads(signed.payload or b"")
    except (JoseError, ValueError, TypeError, RecursionError):
        raise Invalid("the token's signature or content does not hold", hint=_RENEW) from None
    if not isinstance(claims, dict):
        raise Invalid("the token's content is not an object", hint=_RENEW)
    return _claimed(cast(dict[str, Any], claims), expected, now)


def static_actors(setting: str) -> dict[bytes, Actor]:
    """The actors of the static tokens, by the digest of their token."""
    actors: dict[bytes, Actor] = {}
    names: set[str] = set()
    for position, each in enumerate(setting.split(), 1):
        name, _, rest = each.partition(":")
        role, _, token = rest.partition(":")
        if not name or role not in [*Role] or not token:
            raise Invalid(
                f"static token {position} is not written as name:role:token",
                hint=f"roles: {', '.join(Role)}; tokens are separated by spaces",
            )
        if name in names or digest(token) in actors:
            raise Invalid(
                f"static token {position} has a name or a token that another has",
                hint="give each its own",
            )
        names.add(name)
        actors[digest(token)] = Actor(
            check_text(name, "the name of a static token"), standing=Role(role)
        )
    return actors


def digest(token: str) -> bytes:
    """What a static token is known by: comparing digests tells nothing of the token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _header(token: str) -> Mapping[str, Any]:
    """The token's header, not believed yet."""
    found = _COMPACT.fullmatch(token) if len(token) <= TOKEN_LENGTH_MAX else None
    if found is not None:
        text = found[1]
        try:
            header = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            header = None
        if isinstance(header, dict):
            return cast(dict[str, Any], header)
    raise Invalid("this is not a token of the issuer", hint="send Authorization: Bearer <token>")


def _claimed(claims: dict[str, Any], expected: Expected, now: float) -> tuple[Actor, float]:
    registry = JWTClaimsRegistry(
        now=int(now),
        leeway=expected.leeway_seconds,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.audience},
        exp={"essential": True},
        sub={"essential": True},
    )
    try:
        registry.validate(claims)
    except ExpiredTokenError:
        raise Invalid("the token has expired", hint=_RENEW) from None
    except MissingClaimError as error:
        raise Invalid(f"the token lacks {error.claim}", hint=_RENEW) from None
    except InvalidClaimError as error:
        raise Invalid(f"the token's {error.claim} does not hold", hint=_RENEW) from None
    subject = str(claims["sub"])
    if not subject.strip():
        raise Invalid("the token's subject is empty", hint=_RENEW)
    check_text(subject, "the token's subject", length_max=ACTOR_LENGTH_MAX)
    if subject.startswith(LOCAL):
        raise Invalid(
            f"the token's subject is {quoted(subject)}, a name of those who open a store directly",
            hint=f"let the issuer give it a name that does not begin with {LOCAL}",
        )
    standing = Role.ADMIN if subject in expected.first_admins else None
    ends_seconds = min(claims["exp"], NEVER_SECONDS) + expected.leeway_seconds
    return Actor(subject, _groups(claims.get(expected.claim), expected.claim), standing), (
        float(ends_seconds)
    )


def _groups(value: object, claim: str) -> frozenset[str]:
    """The groups a token lists: one, several or none."""
    if value is None:
        return frozenset()
    listed = cast(list[object], value) if isinstance(value, list) else [value]
    if len(listed) > GROUPS_MAX:
        raise Invalid(
            f"the token lists {counted(len(listed), 'group')}",
            hint=f"let the issuer send at most {GROUPS_MAX:,} in {quoted(claim)}",
        )
    groups = [each for each in listed if isinstance(each, str)]
    if len(groups) != len(listed):
        raise Invalid(f"the token's {quoted(claim)} is no list of names", hint=_RENEW)
    for each in groups:
        check_text(each, "a group of the token", length_max=GROUP_LENGTH_MAX)
    return frozenset(groups)
