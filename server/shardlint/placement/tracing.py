"""Tracers: what JAX hands to a function in place of arrays while it finds out what the function does.

What is one was run on nine versions of JAX. `jit`, `pmap`, `checkpoint` and the functions of `jax.lax` record every operation: new
arrays are tracers in them too. `vmap`, `grad` and the like run operations as they come: only what is made of tracers is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Tracing(IntEnum):
    """Of an array, whether it is a tracer; of a frame, whether what is made there is.

    A tracer that is only DIFFERENTIATED still knows its number: what has no derivative (`int`, `bool`, a comparison, the index of an
    item) takes that from it, and comes out as an array (run on 0.4.30, 0.5.3 and 0.10.2).
    """

    NO = 0
    MAYBE = 1
    DIFFERENTIATED = 2
    SURE = 3


RECORDING = frozenset({"jit", "pjit", "pmap", "pmap-stacked", "checkpoint", "remat", "body"})
"""The transformations that record every operation."""

DIFFERENTIATING = frozenset(
    {"grad", "grad_of_any", "grad_and_aux", "value_and_grad", "gradients", "forward", "jacfwd", "jacrev", "hessian"}
)
"""Those whose tracers know their number."""


def of_argument(how: str) -> Tracing:
    """What a transformation hands over for an array that it does not leave as it is."""
    return Tracing.DIFFERENTIATED if how in DIFFERENTIATING else Tracing.SURE


AS_IT_COMES = frozenset({"named_call", "vectorize"})
"""Those that may hand over what they were given."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The parameters that an option of a transformation names, by position (from the end where negative) or by name; with `others` all
    but these. Where the option is not `known` it may name any.
    """

    positions: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    others: bool = False
    known: bool = True

    def has(self, key: int | str, signature: tuple[str, ...] | None) -> bool | None:
        """Whether it names the argument given at a position or by a name; None if that is not known. `signature` are the names of
        the positional parameters: JAX finds what is named in one way where it is given in the other.
        """
        if not self.known:
            return None
        if key in self.positions or key in self.names:
            return not self.others
        if not self.positions and not self.names:
            return self.others
        if signature is None:
            clear = not self.names if isinstance(key, int) else not self.positions
            return self.others if clear and min(self.positions, default=0) >= 0 else None
        positions = {position % len(signature) for position in self.positions if signature}
        named = self.names | {signature[position] for position in positions}
        own = key if isinstance(key, str) else signature[key] if key < len(signature) else ""
        return (own in named) is not self.others


NONE = Chosen()
UNTOLD_CHOICE = Chosen(known=False)
