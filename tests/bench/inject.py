"""True bugs in real code: `python tests/bench/inject.py [--seed N] [--bugs 40] [--packages DIR...]`, or `--prove`.

Copies packages (DIR is one, or holds some), puts bugs into files drawn by chance, runs `shardlint check` on each copy as a user would,
and prints what was found of each kind of flow, all that was missed, and whatever was found elsewhere. The bugs are those of
`inject_templates.py`, in the proportions that were counted in public code; half of the bridges stand in another module of the
package than their caller. A bug is found if a finding of at least a warning stands at its hand-off.

`--prove` runs each flow with each source on real JAX with eight CPU devices instead, and shows that the hand-off raises.

Without `--packages` those of the running environment are taken. Without `--seed` one is drawn; it is printed, and with the same
packages gives the same bugs again. Returns 1 if less than `--least` of the bugs are found, or anything else is.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from inject_bugs import Bug, written
from inject_places import Module, Owner
from inject_prove import prove
from inject_templates import FLOWS, KINDS, SINKS, SOURCES, Flow

_LEFT_OUT = {"build", "dist", "_build", "site-packages", "node_modules"}
_MOST_PACKAGES = 8
_MODULES = range(5, 1_000)
_TRIES = 100
Place = tuple[str, int]


@dataclass(eq=False)
class Package:
    """A copy of a package in a folder of its own; modules are read when they are asked for."""

    original: Path
    folder: Path
    modules: dict[Path, Module | None] = field(default_factory=dict[Path, "Module | None"])

    @property
    def files(self) -> list[Path]:
        return [path for path in sorted(self.folder.rglob("*.py")) if not _left_out(path.relative_to(self.folder))]

    def module(self, path: Path) -> Module | None:
        """The module, None if it does not parse or holds no function."""
        if path not in self.modules:
            self.modules[path] = _read(path)
        return self.modules[path]

    def name(self, path: Path) -> str:
        """The dotted name of a module."""
        parts = path.relative_to(self.folder).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def main() -> int:
    """Inject and measure, or prove."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--packages", type=Path, nargs="+", default=[Path(sysconfig.get_path("purelib"))], metavar="DIR"
    )
    parser.add_argument("--seed", type=int)
    parser.add_argument("--bugs", type=int, default=40)
    parser.add_argument("--least", type=float, default=0.85)
    parser.add_argument("--jax-version", default="0.10.2")
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the copies in this new folder")
    arguments = parser.parse_args()
    if arguments.prove:
        return prove()
    seed = random.SystemRandom().randrange(1_000_000) if arguments.seed is None else arguments.seed
    chance = random.Random(seed)
    originals = [package for folder in arguments.packages for package in packages_in(folder)]
    if not originals:
        parser.error("--packages: there is no package in these folders")
    chosen = chance.sample(originals, min(_MOST_PACKAGES, len(originals)))
    print(f"seed {seed}; packages: {', '.join(package.name for package in chosen)}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        if arguments.keep:
            arguments.keep.mkdir(parents=True)
        copies = [copied(package, arguments.keep or Path(temporary)) for package in chosen]
        bugs = inject(copies, arguments.bugs, chance)
        guilty = write(copies)
        return told(bugs, guilty, copies, arguments.jax_version, arguments.least)


def packages_in(folder: Path) -> Iterator[Path]:
    """The folder itself if it is a package, else those in it that have neither very few modules nor very many."""
    if (folder / "__init__.py").exists():
        yield folder
        return
    for child in sorted(folder.iterdir()):
        named = child.name.isidentifier() and not _left_out(Path(child.name))
        if named and child.is_dir() and len(list(child.rglob("*.py"))) in _MODULES:
            yield child


def _left_out(path: Path) -> bool:
    """Whether the command line leaves out what lies below such a path."""
    return any(part in _LEFT_OUT or part.startswith(".") for part in path.parts)


def copied(original: Path, folder: Path) -> Package:
    """The package's modules in a folder of their own, which is where its imports start."""
    root = Path(tempfile.mkdtemp(prefix=f"{original.name}-", dir=folder))
    for path in original.rglob("*.py"):
        place = root / original.name / path.relative_to(original)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    return Package(original, root)


def inject(copies: Sequence[Package], number: int, chance: random.Random) -> list[Bug]:
    """Put the bugs into the packages, by turns; one in which no place is found leaves its turn to the next."""
    bugs: list[Bug] = []
    for count, kind in enumerate(kinds(number, chance)):
        for turn in range(_TRIES * len(copies)):
            bug = drawn(count, kind, chance)
            if put(bug, copies[(count + turn // _TRIES) % len(copies)], chance):
                bugs.append(bug)
                break
        else:
            print(f"no place for a bug of kind {kind}")
    return bugs


def kinds(number: int, chance: random.Random) -> list[str]:
    """So many kinds of flow in the proportions of KINDS; chance decides on the fractions."""
    shift, total, below = chance.random(), sum(KINDS.values()), 0.0
    found: list[str] = []
    for kind, share in KINDS.items():
        below += share * number / total
        while len(found) + shift < below:
            found.append(kind)
    chance.shuffle(found)
    return found


def drawn(number: int, kind: str, chance: random.Random) -> Bug:
    """A bug of a kind, drawn by weight."""
    (source,) = chance.choices(SOURCES, [one.weight for one in SOURCES])
    needs_self = "self." in source.array
    flows = [one for one in FLOWS if one.kind == kind and not (needs_self and not _has_self(one))]
    (flow,) = chance.choices(flows, [one.weight for one in flows])
    sinks = [one for one in SINKS if one.function or "BYFUNCTION" not in flow.body]
    (sink,) = chance.choices(sinks, [one.weight for one in sinks])
    return written(number, flow, source, sink, chance.random() < 0.5, chance)


def _has_self(flow: Flow) -> bool:
    """Whether the array is made where there is a `self`."""
    return "ARRAY" not in flow.shared + flow.functions


def put(bug: Bug, package: Package, chance: random.Random) -> bool:
    """Put a bug into modules drawn by chance; False if these do not fit."""
    path = chance.choice(package.files)
    module = package.module(path)
    if module is None or not module.fits(bug.here.imports):
        return False
    owner: Owner = None
    if bug.here.needs_class:
        classes = module.classes()
        if not classes:
            return False
        owner = chance.choice(list(classes))
        into = chance.choice(classes[owner])
    elif module.bodies:
        _, into = chance.choice(module.bodies)
    else:
        return False
    if bug.there is not None:
        other = chance.choice(package.files)
        bridge = package.module(other)
        if bridge is None or other == path or not bridge.fits(bug.there.imports) or _reaches(package, other, path):
            return False
        bridge.add(bug.there, chance)
        module.add_import(f"from {package.name(other)} import {bug.shared}")
    module.add(bug.here, chance, owner, into)
    return True


def _reaches(package: Package, start: Path, goal: Path) -> bool:
    """Whether a module imports another, at last: then the other one cannot import it."""
    by_name = {package.name(path): path for path in package.files}
    seen, stack = {start}, [start]
    while stack:
        path = stack.pop()
        module = package.module(path)
        for name in _imported(module.tree, package.name(path), path.name == "__init__.py") if module else ():
            found = by_name.get(name)
            if found is not None and found not in seen:
                seen.add(found)
                stack.append(found)
    return goal in seen


def _imported(tree: ast.Module, name: str, is_package: bool) -> Iterator[str]:
    """The modules that a module may import anywhere, by their dotted names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = name.split(".") if is_package else name.split(".")[:-1]
            base = ".".join([*around[: len(around) - node.level + 1], *([node.module] if node.module else [])])
            start = base if node.level else node.module or ""
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)


def write(copies: Sequence[Package]) -> dict[int, set[Place]]:
    """Write the changed modules; the guilty lines of each bug."""
    guilty: dict[int, set[Place]] = defaultdict(set)
    for package in copies:
        for path, module in package.modules.items():
            if module is not None and module.added:
                text, lines = module.text()
                ast.parse(text)
                path.write_text(text, encoding="utf-8")
                for number, places in lines.items():
                    guilty[number] |= {(str(path), line) for line in places}
    return guilty


def told(
    bugs: Sequence[Bug], guilty: dict[int, set[Place]], copies: Sequence[Package], version: str, least: float
) -> int:
    """Check the copies and print what came of it."""
    found = {place for package in copies for place in checked(package.folder, version)}
    hits, wanted = Counter[str](), Counter[str]()
    for bug in bugs:
        hit = bool(guilty[bug.number] & found)
        wanted[bug.flow.kind] += 1
        hits[bug.flow.kind] += hit
        if not hit:
            print(f"missed: {bug}\n    " + "; ".join(f"{path}:{line}" for path, line in sorted(guilty[bug.number])))
    print("; ".join(f"{kind} {hits[kind]} of {wanted[kind]}" for kind in KINDS if wanted[kind]))
    for name, some in (
        ("shared functions in another module", [bug for bug in bugs if bug.there]),
        ("ways through a class", [bug for bug in bugs if bug.here.needs_class]),
    ):
        print(f"of these {name}: {sum(bool(guilty[bug.number] & found) for bug in some)} of {len(some)}")
    known = {one for package in copies for one in _elsewhere(package, found, guilty, version)}
    for path, line in sorted(known):
        print(f"found besides: {path}:{line}: {_line(path, line)}")
    rate = hits.total() / max(1, wanted.total())
    print(f"{hits.total()} of {wanted.total()} found ({rate:.0%}), {len(known)} lines besides")
    return 1 if rate < least or known else 0


def checked(folder: Path, version: str) -> set[Place]:
    """The lines at which the command line finds something of at least a warning below a folder."""
    options = ["--output-format", "json", "--no-jedi", "--jax-version", version]
    command = [sys.executable, "-m", "shardlint", "check", str(folder), *options]
    ended = subprocess.run(command, capture_output=True, text=True)
    if "mistake in shardlint" in ended.stderr or not ended.stdout.strip():
        print(ended.stderr.strip()[-2000:])
    rows = json.loads(ended.stdout or "[]")
    return {(row["path"], row["line"]) for row in rows if row["severity"] in ("error", "warning")}


def _elsewhere(package: Package, found: set[Place], guilty: dict[int, set[Place]], version: str) -> set[Place]:
    """What was found on lines that no bug is guilty of and that are not found in the original either."""
    lines = {place for places in guilty.values() for place in places}
    rest = {place for place in found - lines if Path(place[0]).is_relative_to(package.folder)}
    if not rest:
        return set()
    before = {(Path(path).name, _line(path, line)) for path, line in checked(package.original, version)}
    return {place for place in rest if (Path(place[0]).name, _line(*place)) not in before}


def _line(path: str, line: int) -> str:
    return Path(path).read_text(encoding="utf-8").split("\n")[line - 1].strip()


def _read(path: Path) -> Module | None:
    try:
        module = Module(path.read_text(encoding="utf-8"))
        return module if module.tree.body else None
    except (SyntaxError, ValueError, RecursionError):
        return None


if __name__ == "__main__":
    sys.exit(main())
