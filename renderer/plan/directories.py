"""What lines lead to: overlays, what tells reconcilers of them, namespaces, settings of the fleet.

A directory is written when it is first needed or when what it is made of was told anew, and goes
with the last line that leads to it. One that cannot be made stays as it is, if it is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graph.effective.portion import Overlay
from graph.model.errors import TrellisError
from renderer import paths
from renderer.failure import Failure, Unrenderable, failure_of
from renderer.flow import ordered
from renderer.formats.ansible import site_files
from renderer.formats.own import Broken
from renderer.formats.port import Format, Unit
from renderer.objects.fleet_settings import fleet_files
from renderer.objects.namespace import namespace_files, namespace_key, reserved_objects
from renderer.overlay.overlays import Address, Configuration, Overlays, Rendered, Unbuilt
from renderer.plan.breakage import Breakage
from renderer.plan.catalogue import Catalogue, Memory
from renderer.plan.claims import Claims
from renderer.plan.held import Failed, Held
from renderer.plan.lines import APPLICATIONS, NAMESPACES, Count, Lines
from renderer.plan.retry_queue import RetryQueue
from renderer.plan.sheet import Sheet
from renderer.settings import FormatSettings

_UNUSED = "no line leads there any more"


@dataclass(frozen=True, slots=True)
class Tools:
    """What makes files: handed in, so that a plan is a function of what it is given."""

    formats: Mapping[str, Format]
    """By reconciler."""
    overlays: Overlays
    settings: FormatSettings
    own: bytes = b""
    """What stands for formats that are somebody's own; empty where there are none."""
    stamp: str = ""
    """Of whoever plans; kept among the files, so that another one is a difference."""
    memory: Memory = field(default_factory=Memory)
    queue: RetryQueue = field(default_factory=RetryQueue)


@dataclass(frozen=True, slots=True)
class Books:
    """What is written down beside the output."""

    catalogue: Catalogue
    lines: Lines
    held: Held


class Directories:
    """Everything that lines lead to, as the next commit will have it."""

    def __init__(
        self,
        sheet: Sheet,
        tools: Tools,
        books: Books,
        breakage: Breakage,
        claims: Claims,
        *,
        fresh: bool,
    ) -> None:
        self._sheet, self._tools, self._fresh = sheet, tools, fresh
        self._catalogue, self._lines, self._held = books.catalogue, books.lines, books.held
        self._breakage, self._claims = breakage, claims
        self._reserved: dict[str, frozenset[Address]] = {}
        self._ready: dict[tuple[str, str, str], bool] = {}
        self._settings: dict[str, Overlay] = {}
        self._made: dict[str, bool] = {}
        """Directories that tell reconcilers, made in this step; whether they are there."""
        self._tried: dict[str, set[tuple[str, str]]] = defaultdict(set)
        """Reconcilers that were told in this step and of which keys, by application."""
        self._rendered: dict[str, set[str]] = defaultdict(set)
        """Keys of overlays made in this step, by application."""
        self._wished = self._held.wished()
        """What lines waited for before this step."""
        self._namespace_keys: dict[tuple[str, str, tuple[str, ...]], str] = {}

    def render(self, told: Iterable[Overlay]) -> None:
        """Make overlays that are new or differ; hold those that cannot be made."""
        wanted: list[Configuration] = []
        for each in told:
            made = self._configuration(each.application, each.key, each)
            if (failure := self._stopped(each.application)) is None:
                wanted.append(made)
            else:  # it would keep all others waiting
                self._fail(each.application, each.key, Failed(made.layers, made.values, failure))
        self._render(wanted, first=not self._fresh)  # a snapshot is one step: it tries everything

    def retry(self, only: Container[str] | None = None) -> None:
        """Try what failed again, of all applications or some."""
        wanted: list[Configuration] = []
        stopped = {name for name in self._held.applications() if self._stopped(name) is not None}
        chosen = self._tools.queue.next(stopped) if only is None else None
        for name in self._held.applications():
            if (only is not None and name not in only) or (name in stopped and name != chosen):
                continue
            for place, each in tuple(self._held.of(name).failed.items()):
                reconciler, _, key = place.rpartition("/")
                if reconciler:
                    self._tell(reconciler, name, key)
                else:
                    wanted.append(self._configuration(name, key, each))
        self._render(wanted)

    def keep(self, told: Iterable[Overlay]) -> None:
        """Settings of the fleet that are new or differ."""
        self._settings.update((each.key, each) for each in told)

    def is_ready(self, application: str, reconciler: str, key: str) -> bool:
        """Whether a line may lead to an overlay; what tells the reconciler of it is made now."""
        asked = (application, reconciler, key)
        found = self._ready.get(asked)
        if found is None:
            found = self._ready[asked] = self._make_ready(application, reconciler, key)
        return found

    def namespace_key(self, name: str, reconciler: str, policies: tuple[str, ...]) -> str:
        """The key of a namespace's objects on a cluster that ``policies`` reach."""
        asked = (name, reconciler, policies)
        if asked not in self._namespace_keys:
            self._namespace_keys[asked] = namespace_key(name, reconciler, policies)
        return self._namespace_keys[asked]

    def welcome_hosts(self) -> None:
        """What every host needs, whatever it runs."""
        for path, content in site_files(self._tools.settings).items():
            if self._fresh or self._sheet.read(path) is None:
                self._sheet.write(path, content, "there are hosts")

    def settle(self) -> None:
        """Bring everything in line with where lines lead now."""
        self._settle_applications()
        self._breakage.settle(self._rendered)
        self._claims.save()
        self._settle_namespaces()
        self._settle_fleet()

    def _configuration(self, name: str, key: str, told: Overlay | Failed) -> Configuration:
        application = self._catalogue.application(name)
        namespace = self._catalogue.namespace(application.namespace)
        return Configuration(application, namespace, key, told.layers, ordered(told.values))

    def _stopped(self, name: str) -> Failure | None:
        """Why its template is not tried while others wait: it was stopped, and is the same."""
        if name not in self._held:
            return None
        changed = self._catalogue.applications.changed
        if name in changed and changed[name] != self._catalogue.applications.get(name):
            return None
        failures = (each.failure for each in self._held.of(name).failed.values())
        return next((each for each in failures if each.stopped), None)

    def _render(self, wanted: Sequence[Configuration], *, first: bool = False) -> None:
        for each, made in self._tools.overlays.render(wanted, self._sheet.tree, first=first):
            name, key = each.application.name, each.key
            if first and isinstance(made, Failure) and made.stopped:
                self._tools.queue.stopped(name)
            failure = made if isinstance(made, Failure) else None
            if isinstance(made, Unbuilt):
                self._breakage.doubt(name)
                if not self._is_published(paths.overlay(name, key), made.files):
                    failure = made.failure
            if isinstance(made, Rendered):
                failure = self._taken(each, made)
            if failure is not None:
                self._fail(name, key, Failed(each.layers, each.values, failure))
                continue
            if name in self._held:
                self._held.of(name).failed.pop(key, None)
            if isinstance(made, Rendered):
                self._rendered[name].add(key)
                self._breakage.made(name, key)
                self._claims.claim(name, key, made.objects)
                self._sheet.replace(
                    paths.overlay(name, key), made.files, f"what {name} runs has changed"
                )

    def _taken(self, wanted: Configuration, made: Rendered) -> Failure | None:
        """Why an overlay may not bring its objects: one of them is somebody else's."""
        namespace = wanted.namespace
        if namespace.name not in self._reserved:
            found = reserved_objects(namespace, self._tools.settings)
            self._reserved[namespace.name] = found
        if taken := sorted(made.objects & self._reserved[namespace.name]):
            _, kind, name = taken[0]
            return Failure(
                f"{kind}/{name} is an object of the namespace {namespace.name} itself",
                "give it another name",
            )
        return self._claims.refusal(wanted.application.name, wanted.key, made.objects)

    def _is_published(self, directory: str, files: Mapping[str, bytes]) -> bool:
        """Whether a directory holds exactly these files."""
        if self._sheet.names(directory) != sorted(files):
            return False
        return all(self._sheet.read(f"{directory}/{name}") == files[name] for name in files)

    def _fail(self, application: str, place: str, failed: Failed) -> None:
        """Hold what cannot be made; as long as it fails for the same, since the same revision."""
        failures = self._held.of(application).failed
        before = failures.get(place)
        since = before.since if before is not None and before.failure == failed.failure else 0
        failures[place] = replace(failed, since=since)

    def _make_ready(self, application: str, reconciler: str, key: str) -> bool:
        words = self._tools.formats[reconciler]
        if isinstance(words, Broken):
            self._fail(application, f"{reconciler}/{key}", Failed((), {}, words.failure))
            return False
        if not self._sheet.has(paths.overlay(application, key)):
            return False
        if self._breakage.is_broken(application, key):
            return False
        anew = self._fresh or application in self._catalogue.applications.changed
        directory = words.leads_to(application, key)
        if directory == paths.sync(application, reconciler, key) and not anew:
            return self._sheet.has(directory) or self._tell(reconciler, application, key)
        return self._tell(reconciler, application, key)

    def _tell(self, reconciler: str, application: str, key: str) -> bool:
        """Tell a reconciler of an overlay; whether it now is told somehow."""
        directory = paths.sync(application, reconciler, key)
        if directory in self._made:
            return self._made[directory]
        self._tried[application].add((reconciler, key))
        words = self._tools.formats[reconciler]
        try:
            files = words.files(self._unit(application, key), self._sheet.tree)
        except (Unrenderable, TrellisError) as error:
            self._fail(application, f"{reconciler}/{key}", Failed((), {}, failure_of(error)))
            self._made[directory] = self._sheet.has(directory)
            return self._made[directory]
        if application in self._held:
            self._held.of(application).failed.pop(f"{reconciler}/{key}", None)
        if files:
            self._sheet.replace(directory, files, f"{reconciler} is told of {application}")
        self._made[directory] = True
        return True

    def _unit(self, name: str, key: str) -> Unit:
        catalogue = self._catalogue
        application = catalogue.application(name)
        known = map(catalogue.applications.get, application.depends_on)
        needs = tuple((each.name, each.namespace) for each in known if each is not None)
        namespace = catalogue.namespace(application.namespace)
        return Unit(application, namespace, key, needs, catalogue.depth(name))

    def _settle_applications(self) -> None:
        changed = self._catalogue.applications.changed
        leaning = self._catalogue.leaning_on(changed) if changed else set[str]()
        leaning |= self._catalogue.inside(self._catalogue.namespaces.changed)
        everyone = filter(paths.is_name, self._sheet.names("apps") if self._fresh else ())
        for name in (*leaning, *self._rendered, *self._tried, *self._wished, *everyone):
            self._lines.of_application(name)
        for name, count in self._lines.touched(APPLICATIONS).items():
            anew = self._fresh or name in leaning
            for reconciler, key in count.places if anew else count.places.keys() - count.before:
                if reconciler:
                    self._tell(reconciler, name, key)
            self._drop_unused(name, count)

    def _drop_unused(self, name: str, count: Count) -> None:
        """What no line leads to goes; overlays that a line waits for stay."""
        told, rendered = self._tried.get(name, set()), self._rendered.get(name, set())
        rendered |= self._wished.get(name, set())
        if self._fresh:
            rendered |= set(filter(paths.is_key, self._sheet.names(f"apps/{name}/overlays")))
        gone = (count.before | told) - count.places.keys()
        for reconciler, key in gone:
            if reconciler:
                self._sheet.remove(paths.sync(name, reconciler, key), _UNUSED)
        left = {key for _, key in gone & count.before} | rendered
        if not left:
            return
        wanted = {key for _, key in count.places}
        if name in self._held:
            wanted |= {wish.key for wish in self._held.of(name).waiting.values()}
        for key in left - wanted:
            self._sheet.remove(paths.overlay(name, key), _UNUSED)
        self._claims.forget(name, left - wanted)

    def _settle_namespaces(self) -> None:
        for name in self._told_otherwise():
            self._lines.of_namespace(name)
        otherwise = self._told_otherwise()
        for name, count in self._lines.touched(NAMESPACES).items():
            for place in count.places:
                if self._fresh or name in otherwise or place not in count.before:
                    self._write_namespace(name, *place)
            for key, *_ in count.before - count.places.keys():
                self._sheet.remove(paths.namespace(name, key), _UNUSED)

    def _told_otherwise(self) -> set[str]:
        """Namespaces that were defined anew, or a policy that may reach them was."""
        if self._catalogue.policies.changed:
            return set(self._lines.known(NAMESPACES))
        return set(self._catalogue.namespaces.changed)

    def _write_namespace(self, name: str, key: str, reconciler: str, *policies: str) -> None:
        found = self._catalogue.policies_of(name, policies)
        namespace = self._catalogue.namespace(name)
        files = namespace_files(namespace, reconciler, found, self._tools.settings)
        self._sheet.replace(
            paths.namespace(name, key), files, f"namespace {name} is as it should be"
        )

    def _settle_fleet(self) -> None:
        if not self._settings and not self._lines.touched(".trellis/lines"):
            return
        count = self._lines.of_fleet()
        for (key,) in count.places:
            if key in self._settings:
                files = fleet_files(self._settings[key])
                self._sheet.replace(paths.fleet(key), files, "settings of the fleet have changed")
        for (key,) in count.before - count.places.keys():
            self._sheet.remove(paths.fleet(key), _UNUSED)
