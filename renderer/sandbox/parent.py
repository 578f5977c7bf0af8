"""The sandbox, as everybody else sees it: jobs in, answers out, whatever a template does.

X1  Every job has an answer, in the order of the jobs: what it gave, or why it gave nothing.
X2  A job that takes too long, too much, or the child with it fails alone; the next goes on.
X3  The same job has the same answer in every process.
X4  Objects are checked again on this side: a child that was taken over can name no other ones.
"""

from __future__ import annotations

import signal
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from types import TracebackType
from typing import Self, cast

import orjson

from graph.model.names import counted
from renderer.failure import Failure, Unrenderable
from renderer.limits import OUT_OF_MEMORY, OUT_OF_TIME, Limits
from renderer.rules import Rules
from renderer.sandbox.answers import Objects, Texts, Unreadable, read
from renderer.sandbox.frames import frame
from renderer.sandbox.process import Child, Ended, told
from renderer.sandbox.process import command as child_command

AHEAD_MAX = 32
"""Jobs on their way to the child."""
DEFINITIONS_MAX = 8
"""Definitions the child keeps compiled."""
STOPS_MAX = 3
"""Jobs of one definition that may be stopped; the others of the same run are not tried."""


@dataclass(frozen=True, slots=True)
class Job:
    """Files of a definition, what to render them with, and what they may give."""

    files: Mapping[str, str]
    values: Mapping[str, object]
    rules: Rules


class Sandbox:
    """Renders templates. The child is started when there is something to do, and kept."""

    def __init__(
        self, limits: Limits | None = None, *, command: Sequence[str] | None = None
    ) -> None:
        self._limits = limits or Limits()
        self._command = command or child_command()
        self._child: Child | None = None
        self._known: OrderedDict[str, None] = OrderedDict()
        self._waiting: deque[_Ticket] = deque()
        self._stops: Counter[str] = Counter()
        self._numbers = count(1)
        self._first = False
        self._named: tuple[Mapping[str, str] | None, str] = (None, "")

    def render(self, files: Mapping[str, str], values: Mapping[str, object]) -> Texts:
        """The text of each file; ``Unrenderable`` says why not."""
        self._first = False
        answer = self._answer(self._submit(files, values, None))
        if isinstance(answer, Failure):
            raise Unrenderable(answer)
        return cast("Texts", answer)

    def run(self, jobs: Iterable[Job], *, first: bool = False) -> Iterator[Objects | Failure]:
        """The objects of each job, in order, or why there are none.

        ``first``: others wait, so each has little time, and a definition is stopped once.
        """
        self._stops.clear()
        self._first = first
        ahead: deque[_Ticket] = deque()
        for job in jobs:
            ahead.append(self._submit(job.files, job.values, job.rules))
            if len(ahead) >= AHEAD_MAX:
                yield cast("Objects | Failure", self._answer(ahead.popleft()))
        while ahead:
            yield cast("Objects | Failure", self._answer(ahead.popleft()))

    def close(self) -> None:
        """End the child. Another is started if there is more to do."""
        if self._child is not None:
            self._child.close()
        self._child = None
        self._waiting.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _submit(
        self, files: Mapping[str, str], values: Mapping[str, object], rules: Rules | None
    ) -> _Ticket:
        ticket = _Ticket(next(self._numbers), files, values, rules, self._name(files))
        if not self._is_given_up(ticket):
            self._waiting.append(ticket)
            self._send(ticket)
        return ticket

    def _name(self, files: Mapping[str, str]) -> str:
        if self._named[0] is not files:
            text = orjson.dumps(dict(files), option=orjson.OPT_SORT_KEYS)
            self._named = (files, sha256(text).hexdigest())
        return self._named[1]

    def _send(self, ticket: _Ticket) -> None:
        if self._child is None:
            self._known.clear()
            self._child = Child(self._limits, self._command)
        name, rules = ticket.definition, ticket.rules
        is_new = name not in self._known
        self._known[name] = None
        self._known.move_to_end(name)
        forget = [self._known.popitem(last=False)[0]] if len(self._known) > DEFINITIONS_MAX else []
        message = {
            "job": ticket.number,
            "definition": name,
            "files": dict(ticket.files) if is_new else None,
            "forget": forget,
            "seconds": self._seconds_max,
            "values": ticket.values,
            "rules": None if rules is None else (rules.namespace, rules.cluster_scoped),
        }
        self._child.send(frame(message))

    @property
    def _seconds_max(self) -> float:
        limits = self._limits
        return (
            min(limits.first_seconds_max, limits.seconds_max)
            if self._first
            else (limits.seconds_max)
        )

    def _stopped(self, failure: Failure) -> Failure:
        """What is said of a job that had to be stopped."""
        message, hint = failure.message, failure.hint
        if self._first and message == self._limits.too_long().message:
            message = f"took more than {self._seconds_max:g} s"
            hint = f"it is tried again after all others, with {self._limits.seconds_max:g} s"
        return replace(failure, message=message, hint=hint, stopped=True)

    def _answer(self, ticket: _Ticket) -> Objects | Texts | Failure:
        """Take answers until this one is there; those of others are kept for them."""
        while ticket.answer is None:
            if self._child is None:
                raise RuntimeError("the sandbox was closed before the answer came")
            try:
                self._take(self._child)
            except Ended as error:
                self._go_on(error)
        return ticket.answer

    def _take(self, child: Child) -> None:
        body = child.receive(self._limits.wait_seconds_max)
        first = self._waiting[0]
        try:
            first.answer = read(body, first.number, first.files, first.rules)
        except Unreadable:
            child.kill()
            raise Ended(None, "gave an answer that cannot be read") from None
        self._waiting.popleft()
        if isinstance(first.answer, Failure) and self._limits.is_exceeded(first.answer):
            first.answer = self._stopped(first.answer)
            self._stops[first.definition] += 1
            if any(map(self._is_given_up, self._waiting)):
                child.kill()  # it has them already
                self._start_over()

    def _go_on(self, ended: Ended) -> None:
        """Blame the job that was at work, and give the others to another child."""
        blamed = self._waiting.popleft()
        blamed.answer = self._stopped(_blame(ended, self._limits, blamed.files))
        self._stops[blamed.definition] += 1
        self._start_over()

    def _start_over(self) -> None:
        self._child = None
        self._waiting = deque(each for each in self._waiting if not self._is_given_up(each))
        for ticket in self._waiting:
            self._send(ticket)

    def _is_given_up(self, ticket: _Ticket) -> bool:
        stops_max = 1 if self._first else STOPS_MAX
        if ticket.rules is not None and self._stops[ticket.definition] >= stops_max:
            ticket.answer = Failure(
                f"was not tried: {counted(stops_max, 'other configuration')} of it had to be"
                " stopped",
                hint="correct the template; it is tried again after all others",
                stopped=True,
            )
        return ticket.answer is not None


@dataclass(slots=True)
class _Ticket:
    """A job on its way."""

    number: int
    files: Mapping[str, str]
    values: Mapping[str, object]
    rules: Rules | None
    definition: str
    answer: Objects | Texts | Failure | None = None


def _blame(ended: Ended, limits: Limits, files: Mapping[str, str]) -> Failure:
    file = next(iter(files)) if len(files) == 1 else ""
    if ended.code in (OUT_OF_TIME, -signal.SIGVTALRM):
        return limits.too_long(file)
    if ended.code == OUT_OF_MEMORY:
        return limits.too_large(file)
    message = ended.why or f"took the process it ran in along: {told(ended.code)}"
    return Failure(message, "make the template smaller; it is tried again", file)
