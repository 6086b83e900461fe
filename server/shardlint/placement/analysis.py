"""The hand-offs of one module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.version import Version

from shardlint.model import Target
from shardlint.placement.claiming import Assumed, WrongClaim
from shardlint.placement.machine import Event
from shardlint.placement.meeting import TELLING_NAMES
from shardlint.placement.modules import Module, Modules, Own
from shardlint.placement.outline import DONATING
from shardlint.placement.probe import Probe
from shardlint.placement.program import Program
from shardlint.placement.reach import Reaches
from shardlint.placement.table import Table
from shardlint.syntax.claims import Function as FunctionDefinition
from shardlint.syntax.tree import Place

_KNOWN = ("jax.", "jaxlib.")
_JAX = frozenset({"jax", "jaxlib"})
_NONE_REFUSED = Version("0.6.0")
"""From here on JAX refuses to make an array of None (run on 0.5.3 and 0.6.2)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The hand-offs of a module and those of others to which its own calls lead, the external names of which it would help to know
    what they mean, all modules that were looked into, the claims that the code contradicts, and a
    sentence for each name of the module that a claim speaks of and that is not there. `called` are the functions of other modules that
    were called.
    """

    events: tuple[Event, ...]
    questions: tuple[str, ...]
    modules: tuple[Module, ...]
    wrong_claims: tuple[WrongClaim, ...] = ()
    missing: tuple[str, ...] = ()
    called: tuple[Place, ...] = ()


@dataclass(eq=False)
class Memory:
    """What checking a module has found out, for checking it again after it was edited. It belongs to one module in one workspace."""

    program: Program | None = None


def hand_offs(
    module: Module,
    modules: Modules,
    target: Target,
    table: Table,
    answers: Mapping[str, str],
    assume: Mapping[str, str] | None = None,
    *,
    called: frozenset[int] = frozenset(),
    probe: Probe | None = None,
    memory: Memory | None = None,
) -> Seen:
    """Every hand-off of a module, once for each different thing that reaches it.

    `modules` are the workspace around it. `answers` are the meanings of external names as the imports spell them: what looking into
    other packages has told. `called` are the places of the module's functions that others are known to call. `assume` are the claims that are made by qualified names. `probe` is told the values that it wants. With
    a `memory` only what an edit can have changed is run again; what is found is the same.

    The module's body is run first. Then every function that nothing has called is run as somebody from outside would call it:
    with parameters of which only the annotations are known, and what the module has left behind around it.
    """
    modules = Own(modules, table.libraries)
    assumed = Assumed.of(assume or {}, module, modules, table.canonical)
    own, missing = assumed.claims(module), tuple(assumed.missing(module))

    def wanted(one: Module) -> frozenset[FunctionDefinition]:
        if one is not module:
            return one.claims.functions
        return own.functions if probe is None else own.functions | probe.functions

    old = any(Version(one) < _NONE_REFUSED for one in target.versions)

    def matters(name: str, where: Module) -> bool:
        if _matters(name, table, answers):
            return True
        return where.knows_jax and (_is_common(name, table, answers) or _may_matter(name, table, old=old))

    found = Reaches(modules, matters, lambda name, libraries: _meets(name, libraries, table), wanted).of(module)
    if not (found.anything or own.by_node or probe):
        return Seen((), (), (module,), missing=missing)
    program = Program(table, target, answers, module, modules, found.functions, assumed, probe, called)
    before = None if memory is None else memory.program
    if before is not None and before.is_like(program):
        program.continue_from(before)
        program.run_all()
        if program.is_crowded:  # what is told apart then depends on what was run
            program = Program(table, target, answers, module, modules, found.functions, assumed, probe, called)
            program.run_all()
    else:
        program.run_all()
    if memory is not None:
        memory.program = program if program.lasts else None
    noted, wrong = program.journal.whole(), tuple(program.claiming.wrong.values())
    events, asked = tuple(noted.notes.events.values()), tuple(sorted(noted.asked))
    return Seen(events, asked, program.loaded, wrong, missing, program.called_elsewhere)


def _matters(name: str, table: Table, answers: Mapping[str, str]) -> bool:
    """Whether something that is called so may be a hand-off, or a name that some JAX does not have."""
    last = name.rpartition(".")[2]
    if name.startswith("?."):
        known = (f"jax.Array.{last}", f"ctypes.Array.{last}")
        return last in TELLING_NAMES or last in DONATING or any(_is_rare(one, table) for one in known)
    name = table.canonical(answers.get(name, name))
    if _is_rare(name, table) or name in table.timeline or name in table.loans or name in table.collectives:
        return True
    if name.startswith("builtins."):
        return False
    return last in table.telling and not name.startswith(_KNOWN) and table.effect(name) is None


def _is_rare(name: str, table: Table) -> bool:
    row = table.consumers.get(name)
    return row is not None and row.is_rare


def _is_common(name: str, table: Table, answers: Mapping[str, str]) -> bool:
    """Whether something that is called so takes whatever numbers there are, arrays of JAX among them."""
    if name.startswith("?."):
        last = name.rpartition(".")[2]
        return any(f"{one}.{last}" in table.consumers for one in ("jax.Array", "ctypes.Array", "numpy.ndarray"))
    return table.canonical(answers.get(name, name)) in table.consumers


def _meets(name: str, libraries: frozenset[str], table: Table) -> bool:
    """Whether a function that is called so may be where arrays of two libraries meet, in a module that imports these: it gives arrays of
    another library, or takes those of its own only, or leads to what takes arrays of JAX.
    """
    if _JAX.isdisjoint(libraries):
        return False
    name = table.canonical(name)
    if name in table.functions:
        return not name.startswith(_KNOWN) or not libraries.isdisjoint(table.array_classes.keys() - {"jax", "numpy"})
    return name in table.leading


def _may_matter(name: str, table: Table, *, old: bool) -> bool:
    """Whether something that is called so may be asked of an array, or missing from one; other things are called so as well."""
    if name.startswith("?."):
        last = name.rpartition(".")[2]
        told = last in table.asked or last in table.asked_methods or last in table.only_arrays
        return told or last == "device_set" or last[:1] == ">" or f"jax.Array.{last}" in table.timeline
    return old and table.canonical(name) in table.making_arrays
