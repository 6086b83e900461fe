"""What the hand-offs of programs really do: each program is run on real JAX with eight forced CPU devices, on several paths.

`label(programs)` starts one child process for all of them. In the child every consumer that a program names is wrapped when the
name is read or imported (an edit of its syntax tree), so that each hand-off is seen and a failing one does not end the program:
it gives an empty array, unless a handler around it names the exception, which then is raised as it would be. The modules of a
program are imported out of memory, anew for every path.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import hashlib
import importlib.abc
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

DEVICES = 8
_FLAG = re.compile(r"flag_*\((\d+)\)")  # an import may give it another name
_PROGRAM = "<program>/"
_ROOT = "src/"
_FUNCTIONS = frozenset(
    {"from_dlpack", "as_tensor", "tensor", "frombuffer", "__dlpack__", "__dlpack_device__", "unsafe_buffer_pointer"}
)
_BUILTINS = frozenset({"memoryview"})
_WORDS = ("unsharded", "single device", "only pack", "single shard")
_READS = frozenset({"__cuda_array_interface__"})
_REFUSED = (BufferError, AttributeError, RuntimeError)


@dataclass(frozen=True)
class Label:
    """What was seen on one line (from 1): how often a hand-off passed, failed, and failed in the hands of a handler."""

    path: str
    line: int
    sink: str
    passed: int
    failed: int
    handled: int


@dataclass(frozen=True)
class Outcome:
    """The labels of one program. `broken` tells the errors, by the line of the entry, which its maker did not mean; `given` what each
    hand-off was given, one after the other, as a digest of its dtype, shape and values.
    """

    labels: tuple[Label, ...]
    broken: Mapping[int, str]
    given: tuple[str, ...] = ()


def label(programs: Sequence[tuple[Mapping[str, str], str]], limit: float) -> list[Outcome]:
    """Run programs, each its files by path and the path to start with, in a child process, `limit` seconds for all.

    Raises `CalledProcessError` or `TimeoutExpired`.
    """
    with tempfile.TemporaryDirectory(prefix="shardlint-oracle-") as folder:
        jobs = Path(folder) / "jobs.json"
        jobs.write_text(json.dumps([[dict(files), entry] for files, entry in programs]), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
        flags = f"--xla_force_host_platform_device_count={DEVICES}"
        done = subprocess.run(
            [sys.executable, __file__, str(jobs)],
            env={**kept, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=limit,
            check=True,
        )
    answers = json.loads(done.stdout)
    return [
        Outcome(tuple(Label(**row) for row in rows), {int(line): why for line, why in broken.items()}, tuple(given))
        for rows, broken, given in answers
    ]


class Watch:
    """The hand-offs of one program as they happen, and the handlers that are open."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.given: list[str] = []
        self._open: list[tuple[type[BaseException], ...]] = []

    def function(self, consumer: Callable[..., Any], name: str) -> Callable[..., Any]:
        """`consumer` with every call of it observed."""

        def call(*args: Any, **kwargs: Any) -> Any:
            given = args[0] if args else next(iter(kwargs.values()), None)
            self.given.append(
                _digest(getattr(consumer, "__self__", None) if name.startswith("__") or not args else given)
            )
            return self._observe(lambda: consumer(*args, **kwargs), name, sys._getframe(1))

        return call

    def read(self, owner: Any, name: str) -> Any:
        """The attribute `name` of `owner`, its reading observed."""
        self.given.append(_digest(owner))
        return self._observe(lambda: getattr(owner, name), name, sys._getframe(1))

    @contextlib.contextmanager
    def handling(self, *kinds: Any) -> Iterator[None]:
        """While exceptions of these kinds would be handled."""
        flat = tuple(kind for one in kinds for kind in (one if isinstance(one, tuple) else (one,)))
        self._open.append(flat)
        try:
            yield
        finally:
            self._open.remove(flat)

    def _observe(self, hand_over: Callable[[], Any], name: str, frame: FrameType | None) -> Any:
        while frame is not None and not frame.f_code.co_filename.startswith(_PROGRAM):
            frame = frame.f_back
        path = frame.f_code.co_filename.removeprefix(_PROGRAM) if frame is not None else ""
        line = frame.f_lineno if frame is not None else 0
        new = {"path": path, "line": line, "sink": name, "passed": 0, "failed": 0, "handled": 0}
        row = self.seen.setdefault((path, line), new)
        try:
            value = hand_over()
        except Exception as error:
            only_no_gpu = name in _READS and "only defined for" in str(error)
            if only_no_gpu or not isinstance(error, _REFUSED) or "singular" not in _meaning(error):
                row["passed"] += only_no_gpu
                return _empty()
            if any(issubclass(type(error), kinds) for kinds in self._open):
                row["handled"] += 1
                raise
            row["failed"] += 1
            return _empty()
        row["passed"] += 1
        return value


def _digest(given: Any) -> str:
    """What an array holds, wherever it lives; the class of anything else, and of what cannot be read."""
    import numpy as np

    try:
        values = np.asarray(given)
        return f"{values.dtype} {values.shape} {hashlib.sha256(values.tobytes()).hexdigest()[:16]}"
    except Exception:  # tracers, capsules, whatever a program hands over
        return type(given).__name__


def _meaning(error: Exception) -> str:
    """JAX says in several ways that an array is on several devices; one word for all of them."""
    text = str(error)
    return "singular" if any(part in text for part in _WORDS) else text


def _empty() -> Any:
    import numpy as np

    return np.zeros(16)


class _Wrap(ast.NodeTransformer):
    """Wraps the consumers where a program reads them, and tells the watch which handlers are open."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.attr in _FUNCTIONS:
            return self._call("function", node, node, ast.Constant(node.attr))
        if node.attr in _READS:
            return self._call("read", node, node.value, ast.Constant(node.attr))
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in _BUILTINS and isinstance(node.ctx, ast.Load):
            return self._call("function", node, node, ast.Constant(node.id))
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        made: list[ast.stmt] = [node]
        for alias in node.names:
            if alias.name in _FUNCTIONS:
                name = alias.asname or alias.name
                call = self._call("function", node, ast.Name(name, ast.Load()), ast.Constant(alias.name))
                made.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], call), node))
        return made

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        self.generic_visit(node)
        kinds = [handler.type or ast.Name("BaseException", ast.Load()) for handler in node.handlers]
        if kinds:
            around = ast.With([ast.withitem(self._call("handling", node, *kinds))], node.body)
            node.body = [ast.copy_location(around, node)]
        return node

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        for item in list(node.items):
            call = item.context_expr
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "suppress":
                node.items.append(ast.withitem(self._call("handling", node, *call.args)))
        return node

    def _call(self, method: str, where: ast.AST, *arguments: ast.expr) -> ast.Call:
        function = ast.Attribute(ast.Name("__watch__", ast.Load()), method, ast.Load())
        return ast.copy_location(ast.Call(function, list(arguments), []), where)


class _Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules of one program."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.trees = {path: ast.fix_missing_locations(_Wrap().visit(ast.parse(text))) for path, text in files.items()}
        self.paths = {_module_name(path): path for path in files}

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname not in self.paths:
            return None
        is_package = self.paths[fullname].endswith("__init__.py")
        return importlib.util.spec_from_loader(fullname, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        path = self.paths[module.__name__]
        self.run(path, self.trees[path].body, module)

    def run(self, path: str, statements: list[ast.stmt], module: ModuleType) -> None:
        """Run statements of a file as a part of it."""
        first = self.trees[path].body[:1]
        future = any(isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in first)
        flags = __future__.annotations.compiler_flag if future else 0
        exec(compile(ast.Module(statements, []), _PROGRAM + path, "exec", flags, dont_inherit=True), module.__dict__)

    def forget(self) -> None:
        """Let the modules be imported anew."""
        for name in self.paths:
            sys.modules.pop(name, None)


def _module_name(path: str) -> str:
    return path.removeprefix(_ROOT).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _run(files: Mapping[str, str], entry: str) -> tuple[list[dict[str, Any]], dict[int, str], list[str]]:
    """One program on every assignment of its flags, in the order of its statements; what it meant to raise ends a statement."""
    modules, watch = _Modules(files), Watch()
    builtins.__dict__["__watch__"] = watch
    sys.meta_path.insert(0, modules)
    broken: dict[int, str] = {}
    used = sorted({number for text in files.values() for number in _FLAG.findall(text)})
    for path in range(2 ** len(used)):
        modules.forget()
        for place, number in enumerate(used):
            os.environ[f"FLAG{number}"] = str(path >> place & 1)
        main = ModuleType("__main__")
        main.__package__ = _module_name(entry).rpartition(".")[0]
        sys.modules["__main__"] = main
        for statement in modules.trees[entry].body:
            try:
                modules.run(entry, [statement], main)
            except SystemExit:
                continue
            except Exception as error:
                if str(error) != "refused":
                    broken.setdefault(statement.lineno, f"{type(error).__name__}: {str(error)[:300]}")
    sys.meta_path.remove(modules)
    modules.forget()
    return list(watch.seen.values()), broken, watch.given


def main() -> None:
    """The child: reads the programs, prints their labels."""
    warnings.simplefilter("ignore")
    programs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    own = sys.modules["__main__"]
    with contextlib.redirect_stdout(io.StringIO()):
        answers = [_run(files, entry) for files, entry in programs]
    sys.modules["__main__"] = own
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main()
