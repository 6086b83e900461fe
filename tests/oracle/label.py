"""What the hand-offs of programs really do: each program is run on real JAX with eight forced CPU devices, on several paths.

`label(programs)` starts one child process for all of them. In the child every consumer that a program names is wrapped when the
name is read (an edit of its syntax tree), so that each hand-off is seen and a failing one does not end the program: it gives an
empty array, unless a handler around it names the exception, which then is raised as it would be.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

DEVICES = 8
_FLAG = re.compile(r"flag\((\d+)\)")
_PROGRAM = "<program>"
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

    line: int
    sink: str
    passed: int
    failed: int
    handled: int


@dataclass(frozen=True)
class Outcome:
    """The labels of one program, by line. `broken` tells the error that ended it, which its maker did not mean."""

    labels: tuple[Label, ...]
    broken: str | None


def label(programs: Sequence[str], limit: float) -> list[Outcome]:
    """Run the programs in a child process, `limit` seconds for all. Raises `CalledProcessError` or `TimeoutExpired`."""
    with tempfile.TemporaryDirectory(prefix="shardlint-oracle-") as folder:
        jobs = Path(folder) / "jobs.json"
        jobs.write_text(json.dumps(list(programs)), encoding="utf-8")
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
    return [Outcome(tuple(Label(**row) for row in rows), broken) for rows, broken in json.loads(done.stdout)]


class Watch:
    """The hand-offs of one program as they happen, and the handlers that are open."""

    def __init__(self) -> None:
        self.seen: dict[int, dict[str, Any]] = {}
        self._open: list[tuple[type[BaseException], ...]] = []

    def function(self, consumer: Callable[..., Any], name: str) -> Callable[..., Any]:
        """`consumer` with every call of it observed."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._observe(lambda: consumer(*args, **kwargs), name, sys._getframe(1))

        return call

    def read(self, owner: Any, name: str) -> Any:
        """The attribute `name` of `owner`, its reading observed."""
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
        while frame is not None and frame.f_code.co_filename != _PROGRAM:
            frame = frame.f_back
        line = frame.f_lineno if frame is not None else 0
        row = self.seen.setdefault(line, {"line": line, "sink": name, "passed": 0, "failed": 0, "handled": 0})
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


def _run(source: str) -> tuple[list[dict[str, Any]], str | None]:
    """One program on every assignment of its flags, in the order of its statements; what it meant to raise ends a statement."""
    tree = ast.fix_missing_locations(_Wrap().visit(ast.parse(source)))
    watch = Watch()
    broken = None
    used = sorted(set(_FLAG.findall(source)))
    for path in range(2 ** len(used)):
        for place, number in enumerate(used):
            os.environ[f"FLAG{number}"] = str(path >> place & 1)
        names: dict[str, Any] = {"__watch__": watch, "__name__": "__main__"}
        for statement in tree.body:
            try:
                exec(compile(ast.Module([statement], []), _PROGRAM, "exec"), names)
            except SystemExit:
                continue
            except Exception as error:
                if str(error) != "refused":
                    broken = f"line {statement.lineno}: {type(error).__name__}: {str(error)[:300]}"
    return [watch.seen[line] for line in sorted(watch.seen)], broken


def main() -> None:
    """The child: reads the programs, prints their labels."""
    warnings.simplefilter("ignore")
    programs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()):
        answers = [_run(source) for source in programs]
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main()
