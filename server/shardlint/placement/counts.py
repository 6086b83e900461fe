"""Which devices something is on, as far as that matters: how many, whether of this process alone, and what each of them has."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias


class Spans(IntEnum):
    """Whether devices of other processes are among them. Where a program is not seen to run in several processes, nothing is told;
    `NO` is what a test tells.
    """

    UNTOLD = 0
    MAYBE = 1
    SURE = 2
    NO = 3

    @property
    def possible(self) -> bool:
        return self in (Spans.MAYBE, Spans.SURE)


class Share(IntEnum):
    """What of an array each of its devices has, if they are several: nothing is told, all of it, a part, or a part that no other has."""

    UNTOLD = 0
    ALL = 1
    PART = 2
    OWN = 3


@dataclass(frozen=True, slots=True)
class Count:
    """How many devices: bounds, the upper one None where the program does not say. `whole` means all devices of the machine, so
    that what is told of one such count is told of all. Of one device no `share` is told: it has all.
    """

    low: int
    high: int | None
    whole: bool = False
    spans: Spans = Spans.UNTOLD
    share: Share = Share.UNTOLD

    def __post_init__(self) -> None:
        if self.high == 1 and self.share:
            object.__setattr__(self, "share", Share.UNTOLD)

    @property
    def surely_many(self) -> bool:
        return self.low > 1 or (self.spans is Spans.SURE and self.high != 1)

    @property
    def surely_one(self) -> bool:
        return self.high == 1

    @property
    def unshared(self) -> Count:
        """The same devices, of which it is not told what each has."""
        return replace(self, share=Share.UNTOLD) if self.share else self

    @property
    def number(self) -> Count:
        """How many there are, and nothing else."""
        return Count(self.low, self.high)

    def joined(self, other: Count) -> Count:
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        spans = self.spans if self.spans is other.spans else Spans.UNTOLD
        either = min(self.share, other.share)
        share = either if either is max(self.share, other.share) or either is Share.PART else Share.UNTOLD
        return Count(min(self.low, other.low), high, self.whole and other.whole and high is None, spans, share)

    def met(self, other: Count) -> Count | None:
        """What both allow, or None if they exclude each other."""
        low = max(self.low, other.low)
        highs = [count.high for count in (self, other) if count.high is not None]
        high = min(highs) if highs else None
        if min(self.share, other.share) is Share.ALL is not max(self.share, other.share):
            high = 1  # all of it on each device, and only a part: so there is but one
        if (high is not None and high < low) or {self.spans, other.spans} == {Spans.NO, Spans.SURE}:
            return None
        spans, share = max(self.spans, other.spans), max(self.share, other.share)
        return Count(low, high, self.whole and high is None, spans, share)

    def words(self) -> str:
        words = self._many_words()
        return f"{words}, which belong to several processes" if self.spans is Spans.SURE and self.high != 1 else words

    def _many_words(self) -> str:
        if self.low == self.high:
            return "1 device" if self.low == 1 else f"{self.low} devices"
        if self.high is None:
            return f"{self.low} devices or more" if self.low > 1 else "all devices of its mesh"
        return f"up to {self.high} devices"


ONE = Count(1, 1)
ANY = Count(1, None)
WHOLE = Count(1, None, whole=True)

UNTOLD = Count(0, None)
"""What a test tells that looks at the devices of this process only: the array may be on one, and nothing is said of it."""


ABSENT = Count(0, 0)
"""What a flag tells of an array that a variable holds where the flag is otherwise: it is not among that variable's values."""


def narrowed(count: Count | None, told: Count) -> Count | None:
    """A count after something was told of it; None where nothing is known any more, or was known and only that it is more."""
    if told == UNTOLD:
        return None
    if count is None:
        return told.number if told.surely_one else None
    met = count.met(told)
    if met is not None and met.spans is Spans.NO and count.spans is Spans.UNTOLD:
        return replace(met, spans=Spans.UNTOLD)  # nobody has said otherwise
    return met


Told: TypeAlias = Count | None
"""What is known of an array's devices on a path: a count, UNTOLD, or None if the array cannot be on this path."""

Subject: TypeAlias = tuple[Hashable, Count | None]
"""An array that a test asked about: its key, and what was known of its devices then (None: nothing, or it does not matter)."""

Facts: TypeAlias = tuple[tuple[Subject, Told], ...]
"""What is told of arrays."""
