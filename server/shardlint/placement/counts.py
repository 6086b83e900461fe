"""How many devices: what is known of it, and what tests tell."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Count:
    """How many devices: bounds, the upper one None where the program does not say. `whole` means all devices of the machine, so
    that what is told of one such count is told of all.
    """

    low: int
    high: int | None
    whole: bool = False

    @property
    def surely_many(self) -> bool:
        return self.low > 1

    @property
    def surely_one(self) -> bool:
        return self.high == 1

    def joined(self, other: Count) -> Count:
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Count(min(self.low, other.low), high, self.whole and other.whole and high is None)

    def met(self, other: Count) -> Count | None:
        """What both allow, or None if they exclude each other."""
        low = max(self.low, other.low)
        highs = [count.high for count in (self, other) if count.high is not None]
        high = min(highs) if highs else None
        return None if high is not None and high < low else Count(low, high, self.whole and high is None)

    def words(self) -> str:
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
        return told if told.surely_one else None
    return count.met(told)


Told: TypeAlias = Count | None
"""What is known of an array's devices on a path: a count, UNTOLD, or None if the array cannot be on this path."""

Subject: TypeAlias = tuple[Hashable, Count | None]
"""An array that a test asked about: its key, and what was known of its devices then (None: nothing, or it does not matter)."""

Facts: TypeAlias = tuple[tuple[Subject, Told], ...]
"""What is told of arrays."""
