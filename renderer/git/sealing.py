"""Making a commit object: by us, or by git where it is to be signed."""

from __future__ import annotations

from collections.abc import Callable

from graph.model.errors import Unavailable
from renderer.git.landing import Landing
from renderer.git.objects import Id, encode_commit, object_id
from renderer.git.process import Git


class Seal:
    """Commits of one worker."""

    def __init__(self, git: Git, now: Callable[[], int]) -> None:
        self._git = git
        self._now = now

    def commit(self, landing: Landing, tree: Id, parent: Id | None, text: bytes) -> Id:
        """Land everything, and on top a commit that nothing points at yet."""
        if self._git.identity.signing is not None:
            landing.land()  # git signs only what it can find
            return self._signed(tree, parent, text)
        who = self._git.identity
        signature = f"{who.name} <{who.email}> {self._now()} +0000".encode()
        content = encode_commit(tree, parent, signature, text)
        landing.land((b"commit", content))
        return object_id(b"commit", content)

    def _signed(self, tree: Id, parent: Id | None, text: bytes) -> Id:
        who = self._git.identity
        assert who.signing is not None
        when = f"{self._now()} +0000"
        extra = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", who.name), ("EMAIL", who.email), ("DATE", when))
        }
        if who.signing.home is not None:
            extra["GNUPGHOME"] = str(who.signing.home)
        parents = ("-p", parent.hex()) if parent else ()
        done = self._git.run(
            "commit-tree", f"-S{who.signing.key}", *parents, tree.hex(), said=text, extra=extra
        )
        if done.code:
            raise Unavailable(
                f"the commit could not be signed: {done.said}",
                hint="see that the key is there, without a passphrase, and readable by the worker",
            )
        return bytes.fromhex(done.out.decode().strip())
