"""Tokens of a real issuer, over https."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey

from api.caller.identity import Identified, Identity, Peer, Unauthenticated, identity_of
from api.settings import ApiSettings, AuthSettings
from graph.model.access import Actor, Role
from graph.model.errors import Unavailable
from issuer import AUDIENCE, DESCRIPTION, KEYS, Answer, Issuer, ec_key, ed_key, issuing, rsa_key

PEER = Peer("192.0.2.7", "trellis.example.com")


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[Issuer]:
    with issuing(tmp_path) as running:
        yield running


def believing(issuer: Issuer, **given: Any) -> Identity:
    settings = {
        "issuer": issuer.url,
        "audience": AUDIENCE,
        "ca_file": str(issuer.ca_file),
        "leeway_seconds": 0,
        **given,
    }
    return identity_of(
        AuthSettings.model_validate(settings), ApiSettings.model_validate({"host": "0.0.0.0"})
    )


async def asked(identity: Identity, token: str) -> Identified:
    return await identity.identify(f"Bearer {token}", PEER)


async def test_a_token_of_the_issuer_is_its_subject_with_its_groups(issuer: Issuer) -> None:
    identity = believing(issuer)
    ends = int(time.time()) + 300
    token = issuer.token(sub="ann@example.com", groups=["ops", "texas"], exp=ends)
    assert identity.known(f"Bearer {token}", PEER) is None
    found = await asked(identity, token)
    assert found == Identified(Actor("ann@example.com", frozenset({"ops", "texas"})), ends)
    assert identity.known(f"Bearer {token}", PEER) is found
    assert issuer.asked == {DESCRIPTION: 1, KEYS: 1}


async def test_first_admins_are_admins(issuer: Issuer) -> None:
    identity = believing(issuer, first_admins="zoe ann")
    assert (await asked(identity, issuer.token())).actor.standing is Role.ADMIN
    assert (await asked(identity, issuer.token(sub="bob"))).actor.standing is None


@pytest.mark.parametrize(
    ("groups", "expected"), [(None, set()), ("ops", {"ops"}), ([], set()), (["a", "a"], {"a"})]
)
async def test_groups_may_be_one_several_or_none(
    groups: object, expected: set[str], issuer: Issuer
) -> None:
    identity = believing(issuer, claim="roles")
    found = await asked(identity, issuer.token(roles=groups, groups=["not these"]))
    assert found.actor.claims == expected


async def test_every_kind_of_key_is_taken(issuer: Issuer) -> None:
    issuer.keys += [rsa_key("rsa"), ed_key("ed")]
    issuer.publish()
    identity = believing(issuer, algorithms="RS256 PS256 ES256 EdDSA Ed25519")
    for position, algorithm in [(0, "ES256"), (1, "RS256"), (1, "PS256"), (2, "EdDSA")]:
        token = issuer.token(issuer.keys[position], algorithm=algorithm)
        assert (await asked(identity, token)).actor.name == "ann", algorithm


async def test_a_token_without_a_key_id_is_checked_with_the_only_key_that_fits(
    issuer: Issuer,
) -> None:
    token = issuer.token(header={"kid": None})
    assert await asked(believing(issuer), token)
    issuer.keys.append(ec_key("second"))
    issuer.publish()
    with pytest.raises(Unauthenticated, match="a key the issuer does not have"):
        await asked(believing(issuer), token)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": 1}, "has expired"),
        ({"exp": None}, "lacks exp"),
        ({"exp": "tomorrow"}, "exp does not hold"),
        ({"exp": True}, "exp does not hold"),
        ({"iss": None}, "lacks iss"),
        ({"iss": "https://elsewhere.example.com"}, "iss does not hold"),
        ({"iss": 5}, "iss does not hold"),
        ({"aud": None}, "lacks aud"),
        ({"aud": "another"}, "aud does not hold"),
        ({"aud": ["another", "third"]}, "aud does not hold"),
        ({"aud": {"trellis": 1}}, "aud does not hold"),
        ({"nbf": 2**40}, "nbf does not hold"),
        ({"nbf": "now"}, "nbf does not hold"),
        ({"sub": None}, "lacks sub"),
        ({"sub": ""}, "sub does not hold"),
        ({"sub": "  "}, "subject is empty"),
        ({"sub": 5}, "sub does not hold"),
        ({"sub": "a\nb"}, r"U\+000A"),
        ({"sub": "x" * 201}, "201 characters"),
        ({"sub": "local:root"}, "a name of those who open a store directly"),
        ({"groups": 5}, "no list of names"),
        ({"groups": ["a", 5]}, "no list of names"),
        ({"groups": ["a\x00"]}, r"U\+0000"),
        ({"groups": ["g" * 201]}, "201 characters"),
        ({"groups": [f"{n}" for n in range(1_001)]}, "1,001 groups"),
    ],
)
async def test_a_token_that_says_the_wrong_thing_is_refused_with_the_reason(
    claims: dict[str, Any], reason: str, issuer: Issuer
) -> None:
    with pytest.raises(Unauthenticated, match=reason) as refusal:
        await asked(believing(issuer), issuer.token(**claims))
    assert refusal.value.hint


async def test_one_of_several_audiences_is_enough(issuer: Issuer) -> None:
    assert await asked(believing(issuer), issuer.token(aud=["other", AUDIENCE]))


async def test_a_token_may_end_in_a_thousand_years(issuer: Issuer) -> None:
    found = await asked(believing(issuer), issuer.token(exp=10**400))
    assert found.expires_seconds == 1e12


async def test_clocks_may_differ_by_the_leeway(issuer: Issuer) -> None:
    now = int(time.time())
    patient = believing(issuer, leeway_seconds=60)
    found = await asked(patient, issuer.token(exp=now - 30, nbf=now + 30))
    assert found.expires_seconds == now + 30
    with pytest.raises(Unauthenticated, match="expired"):
        await asked(patient, issuer.token(exp=now - 90))


async def test_a_token_signed_by_somebody_else_is_refused(issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated, match="signature"):
        await asked(believing(issuer), issuer.token(ec_key("first")))


async def test_the_public_key_is_no_shared_secret(issuer: Issuer) -> None:
    """A token signed with HMAC and the issuer's public key, which everybody has."""
    public = issuer.keys[0].as_pem(private=False)
    token = issuer.token(OctKey.import_key(b64(public)), algorithm="HS256")
    with pytest.raises(Unauthenticated, match="accepted algorithm"):
        await asked(believing(issuer), token)


async def test_a_token_that_nobody_signed_is_refused(issuer: Issuer) -> None:
    claims = issuer.token().split(".")[1]
    for algorithm in ("none", "None", "", None, 5, ["ES256"]):
        header = b64(json.dumps({"alg": algorithm, "kid": "first"}).encode()).decode()
        for signature in ("", "AAAA"):
            with pytest.raises(Unauthenticated):
                await asked(believing(issuer), f"{header}.{claims}.{signature}")
    assert not issuer.asked, "no key was needed to say so"


async def test_an_algorithm_of_another_key_is_refused(issuer: Issuer) -> None:
    issuer.keys.append(rsa_key("rsa"))
    issuer.publish()
    token = issuer.token(issuer.keys[1], algorithm="RS256", header={"kid": "first"})
    with pytest.raises(Unauthenticated, match="a key the issuer does not have"):
        await asked(believing(issuer), token)


async def test_a_listed_algorithm_only(issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated, match="accepted algorithm") as refusal:
        await asked(believing(issuer, algorithms="RS256"), issuer.token())
    assert refusal.value.hint == "accepted: RS256"


async def test_a_key_the_token_brings_along_is_not_looked_at(issuer: Issuer) -> None:
    """Neither one inside it, nor one at an address it names."""
    mine = ECKey.generate_key("P-256", {"kid": "mine"})
    elsewhere = f"https://127.0.0.1:{issuer.port}/mine"
    listed = {"keys": [mine.as_dict(private=False)]}
    issuer.answers["/mine"] = Answer(json.dumps(listed).encode())
    header = {"jwk": mine.as_dict(private=False), "jku": elsewhere, "x5u": elsewhere}
    for kid in ("mine", "first", None):
        with pytest.raises(Unauthenticated):
            await asked(believing(issuer), issuer.token(mine, header={**header, "kid": kid}))
    assert "/mine" not in issuer.asked
    assert await asked(believing(issuer), issuer.token(header=header)), "they are not in the way"


@pytest.mark.parametrize(
    "header",
    [
        {"crit": ["b64x"], "b64x": True},
        {"crit": ["b64"], "b64": False},
        {"crit": 5},
        {"crit": ["gone"]},
        {"kid": 5},
        {"kid": ["first"]},
        {"jku": 5, "jwk": "x", "x5c": {}, "typ": 7},
        {"x" * 5_000: 1},
    ],
    ids=lambda header: str(header)[:40],
)
async def test_a_header_that_cannot_be_understood_is_refused(
    header: dict[str, Any], issuer: Issuer
) -> None:
    with pytest.raises(Unauthenticated):
        await asked(believing(issuer), issuer.token(header=header))


@pytest.mark.parametrize(
    "token",
    ["x", "a.b", "a.b.c.d", "..", "a.b.c", "é.b.c", "W10.W10.W10", "e30.e30.e30", "NQ.NQ.NQ"],
)
async def test_what_is_no_token_is_refused(token: str, issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated):
        await asked(believing(issuer), token)
    assert not issuer.asked


async def test_content_that_is_no_object_is_refused(issuer: Issuer) -> None:
    from joserfc.jws import serialize_compact

    for body in (b"5", b"[]", b"null", b"{", b"\xff", b"[" * 5_000, b'{"exp":' + b"9" * 5_000):
        token = serialize_compact({"alg": "ES256", "kid": "first"}, body, issuer.keys[0])
        with pytest.raises(Unauthenticated):
            await asked(believing(issuer), token)


async def test_a_new_key_is_found_but_made_up_ones_are_one_read_a_minute(issuer: Issuer) -> None:
    identity = believing(issuer)
    strangers = [issuer.token(ec_key(f"stranger{n}")) for n in range(20)]

    async def refused(token: str) -> bool:
        try:
            await asked(identity, token)
        except Unauthenticated:
            return True
        return False

    assert all(await asyncio.gather(*map(refused, strangers)))
    assert all([await refused(token) for token in strangers])
    assert issuer.asked[KEYS] == 1
    assert await asked(identity, issuer.token()), "those who are known are not in a queue"


async def test_a_rotated_key_is_taken_and_the_old_one_goes_with_its_tokens(
    issuer: Issuer,
) -> None:
    identity = believing(issuer, refresh_seconds=0.001)
    old, new = issuer.token(), ec_key("second")
    await asked(identity, old)
    issuer.keys[:] = [new]
    issuer.publish()
    assert identity.known(f"Bearer {old}", PEER)
    assert (await asked(identity, issuer.token(sub="bob"))).actor.name == "bob"
    assert identity.known(f"Bearer {old}", PEER) is None
    with pytest.raises(Unauthenticated, match="a key the issuer does not have"):
        await asked(identity, old)


async def test_keys_are_read_again_when_they_are_old(issuer: Issuer) -> None:
    identity = believing(issuer, refresh_seconds=0.001, keys_kept_seconds=0.01)
    token = issuer.token()
    await asked(identity, token)
    await asyncio.sleep(0.02)
    await asked(identity, token)
    assert issuer.asked[KEYS] == 2


async def test_an_issuer_that_went_away_does_not_take_known_keys_along(issuer: Issuer) -> None:
    identity = believing(issuer, refresh_seconds=0.001, keys_kept_seconds=0.01)
    await asked(identity, issuer.token())
    issuer.answers.clear()
    await asyncio.sleep(0.02)
    assert await asked(identity, issuer.token(sub="bob"))


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (DESCRIPTION, Answer(b"{}", 404)),
        (DESCRIPTION, Answer(b"no json")),
        (DESCRIPTION, Answer(b"[]")),
        (DESCRIPTION, Answer(b"[" * 60_000)),
        (DESCRIPTION, Answer(b"{}")),
        (DESCRIPTION, Answer(b" " * 70_000)),
        (DESCRIPTION, Answer(b"", 302, {"Location": KEYS})),
        (KEYS, Answer(b"{}", 500)),
        (KEYS, Answer(b"{}")),
        (KEYS, Answer(b'{"keys": 5}')),
        (KEYS, Answer(b'{"keys": [5, {}, {"kty": "EC"}, {"kty": "oct", "k": "AAAA"}]}')),
        (KEYS, Answer(b" " * 70_000)),
    ],
    ids=lambda each: str(each)[:50],
)
async def test_an_issuer_that_does_not_answer_as_it_should_is_unavailable(
    path: str, answer: Answer, issuer: Issuer
) -> None:
    issuer.answers[path] = answer
    identity = believing(issuer)
    for _ in range(3):
        with pytest.raises(Unavailable, match="issuer"):
            await asked(identity, issuer.token())
    assert issuer.asked[DESCRIPTION] == 1, "it is not asked again at once"


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "https://elsewhere.example.com"},
        {"jwks_uri": "https://elsewhere.example.com/keys"},
        {"jwks_uri": "https://127.0.0.1:1/keys"},
        {"jwks_uri": "http://127.0.0.1/keys"},
        {"jwks_uri": "https://x@127.0.0.1/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https://[::1"},
        {"jwks_uri": 5},
        {"jwks_uri": None},
    ],
    ids=str,
)
async def test_keys_that_are_not_on_the_issuers_own_host_are_not_read(
    changes: dict[str, Any], issuer: Issuer
) -> None:
    issuer.publish(**changes)
    with pytest.raises(Unavailable, match=r"its own host|another issuer"):
        await asked(believing(issuer), issuer.token())
    assert not issuer.asked[KEYS]


async def test_an_answer_that_trickles_in_is_given_up(issuer: Issuer) -> None:
    issuer.answers[DESCRIPTION].seconds = 60.0
    started = time.monotonic()
    with pytest.raises(Unavailable, match=r"no answer in 0\.3 s"):
        await asked(believing(issuer, fetch_seconds=0.3), issuer.token())
    assert time.monotonic() - started < 30


async def test_an_issuer_with_a_certificate_of_somebody_else_is_unavailable(
    issuer: Issuer,
) -> None:
    with pytest.raises(Unavailable, match=r"(?i)certificate"):
        await asked(believing(issuer, ca_file=""), issuer.token())
    assert not issuer.asked


async def test_a_proxy_of_the_environment_is_not_used(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert await asked(believing(issuer), issuer.token())


def b64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
