"""Commits signed with real keys, checked by git itself."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from graph.model.errors import Unavailable
from renderer.git.access import Identity, Signing
from renderer.publish.git import GitPublisher
from repositories import IMPATIENT, git, is_sound, publish

needs = pytest.mark.skipif
MAIL = "trellis@example.com"


def signed_by(tmp_path: Path, signing: Signing) -> GitPublisher:
    return GitPublisher.open(
        str(tmp_path / "r.git"),
        now=lambda: 1_700_000_000,
        identity=Identity("Trellis", MAIL, signing),
        limits=IMPATIENT,
    )


@needs(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_a_commit_is_signed_with_an_ssh_key(tmp_path):
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    publisher = signed_by(tmp_path, Signing(str(key)))
    for number in range(2):
        publish(publisher, {"fleet/a": str(number)}, f"c{number}")
    assert publisher.head().cursor == "c1"
    publisher.close()
    allowed = tmp_path / "allowed"
    allowed.write_text(f"{MAIL} {key.with_suffix('.pub').read_text()}")
    for commit in ("main", "main~1"):
        git(
            tmp_path / "r.git",
            *("-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={allowed}"),
            *("verify-commit", commit),
        )
    assert git(tmp_path / "r.git", "log", "-1", "--format=%an <%ae> %at") == (
        f"Trellis <{MAIL}> 1700000000"
    )
    assert is_sound(tmp_path / "r.git")


@needs(shutil.which("gpg") is None, reason="gpg is not installed")
def test_a_commit_is_signed_with_an_openpgp_key(tmp_path):
    home = Path(tempfile.mkdtemp(prefix="gpg"))  # the agent's socket needs a short path
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet"]
    make = ["--passphrase", "", "--quick-generate-key", MAIL, "ed25519", "sign", "never"]
    try:
        subprocess.run([*gpg, *make], check=True, capture_output=True)
        publisher = signed_by(tmp_path, Signing(MAIL, "openpgp", home))
        publish(publisher, {"fleet/a": "1"}, "c1")
        publisher.close()
        git(tmp_path / "r.git", "verify-commit", "main", GNUPGHOME=str(home))
    finally:
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False)
        shutil.rmtree(home)


def test_a_key_that_is_not_there_leaves_the_head_where_it_was(tmp_path):
    publisher = signed_by(tmp_path, Signing(str(tmp_path / "nowhere")))
    with pytest.raises(Unavailable, match="could not be signed"):
        publish(publisher, {"fleet/a": "1"}, "c1")
    assert publisher.head().commit == ""
    publisher.close()
