"""The build hook: GraphiQL and the React it needs, fetched by npm and put into the wheel.

Nothing fetched is committed, and nothing is fetched that is not pinned: each package is compared
with its SHA-512 before a byte of it is unpacked. GraphiQL 4.1.2 is the last release that runs
without a bundler. Where npm is missing, or the fetch fails, the build warns and goes on: the
console is then our own small page.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FETCHED = Path("api/console/graphiql")
MARK = "fetched.txt"
FETCH_SECONDS = 60


class Package(NamedTuple):
    """One package of the npm registry, and what is kept of it.

    No dataclass: hatchling runs this file without making it a module, which those need.
    """

    name: str
    version: str
    sha512: str
    files: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


PACKAGES = (
    Package(
        "graphiql",
        "4.1.2",
        "rNlzQIAzm6i2KBXmVQWBgLvt0TloxFVB2d18bukvdsvjEuFDHsKx5IVOomL1W1o5WW+tE54+ioHb2AEKzO2cUg==",
        (
            ("package/graphiql.min.js", "graphiql.min.js"),
            ("package/graphiql.min.css", "graphiql.min.css"),
            ("package/LICENSE", "LICENSE-graphiql.txt"),
        ),
    ),
    Package(
        "react",
        "18.2.0",
        "/3IjMdb2L9QbBdWiW5e3P2/npwMBaU9mHCSCUzNln0ZCYbcfTsGbTJrU/kGemdH2IWmB2ioZ+zkxtmq6g09fGQ==",
        (
            ("package/umd/react.production.min.js", "react.production.min.js"),
            ("package/LICENSE", "LICENSE-react.txt"),
        ),
    ),
    Package(
        "react-dom",
        "18.2.0",
        "6IMTriUmvsjHUjNtEDudZfuDQUoWXVxKHhlEGSk81n4YFS+r/Kl99wXiwlVXtPBtJenozv2P+hxDsw9eA7Xo6g==",
        (
            ("package/umd/react-dom.production.min.js", "react-dom.production.min.js"),
            ("package/LICENSE", "LICENSE-react-dom.txt"),
        ),
    ),
)


class NotFetched(Exception):
    """Why the console goes without GraphiQL."""


class GraphiQLHook(BuildHookInterface[Any]):
    """Fetch before a wheel is built or an editable one installed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        if self.target_name != "wheel":
            return
        try:
            fetch(Path(self.root) / FETCHED)
        except NotFetched as error:
            self.app.display_warning(f"the console goes without GraphiQL: {error}")
        else:
            build_data["artifacts"].append(f"{FETCHED.as_posix()}/*")


def fetch(directory: Path, packages: tuple[Package, ...] = PACKAGES) -> None:
    """Make ``directory`` hold the files of ``packages``, all of them or none."""
    if is_fetched(directory, packages):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise NotFetched("npm is not on the path")
    with tempfile.TemporaryDirectory() as scratch:
        ready = Path(scratch) / "ready"
        ready.mkdir()
        for package in packages:
            unpack(pack(npm, package, Path(scratch)), package, ready)
        (ready / MARK).write_text(mark(packages), "utf-8")
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(ready, directory)


def is_fetched(directory: Path, packages: tuple[Package, ...] = PACKAGES) -> bool:
    """Whether ``directory`` holds exactly these packages' files already."""
    names = [name for package in packages for _, name in package.files]
    try:
        same = (directory / MARK).read_text("utf-8") == mark(packages)
    except OSError:
        return False
    return same and all((directory / name).is_file() for name in names)


def mark(packages: tuple[Package, ...]) -> str:
    """What was fetched, as text: a new pin is fetched again."""
    return "".join(f"{package} {package.sha512}\n" for package in packages)


def pack(npm: str, package: Package, directory: Path) -> Path:
    """The package's archive, as the registry has it."""
    command = [npm, "pack", "--ignore-scripts", "--silent", "--fetch-retries=1", str(package)]
    try:
        subprocess.run(  # noqa: S603 - npm's own path and a pinned name
            command, cwd=directory, check=True, capture_output=True, timeout=FETCH_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise NotFetched(f"npm took longer than {FETCH_SECONDS} s for {package}") from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotFetched(f"npm could not fetch {package}: {error}") from error
    return directory / f"{package.name}-{package.version}.tgz"


def unpack(archive: Path, package: Package, directory: Path) -> None:
    """The named files of ``archive``, which must be the pinned one."""
    try:
        found = archive.read_bytes()
    except OSError as error:
        raise NotFetched(f"npm left no archive of {package}: {error}") from error
    digest = base64.b64encode(hashlib.sha512(found).digest()).decode("ascii")
    if digest != package.sha512:
        raise NotFetched(f"{package} is not what was pinned: its SHA-512 is {digest}")
    with tarfile.open(archive) as members:
        for path, name in package.files:
            member = members.extractfile(path)
            if member is None:
                raise NotFetched(f"{package} holds no {path}")
            (directory / name).write_bytes(member.read())
