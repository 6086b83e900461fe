"""jedi may be missing, die, hang, talk nonsense or fail: that costs its answers and one sentence each."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from shardlint.inference.door import Inference
from shardlint.inference.process import Process, jedi_command

ANSWER_FIRST = """
import json, sys
name = json.loads(sys.stdin.readline())["names"][0]
print(json.dumps({"name": name, "meaning": "jax.Array", "seen": {}}), flush=True)
"""


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., Inference]:
    """A session whose process is a Python program given as text; each start of it is noted in the list `starts`."""

    def make(program: str, starts: list[Path] | None = None, budget: float = 60.0) -> Inference:
        def command(folder: Path) -> Sequence[str]:
            if starts is not None:
                starts.append(folder)
            return (sys.executable, "-c", program)

        return Inference(tmp_path / "cache", budget, command)

    return make


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("raise SystemExit(3)", "its process ended before it had answered"),
        ("import os; os.abort()", "its process ended before it had answered"),
        ("input(); print('hello', flush=True); input()", "its process was ended, as its answer could not be read"),
        ("input(); print('[]', flush=True); input()", "its process was ended, as its answer could not be read"),
        ("print('\\xff' * 9, flush=True)", "its process was ended, as its answer could not be read"),
    ],
)
def test_a_failing_process_costs_its_answers(program, what, session, tmp_path) -> None:
    """The other questions of the check are unharmed; one sentence says which name, why, and what to do."""
    with session(program) as inference:
        assert inference.answer(["lib.asarray"], [tmp_path]) == {}
        (problem,) = inference.problems
    assert problem.message == (
        f"jedi did not say what lib.asarray means, because {what}; what is handed over behind that was not checked: "
        "run again, and report it if it stays so."
    )


@pytest.mark.parametrize("program", ["import time\nwhile True: time.sleep(1)", "while True: pass", "input(); input()"])
def test_a_hanging_process_is_ended(program, session, tmp_path) -> None:
    """A process that does not answer within the budget is ended, whether it sleeps, computes or waits."""
    with session(program, budget=0.3) as inference:
        assert inference.answer(["lib.asarray"], [tmp_path]) == {}
        (problem,) = inference.problems
    assert "as it had not answered within 0.3 seconds" in problem.message


def test_a_process_that_does_not_read_is_ended(session, tmp_path) -> None:
    """More questions than a pipe holds do not stop whoever asks."""
    names = [f"lib.{'long' * 20}{number}.asarray" for number in range(3000)]
    with session("import time\nwhile True: time.sleep(1)", budget=0.3) as inference:
        assert inference.answer(names, [tmp_path]) == {}
        (problem,) = inference.problems
    assert "and 2997 more means" in problem.message


def test_answers_before_the_failure_count(session, tmp_path) -> None:
    """What was answered before the process died is used and kept; the rest is not asked for again."""
    starts: list[Path] = []
    with session(ANSWER_FIRST, starts) as inference:
        assert inference.answer(["lib.a", "lib.b"], [tmp_path]) == {"lib.a": "jax.Array"}
        assert inference.answer(["lib.a", "lib.b"], [tmp_path]) == {"lib.a": "jax.Array"}
        assert len(starts) == len(inference.problems) == 1
        assert "lib.b" in inference.problems[0].message
        assert "lib.a" not in inference.problems[0].message
        assert inference.answer(["lib.c"], [tmp_path]) == {"lib.c": "jax.Array"}
    assert len(starts) == 2


def test_a_session_gives_up(session, tmp_path) -> None:
    """A process that fails again and again is not started for ever."""
    starts: list[Path] = []
    with session("raise SystemExit(3)", starts) as inference:
        for number in range(20):
            assert inference.answer([f"lib.asarray{number}"], [tmp_path]) == {}
        assert len(starts) == len(inference.problems) == 3


def test_a_process_that_cannot_be_started(tmp_path) -> None:
    """A Python that is not there is told like any other failure."""
    with Inference(None, 60.0, lambda folder: (str(folder / "absent"),)) as inference:
        assert inference.answer(["lib.asarray"], [tmp_path]) == {}
        (problem,) = inference.problems
    assert "its process could not be started (No such file or directory)" in problem.message


def test_without_jedi(monkeypatch, tmp_path) -> None:
    """Where jedi is not installed, that is what is said."""
    monkeypatch.setattr("shardlint.inference.process._LIBRARIES", ("jedi_of_another_name",))
    with Inference(None, 60.0) as inference:
        assert inference.answer(["lib.asarray"], [tmp_path]) == {}
        (problem,) = inference.problems
    assert "could not be started (jedi_of_another_name is not installed)" in problem.message


def test_a_defect_of_jedis_costs_one_answer(write, tmp_path) -> None:
    """What jedi raises on one name is told, what it prints is not, the others are answered, and its trees stay."""
    broken = (
        "import shardlint.inference.worker as worker; ask = worker.Probe.bindings\n"
        "def bindings(self, name): print('said by a library', flush=True); return 1 / 0 if 'broken' in name else ask(self, name)\n"
        "worker.Probe.bindings = bindings; main(**given)"
    )

    def command(folder: Path) -> Sequence[str]:
        *words, program, given = jedi_command(tmp_path / "cache")(folder)
        return (*words, program.replace("main(**given)", broken), given)

    root = write({"lib.py": "from jax.dlpack import to_dlpack"})
    with Inference(None, 60.0, command) as inference:
        names = ["lib.broken", "lib.to_dlpack"]
        assert inference.answer(names, [root]) == {"lib.to_dlpack": "jax.dlpack.to_dlpack"}
        (problem,) = inference.problems
    assert list((tmp_path / "cache" / "jedi").rglob("*.pkl"))
    assert "lib.broken (ZeroDivisionError: division by zero) means, because it failed" in problem.message


def test_damaged_trees_are_made_again(write, tmp_path) -> None:
    """What a process that was ended left half written among jedi's files harms no later one."""
    root = write({"lib/__init__.py": "", "lib/compat.py": "from jax.dlpack import to_dlpack"})

    def asked() -> list[int]:
        """The sizes of the trees after a session that had to ask."""
        for kept in (tmp_path / "cache").glob("names-*"):
            kept.unlink()
        with Inference(tmp_path / "cache", 60.0) as inference:
            assert inference.answer(["lib.compat.to_dlpack"], [root]) == {
                "lib.compat.to_dlpack": "jax.dlpack.to_dlpack"
            }
            assert inference.problems == ()
        return sorted(tree.stat().st_size for tree in (tmp_path / "cache" / "jedi").rglob("*.pkl"))

    whole = asked()
    for tree in (tmp_path / "cache" / "jedi").rglob("*.pkl"):
        os.truncate(tree, 40)
    asked()
    assert asked() == whole


def test_the_process_ends_with_the_session(session, tmp_path) -> None:
    """Closing a session, or losing it, ends its process and removes its folder."""
    starts: list[Path] = []
    program = ANSWER_FIRST + "print('{\"done\": true}', flush=True)\nimport time\nwhile True: time.sleep(1)"
    for end in (Inference.close, lambda inference: None):
        inference = session(program, starts)
        assert inference.answer([f"lib.a{len(starts)}"], [tmp_path])
        assert starts[-1].exists()
        end(inference)
        del inference
        assert not starts[-1].exists()


def test_a_request_that_is_dropped_ends_the_process(tmp_path) -> None:
    """A process of which not all answers were taken is ended: the rest would be taken for those to the next request."""
    folders: list[Path] = []

    def command(folder: Path) -> Sequence[str]:
        folders.append(folder)
        return (sys.executable, "-c", ANSWER_FIRST + "sys.stdin.read()")

    process = Process(command)
    answers = process.ask({"roots": [], "names": ["lib.a", "lib.b"]}, 60.0)
    assert next(answers)["name"] == "lib.a"
    answers.close()
    assert not folders[0].exists()


def test_closing_does_not_wait_for_an_answer(session, tmp_path) -> None:
    """A session that is closed while a thread waits for an answer ends at once, and the thread goes on without."""
    inference = session("import time\nwhile True: time.sleep(1)", budget=3600.0)
    answers: list[dict[str, str]] = []
    thread = threading.Thread(target=lambda: answers.append(inference.answer(["lib.asarray"], [tmp_path])))
    thread.start()
    while thread.is_alive():
        inference.close()
        thread.join(0.01)
    assert answers == [{}]


def test_jedi_ends_when_nobody_listens(tmp_path) -> None:
    """The process ends with the pipe that its questions come through, so that it never outlives who asked."""
    process = subprocess.Popen(jedi_command(tmp_path / "trees")(tmp_path), stdin=subprocess.PIPE, cwd=tmp_path)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0
