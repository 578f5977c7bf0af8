"""Who asks: the one place where a request gets its actor.

A caller shows a token of the issuer, or a static one of the settings. Where neither is configured
the process listens on a loopback address, or does not start; a caller is then whoever sits at this
machine, if the request comes from it and is addressed to it.

A token that was believed is remembered until it expires, or until the issuer's keys are due to be
read again or have changed.
"""

from __future__ import annotations

import ssl
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from api.caller.keys import Keys
from api.caller.loopback import is_loopback_address, is_loopback_host, is_loopback_name
from api.caller.tokens import ALGORITHMS, TOKEN_LENGTH_MAX, Expected, believe, digest, static_actors
from api.settings import ApiSettings, AuthSettings
from graph.model.access import Actor, Role
from graph.model.errors import Denied, Invalid
from graph.model.names import did_you_mean, nearest, quoted

ANONYMOUS = "anonymous"
"""The name of a caller who needs no token, in the record."""
STATIC_TOKEN_LENGTH_MIN = 16
"""Characters of a static token where the API can be reached from other machines."""

_SCHEME = "bearer "
_HEADER_LENGTH_MAX = TOKEN_LENGTH_MAX + len(_SCHEME)


class Unauthenticated(Denied):
    """The request does not show who asks."""

    code = "UNAUTHENTICATED"


class Peer(NamedTuple):
    """Where a request comes from and what it is addressed to, as the connection says."""

    client: str
    """The address of the other end."""
    host: str
    """The Host header."""


@dataclass(frozen=True, slots=True)
class Identified:
    """Who asks, and until when that is known."""

    actor: Actor
    expires_seconds: float | None
    """When the token ends, in seconds of the epoch; None if it does not."""


def still_valid(identified: Identified, now_seconds: float) -> bool:
    """Whether what was identified may go on at ``now_seconds`` of the epoch."""
    return identified.expires_seconds is None or now_seconds < identified.expires_seconds


class Identity:
    """Believes tokens. Make it with ``identity_of``."""

    def __init__(
        self,
        *,
        static: Mapping[bytes, Actor],
        issuer: tuple[Expected, Keys] | None,
        anonymous: Role | None,
        kept_seconds: float,
        kept_max: int,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._static = static
        self._issuer = issuer
        self._anonymous = Identified(Actor(ANONYMOUS, standing=anonymous), None)
        self._lets_anonymous_in = anonymous is not None
        self._kept_seconds = kept_seconds
        self._kept_max = kept_max
        self._now = now
        self._kept: OrderedDict[str, tuple[Identified, float]] = OrderedDict()
        self._generation = 0

    def known(self, authorization: str | None, peer: Peer) -> Identified | None:
        """Who asks, if that takes no work; None if ``identify`` has to be asked."""
        if authorization is None:
            return self._anonymous if self._is_local(peer) else None
        token = _token(authorization)
        kept = None if token is None else self._kept.get(token)
        if token is None or kept is None:
            return None
        if self._now() >= kept[1]:
            del self._kept[token]
            return None
        self._kept.move_to_end(token)
        return kept[0]

    async def identify(self, authorization: str | None, peer: Peer) -> Identified:
        """Who asks; Unauthenticated if the request does not show it."""
        if (known := self.known(authorization, peer)) is not None:
            return known
        if authorization is None:
            raise self._without_token(peer)
        try:
            return await self._believe(authorization)
        except Invalid as error:
            raise Unauthenticated(error.message, hint=error.hint) from None

    async def _believe(self, authorization: str) -> Identified:
        token = _bearer(authorization)
        if (actor := self._static.get(digest(token))) is not None:
            return self._keep(token, Identified(actor, None))
        if self._issuer is None:
            hint = "check the token" if self._static else "send no token: none are configured here"
            raise Invalid("the token is not known", hint=hint)
        expected, keys = self._issuer
        try:
            actor, expires_seconds = await believe(token, expected, keys, self._now())
        finally:
            if keys.generation != self._generation:  # a key that is gone takes its tokens along
                self._kept.clear()
                self._generation = keys.generation
        return self._keep(token, Identified(actor, expires_seconds))

    def _keep(self, token: str, identified: Identified) -> Identified:
        until = self._now() + self._kept_seconds
        if identified.expires_seconds is not None:
            until = min(until, identified.expires_seconds)
        self._kept[token] = (identified, until)
        if len(self._kept) > self._kept_max:
            self._kept.popitem(last=False)
        return identified

    def _is_local(self, peer: Peer) -> bool:
        return (
            self._lets_anonymous_in
            and is_loopback_address(peer.client)
            and is_loopback_host(peer.host)
        )

    def _without_token(self, peer: Peer) -> Unauthenticated:
        if self._lets_anonymous_in:
            at = peer.host if is_loopback_address(peer.client) else peer.client
            return Unauthenticated(
                f"without a token only this machine is let in, not {quoted(at)}",
                hint="ask 127.0.0.1 or localhost from this machine, or configure tokens",
            )
        return Unauthenticated(
            "the request has no token", hint="send Authorization: Bearer <token>"
        )


def identity_of(
    settings: AuthSettings, api: ApiSettings, *, now: Callable[[], float] = time.time
) -> Identity:
    """The identity the settings describe; Invalid if they let in nobody, or just anybody."""
    static = static_actors(settings.tokens.get_secret_value())
    local = is_loopback_name(api.host)
    if not local:
        _refuse_short(settings)
    issuer = _issuer(settings) if settings.issuer or settings.audience else None
    configured = bool(static) or issuer is not None
    if not configured and not (local and settings.anonymous):
        raise Invalid(
            f"nobody is configured who may ask at {quoted(api.host)}",
            hint="set TRELLIS_AUTH_ISSUER and TRELLIS_AUTH_AUDIENCE, or TRELLIS_AUTH_TOKENS;"
            " only a loopback address such as 127.0.0.1 needs no token",
        )
    return Identity(
        static=static,
        issuer=issuer,
        anonymous=None if configured else Role(settings.anonymous),
        kept_seconds=settings.keys_kept_seconds,
        kept_max=settings.tokens_kept_max,
        now=now,
    )


def _issuer(settings: AuthSettings) -> tuple[Expected, Keys]:
    parts = urlsplit(settings.issuer)
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc or parts.query:
        raise Invalid(
            f"the issuer {quoted(settings.issuer)} is no https URL",
            hint="set TRELLIS_AUTH_ISSUER as https://login.example.com/realm",
        )
    if not settings.audience:
        raise Invalid(
            "the issuer's tokens are for anybody: no audience is set",
            hint="set TRELLIS_AUTH_AUDIENCE to the name this API has at the issuer",
        )
    expected = Expected(
        issuer=settings.issuer,
        audience=settings.audience,
        algorithms=_algorithms(settings.algorithms),
        leeway_seconds=settings.leeway_seconds,
        claim=settings.claim,
        first_admins=frozenset(settings.first_admins.split()),
    )
    keys = Keys(
        settings.issuer,
        trust=_trust(settings.ca_file),
        fetch_seconds=settings.fetch_seconds,
        refresh_seconds=settings.refresh_seconds,
        kept_seconds=settings.keys_kept_seconds,
    )
    return expected, keys


def _algorithms(setting: str) -> frozenset[str]:
    listed = frozenset(setting.split())
    for each in sorted(listed):
        if each not in ALGORITHMS:
            close = did_you_mean(nearest(each, ALGORITHMS, count=1))
            raise Invalid(
                f"{quoted(each)} is no algorithm tokens may be signed with",
                hint=close or f"in TRELLIS_AUTH_ALGORITHMS, choose from {', '.join(ALGORITHMS)}",
            )
    if not listed:
        raise Invalid("no algorithm is listed", hint="set TRELLIS_AUTH_ALGORITHMS, as RS256 ES256")
    return listed


def _trust(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:  # a file that is no certificate is one of these as well
        raise Invalid(
            f"the certificates in {quoted(ca_file)} cannot be read: {error.strerror or error}",
            hint="set TRELLIS_AUTH_CA_FILE to a PEM file",
        ) from None


def _refuse_short(settings: AuthSettings) -> None:
    tokens = (each.split(":", 2)[-1] for each in settings.tokens.get_secret_value().split())
    if any(len(token) < STATIC_TOKEN_LENGTH_MIN for token in tokens):
        raise Invalid(
            f"a static token is shorter than {STATIC_TOKEN_LENGTH_MIN} characters",
            hint="other machines can reach this API: use long random tokens in"
            " TRELLIS_AUTH_TOKENS, or an issuer",
        )


def _bearer(authorization: str) -> str:
    """The token in a header; Invalid if there is none."""
    token = _token(authorization)
    if token is not None:
        return token
    if len(authorization) > _HEADER_LENGTH_MAX:
        raise Invalid(
            f"the Authorization header has {len(authorization):,} characters",
            hint=f"use at most {_HEADER_LENGTH_MAX:,}",
        )
    raise Invalid(
        "the Authorization header is not a bearer token",
        hint="send Authorization: Bearer <token>",
    )


def _token(authorization: str) -> str | None:
    """The same, where it is asked for with every request; None if there is none."""
    if len(authorization) > _HEADER_LENGTH_MAX:
        return None
    if authorization[: len(_SCHEME)].lower() != _SCHEME:
        return None
    return authorization[len(_SCHEME) :].strip()
