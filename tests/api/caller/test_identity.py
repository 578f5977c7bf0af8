"""Who is let in, and as whom."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from api.caller.identity import (
    Identified,
    Identity,
    Peer,
    Unauthenticated,
    identity_of,
    still_valid,
)
from api.settings import ApiSettings, AuthSettings
from graph.model.access import Actor, Role
from graph.model.errors import Denied, Invalid

HERE = Peer("127.0.0.1", "localhost:8000")
AFAR = Peer("192.0.2.7", "trellis.example.com")
TOKENS = "ann:admin:a-long-enough-token bob:reader:another-long-enough"


def auth(**given: Any) -> AuthSettings:
    return AuthSettings.model_validate(given)


def api(host: str = "127.0.0.1") -> ApiSettings:
    return ApiSettings.model_validate({"host": host})


def static(tokens: str = TOKENS, **given: Any) -> Identity:
    return identity_of(auth(tokens=SecretStr(tokens), **given), api("0.0.0.0"))


def test_without_settings_this_machine_is_let_in_as_admin() -> None:
    identity = identity_of(auth(), api())
    assert identity.known(None, HERE) == Identified(Actor("anonymous", standing=Role.ADMIN), None)


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8000", "127.9.9.9:1", "[::1]", "[::1]:8"],
)
@pytest.mark.parametrize("client", ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"])
async def test_a_loopback_name_from_a_loopback_address_needs_no_token(
    client: str, host: str
) -> None:
    identity = identity_of(auth(anonymous="reader"), api())
    found = await identity.identify(None, Peer(client, host))
    assert found.actor.standing is Role.READER


@pytest.mark.parametrize(
    "host",
    [
        "",
        "trellis.example.com",
        "127.0.0.1.example.com",
        "localhost.example.com",
        "localhost:80:90",
        "localhost:x",
        "[::1",
        "::1",
        "[::1]x",
        "[localhost]",
        "0.0.0.0",
        "127.0.0.1@example.com",
        "example.com:127.0.0.1",
    ],
)
async def test_another_name_for_this_machine_is_not_believed(host: str) -> None:
    """A page elsewhere can point its own name at 127.0.0.1."""
    identity = identity_of(auth(), api())
    assert identity.known(None, Peer("127.0.0.1", host)) is None
    with pytest.raises(Unauthenticated, match="only this machine") as refusal:
        await identity.identify(None, Peer("127.0.0.1", host))
    assert refusal.value.hint


@pytest.mark.parametrize("client", ["192.0.2.7", "::ffff:192.0.2.7", "", "testclient"])
async def test_another_machine_is_not_let_in_without_a_token(client: str) -> None:
    with pytest.raises(Unauthenticated):
        await identity_of(auth(), api()).identify(None, Peer(client, "localhost"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "trellis.example.com"])
def test_an_address_others_reach_needs_somebody_configured(host: str) -> None:
    with pytest.raises(Invalid, match="nobody is configured") as refusal:
        identity_of(auth(), api(host))
    assert "TRELLIS_AUTH_ISSUER" in refusal.value.hint


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_a_loopback_address_may_be_closed_to_callers_without_a_token(host: str) -> None:
    assert identity_of(auth(), api(host)).known(None, HERE)
    with pytest.raises(Invalid, match="nobody is configured"):
        identity_of(auth(anonymous=""), api(host))


async def test_with_tokens_set_this_machine_needs_one_too() -> None:
    identity = identity_of(auth(tokens=SecretStr(TOKENS)), api())
    assert identity.known(None, HERE) is None
    with pytest.raises(Unauthenticated, match="has no token"):
        await identity.identify(None, HERE)


async def test_a_static_token_is_its_actor_with_its_role() -> None:
    identity = static()
    assert identity.known("Bearer a-long-enough-token", AFAR) is None
    found = await identity.identify("Bearer a-long-enough-token", AFAR)
    assert found == Identified(Actor("ann", standing=Role.ADMIN), None)
    assert identity.known("Bearer a-long-enough-token", AFAR) is found
    other = await identity.identify("bearer another-long-enough", AFAR)
    assert other.actor == Actor("bob", standing=Role.READER)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "a-long-enough-token",
        "Bearer a-long-enough-toke",
        "Bearer a-long-enough-token2",
        "Bearer ann:admin:a-long-enough-token",
        "Bearer \ud800",
        "Bearer " + "x" * 100_000,
        "Bearer " + " " * 60_000 + "a-long-enough-token",
    ],
)
async def test_another_token_is_refused_as_unauthenticated(header: str) -> None:
    identity = static()
    with pytest.raises(Unauthenticated) as refusal:
        await identity.identify(header, HERE)
    assert refusal.value.code == "UNAUTHENTICATED"
    assert isinstance(refusal.value, Denied)
    assert "a-long" not in str(refusal.value), "a refusal repeats no token"
    assert identity.known(header, HERE) is None


async def test_a_token_is_remembered_without_what_is_around_it() -> None:
    identity = static(tokens_kept_max=1)
    found = await identity.identify("Bearer a-long-enough-token", AFAR)
    for header in ("bearer a-long-enough-token", "Bearer    a-long-enough-token  "):
        assert identity.known(header, AFAR) is found


async def test_a_token_nobody_configured_is_refused_even_here() -> None:
    with pytest.raises(Unauthenticated, match="not known") as refusal:
        await identity_of(auth(), api()).identify("Bearer x", HERE)
    assert "send no token" in refusal.value.hint


@pytest.mark.parametrize(
    "tokens",
    [
        "ann",
        "ann:admin",
        "ann:admin:",
        ":admin:a-long-enough-token",
        "ann:root:a-long-enough-token",
        "ann:Admin:a-long-enough-token",
        f"ann:admin:{'a' * 20} ann:reader:{'b' * 20}",
        f"ann:admin:{'a' * 20} bob:reader:{'a' * 20}",
        f"{'n' * 500}:admin:{'a' * 20}",
    ],
)
def test_a_malformed_tokens_setting_is_refused_without_being_shown(tokens: str) -> None:
    with pytest.raises(Invalid) as refusal:
        static(tokens)
    assert "a-long" not in str(refusal.value)
    assert "aaaa" not in str(refusal.value)


def test_short_static_tokens_are_for_loopback_only() -> None:
    short = auth(tokens=SecretStr("ann:admin:short"))
    assert identity_of(short, api())
    with pytest.raises(Invalid, match="shorter than 16 characters"):
        identity_of(short, api("0.0.0.0"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"issuer": "http://login.example.com", "audience": "t"}, "no https URL"),
        ({"issuer": "login.example.com", "audience": "t"}, "no https URL"),
        ({"issuer": "https://", "audience": "t"}, "no https URL"),
        ({"issuer": "https://a:b@login.example.com", "audience": "t"}, "no https URL"),
        ({"issuer": "https://login.example.com"}, "no audience"),
        ({"audience": "t"}, "no https URL"),
    ],
)
def test_half_a_description_of_an_issuer_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(Invalid, match=message) as refusal:
        identity_of(auth(**given), api())
    assert "TRELLIS_AUTH_" in refusal.value.hint


@pytest.mark.parametrize("name", ["none", "HS256", "HS512", "dir", "rs256", "RSA"])
def test_an_algorithm_that_does_not_prove_who_signed_is_refused(name: str) -> None:
    given = {"issuer": "https://login.example.com", "audience": "t", "algorithms": f"RS256 {name}"}
    with pytest.raises(Invalid, match=f'"{name}"'):
        identity_of(auth(**given), api())


def test_no_algorithm_at_all_is_refused() -> None:
    given = {"issuer": "https://login.example.com", "audience": "t", "algorithms": " "}
    with pytest.raises(Invalid, match="no algorithm"):
        identity_of(auth(**given), api())


@pytest.mark.parametrize("text", [None, "this is no certificate"])
def test_certificates_that_cannot_be_read_are_refused(text: str | None, tmp_path: Any) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    given = {"issuer": "https://login.example.com", "audience": "t", "ca_file": str(file)}
    with pytest.raises(Invalid, match="cannot be read"):
        identity_of(auth(**given), api())


async def test_the_memory_of_tokens_is_bounded_and_forgets_the_one_not_used() -> None:
    tokens = " ".join(f"user{n}:reader:{'t' * 20}{n}" for n in range(5))
    identity = static(tokens, tokens_kept_max=2)
    header = [f"Bearer {'t' * 20}{n}" for n in range(5)]
    await identity.identify(header[0], AFAR)
    await identity.identify(header[1], AFAR)
    assert identity.known(header[0], AFAR)
    await identity.identify(header[2], AFAR)
    assert [identity.known(each, AFAR) is not None for each in header[:3]] == [True, False, True]


async def test_a_remembered_token_is_looked_at_again_after_a_while() -> None:
    now = time.time()
    settings = auth(tokens=SecretStr(TOKENS), keys_kept_seconds=10)
    identity = identity_of(settings, api(), now=lambda: now)
    await identity.identify("Bearer a-long-enough-token", HERE)
    now += 9
    assert identity.known("Bearer a-long-enough-token", HERE)
    now += 2
    assert identity.known("Bearer a-long-enough-token", HERE) is None
    assert await identity.identify("Bearer a-long-enough-token", HERE)


def test_what_was_identified_is_valid_until_its_token_ends() -> None:
    for_ever, until = Identified(Actor("ann"), None), Identified(Actor("ann"), 100.0)
    assert still_valid(for_ever, 1e18)
    assert still_valid(until, 99.9)
    assert not still_valid(until, 100.0)


@given(st.text(max_size=200), st.text(max_size=40), st.text(max_size=40))
def test_nothing_anybody_sends_is_let_in_by_mistake(header: str, client: str, host: str) -> None:
    identity = static()

    async def ask() -> None:
        for each in (header, f"Bearer {header}"):
            with pytest.raises(Unauthenticated):
                await identity.identify(each, Peer(client, host))

    asyncio.run(ask())
