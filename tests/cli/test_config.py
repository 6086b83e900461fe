"""`[tool.shardlint]`: where it is found, what it gives, and what is said of each wrong thing in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.config import Settings, load


def problems_of(folder: Path, content: str | bytes) -> tuple[Settings, list[str]]:
    """The settings in `folder` with this `pyproject.toml`, and the sentences without the file's name."""
    file = folder / "pyproject.toml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    settings, problems = load(folder)
    assert all(problem.path == str(file) for problem in problems)
    return settings, [problem.message.removeprefix(f"{file}: ") for problem in problems]


def test_all_keys(tmp_path: Path) -> None:
    """Every key reaches the settings; paths are joined to the file's folder, patterns freed of what means nothing."""
    settings, problems = problems_of(
        tmp_path,
        """
        [tool.shardlint]
        jax-version = "0.6.2"
        python = "env/bin/python"
        records = ["own", "/abs"]
        select = ["A", "removed-to-dlpack"]
        extend-select = ["host-read"]
        ignore = ["a"]
        exclude = ["b*", "./c/", "**/d/"]
        docs-url = "https://example.org/{rule}.html"

        [tool.shardlint.per-file-ignores]
        "tests/" = ["A"]
        "*_pb2.py" = ["a", "b"]

        [tool.shardlint.assume]
        "pkg.load" = "many-devices"
        step = "host"
        """,
    )
    assert problems == []
    assert settings == Settings(
        root=tmp_path,
        source=tmp_path / "pyproject.toml",
        jax_version="0.6.2",
        python=tmp_path / "env" / "bin" / "python",
        records=(tmp_path / "own", Path("/abs")),
        select=("A", "removed-to-dlpack"),
        extend_select=("host-read",),
        ignore=("a",),
        per_file_ignores={"tests": ("A",), "*_pb2.py": ("a", "b")},
        exclude=("b*", "/c", "**/d"),
        assume={"pkg.load": "many-devices", "step": "host"},
        docs_url="https://example.org/{rule}.html",
    )


def test_nearest_table_counts(tmp_path: Path) -> None:
    """The nearest file with the table counts; one without it on the way does not end the search."""
    (tmp_path / "pyproject.toml").write_text("[tool.shardlint]\njax-version = '0.5'\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert load(inner)[0].jax_version == "0.5"
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.shardlint]\n")
    assert load(inner)[0] == Settings(root=tmp_path / "a", source=tmp_path / "a" / "pyproject.toml")


def test_no_file(tmp_path: Path) -> None:
    """Without a file the settings are the defaults, and nothing is said."""
    assert load(tmp_path) == (Settings(root=tmp_path), ())


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("jax_version = '0.5'", "[tool.shardlint] has no key 'jax_version'; did you mean 'jax-version'?"),
        (
            "zzz = 1",
            "[tool.shardlint] has no key 'zzz'; known: assume, docs-url, exclude, extend-select, ignore, jax-version, per-file-ignores, python, records, select.",
        ),
        ("jax-version = 0.5", "[tool.shardlint] jax-version must be a string, not 0.5."),
        ("python = ['a']", "[tool.shardlint] python must be a string, not ['a']."),
        ("records = 'own'", "[tool.shardlint] records must be a list of strings, not 'own'."),
        ("exclude = ['a', 1]", "[tool.shardlint] exclude must be a list of strings, not ['a', 1]."),
        ("select = 'a'", "[tool.shardlint] select must be a list of strings, not 'a'."),
        ("extend-select = [1]", "[tool.shardlint] extend-select must be a list of strings, not [1]."),
        ("per-file-ignores = ['a']", "[tool.shardlint] per-file-ignores must be a table, not ['a']."),
        (
            "per-file-ignores = {'a.py' = 'b'}",
            "[tool.shardlint] per-file-ignores: 'a.py' must have a list of strings, not 'b'.",
        ),
        ("per-file-ignores = {'' = ['b']}", "[tool.shardlint] per-file-ignores: '' is no pattern of files."),
        (
            "docs-url = 'example.org'",
            (
                "[tool.shardlint] docs-url must be an address with {rule} in it, "
                "such as 'https://example.org/{rule}.html', not 'example.org'."
            ),
        ),
        ("assume = 'x'", "[tool.shardlint] assume must be a table, not 'x'."),
        (
            "assume = {'a.b' = 'one-devise'}",
            "[tool.shardlint] assume: a.b cannot be 'one-devise'; did you mean 'one-device'?",
        ),
        (
            "assume = {'a.b' = 1}",
            "[tool.shardlint] assume: a.b cannot be 1; known: many-devices, one-device, host, spans-processes.",
        ),
        ("assume = {'a..b' = 'host'}", "[tool.shardlint] assume: 'a..b' is no dotted name."),
        ("assume.a.b = 'host'", "[tool.shardlint] assume: write the dotted name that begins with 'a' in quotes."),
        ('python = "a\\u0000b"', "[tool.shardlint] python must not hold a NUL character."),
        ('records = ["a\\u0000b"]', "[tool.shardlint] records must not hold a NUL character."),
    ],
)
def test_wrong_key_costs_itself_alone(tmp_path: Path, line: str, sentence: str) -> None:
    """Each wrong key gives one sentence, and the other key is in force."""
    settings, problems = problems_of(tmp_path, f"[tool.shardlint]\n{line}\nignore = ['kept']\n")
    assert problems == [sentence]
    assert settings == Settings(tmp_path, tmp_path / "pyproject.toml", ignore=("kept",))


@pytest.mark.parametrize(
    ("content", "beginning"),
    [
        ("[tool\n", "is not valid TOML and is not used: "),
        (b"a = '\xe9'\n", "is not UTF-8, as TOML must be, and is not used."),
        ("tool.shardlint = 3\n", "[tool.shardlint] must be a table of keys."),
    ],
)
def test_unusable_file(tmp_path: Path, content: str | bytes, beginning: str) -> None:
    """A file that is no TOML, or has something else for the table, gives one sentence and the defaults."""
    settings, problems = problems_of(tmp_path, content)
    assert len(problems) == 1
    assert problems[0].startswith(beginning)
    assert (settings.jax_version, settings.ignore, settings.exclude) == (None, (), ())
