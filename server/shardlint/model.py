"""What the analysis says, as plain frozen data. Nothing here knows of LSP, of files or of terminals.

Spans are code-point offsets (`text.Span`) into the text of the file that `path` names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from shardlint.text import Span

PLACEMENT_WORDS = ("many-devices", "one-device", "host", "spans-processes")
"""What a person can say of where a value lives: on several devices; on one; a NumPy array or a number in host memory; on devices
of several processes.
"""


class Severity(StrEnum):
    """How sure and how bad: an error surely fails on the target, a warning fails as soon as there is more than one device
    or is silently wrong, information is about cost or a coming removal. OFF is never shown.
    """

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    OFF = "off"


class Safety(StrEnum):
    """What a fix changes besides making its finding go away. Only SAFE fixes may be applied without being asked for."""

    SAFE = "safe"
    COPIES = "copies"
    MOVES_DATA = "moves-data"
    CHANGES_MEANING = "changes-meaning"


class Verdict(StrEnum):
    """How a rule's condition holds at a hand-off: surely, on some way in or on some machines, not, or nothing is known."""

    YES = "yes"
    POSSIBLE = "possible"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Location:
    """A span in a file. `path` is spelled as the snapshot spells it."""

    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the evidence, in program order: where it happens and what happens there, as a clause without a period."""

    location: Location
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `span` by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of one finding: edits of that finding's file, sorted and not overlapping. The title tells the cost."""

    rule: str
    title: str
    safety: Safety
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that holds at a hand-off, with the steps that led there. `location` is what an editor underlines; where it lies in
    another file than the one that was checked, `calls` are the places in that one and in those between which lead there.
    """

    rule: str
    severity: Severity
    location: Location
    message: str
    steps: tuple[Step, ...]
    consumer: str
    tags: tuple[str, ...] = ()
    calls: tuple[Location, ...] = ()

    @property
    def identity(self) -> tuple[str, str, Span]:
        """What one finding has in common with itself, wherever it was found from."""
        return self.rule, self.location.path, self.location.span


@dataclass(frozen=True, slots=True)
class HandOff:
    """A call, attribute read or import at which an array crosses (or would cross) a library border.

    `span` is the whole expression, `name` the span of the name in it that a cursor points at. `consumer` is the canonical
    dotted name ("torch.from_dlpack") or, for a function that is not JAX's and takes no JAX array, the name as resolved.
    `status` says in one or two sentences what is known here ("the array is on one device") and what the call does, `steps` is
    the evidence.
    """

    location: Location
    name: Span
    consumer: str
    protocol: str
    status: str
    steps: tuple[Step, ...] = ()
    rules: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Way:
    """One way into a function: its name, the call (None: somebody from outside calls it), and what its parameters hold there, in
    words.
    """

    function: str
    call: Location | None
    given: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Belief:
    """What a name in a program is believed to hold where it stands: a phrase for each alternative, none if that place was never
    reached. `way` is the context (None: outside of functions), `steps` is the evidence.
    """

    name: str
    location: Location
    way: Way | None
    words: tuple[str, ...]
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of the user's that could not be used: one sentence that says what, where and what to do."""

    path: str | None
    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The JAX that the code will run on.

    `versions` are the candidates in ascending order: one if `exact`, else every catalogued version that the project's
    requirement admits (all of them up to the newest if nothing is known: then only the newest counts and is listed alone).
    `origin` says in a clause where this comes from ("--jax-version", "jax 0.10.2 in .venv", "nothing names a version: newest
    catalogued").
    """

    versions: tuple[str, ...]
    exact: bool
    origin: str
