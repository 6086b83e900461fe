"""Modules of the workspace that a program imports: run when something of them is looked at, each once."""

from __future__ import annotations

from dataclasses import dataclass, field

from shardlint.placement.attributes import attribute
from shardlint.placement.domain import UNKNOWN, Namespace, Value
from shardlint.placement.frame import Frame
from shardlint.placement.machine import Machine
from shardlint.placement.modules import Module, Modules, split
from shardlint.placement.state import State
from shardlint.syntax.tree import Node

_DEEPEST = 12


@dataclass(eq=False)
class Loading:
    """What the program's imports mean in the workspace. `external` are the top-level names that never are of the workspace.

    While `running` holds anything, what happens is the doing of a module that is imported, not of the one that is checked.
    """

    machine: Machine
    modules: Modules
    main: Module
    external: frozenset[str]
    running: list[Module] = field(default_factory=list[Module])
    _frames: dict[str, Frame] = field(default_factory=dict[str, Frame])
    _modules: dict[Frame, Module] = field(default_factory=dict[Frame, Module])

    def run_main(self) -> Frame | None:
        """Run the module that is checked."""
        return self._run(self.main)

    @property
    def loaded(self) -> tuple[Module, ...]:
        """The modules that were run, the one that is checked among them."""
        return tuple(self._modules.values())

    def module_of(self, frame: Frame) -> Module:
        """The module in which a frame's code stands."""
        return self._modules.get(frame.module, self.main)

    def meaning(self, name: str, node: Node, frame: Frame) -> Value | None:
        """What a dotted name means; None for one that is not of the workspace."""
        if name.partition(".")[0] in self.external:
            return None
        found = split(name, self.modules)
        if found is None:
            return None
        module, rest = found
        value: Value = Namespace(module.name)
        for part in rest.split(".") if rest else ():
            value = attribute(value, part, node, frame, self.machine)
        return value

    def changes(self, name: str) -> bool:
        """Whether a dotted name is a variable of another module that is bound more than once."""
        found = None if name.partition(".")[0] in self.external else split(name, self.modules)
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
                return None
            self.running.append(module)
            self._run(module)
            self.running.pop()
        return self._frames.get(name)

    def _run(self, module: Module) -> Frame | None:
        chunks = module.tree.chunks
        if not chunks:
            return None
        frame = Frame(chunks[0], None, None, frozenset(), State())
        self._frames[module.name] = frame
        self._modules[frame] = module
        self.machine.claiming.load(module)
        for chunk in chunks:
            frame.chunk = chunk
            self.machine.execute(chunk.body, frame)
            frame.state.alive = True
        return frame
