"""A Neo4j server as a local process, from Maven Central: Java and Maven are all it needs.

The jars are fetched once into the user's cache directory; a server is a throwaway home directory
and a random port on 127.0.0.1. It can be killed as kill -9 does and started again on the same home
and port. Nothing here knows about tests, so benchmarks use it as well:

    with LocalServer.start(LTS) as server:
        Neo4jStore.open(server.url, user=server.user, password=server.password)
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import neo4j
from neo4j.exceptions import DriverError, Neo4jError

USER = "neo4j"
PASSWORD = "only-on-loopback"
HEAP = "-Xmx1g"
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Half the processor time for a server that never lives long enough to be optimised."""
START_SECONDS_MAX = 120.0
DOWNLOAD_SECONDS_MAX = 400.0
WIPE_BATCH = 20_000


class Missing(Exception):
    """What this machine lacks to run a server."""


@dataclass(frozen=True)
class Line:
    """A line of Neo4j: which jars, which main class, which Java."""

    version: str
    main_class: str
    java_min: int
    java_max: int


LTS = Line("5.26.30", "org.neo4j.server.CommunityEntryPoint", 17, 21)
NEWEST = Line("2026.08.1", "org.neo4j.server.Neo4jCommunity", 21, 99)

_OPENED = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in ("java.nio", "java.io", "sun.nio.ch")
)
_CONF = """\
server.bolt.listen_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
server.memory.pagecache.size=128m
db.tx_log.preallocate=false
"""
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>neo4j-server</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{version}</version>
  </dependency></dependencies>
</project>
"""


@dataclass
class LocalServer:
    """One server process. ``with`` stops it and throws its home away."""

    line: Line
    java: Path
    lib: Path
    home: Path
    port: int
    options: tuple[str, ...] = (HEAP,)
    """For Java."""
    user: str = USER
    password: str = PASSWORD
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"bolt://127.0.0.1:{self.port}"

    @staticmethod
    def start(line: Line = LTS, *, short_lived: bool = False) -> LocalServer:
        """A fresh, empty server that answers; ``Missing`` says what would be needed.

        ``short_lived`` starts faster and is slower at work: for tests, not to be measured.
        """
        java, lib = find_java(line), find_jars(line)
        home = Path(tempfile.mkdtemp(prefix="trellis-neo4j-"))
        options = (HEAP, *SHORT_LIVED) if short_lived else (HEAP,)
        server = LocalServer(line, java, lib, home, free_port(), options)
        try:
            server._prepare()
            server.launch()
        except BaseException:
            server.stop()
            raise
        return server

    def launch(self) -> None:
        """Start the process on its home and port, and wait until it answers."""
        assert self._process is None, "the server is already running"
        command = [
            *(str(self.java), *_OPENED, *self.options, "-cp", f"{self.lib}/*"),
            self.line.main_class,
            *(f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}"),
        ]
        with (self.home / "console.log").open("ab") as console:
            self._process = subprocess.Popen(
                command, cwd=self.home, stdin=subprocess.DEVNULL, stdout=console, stderr=console
            )
        self._await_answer()

    def kill(self) -> None:
        """End the process as kill -9 does. What was acknowledged is in its home."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Let the process take connections and answer nobody, as a machine without memory does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the process and throw its home away."""
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _prepare(self) -> None:
        conf = self.home / "conf"
        conf.mkdir()
        (conf / "neo4j.conf").write_text(_CONF.format(port=self.port))
        tool = [str(self.java), *SHORT_LIVED, "-cp", f"{self.lib}/*", "org.neo4j.cli.AdminTool"]
        done = subprocess.run(
            [*tool, "dbms", "set-initial-password", self.password],
            env={**os.environ, "NEO4J_HOME": str(self.home), "NEO4J_CONF": str(conf)},
            capture_output=True,
            text=True,
            timeout=START_SECONDS_MAX,
        )
        if done.returncode:
            raise Missing(f"Neo4j {self.line.version} took no password: {_tail(done.stderr)}")

    def _await_answer(self) -> None:
        assert self._process is not None
        until = time.monotonic() + START_SECONDS_MAX
        while not answers(self.url, self.user, self.password):
            if self._process.poll() is not None:
                raise Missing(f"Neo4j {self.line.version} ended at once: {self._console()}")
            if time.monotonic() > until:
                raise Missing(f"Neo4j {self.line.version} did not answer: {self._console()}")
            time.sleep(0.25)

    def _console(self) -> str:
        return _tail((self.home / "console.log").read_text(errors="replace"))


def answers(url: str, user: str, password: str) -> bool:
    """Whether a server at ``url`` takes our queries now."""
    try:
        with neo4j.GraphDatabase.driver(
            url, auth=(user, password), connection_timeout=2.0, telemetry_disabled=True
        ) as driver:
            driver.verify_connectivity()
    except (DriverError, Neo4jError, OSError):
        return False
    return True


def wipe(url: str, user: str, password: str) -> None:
    """Empty the one database a Community server has; constraints and indexes stay."""

    def batch(tx: neo4j.ManagedTransaction) -> int:
        text = "MATCH (n) WITH n LIMIT $size DETACH DELETE n RETURN count(*)"
        record = tx.run(text, size=WIPE_BATCH).single(strict=True)
        return int(record[0])

    with (
        neo4j.GraphDatabase.driver(url, auth=(user, password), telemetry_disabled=True) as driver,
        driver.session() as session,
    ):
        while session.execute_write(batch):
            pass


def free_port() -> int:
    """A port on 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_jars(line: Line) -> Path:
    """The directory with the server's jars, fetched from Maven Central the first time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trellis"
    kept = cache / f"neo4j-{line.version}"
    if not kept.is_dir():
        _download(line, cache, kept)
    return kept / "lib"


def _download(line: Line, cache: Path, kept: Path) -> None:
    """Fetch beside the place and rename: what is half there is never taken for whole."""
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing(f"no Maven (mvn) on the PATH to fetch Neo4j {line.version} with")
    cache.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{kept.name}.partial-", dir=cache))
    try:
        (partial / "pom.xml").write_text(_POM.format(version=line.version))
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={partial / 'lib'}"]
        done = subprocess.run(
            [maven, "-q", "-B", *goal],
            cwd=partial,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_SECONDS_MAX,
        )
        if done.returncode or not any((partial / "lib").glob("neo4j-*.jar")):
            raise Missing(f"Maven could not fetch Neo4j {line.version}: {_tail(done.stdout)}")
        _keep(partial, kept)
    except subprocess.TimeoutExpired as error:
        raise Missing(f"Maven did not fetch Neo4j {line.version} in time") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _keep(partial: Path, kept: Path) -> None:
    try:
        partial.rename(kept)
    except OSError:
        if not kept.is_dir():  # otherwise another process was first, and its copy is as good
            raise


def find_java(line: Line) -> Path:
    """The oldest Java on this machine that runs ``line``."""
    found = sorted(
        (version, java)
        for java in _javas()
        if line.java_min <= (version := _java_version(java)) <= line.java_max
    )
    if not found:
        span = f"{line.java_min} to {line.java_max}" if line.java_max < 99 else f"{line.java_min}+"
        raise Missing(f"no Java {span} for Neo4j {line.version} in JAVA_HOME*, PATH or JVM folders")
    return found[0][1]


def _javas() -> Iterator[Path]:
    homes = [Path(home) for name, home in os.environ.items() if name.startswith("JAVA_HOME")]
    if on_path := shutil.which("java"):
        homes.append(Path(on_path).resolve().parent.parent)
    for folder, pattern in (
        ("/usr/lib/jvm", "*"),
        ("/opt/java", "*"),
        ("/Library/Java/JavaVirtualMachines", "*/Contents/Home"),
        (str(Path.home() / ".sdkman/candidates/java"), "*"),
    ):
        homes.extend(Path(folder).glob(pattern))
    for home in dict.fromkeys(each.resolve() for each in homes):
        if (home / "bin" / "java").is_file():
            yield home / "bin" / "java"


def _java_version(java: Path) -> int:
    """The feature version, from the release file or from Java itself; 0 if neither tells."""
    release = java.parent.parent / "release"
    if release.is_file():
        text = release.read_text(errors="replace")
    else:
        asked = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30)
        text = asked.stderr
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else 0


def _tail(text: str) -> str:
    return " / ".join(text.strip().splitlines()[-3:])[-400:] or "it said nothing"
