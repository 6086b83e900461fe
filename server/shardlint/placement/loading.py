"""Modules of the workspace that a program imports: run when something of them is looked at, each once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from shardlint.placement.attributes import attribute
from shardlint.placement.domain import UNKNOWN, Namespace, Value
from shardlint.placement.frame import Frame
from shardlint.placement.journal import Journal
from shardlint.placement.machine import Machine
from shardlint.placement.modules import Module, Watched, origin, split
from shardlint.placement.state import State
from shardlint.syntax.tree import Chunk, Node

_DEEPEST = 12


@dataclass(eq=False)
class Loading:
    """What the program's imports mean in the workspace.

    While `running` holds anything, what happens is the doing of a module that is imported, not of the one that is checked. Modules
    that are `kept` were run for an earlier version of that one and stand as they did.
    """

    machine: Machine
    modules: Watched
    main: Module
    running: list[Module] = field(default_factory=list[Module])
    kept: frozenset[str] = frozenset()
    _frames: dict[str, Frame] = field(default_factory=dict[str, Frame])
    _modules: dict[Frame, Module] = field(default_factory=dict[Frame, Module])
    _journals: dict[str, Journal] = field(default_factory=dict[str, Journal])
    _told: set[str] = field(default_factory=set[str])

    def run_main(self) -> None:
        """Run the module that is checked."""
        self._run(self.main)

    def named(self, names: Iterable[str]) -> tuple[Module, ...]:
        """The modules of these names that were run."""
        return tuple(self._modules[self._frames[name]] for name in names if name in self._frames)

    @property
    def main_frame(self) -> Frame | None:
        """The frame of the module that is checked."""
        return self._frames.get(self.main.name)

    @property
    def depends_on_main(self) -> bool:
        """Whether a module that is imported has looked into the one that is checked when it was run."""
        main = self.main_frame
        return any(frame is main for journal in self._journals.values() for frame, _ in journal.notes.reads)

    @property
    def modules_kept(self) -> tuple[Module, ...]:
        return tuple(self._modules[self._frames[name]] for name in self.kept)

    @property
    def frames(self) -> frozenset[Frame]:
        return frozenset(self._modules)

    @property
    def chunks(self) -> frozenset[Chunk]:
        """The code of all modules that were run."""
        return frozenset(chunk for module in self._modules.values() for chunk in module.tree.chunks)

    def continue_with(self, machine: Machine, modules: Watched, main: Module) -> Loading:
        """The same for the next version of the module that is checked, whose frame is used again: other modules are run again only
        if they, or those that they import, have changed.
        """
        again = Loading(machine, modules, main)
        changed = {name for name, module in self.modules.found.items() if modules.find(name) is not module}
        for name, frame in self._frames.items():
            journal = self._journals.get(name)
            if name == main.name:
                again._frames[name], again._modules[frame] = frame, main
            elif journal is not None and name not in changed and journal.loaded.isdisjoint(changed):
                again._frames[name], again._modules[frame] = frame, self._modules[frame]
                again._journals[name] = journal
        again.kept = frozenset(again._journals)
        return again

    def module_of(self, frame: Frame) -> Module:
        """The module in which a frame's code stands."""
        return self._modules.get(frame.module, self.main)

    def meaning(self, name: str, node: Node, frame: Frame) -> Value | None:
        """What a dotted name means; None for one that is not of the workspace."""
        found = split(name, self.modules)
        if found is None:
            return None
        module, rest = found
        value: Value = Namespace(module.name)
        for part in rest.split(".") if rest else ():
            value = attribute(value, part, node, frame, self.machine)
        return value

    def given_on(self, name: str) -> str:
        """The name of what a module of the workspace only imports from outside to give it on; else `name` itself."""
        found = origin(name, self.modules)
        if found is None:
            return name
        first, dot, more = found[1].partition(".")
        known = found[0].outline
        imports = known.imports.get(first) if first not in known.defines else None
        outside = imports is not None and split(imports, self.modules) is None
        return f"{imports}{dot}{more}" if outside else name

    def comes_from(self, own: Module, module: str, name: str) -> bool:
        """Whether what a module gives as `name` is what it imports under that name from the module `own`."""
        found = origin(f"{module}.{name}", self.modules)
        return found is not None and found[0] is own and found[1] == name

    def changes(self, name: str) -> bool:
        """Whether a dotted name is a variable of another module that is bound more than once."""
        found = split(name, self.modules)
        if found is None or not found[1]:
            return False
        module, rest = found
        return rest in module.outline.defines and rest not in module.survey.steady

    def member(self, module_name: str, name: str, node: Node, frame: Frame) -> Value:
        """`module.name`: a variable of the module, else a module in the package."""
        target = self.frame_of(module_name)
        value = None
        if target is not None:
            value = frame.variable(target, name)
            self.machine.journal.read(target, name, value)
            if target is not frame and not (value is not None and self.machine.steady(target, name)):
                frame.reads.setdefault((target, name), value)
        if value is not None:
            return self.machine.imported(value, node, frame)
        return UNKNOWN if self.modules.find(f"{module_name}.{name}") is None else Namespace(f"{module_name}.{name}")

    def frame_of(self, name: str) -> Frame | None:
        """The frame that a module's body has left, or is at work in; None where there is none, or only after too many others."""
        if name == self.main.name:
            return self._frames.get(name)
        if name not in self._frames:
            module = self.modules.find(name)
            if module is None or len(self.running) >= _DEEPEST:
                self.machine.journal.lasting = self.machine.journal.lasting and module is None
                return None
            self.running.append(module)
            journal = self._journals[name] = Journal()
            with self.machine.noting(journal):
                self._run(module)
            self.running.pop()
            self._journals[name] = journal.whole()
        noted = self._journals.get(name)
        if noted is not None and name not in self._told:
            self._told.add(name)
            for definition, items in noted.whole().notes.kept:
                self.machine.keep(definition, items)
        known = self.machine.journal
        if noted is not None and name not in known.loaded:
            known.loaded.add(name)
            known.add(noted)
        return self._frames.get(name)

    def _run(self, module: Module) -> Frame | None:
        chunks = module.tree.chunks
        if not chunks:
            return None
        frame = self._frames.get(module.name) or Frame(chunks[0], None, None, frozenset(), State())
        frame.begin(chunks[0])
        self._frames[module.name] = frame
        self._modules[frame] = module
        self.machine.claiming.load(module)
        for chunk in chunks:
            frame.chunk = chunk
            self.machine.execute(chunk.body, frame)
            frame.state.alive = True
        return frame
