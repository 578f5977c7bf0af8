"""Where a token may be shown."""

from __future__ import annotations

import pytest

from graph.model.errors import Invalid
from renderer.settings import SourceSettings
from renderer.source.address import address_of


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("ws://127.0.0.1:8000/graphql", "ws://127.0.0.1:8000/graphql"),
        ("http://localhost:8000", "ws://localhost:8000/graphql"),
        ("ws://[::1]:8000/", "ws://[::1]:8000/graphql"),
        ("https://trellis.example.com", "wss://trellis.example.com/graphql"),
        ("WSS://trellis.example.com/api/graphql", "wss://trellis.example.com/api/graphql"),
    ],
)
def test_an_api_is_found_by_its_url(url, address):
    assert address_of(SourceSettings(url=url)) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "trellis.example.com",
        "ftp://trellis.example.com",
        "wss://",
        "wss://host:port",
        "wss://[::1",
        "wss://ana:secret@trellis.example.com",
        "ws://trellis.example.com",
        "http://10.0.0.1:8000",
        "ws://localhost.example.com",
    ],
)
def test_what_is_none_or_would_show_the_token_is_refused(url):
    with pytest.raises(Invalid) as refusal:
        address_of(SourceSettings(url=url))
    assert refusal.value.hint
    assert "secret" not in str(refusal.value)


def test_a_private_network_may_be_named_as_such():
    settings = SourceSettings(url="ws://api:8000", plain=True)
    assert address_of(settings) == "ws://api:8000/graphql"
