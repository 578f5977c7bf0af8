from __future__ import annotations

import pytest

from graph.model.errors import Invalid
from renderer.git.access import Access, Identity, checked_branch, checked_url, is_url


@pytest.mark.parametrize(
    "url",
    ["https://host/x.git", "ssh://git@host:22/x.git", "file:///srv/x.git", "https://[::1]:8443/x"],
)
def test_these_addresses_may_be_published_to(url):
    assert is_url(url)
    assert checked_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://host/x.git",
        "git://host/x.git",
        "ext::sh -c touch% /tmp/x",
        "git@host:x.git",
        "ftp://host/x",
        "https:///x",
        "ssh://-oProxyCommand=x/y",
        "https://host/x y",
        "https://host/x\nfile:///y",
        "HTTPS-foo://x",
    ],
)
def test_other_addresses_are_refused(url):
    assert is_url(url)
    with pytest.raises(Invalid):
        checked_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hunter2@host/x.git",
        "https://hunter2@host/x.git",
        "ssh://git:hunter2@host/x.git",
        "https://:hunter2@host/x",
    ],
)
def test_a_credential_in_an_address_is_refused_and_not_repeated(url):
    with pytest.raises(Invalid) as refused:
        checked_url(url)
    assert "hunter2" not in str(refused.value)


def test_a_credential_of_a_refused_scheme_is_not_repeated_either():
    with pytest.raises(Invalid) as refused:
        checked_url("http://me:hunter2@host/x.git")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("path", ["/srv/fleet.git", "fleet.git", "./a:b", "C/x"])
def test_a_path_is_no_address(path):
    assert not is_url(path)


@pytest.mark.parametrize("name", ["main", "fleet/live", "v1.2", "a-b_c"])
def test_these_may_be_branches(name):
    assert checked_branch(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "-x", "a..b", "a/", "/a", "a//b", "a.lock", "a.lock/b", "a b", "a^b", "a:b", "@{1}", ".a"],
)
def test_these_may_not(name):
    with pytest.raises(Invalid):
        checked_branch(name)


def test_a_shell_snippet_is_no_credential_helper():
    assert Access(credential_helper="store --file=/run/secrets/git").credential_helper
    with pytest.raises(Invalid):
        Access(credential_helper="!echo password=hunter2")


@pytest.mark.parametrize("name", ["", "a\nb", "a <b>", " a", "a."])
def test_an_identity_that_would_break_a_commit_is_refused(name):
    with pytest.raises(Invalid):
        Identity(name=name)
    with pytest.raises(Invalid):
        Identity(email=name)
