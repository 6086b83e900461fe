"""Runs the programs of shardlint's own records on the JAX of the Python that executes this file.

`verify` starts it in a process of its own; it needs Python 3.9 and the standard library, so that any environment that
holds JAX can run it. It is never given a user's code.

`verify_child.py probe NAME...` prints one JSON object: `versions` (of the installed ones among the names) and
`missing` (the names that cannot be imported).

`verify_child.py run JOBS RESULTS` reads one job a line from JOBS and writes JSON lines to RESULTS: `{"started": id}` before a
program runs and its answer after it, so that the file tells which program took the interpreter down. On stderr Python tells
the lines on which it died.

`verify_child.py group JOBS RESULTS ADDRESS COUNT INDEX` runs one job as one of COUNT processes of a `jax.distributed` job. It writes
a line to stdout when it has answered, and stays, as the others may still need it, until its stdin is closed.
"""

from __future__ import annotations

import ast
import faulthandler
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PROGRAM = "<program>"
# What is another text in every run and tells nothing: where an object lies, and in which order a set shows its items.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_SET = re.compile(r"\{([^{}:]*)\}")
_UNKNOWN_NAME = re.compile(r"name '(\w+)' is not defined")


def main(arguments: list[str]) -> None:
    command, *rest = arguments
    if command == "probe":
        sys.stdout.write(json.dumps(probe(rest)) + "\n")
        return
    faulthandler.enable()
    jobs, results, *group = rest
    if not group:
        answer_all(Path(jobs), Path(results))
        return
    address, count, index = group
    done = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the program prints is not for the one that waits
    join(address, int(count), int(index))
    answer_all(Path(jobs), Path(results))
    done.write("done\n")
    done.flush()
    sys.stdin.read()
    os._exit(0)  # JAX would wait for the others, of which some may be dead


def join(address: str, count: int, index: int) -> None:
    """Make this process one of a `jax.distributed` job on CPU devices; the program may ask for it once more in its own words."""
    import jax

    module: Any = jax
    module.config.update("jax_cpu_collectives_implementation", "gloo")  # before JAX 0.6 there is none unless asked for
    module.distributed.initialize(address, count, index)
    module.distributed.initialize = _joined_already


def _joined_already(*_: Any, **__: Any) -> None:
    """What `jax.distributed.initialize` is for the program."""


def answer_all(jobs: Path, results: Path) -> None:
    """Run the programs of the file `jobs` one after another."""
    with jobs.open(encoding="utf-8") as lines, results.open("w", encoding="utf-8") as out:
        for line in lines:
            job = json.loads(line)
            _tell(out, {"started": job["id"]})
            _tell(out, {"id": job["id"], **run_program(job)})


def probe(names: list[str]) -> dict[str, Any]:
    """Which of the names are installed, in which versions; nothing is imported for it."""
    distributions = _distributions()
    versions: dict[str, str] = {}
    missing: list[str] = []
    for name in names:
        if importlib.util.find_spec(name) is None:
            missing.append(name)
        try:
            versions[name] = importlib.metadata.version(distributions.get(name, [name])[0])
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"versions": versions, "missing": missing}


def _distributions() -> Mapping[str, list[str]]:
    """The distributions by the modules that they bring, `cupy-cuda12x` by `cupy`; before Python 3.10 none are known."""
    if sys.version_info >= (3, 10):  # noqa: UP036 - any JAX environment's Python may run this file
        return importlib.metadata.packages_distributions()
    return {}


def run_program(job: dict[str, Any]) -> dict[str, Any]:
    """Run one program in fresh names, statement by statement.

    A statement that raises from a marked line (1-based, `job["marks"]`) does not end the program. `raised` tells all that
    was raised, each with the `line` of the program's innermost frame; `lost` says that it is only about a name that an
    earlier failed statement would have bound. `mismatch` is a clause, or null if `job["result"]` equals `job["value"]`.
    `shown` is whether `job["shows"]` is true after all of it, or null if it was not evaluated; `unshown` is a clause that tells
    why it could not be. A name that the program does not have counts as not true.
    """
    try:
        statements = ast.parse(job["source"], _PROGRAM).body
    except SyntaxError as error:
        return _answer([_raised(error, error.lineno or 0, lost=False)])
    names: dict[str, Any] = {"__name__": "__main__"}
    raised: list[dict[str, Any]] = []
    unbound: set[str] = set()
    for statement in statements:
        try:
            code = compile(ast.Module([statement], []), _PROGRAM, "exec", dont_inherit=True)
            exec(code, names)  # noqa: S102 - running the record's program is what this file is for
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever is raised is the outcome
            line = _line_of(error)
            unknown = _UNKNOWN_NAME.search(str(error)) if isinstance(error, NameError) else None
            raised.append(_raised(error, line, lost=unknown is not None and unknown[1] in unbound))
            if line not in job["marks"]:
                return _answer(raised)
            unbound.update(_bound_names(statement))
    mismatch = None
    if job["result"] is not None and not raised:
        mismatch = _mismatch(names, job["result"], job["value"])
    shown, unshown = (None, None) if job["shows"] is None or raised else _shown(names, job["shows"])
    return _answer(raised, mismatch, shown, unshown)


def _answer(
    raised: list[dict[str, Any]], mismatch: str | None = None, shown: bool | None = None, unshown: str | None = None
) -> dict[str, Any]:
    return {"raised": raised, "mismatch": mismatch, "shown": shown, "unshown": unshown}


def _shown(names: dict[str, Any], expression: str) -> tuple[bool | None, str | None]:
    try:
        return bool(eval(expression, names)), None  # noqa: S307 - an expression of the page
    except NameError as error:
        return False, f"NameError: {error}"
    except Exception as error:  # noqa: BLE001 - whatever is raised is the outcome
        return None, f"{type(error).__name__}: {error}"


def _raised(error: BaseException, line: int, *, lost: bool) -> dict[str, Any]:
    text = _SET.sub(lambda shown: "{" + ", ".join(sorted(shown[1].split(", "))) + "}", _ADDRESS.sub("", str(error)))
    for folder in sorted(
        filter(None, sys.path), key=len, reverse=True
    ):  # where a library lies is no part of the outcome
        text = text.replace(folder + os.sep, "")
    message = text.splitlines()[0] if text.strip() else ""
    kinds = [kind.__name__ for kind in type(error).__mro__[:-1]]
    return {"line": line, "exception": kinds[0], "kinds": kinds, "message": message, "lost": lost}


def _line_of(error: BaseException) -> int:
    """The line of the program's innermost frame, 1-based, or 0 if none of its frames is in the traceback."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _PROGRAM:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _bound_names(statement: ast.stmt) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
    return names


def _mismatch(names: dict[str, Any], result: str, value: str) -> str | None:
    import numpy as np

    try:
        got = np.asarray(eval(result, names))  # noqa: S307 - an expression of the record
        want = np.asarray(eval(value, {"np": np}))  # noqa: S307 - likewise
    except Exception as error:  # noqa: BLE001 - whatever is raised is the outcome
        return f"`{result}` cannot be compared with `{value}`: {type(error).__name__}: {error}"
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"`{result}` is {got.dtype} of shape {got.shape}, not {want.dtype} of shape {want.shape}"
    if not np.array_equal(got, want):
        return f"`{result}` is {' '.join(str(got).split())}, not {' '.join(str(want).split())}"
    return None


def _tell(out: Any, data: dict[str, Any]) -> None:
    out.write(json.dumps(data) + "\n")
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
