"""One step planned: what was said becomes files, against what is already published.

P1  What is said counts when it is complete: a step that breaks off leaves nothing behind.
P2  Steps one by one, many at once, or everything from scratch end in the same files (R3), where
    what is held is taken as given.
P3  Only pointers of clusters that something was said about are read and written (R9).
P4  A line goes only because it was said to, and not in a wave unless that was agreed to (R7); what
    is prohibited goes whatever else is held.
P5  Every line leads to something that builds; where that cannot be made, the line before it
    stays (R6).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.effective.portion import (
    Blocked,
    Overlays,
    Pointers,
    Removals,
    Settings,
)
from graph.effective.portion import Pointer as Told
from graph.effective.rendition import FLEET, Cause
from graph.model.publication import HeldBack
from graph.model.ref import Kind, Ref
from renderer import paths
from renderer.message import Complete, Defined, Message
from renderer.plan.breakage import Breakage
from renderer.plan.catalogue import Catalogue
from renderer.plan.claims import Claims
from renderer.plan.directories import Books, Directories, Tools
from renderer.plan.forgetting import forget_failures, forget_undefined
from renderer.plan.held import Held, Waiting
from renderer.plan.lines import APPLICATIONS, NAMESPACES, Lines
from renderer.plan.losing import TOGETHER, Losing, batched
from renderer.plan.placing import Placing
from renderer.plan.pointer import Pointer
from renderer.plan.roster import Roster
from renderer.plan.sheet import Sheet
from renderer.plan.wave import WaveBounds
from renderer.plan.why import why_gone, why_written
from renderer.tree import Draft, Head


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step came to."""

    revision: int
    held: tuple[HeldBack, ...]
    why: dict[str, str]
    """Why each path was written or removed; some may be as they were."""
    clusters: int
    """How many pointers were looked at."""
    pending: bool = False
    """Whether a template was stopped because others waited, and may be tried now."""


class Step:
    """Takes messages, and at the end plans what they come to."""

    def __init__(
        self,
        head: Head,
        draft: Draft,
        tools: Tools,
        bounds: WaveBounds,
        *,
        fresh: bool,
    ) -> None:
        self._sheet = Sheet(head.tree, draft)
        self._before = head.before
        self._pushed: tuple[str, ...] | None = head.pushed
        """Paths of owners that were not looked at yet; None where any may have changed."""
        self._fresh = fresh
        self._bounds = bounds
        self._catalogue = Catalogue(self._sheet, fresh=fresh, memory=tools.memory)
        self._lines = Lines(self._sheet, fresh=fresh)
        self._held = Held(self._sheet)
        self._roster = Roster(self._sheet, fresh=fresh)
        self._begin(tools)

    def _begin(self, tools: Tools) -> None:
        self._books = books = Books(self._catalogue, self._lines, self._held)
        self._losing = Losing(books, self._roster, self._bounds)
        self._breakage = Breakage(
            self._sheet,
            tools.overlays,
            tools.formats,
            (self._catalogue, self._lines, self._held),
            self._before,
            fresh=self._fresh,
        )
        self._claims = Claims(self._sheet, self._catalogue, self._lines, fresh=self._fresh)
        self._directories = Directories(
            self._sheet, tools, books, self._breakage, self._claims, fresh=self._fresh
        )
        self._placing = Placing(
            tools.formats, self._directories, books, self._claims, fresh=self._fresh
        )
        self._tools = tools
        self._said: list[Message] = []
        self._told: dict[str, Told] = {}
        self._left: dict[str, Pointer] = {}
        """Of a snapshot: pointers with lines it did not tell."""
        self._seen: set[str] = set()
        self._undefined: list[Ref] = []
        self._blocked_before = {
            name: dict(self._held.of(name).blocked) for name in self._held.applications()
        }
        if self._fresh:
            for name in self._blocked_before:
                self._held.tell_anew(name)

    def take(self, message: Message) -> None:
        """Something is said."""
        if self._fresh:
            self._hear(message)
        else:
            self._said.append(message)

    def retry(self) -> None:
        """Try again what could not be made."""
        self._directories.retry()

    def confirm(self, application: str) -> int:
        """Somebody agreed to a wave: its lines go now. How many there are."""
        return self._losing.confirm(application)

    def finish(self, complete: Complete) -> Outcome:
        """All was said: plan it."""
        said, self._said = self._said, []
        self._look_at_pushes()
        for message in said:
            self._hear(message)
        if self._fresh:
            self._miss()
        self._losing.judge(complete.accepted_loss)
        touched = self._place()
        self._placing.count_tally()
        if not self._fresh:  # a snapshot told every line after every overlay
            self._settle_waiting()
        forget_undefined(self._books, self._undefined)
        self._directories.settle()
        self._save_roster()
        forget_failures(self._books)
        self._lines.save()
        held = self._held.save(complete.revision, self._lines)
        self._keep(paths.STAMP, f"{self._tools.stamp}\n".encode())
        if self._fresh:
            self._keep(paths.OWN_FORMATS, self._tools.own)
        pending = self._tools.queue.pending
        outcome = Outcome(complete.revision, held, self._sheet.why, touched, pending)
        self._begin(self._tools)
        return outcome

    def _look_at_pushes(self) -> None:
        """What owners pushed is looked at once; what failed for it before is tried again."""
        if self._pushed is None or self._pushed:
            touched = self._breakage.push(self._pushed)
            if not self._fresh:
                self._directories.retry(touched)
        self._pushed = ()

    def _keep(self, path: str, content: bytes) -> None:
        """What the whole output was made with; nothing where that is nothing."""
        if not content:
            self._sheet.remove(path, "it is used no more")
        elif self._fresh or self._sheet.read(path) != content:
            self._sheet.write(path, content, "made with another version or other settings")

    def _hear(self, message: Message) -> None:
        match message:
            case Removals():
                self._hear_removals(message)
            case Defined():
                self._define(message)
            case Settings(overlays):
                self._directories.keep(overlays)
            case Overlays(overlays):
                self._directories.render(overlays)
            case Pointers(pointers):
                self._hear_pointers(pointers)
            case Blocked(held):
                for each in held:
                    reasons = tuple((str(why.reason), why.message) for why in each.troubles)
                    self._block(each.application, each.clusters, reasons)
            case Complete():
                raise AssertionError("a step is finished with what completes it")

    def _hear_removals(self, message: Removals) -> None:
        for each in message.lines:
            self._losing.say(each)
        self._losing.retired.update(message.pointers)
        if FLEET in self._held:
            self._held.of(FLEET).forget(message.pointers)
        self._undefined.extend(message.definitions)

    def _define(self, message: Defined) -> None:
        for application in message.applications:
            self._catalogue.applications.put(application)
            if application.name in self._held:
                self._held.of(application.name).undefined = False
        for namespace in message.namespaces:
            self._catalogue.namespaces.put(namespace)
            self._held.namespaces.discard(namespace.name)
        for policy in message.policies:
            self._catalogue.policies.put(policy)

    def _hear_pointers(self, pointers: Iterable[Told]) -> None:
        if not self._fresh:
            self._told.update((each.cluster, each) for each in pointers)
            return
        told = {each.cluster: each for each in pointers}
        self._seen.update(told)
        before = self._roster.read(told)
        for name, each in told.items():
            was = before.get(name)
            pointer = self._placing.place(was, each)
            rest = was.lines.keys() - pointer.lines.keys() if was else ()
            if was and (rest or each.fleet is None):
                self._told[name], self._left[name] = each, was
            else:
                self._placing.count(None, pointer)
                why = "everything is rendered" if was is None else why_written(was, pointer)
                self._roster.put(pointer, why, host=self._placing.is_host(each))

    def _block(
        self, application: str, clusters: Iterable[str], reasons: tuple[tuple[str, str], ...]
    ) -> None:
        holding = self._held.of(application)
        before = self._blocked_before.get(application, {})
        for cluster in clusters:
            was = before.get(cluster)
            holding.blocked[cluster] = (
                was if was is not None and was[0] == reasons else (reasons, 0)
            )
            holding.waiting.pop(cluster, None)
            holding.wave.pop(cluster, None)  # it is wanted again

    def _miss(self) -> None:
        """What a snapshot did not tell of goes, unless it is blocked."""
        for shard in batched(self._roster.clusters(), TOGETHER):
            gone = [name for name in shard if name not in self._seen]
            for name, pointer in self._roster.read(gone).items():
                self._left[name] = pointer
                self._losing.retired.add(name)
        for name, pointer in self._left.items():
            told = self._told.get(name)
            spoken = {line.application for line in told.lines} if told else set[str]()
            cause = Cause.UNASSIGNED if told else Cause.RETIRED
            for application in pointer.lines.keys() - spoken:
                blocked = self._held.of(application).blocked if application in self._held else {}
                if name not in blocked:
                    self._losing.miss(application, name, cause)
        for shelf, kind in (
            (self._catalogue.applications, Kind.APPLICATION),
            (self._catalogue.namespaces, Kind.NAMESPACE),
            (self._catalogue.policies, Kind.POLICY),
        ):
            self._undefined += (Ref(kind, name) for name in shelf.names() if not shelf.told(name))
        for name in self._lines.known(APPLICATIONS):
            self._lines.of_application(name)
        for name in self._lines.known(NAMESPACES):
            self._lines.of_namespace(name)
        self._lines.of_fleet()

    def _place(self) -> int:
        """Bring every pointer that something was said about to what it should be."""
        going = self._losing.by_cluster()
        spoken_of = going.keys() | self._told.keys() | self._losing.retired
        names = sorted(self._left if self._fresh else spoken_of)  # others were written already
        for some in batched(names, TOGETHER):
            pointers = self._roster.read(some)
            for name in some:
                self._place_one(name, pointers.get(name), going.get(name, {}))
        return len(names) + len(self._seen)

    def _place_one(self, name: str, was: Pointer | None, going: Mapping[str, Cause]) -> None:
        told = self._told.get(name)
        if was is None and told is None:
            return
        pointer = self._placing.place(was, told, keep_rest=True)
        spoken = {line.application for line in told.lines} if told and going else set[str]()
        for application, cause in going.items():
            if application not in spoken and application in pointer.lines:
                self._losing.take_away(pointer, application, cause)
        self._placing.tidy(pointer)
        if name in self._losing.retired and told is None:
            if not pointer.lines:
                self._placing.count(was, None)
                self._roster.drop(name, why_gone(was or pointer))
                return
            self._losing.mark(pointer, Cause.RETIRED)
        elif told is not None:
            self._losing.mark(pointer, Cause.UNASSIGNED)
        self._placing.count(was, pointer)
        listed = self._roster.is_host(name)
        host = self._placing.is_host(told) if told else listed
        if was is None or pointer != was or host != listed or self._fresh:
            self._roster.put(pointer, why_written(was, pointer), host=host)

    def _settle_waiting(self) -> None:
        """Lines whose overlay is there at last are written, and foreign ones in their own words."""
        ready: dict[str, dict[str, Waiting]] = defaultdict(dict)
        for application in self._held.applications():
            holding = self._held.of(application)
            for cluster, wish in (*holding.foreign.items(), *holding.waiting.items()):
                if self._directories.is_ready(application, wish.reconciler, wish.key):
                    ready[cluster][application] = wish
        for some in batched(sorted(ready), TOGETHER):
            pointers = self._roster.read(some)
            for name in some:
                was = pointers.get(name) or Pointer(name)
                wishes = self._placing.free(was, ready[name])
                if not wishes:
                    continue
                pointer = self._placing.fulfil(was, wishes)
                self._placing.count(was, pointer)
                host = any(wish.reconciler == "ansible" for wish in wishes.values())
                self._roster.put(pointer, why_written(was, pointer), host=host)
                for application, wish in wishes.items():
                    self._held.of(application).fulfilled(name, wish)

    def _save_roster(self) -> None:
        if self._roster.save():
            self._directories.welcome_hosts()
        elif not self._roster.hosts():
            self._sheet.remove("ansible", "no host is left")
