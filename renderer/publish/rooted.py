"""Files below one directory, and never outside: no link is followed on any step of the way.

A path is walked by handles, one name at a time. A link or a file that stands where the worker needs
a directory of its own is replaced; one that somebody else answers for is refused.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graph.model.errors import Invalid, Unavailable
from graph.model.names import quoted
from renderer.paths import is_owned

BESIDE = ".trellis-beside"
"""How a file ends that waits beside the one it will replace."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_A_DIRECTORY = (errno.ENOTDIR, errno.ELOOP)


class Rooted:
    """What is below ``root``."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self) -> None:
        """Let go of the directory."""
        os.close(self._root)

    def read(self, path: str) -> bytes | None:
        """The content of a file; None where there is none, or something else."""
        with self._parent(path) as (parent, name):
            if parent is None or not stat.S_ISREG(_mode(parent, name)):
                return None
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            with os.fdopen(handle, "rb") as file:
                return file.read()

    def kinds(self, directory: str) -> dict[str, int]:
        """What is right below a directory: names with the kind of thing, as ``stat`` has it."""
        with self._opened(directory) as handle:
            if handle is None:
                return {}
            return {name: stat.S_IFMT(_mode(handle, name)) for name in _listed(handle)}

    def walk(self, directory: str) -> Iterator[tuple[str, os.stat_result]]:
        """All below a directory that is none itself, links included; sorted."""
        with self._opened(directory) as handle:
            if handle is None:
                return
            for name in _listed(handle):
                path = f"{directory}/{name}" if directory else name
                try:
                    found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                except FileNotFoundError:
                    continue  # somebody took it away just now
                if stat.S_ISDIR(found.st_mode):
                    yield from self.walk(path)
                else:
                    yield path, found

    def write_beside(self, path: str, content: bytes) -> None:
        """The content, under another name in the same directory."""
        with self._parent(path, make=True) as (parent, name):
            assert parent is not None
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with suppress(FileNotFoundError):
                os.unlink(f".{name}{BESIDE}", dir_fd=parent)
            handle = os.open(f".{name}{BESIDE}", flags, 0o644, dir_fd=parent)
            with os.fdopen(handle, "wb") as file:
                file.write(content)

    def take(self, path: str, sync: bool) -> os.stat_result:
        """Rename what waits beside into place; its ``stat`` from then on."""
        with self._parent(path) as (parent, name):
            if parent is None:
                raise FileNotFoundError(errno.ENOENT, "a directory went away", path)
            beside = f".{name}{BESIDE}"
            handle = os.open(beside, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            try:
                if sync:
                    os.fsync(handle)
                self._replace(parent, beside, name)
                return os.fstat(handle)
            finally:
                os.close(handle)

    def remove(self, path: str) -> None:
        """A file or link goes, and so do directories that it leaves empty."""
        with self._parent(path) as (parent, name):
            if parent is None:
                return
            with suppress(FileNotFoundError, IsADirectoryError):
                os.unlink(name, dir_fd=parent)
        while "/" in path:
            path = path.rpartition("/")[0]
            with self._parent(path) as (parent, name):
                if parent is None:
                    continue
                try:
                    os.rmdir(name, dir_fd=parent)
                except OSError:
                    return

    def drop_beside(self, path: str) -> None:
        """What waits beside goes."""
        directory, slash, name = path.rpartition("/")
        self.remove(f"{directory}{slash}.{name}{BESIDE}")

    def _replace(self, parent: int, beside: str, name: str) -> None:
        try:
            os.replace(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
        except IsADirectoryError:
            shutil.rmtree(name, dir_fd=parent)
            os.replace(beside, name, src_dir_fd=parent, dst_dir_fd=parent)

    @contextmanager
    def _parent(self, path: str, make: bool = False) -> Generator[tuple[int | None, str]]:
        *parents, name = _names(path)
        with self._opened("/".join(parents), make) as handle:
            yield handle, name

    @contextmanager
    def _opened(self, directory: str, make: bool = False) -> Generator[int | None]:
        at = os.dup(self._root)
        walked = ""
        try:
            for name in _names(directory):
                walked = f"{walked}/{name}" if walked else name
                below = _stepped(at, name, walked, make)
                os.close(at)
                at = -1
                if below is None:
                    break
                at = below
            yield at if at >= 0 else None
        finally:
            if at >= 0:
                os.close(at)


def _stepped(at: int, name: str, path: str, make: bool) -> int | None:
    try:
        return os.open(name, _DIRECTORY, dir_fd=at)
    except FileNotFoundError:
        if not make:
            return None
    except OSError as error:
        if error.errno not in _NOT_A_DIRECTORY:
            raise
        if not make:
            return None
        if not is_owned(path):
            raise Unavailable(
                f"{path} is a link or a file where the worker needs a directory",
                hint="remove it, or move it away; links are never followed",
            ) from None
        os.unlink(name, dir_fd=at)
    os.mkdir(name, 0o755, dir_fd=at)
    return os.open(name, _DIRECTORY, dir_fd=at)


def _names(path: str) -> list[str]:
    """The names on the way to ``path``, none of which leads back or nowhere."""
    names = path.split("/") if path else []
    if any(name in ("", ".", "..") or "\0" in name for name in names):
        raise Invalid(
            f"{quoted(path)} leads out of the directory", hint="name files by their own path"
        )
    return names


def _mode(parent: int, name: str) -> int:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    return 0


def _listed(handle: int) -> list[str]:
    return sorted(os.listdir(handle))  # a handle: a path could lead elsewhere by now
