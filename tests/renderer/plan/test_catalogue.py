"""Definitions are read once, and anew where what is published says something else."""

from __future__ import annotations

from dataclasses import replace

from graph.model.workload import Application
from memory_publisher import MemoryPublisher
from renderer.plan.catalogue import Catalogue, Memory
from renderer.plan.sheet import Sheet
from renderer.tree import Told

POS = Application("pos", "shop")


def catalogue(output: MemoryPublisher, memory: Memory) -> tuple[Catalogue, Sheet]:
    head = output.head()
    sheet = Sheet(head.tree, output.begin(head))
    return Catalogue(sheet, fresh=False, memory=memory), sheet


def publish(output: MemoryPublisher, application: Application, memory: Memory) -> None:
    head = output.head()
    draft = output.begin(head)
    Catalogue(Sheet(head.tree, draft), fresh=False, memory=memory).applications.put(application)
    draft.commit(Told("why", "", "1.0", "stamp"))


def test_what_another_worker_published_is_seen_though_it_was_read_before():
    output, memory = MemoryPublisher(), Memory()
    publish(output, POS, memory)
    assert catalogue(output, memory)[0].application("pos") == POS
    other = replace(POS, title="Point of sale")
    publish(output, other, Memory())
    assert catalogue(output, memory)[0].application("pos") == other


def test_what_is_read_again_is_the_same_value():
    output, memory = MemoryPublisher(), Memory()
    publish(output, POS, memory)
    first = catalogue(output, memory)[0].application("pos")
    assert catalogue(output, memory)[0].application("pos") is first


def test_what_a_step_puts_down_is_forgotten_with_it():
    output, memory = MemoryPublisher(), Memory()
    publish(output, POS, memory)
    given_up, _ = catalogue(output, memory)
    given_up.applications.put(replace(POS, title="never published"))
    given_up.applications.drop("pos")
    assert catalogue(output, memory)[0].application("pos") == POS
