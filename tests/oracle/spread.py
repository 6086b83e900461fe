"""The definitions of a program's cases over the modules of a workspace, with imports in many styles."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from generate import Case, Grammar, Program, Unit, cases, imports, indented, join, needed, shared

_DEF = re.compile(r"^( *)(?:async )?def ")
_STAR = "import *"
_IN_CASE = 0.25
_UPWARDS = 0.2
_ELSEWHERE = 0.35
_TYPES_ONLY = 0.5


@dataclass
class _Module:
    """A module while it is made: its units, and what `__init__` must take over from it."""

    path: str
    units: list[Unit] = field(default_factory=list[Unit])

    @property
    def name(self) -> str:
        path = self.path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
        return path.replace("/", ".")

    @property
    def package(self) -> tuple[str, ...]:
        """The package that holds the module, or that it is."""
        parts = tuple(self.name.split("."))
        return parts if self.path.endswith("__init__.py") else parts[:-1]


def workspace(seed: int, grammar: Grammar, only: int | None = None) -> Program:
    """The workspace of a seed, or the part of it that one case needs."""
    return over_modules(tuple(case for case in cases(seed, grammar) if only in (None, case.number)), seed, grammar)


def over_modules(wanted: tuple[Case, ...], seed: int, grammar: Grammar) -> Program:
    """The cases as a workspace."""
    source = random.Random(f"{seed}:layout")
    spread = _Spread(grammar, source.choice(grammar.layouts), seed)
    text = "\n".join(part for case in wanted for part in (*case.groups, case.body))
    for unit in needed(text, shared(seed, grammar)):
        spread.place(unit, random.Random(f"{seed}:{unit.names[0]}"), shared=True)
    for case in wanted:
        spread.place_case(case, random.Random(f"{seed}:{case.number}:place"))
    files = spread.rendered()
    ways = spread.constructs
    wanted = tuple(replace(case, constructs=(*case.constructs, *ways.get(case.number, ()))) for case in wanted)
    return join(files, spread.modules[-1].path, wanted)


class _Spread:
    def __init__(self, grammar: Grammar, layout: Sequence[str], seed: int) -> None:
        self.modules = [_Module(path) for path in layout]
        self.constructs: dict[int, dict[str, None]] = {}
        self._grammar = grammar
        self._seed = seed
        self._home: dict[str, int] = {}
        self._exports: dict[str, dict[str, None]] = {}
        self._stars: dict[int, dict[str, None]] = {}

    def place(self, unit: Unit, source: random.Random, shared: bool = False) -> None:
        """Put a unit into a module: one that may import all that the unit needs, or, in functions, one below."""
        lowest = max((self._home[name] for name in self._used(unit.text)), default=0)
        last = len(self.modules) - 1
        if lowest and source.random() < _UPWARDS and self._only_in_functions(unit.text):
            index = source.randrange(lowest)
        elif shared:
            index = lowest if source.random() < 0.85 else min(lowest + 1, last - 1)
        else:
            index = source.randint(max(lowest, min(1, last)), last)
        self._put(unit, index)

    def place_case(self, case: Case, source: random.Random) -> None:
        """Put a case with its definitions. A function may stand in any module; the last one calls it."""
        for group in case.groups:
            self.place(Unit(group, case.number), source)
        last = len(self.modules) - 1
        if not case.inside:
            self._put(Unit(case.body, case.number), last)
            return
        function = Unit(f"def case_{case.number}():\n{indented(case.body)}", case.number)
        lowest = max((self._home[name] for name in self._used(function.text)), default=0)
        self._put(function, source.randint(lowest, last) if source.random() < _ELSEWHERE else last)
        self._put(Unit(f"case_{case.number}()", case.number), last)

    def rendered(self) -> dict[str, list[Unit]]:
        """The units of every file, those of each module after its imports."""
        made: dict[str, list[Unit]] = {}
        for index, module in enumerate(self.modules):
            head: dict[str, None] = {}
            units = [Unit(self._imported(unit, index, head), unit.case) for unit in module.units]
            text = "\n".join((*head, *(unit.text for unit in units)))
            lines = dict.fromkeys((*imports(text, self._grammar), *head))
            made[module.path] = [Unit("\n".join(lines), None), *units]
        for index, names in self._stars.items():
            if random.Random(f"{self._seed}:all:{index}").random() < 0.5:
                made[self.modules[index].path].append(Unit(f"__all__ = {sorted(names)}", None))
        self._packages(made)
        return made

    def _packages(self, made: dict[str, list[Unit]]) -> None:
        """Every folder that holds modules is a package, which may show names of its modules as its own."""
        for module in self.modules:
            parts = module.path.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                folder = "/".join(parts[:depth])
                if folder != "src":
                    made.setdefault(f"{folder}/__init__.py", [])
        for path, lines in self._exports.items():
            made[path].append(Unit("\n".join(lines), None))

    def _put(self, unit: Unit, index: int) -> None:
        self.modules[index].units.append(unit)
        self._home.update(dict.fromkeys(unit.names, index))

    def _used(self, text: str) -> list[str]:
        return [name for name in self._home if re.search(rf"(?<![\w.]){name}\b", text)]

    def _only_in_functions(self, text: str) -> bool:
        top = "\n".join(line for line in text.split("\n") if not line.startswith(" "))
        classes = "class " in text
        return top.startswith("def ") and not classes and not self._used(top)

    def _imported(self, unit: Unit, index: int, head: dict[str, None]) -> str:
        """The text of a unit with the names of other modules as its imports give them."""
        text = unit.text
        homes: dict[int, list[str]] = {}
        for name in self._used(text):
            if self._home[name] != index:
                homes.setdefault(self._home[name], []).append(name)
        inner: list[str] = []
        for home, names in homes.items():
            source = random.Random(f"{self._seed}:{unit.case}:{index}:{home}")
            in_function = home > index or (unit.text.startswith("def case_") and source.random() < _IN_CASE)
            only_annotations = not in_function and all(only_annotates(name, text) for name in names)
            usable = [
                one for one in self._grammar.styles if self._fits(one, index, home, in_function, only_annotations)
            ]
            special = [one for one in usable if one.get("needs") == "annotations"]
            style = source.choice(special if special and source.random() < _TYPES_ONLY else usable)
            words = self._words(index, home)
            line = style["line"].format_map({**words, "names": ", ".join(self._named(style, name) for name in names)})
            if in_function:
                inner.append(line)
            else:
                head.update(dict.fromkeys(line.split("\n") if "\n    " not in line else [line]))
            for name in names:
                text = re.sub(rf"(?<![\w.]){name}\b", style["use"].format_map({**words, "name": name}), text)
            self._note(style, home, names, words)
            if unit.case is not None:
                where = "in function " if in_function else ""
                self.constructs.setdefault(unit.case, {})[f"import.{where}{style['name']}"] = None
        return _into_functions(text, inner) if inner else text

    def _named(self, style: Mapping[str, str], name: str) -> str:
        return style.get("each", "{name}").format(name=name)

    def _note(self, style: Mapping[str, str], home: int, names: Sequence[str], words: Mapping[str, str]) -> None:
        if _STAR in style["line"] or _STAR in style.get("export", ""):
            self._stars.setdefault(home, {}).update(dict.fromkeys(names))
        if "export" in style:
            line = style["export"].format_map({**words, "names": ", ".join(names)})
            folder = self.modules[home].path.rpartition("/")[0]
            self._exports.setdefault(f"{folder}/__init__.py", {})[line] = None

    def _words(self, index: int, home: int) -> dict[str, str]:
        module, other = self.modules[index], self.modules[home]
        package, _, leaf = other.name.rpartition(".")
        return {
            "module": other.name,
            "package": package,
            "leaf": leaf,
            "alias": leaf[0] + str(home),
            "relative": _relative(module.package, tuple(other.name.split("."))),
            "up": _relative(module.package, tuple(package.split("."))),
        }

    def _fits(self, style: Mapping[str, str], index: int, home: int, in_function: bool, only_annotations: bool) -> bool:
        if in_function and _STAR in style["line"]:
            return False
        module, other = self.modules[index], self.modules[home]
        same = bool(module.package) and module.package[0] == other.name.split(".")[0]
        is_package = other.path.endswith("__init__.py")
        needs = style.get("needs", "")
        if needs == "annotations":
            return only_annotations
        if needs == "relative":
            return same
        if needs == "relative package":
            return same and not is_package
        if needs == "package":
            return "." in other.name and not is_package
        if needs == "outside":
            return "." in other.name and not is_package and not same
        return True


def _relative(package: Sequence[str], target: Sequence[str]) -> str:
    """`target` as a relative import of a module in `package` writes it."""
    common = 0
    while common < min(len(package), len(target)) and package[common] == target[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(target[common:])


def only_annotates(name: str, text: str) -> bool:
    """Whether the text names it in annotations and nowhere else."""
    annotation = re.compile(rf'(?:\b(?!lambda\b)\w+:|->) (?:\w+\[)?"?{name}\b')
    return not re.search(rf"\b{name}\b", annotation.sub("", text))


def _into_functions(text: str, lines: Sequence[str]) -> str:
    """The text with the lines at the beginning of every outermost function."""
    out: list[str] = []
    for line in text.split("\n"):
        out.append(line)
        if (found := _DEF.match(line)) and not found[1] and line.endswith(":"):
            out += [f"    {part}" for inner in lines for part in inner.split("\n")]
    return "\n".join(out)
