"""How much a template may take before it is stopped."""

from __future__ import annotations

from dataclasses import dataclass

from renderer.failure import Failure

OUT_OF_MEMORY = 77
OUT_OF_TIME = 78
"""The codes with which a child ends that had too little."""

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one overlay, and of the process that renders it."""

    seconds_max: float = 2.0
    """Of processor time, for all its files."""
    first_seconds_max: float = 0.25
    """The same while others wait; whatever takes longer is tried again after them."""
    wait_seconds_max: float = 30.0
    """Of waiting for an answer, whatever the process is doing."""
    memory_bytes_max: int = 384 * _MIB
    """Of the whole process."""
    file_length_max: int = _MIB
    """Characters of one file."""
    overlay_length_max: int = 4 * _MIB
    """Characters of all its files."""

    @property
    def answer_bytes_max(self) -> int:
        """A character is six bytes of JSON at most."""
        return 6 * self.overlay_length_max + 65_536

    def too_long(self, file: str = "", line: int = 0) -> Failure:
        """What is said of a template that took longer."""
        hint = "make its loops shorter: one inside another, or one that never ends"
        return Failure(f"took more than {self.seconds_max:g} s", hint, file, line)

    def too_large(self, file: str = "", line: int = 0) -> Failure:
        """What is said of a template that needed more memory."""
        needed = f"needed more than {self.memory_bytes_max // _MIB:,} MiB"
        return Failure(needed, "make the text it builds smaller", file, line)

    def too_much(self, length: int, file: str, line: int) -> Failure:
        """What is said of a template that gave more text, by itself or with the files before it."""
        if length > self.file_length_max:
            return Failure(_more_than(self.file_length_max), "make it give less", file, line)
        together = f"{_more_than(self.overlay_length_max)} with the files before it"
        return Failure(together, "make them give less", file, line)

    def is_exceeded(self, failure: Failure) -> bool:
        """Whether it was time or memory that was too little, and much was spent on finding out."""
        return failure.message in (self.too_long().message, self.too_large().message)


def _more_than(length: int) -> str:
    return f"gave more than {length:,} characters"
