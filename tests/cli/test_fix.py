"""`shardlint check --fix` and `--diff`: what is written, what is shown, and what stays as it was."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from shardlint.report import diff
from shardlint.report.excerpt import harmless
from shardlint.report.paint import plain

Cli = Callable[..., Result]


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
    assert result.stderr == "shardlint: --fix would change nothing.\n"
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
