"""A worker's output that is kept in memory, with the errands of its worker.

with ExitStack() as stack:
    output = Output(source, stack)
    await output.errands.once()
    assert output.files.files
"""

from __future__ import annotations

from contextlib import ExitStack, closing

from memory_publisher import MemoryPublisher
from renderer.plan.wave import WaveBounds
from renderer.sandbox.parent import Sandbox
from renderer.settings import FormatSettings
from renderer.source.port import Source
from renderer.work.errands import Errands
from renderer.work.measures import Measures
from renderer.work.planner import planner, stamp
from renderer.work.publishing import Publishing


class Output:
    """What one worker keeps of one source."""

    def __init__(self, source: Source, stack: ExitStack) -> None:
        self.files = MemoryPublisher()
        sandbox = stack.enter_context(closing(Sandbox()))
        publishing = Publishing(
            source,
            self.files,
            planner(FormatSettings(), sandbox, WaveBounds()),
            stamp(FormatSettings()),
            name="main",
            measures=stack.enter_context(closing(Measures())),
        )
        stack.enter_context(closing(publishing))
        self.errands = Errands(publishing, lambda _: None)
