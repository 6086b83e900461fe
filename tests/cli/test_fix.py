"""`shardlint check --fix` and `--diff`: what is written, what is shown, and what stays as it was."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from shardlint.cli.commands import run
from shardlint.report import diff
from shardlint.report.excerpt import harmless
from shardlint.report.paint import plain

Cli = Callable[..., Result]

PUT = "jax.device_put(x, jax.local_devices()[0])"
HEAD = (
    "import jax\nimport torch\n"
    "x = jax.device_put(jax.numpy.arange(16.0), jax.NamedSharding(jax.make_mesh((8,), ('d',)), jax.P('d')))\n"
)
REMOVED, MOVED = "t = torch.from_dlpack(jax.dlpack.to_dlpack(y))\n", "u = torch.from_dlpack(x)\n"
WITHOUT, ON_ONE = "t = torch.from_dlpack(y)\n", f"u = torch.from_dlpack({PUT})\n"
CHECK = ("check", "--jax-version", "0.10.2", "--no-jedi")


def test_fix_repairs_until_nothing_is_left(cli: Cli, project: Path) -> None:
    """Repairs that can only be made one after another are all made, and counted."""
    file = project / "a.py"
    file.write_text("bad_dlpack(x)\nbad_dlpack(y)\nbad_dlpack(z)\n")
    result = cli("check", "--fix", "--jax-version", "0.10.2")
    assert file.read_text() == "good_dlpack(x)\ngood_dlpack(y)\ngood_dlpack(z)\n"
    assert result.exit_code == 0
    assert result.stdout == (
        "3 repairs made in 1 file.\nNothing found in 1 file.\nChecked for JAX 0.10.2 (--jax-version).\n"
    )


@pytest.mark.parametrize("output_format", ["json", "concise"])
def test_fix_tells_what_it_did_beside_a_report_for_programs(cli: Cli, project: Path, output_format: str) -> None:
    """Where stdout is for programs, the number of repairs is told on stderr."""
    (project / "a.py").write_text("bad_dlpack(x)\nbad_dlpack(y)\n")
    (project / "b.py").write_text("bad_dlpack(x)\n")
    result = cli("check", "--fix", "--output-format", output_format)
    assert result.stderr.splitlines()[0] == "shardlint: 3 repairs made in 2 files."
    assert result.exit_code == 0


def test_fix_leaves_what_is_not_safe(cli: Cli, project: Path) -> None:
    """A repair with a cost is not made: its finding is reported and the exit code is 1."""
    file = project / "a.py"
    file.write_text("bad_dlpack(x)\ncostly_dlpack(y)\n")
    result = cli("check", "--fix")
    assert file.read_text() == "good_dlpack(x)\ncostly_dlpack(y)\n"
    assert result.exit_code == 1
    assert "a.py:2:1: warning costly-hand-off" in result.stdout
    assert "repair (by hand): Say good instead" in result.stdout
    assert "bad-hand-off" not in result.stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x\r\nbad_dlpack(x)\r\n", b"x\r\ngood_dlpack(x)\r\n"),
        (b"\xef\xbb\xbfbad_dlpack(x)", b"\xef\xbb\xbfgood_dlpack(x)"),
        (b"# coding: latin-1\n'\xe9'; bad_dlpack(x)\r", b"# coding: latin-1\n'\xe9'; good_dlpack(x)\r"),
    ],
)
def test_fix_keeps_bytes_that_it_does_not_change(cli: Cli, project: Path, before: bytes, after: bytes) -> None:
    """Line ends, byte order mark, encoding and a missing last line end stay."""
    (project / "a.py").write_bytes(before)
    cli("check", "--fix")
    assert (project / "a.py").read_bytes() == after


def test_fix_keeps_mode_and_link(cli: Cli, project: Path) -> None:
    """A link stays a link, and what it names is repaired with the mode that it had. No other file is left behind."""
    (project / "real").mkdir()
    real = project / "real" / "a.py"
    real.write_text("bad_dlpack(x)\n")
    real.chmod(0o751)
    (project / "link.py").symlink_to(real)
    cli("check", "link.py", "--fix")
    assert (project / "link.py").is_symlink()
    assert real.read_text() == "good_dlpack(x)\n"
    assert real.stat().st_mode & 0o777 == 0o751
    assert [path.name for path in real.parent.iterdir()] == ["a.py"]


def test_fix_tells_a_read_only_file(cli: Cli, project: Path) -> None:
    """A read-only file is left as it is and told, its finding reported; the other files are repaired."""
    for name in ("a.py", "b.py"):
        (project / name).write_text("bad_dlpack(x)\n")
    (project / "a.py").chmod(0o444)
    result = cli("check", "--fix")
    assert (project / "a.py").read_text() == "bad_dlpack(x)\n"
    assert (project / "b.py").read_text() == "good_dlpack(x)\n"
    assert result.exit_code == 2
    assert (
        result.stderr == "shardlint: a.py: is read-only and was left as it is; make it writable to have it repaired.\n"
    )
    assert "a.py:1:1: error bad-hand-off" in result.stdout


def test_check_alone_writes_nothing(cli: Cli, project: Path) -> None:
    """Without --fix no file in the project is made or changed."""
    (project / "a.py").write_text("bad_dlpack(x)\n")
    cli("check")
    cli("check", "--diff")
    assert (project / "a.py").read_text() == "bad_dlpack(x)\n"
    assert sorted(path.name for path in project.iterdir()) == [".git", "a.py"]


def test_diff_shows_and_exits_one(cli: Cli, project: Path) -> None:
    """--diff prints a unified diff on stdout, with every line end as it is, and exits 1 as there are changes."""
    (project / "a.py").write_bytes(b"one\r\nbad_dlpack(x)")
    result = cli("check", "--diff", "--fix")
    assert result.stdout_bytes == (
        b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\r\n"
        b"-bad_dlpack(x)\n\\ No newline at end of file\n+good_dlpack(x)\n\\ No newline at end of file\n"
    )
    assert result.stderr == "shardlint: --fix would change 1 file.\n"
    assert result.exit_code == 1
    assert (project / "a.py").read_bytes() == b"one\r\nbad_dlpack(x)"


def test_diff_of_nothing_exits_zero(cli: Cli, project: Path) -> None:
    """--diff prints nothing and exits 0 where no safe repair is to be made, whatever is found."""
    (project / "a.py").write_text("costly_dlpack(x)\n")
    result = cli("check", "--diff")
    assert result.stdout == ""
    assert result.stderr == "shardlint: --fix would change nothing. 1 repair needs --unsafe-fixes.\n"
    assert result.exit_code == 0


TOOLS = (("git", "apply"), ("patch", "-p1"))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool[0])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.py", b"one\r\nbad_dlpack(x)\r\n"),
        ("sub/a.py", b"one\nbad_dlpack(x)"),
        ("with space.py", b"bad_dlpack(x)\n"),
        ("caf\u00e9.py", b"bad_dlpack(x)\n"),
        ('quoted".py', b"bad_dlpack(x)\n"),
        ("a.py", b"\xef\xbb\xbfbad_dlpack(x)\n"),
        ("a.py", b"# coding: latin-1\nname = '\xe9'\nbad_dlpack(x)\n"),
        ("a.py", b"one\rbad_dlpack(x)\r"),
    ],
)
@pytest.mark.parametrize("absolute", [False, True], ids=["relative", "absolute"])
def test_diff_can_be_applied(
    cli: Cli, project: Path, tool: tuple[str, ...], name: str, content: bytes, absolute: bool
) -> None:
    """`git apply` and `patch -p1` make of a diff what --fix makes, whatever the file is called and how it is encoded."""
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not installed")
    file = project / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    result = cli("check", "--diff", str(file if absolute else Path(name)))
    assert b"good" not in file.read_bytes()
    subprocess.run(tool, cwd=project, input=result.stdout_bytes, check=True, capture_output=True)
    assert file.read_bytes() == content.replace(b"bad", b"good")


def test_diff_of_a_file_elsewhere_starts_at_the_root(cli: Cli, project: Path) -> None:
    """A file outside the current folder is named from the root, for `patch -p1 -d /`."""
    file = project.parent / "a.py"
    file.write_text("bad_dlpack(x)\n")
    first, second, *_ = cli("check", "--diff", str(file)).stdout.splitlines()
    assert (first, second) == (f"--- a{file}", f"+++ b{file}")


def test_diff_on_a_terminal_is_safe_from_the_file() -> None:
    """What a terminal would obey does not reach it with the lines of a diff; a line's own end does."""
    shown = diff.render("a.py", "'\x1b[31m'\r\nb\n", "'\x1b[31m'\r\nc\n", plain, harmless)
    assert shown == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n '\ufffd[31m'\r\n-b\n+c\n"


def test_unsafe_fixes_are_made_if_asked_for(real_cli: Cli, project: Path) -> None:
    """With --unsafe-fixes --fix also makes what copies or moves data; without it that is left, and told."""
    file = project / "a.py"
    file.write_text(HEAD + REMOVED + MOVED)
    result = real_cli(*CHECK, "--fix")
    assert file.read_text() == HEAD + WITHOUT + MOVED
    assert result.stdout.splitlines()[-4:] == [
        "1 repair made in 1 file.",
        "1 error in 1 file.",
        "Checked for JAX 0.10.2 (--jax-version).",
        "1 repair needs --unsafe-fixes.",
    ]
    assert result.exit_code == 1
    result = real_cli(*CHECK, "--fix", "--unsafe-fixes")
    assert file.read_text() == HEAD + WITHOUT + ON_ONE
    assert result.stdout.splitlines()[:2] == ["1 repair made in 1 file.", "Nothing found in 1 file."]
    assert result.exit_code == 0


def test_unsafe_fixes_show_in_the_diff(real_cli: Cli, project: Path) -> None:
    """--diff shows what --fix would do with the same flags, and counts what more there would be."""
    file = project / "a.py"
    file.write_text(HEAD + REMOVED + MOVED)
    result = real_cli(*CHECK, "--diff")
    assert [line for line in result.stdout.splitlines() if line[:1] == "+"][1:] == ["+" + WITHOUT.rstrip()]
    assert result.stderr == "shardlint: --fix would change 1 file (1 more repair needs --unsafe-fixes).\n"
    result = real_cli(*CHECK, "--diff", "--unsafe-fixes")
    assert [line for line in result.stdout.splitlines() if line[:1] == "+"][1:] == [
        "+" + WITHOUT.rstrip(),
        "+" + ON_ONE.rstrip(),
    ]
    assert result.stderr == "shardlint: --fix --unsafe-fixes would change 1 file.\n"
    assert result.exit_code == 1
    assert file.read_text() == HEAD + REMOVED + MOVED


def test_unsafe_fixes_alone_show_which_would_be_made(real_cli: Cli, project: Path) -> None:
    """Without --fix and --diff the report marks the one repair of each finding that would be made, and nothing is written."""
    (project / "a.py").write_text(HEAD + REMOVED + MOVED)
    result = real_cli(*CHECK, "--unsafe-fixes")
    assert [line for line in result.stdout.splitlines() if line.startswith("  repair")] == [
        "  repair (--fix): Hand over the array itself",
        "  repair (by hand): Ask the array for the capsule",
        "  repair (--fix --unsafe-fixes): Move to one device (copies from 8 devices)",
        "  repair (by hand): Copy to host memory",
    ]
    assert result.stdout.splitlines()[-1] == "--fix --unsafe-fixes repairs them all."
    found = json.loads(real_cli(*CHECK, "--unsafe-fixes", "--output-format", "json").stdout)
    assert [[fix["applied"] for fix in finding["fixes"]] for finding in found] == [[True, False], [True, False]]
    assert (project / "a.py").read_text() == HEAD + REMOVED + MOVED


@pytest.mark.parametrize(
    ("safe", "costly", "sentence"),
    [
        (1, 0, "--fix repairs it."),
        (2, 0, "--fix repairs them all."),
        (0, 1, "1 repair needs --unsafe-fixes."),
        (0, 2, "2 repairs need --unsafe-fixes."),
        (1, 1, "--fix repairs 1 of them (1 more repair needs --unsafe-fixes)."),
        (2, 3, "--fix repairs 2 of them (3 more repairs need --unsafe-fixes)."),
    ],
)
def test_the_end_tells_what_needs_unsafe_fixes(cli: Cli, project: Path, safe: int, costly: int, sentence: str) -> None:
    """The last line counts findings with a safe repair, and those that have only others."""
    (project / "a.py").write_text("bad_dlpack(x)\n" * safe + "costly_dlpack(x)\n" * costly)
    assert cli("check").stdout.splitlines()[-1] == sentence


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--unsafe-fixes", "--output-format", "concise"), "concise shows no repairs, so that --unsafe-fixes says nothing; add --fix"),
        (("--diff", "--output-format", "json"), "--output-format json has nothing to print; leave one out."),
        (("--diff", "--fix", "--output-format", "concise"), "--output-format concise has nothing to print; leave one out."),
    ],
)  # fmt: skip
def test_flags_that_make_no_sense_together(cli: Cli, project: Path, words: tuple[str, ...], sentence: str) -> None:
    """One sentence says which flags do not go together, and nothing is checked or written."""
    (project / "a.py").write_text("bad_dlpack(x)\n")
    result = cli("check", *words)
    assert result.exit_code == 2
    assert sentence in result.stderr.splitlines()[-1]
    assert result.stdout == ""
    assert (project / "a.py").read_text() == "bad_dlpack(x)\n"


def notebook(*sources: str, indent: int = 1) -> str:
    """The JSON of a notebook of code cells, as Jupyter writes it."""
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)}
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent) + "\n"


@pytest.mark.parametrize("flags", [(), ("--unsafe-fixes",)], ids=["safe", "unsafe"])
def test_notebooks_stay_notebooks(real_cli: Cli, project: Path, flags: tuple[str, ...]) -> None:
    """A repair of a cell is written into the JSON, magics and all else stay; a diff of it can be applied."""
    file = project / "a.ipynb"
    before = notebook("%time\n" + HEAD, REMOVED, "!ls\n" + MOVED)
    after = notebook("%time\n" + HEAD, WITHOUT, "!ls\n" + (ON_ONE if flags else MOVED))
    file.write_text(before)
    shown = real_cli(*CHECK, "--diff", *flags)
    assert file.read_text() == before
    real_cli(*CHECK, "--fix", *flags)
    assert file.read_text() == after
    file.write_text(before)
    subprocess.run(["git", "apply"], cwd=project, input=shown.stdout_bytes, check=True, capture_output=True)
    assert file.read_text() == after


def test_a_notebook_that_cannot_be_kept_is_left(real_cli: Cli, project: Path) -> None:
    """JSON of a layout that nobody writes is told and left as it is; its findings are reported, other files repaired."""
    strange = notebook(HEAD, REMOVED).replace('"nbformat": 4', '"nbformat":   4')
    (project / "a.ipynb").write_text(strange)
    (project / "b.py").write_text(HEAD + REMOVED)
    result = real_cli(*CHECK, "--fix", "--unsafe-fixes")
    assert (project / "a.ipynb").read_text() == strange
    assert (project / "b.py").read_text() == HEAD + WITHOUT
    assert result.stderr.startswith("shardlint: a.ipynb: was not repaired: its JSON is not laid out as Jupyter does it")
    assert "a.ipynb:cell 2:1:23: error removed-to-dlpack" in result.stdout
    assert result.exit_code == 2


def test_lines_of_a_repair_count_in_their_cell(real_cli: Cli, project: Path) -> None:
    """The report shows what a repair leaves by cell and line, as it tells the place of the finding."""
    removed = "from jax.dlpack import to_dlpack"
    (project / "a.ipynb").write_text(notebook(HEAD + removed, "\nt = torch.from_dlpack(to_dlpack(y))\n"))
    lines = real_cli(*CHECK).stdout.splitlines()
    start = lines.index("  repair (--fix): Hand over the array itself")
    assert lines[start + 1 : start + 3] == [f"  cell 1:4 - {removed}", "  cell 2:2 + t = torch.from_dlpack(y)"]


def test_places_are_those_after_all_repairs(real_cli: Cli, project: Path) -> None:
    """What was found in a file from another one is told where it stands once both are repaired."""
    (project / "a.py").write_text(HEAD + "from z import f\nf(x)\n")
    function = "def f(x):\n    return torch.from_dlpack(x)\n"
    removed = "from jax.dlpack import to_dlpack\n"
    (project / "z.py").write_text(f"import torch\n{removed}t = torch.from_dlpack(to_dlpack(y))\n{function}")
    result = real_cli(*CHECK, "--fix")
    assert (project / "z.py").read_text() == f"import torch\n{WITHOUT}{function}"
    assert "z.py:4:12: error sharded-dlpack-export" in result.stdout
    assert "    4 |     return torch.from_dlpack(x)\n      |            ^^^^^^^^^^^^^^^^^^^^\n" in result.stdout


def test_a_file_and_a_link_to_it_are_one(cli: Cli, project: Path) -> None:
    """What two names lead to is repaired once, and shown once under its own name, by which a diff can be applied."""
    (project / "real.py").write_text("bad_dlpack(x)\n")
    (project / "link.py").symlink_to("real.py")
    shown = cli("check", "--diff", "link.py", "real.py")
    assert shown.stderr == "shardlint: --fix would change 1 file.\n"
    subprocess.run(["git", "apply"], cwd=project, input=shown.stdout_bytes, check=True, capture_output=True)
    assert (project / "real.py").read_text() == "good_dlpack(x)\n"
    (project / "real.py").write_text("bad_dlpack(x)\n")
    assert cli("check", "--fix", "link.py", "real.py").stdout.startswith("1 repair made in 1 file.\n")
    assert (project / "link.py").is_symlink()


@pytest.mark.parametrize("step", ["os.fsync", "Path.chmod", "Path.replace"])
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing ends a process at once here")
def test_a_run_that_is_killed_leaves_whole_files(project: Path, step: str) -> None:
    """Whenever a run ends, every file is old or new as a whole, and the next run makes the repairs that are left."""
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_text(HEAD + REMOVED)
    killed = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom shardlint.cli.commands import run\n"
        f"real, seen = {step}, []\n"
        "def step(*words):\n    seen.append(words)\n"
        "    return real(*words) if len(seen) < 2 else os.kill(os.getpid(), signal.SIGKILL)\n"
        f"{step} = step\nrun([*sys.argv[1:]])\n"
    )
    command = [sys.executable, "-c", killed, *CHECK, "--fix"]
    assert subprocess.run(command, cwd=project, check=False, capture_output=True).returncode == -signal.SIGKILL
    texts = [(project / name).read_text() for name in ("a.py", "b.py", "c.py")]
    assert texts == [HEAD + WITHOUT, HEAD + REMOVED, HEAD + REMOVED]
    command = [sys.executable, "-m", "shardlint", *CHECK, "--fix"]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True)
    assert done.stdout.startswith("2 repairs made in 2 files.\nNothing found in 3 files.\n")


def test_an_interrupted_run_tells_what_it_has_done(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was repaired before an interrupt stays and is told; what comes after is as it was, with nothing beside it."""
    for name in ("a.py", "b.py"):
        (project / name).write_text("bad_dlpack(x)\n")
    real = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if target.name == "b.py":
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    assert run(["check", "--fix"]) == 130
    assert capsys.readouterr().err.splitlines()[0] == "shardlint: interrupted; 1 repair made in 1 file."
    assert [(project / name).read_text() for name in ("a.py", "b.py")] == ["good_dlpack(x)\n", "bad_dlpack(x)\n"]
    assert sorted(path.name for path in project.iterdir()) == [".git", "a.py", "b.py"]


def test_a_full_disk_costs_one_file_its_repair(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be written is told and whole, with nothing beside it, and the others are repaired."""
    for name in ("a.py", "b.py"):
        (project / name).write_text("bad_dlpack(x)\n")
    real, calls = os.fsync, list[int]()

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr("os.fsync", full)
    result = cli("check", "--fix")
    assert [(project / name).read_text() for name in ("a.py", "b.py")] == ["bad_dlpack(x)\n", "good_dlpack(x)\n"]
    assert result.stderr == f"shardlint: a.py: cannot be written and was left as it is: {os.strerror(errno.ENOSPC)}.\n"
    assert result.exit_code == 2
    assert sorted(path.name for path in project.iterdir()) == [".git", "a.py", "b.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_fix_keeps_the_owner(cli: Cli, project: Path) -> None:
    """What root repairs still belongs to whom it belonged."""
    (project / "a.py").write_text("bad_dlpack(x)\n")
    os.chown(project / "a.py", 1234, 4321)
    (project / "a.py").chmod(0o640)
    cli("check", "--fix")
    status = (project / "a.py").stat()
    assert (project / "a.py").read_text() == "good_dlpack(x)\n"
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 4321, 0o640)
