"""The JAX that a folder's code will run on, read from folders made for the purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardlint.config import Settings
from shardlint.environment import find_target, import_folders
from shardlint.model import Target

CATALOGUED = ("0.4.30", "0.5.3", "0.6.2", "0.7.2", "0.10.2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project's root, with nothing in it."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


def target(folder: Path, settings: Settings | None = None, **environ: str) -> Target:
    """The target of a folder, about which there must be nothing to complain."""
    found, problems = find_target(folder, settings or Settings(folder), CATALOGUED, environ)
    assert problems == ()
    return found


def environment(root: Path, *packages: str, site_packages: str = "lib/python3.12/site-packages") -> Path:
    """A virtual environment with dist-info folders of these names."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "pyvenv.cfg").write_text("home = /nowhere\ninclude-system-site-packages = false\n")
    for package in packages:
        (root / site_packages / f"{package}.dist-info").mkdir(parents=True)
    return root


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def test_nothing_known(folder: Path) -> None:
    """Nothing names a version: the newest catalogued one counts alone, and the target says so."""
    assert target(folder) == Target(("0.10.2",), exact=False, origin="nothing names a version: newest catalogued")


def test_setting_comes_first(folder: Path) -> None:
    """The setting `jax-version` is taken as it is, catalogued or not, whatever is installed."""
    environment(folder / ".venv", "jax-0.6.2")
    settings = Settings(folder, jax_version="0.4.99")
    assert target(folder, settings) == Target(("0.4.99",), exact=True, origin="jax-version in pyproject.toml")


@pytest.mark.parametrize("name", [".venv", "venv"])
@pytest.mark.parametrize(
    "site_packages", ["lib/python3.12/site-packages", "lib64/python3.9/site-packages", "Lib/site-packages"]
)
def test_environment_in_the_folder(folder: Path, name: str, site_packages: str) -> None:
    """The environment of the project, or of a folder above in the same project, comes before its lock file."""
    environment(folder / name, "jaxlib-0.9.0", "jax-0.6.1", "jax_cuda12_plugin-0.9.0", site_packages=site_packages)
    write(folder / "uv.lock", '[[package]]\nname = "jax"\nversion = "0.5.3"\n')
    (folder / "sub").mkdir()
    assert target(folder / "sub") == Target(("0.6.1",), exact=True, origin=f"jax 0.6.1 in {name}")


def test_newest_of_several_leftovers(folder: Path) -> None:
    """Of several dist-info folders the newest counts, by version and not by spelling."""
    environment(folder / ".venv", "jax-0.9.2", "jax-0.10.1", "jax-broken")
    assert target(folder).versions == ("0.10.1",)


def test_environment_above_the_project_is_not_its_own(folder: Path) -> None:
    """What lies above the repository's root belongs to something else."""
    environment(folder.parent / ".venv", "jax-0.6.1")
    assert target(folder).origin == "nothing names a version: newest catalogued"


def test_active_environment_of_the_project(folder: Path) -> None:
    """VIRTUAL_ENV in the project comes before `.venv`."""
    environment(folder / ".venv", "jax-0.6.1")
    active = environment(folder / "envs" / "gpu", "jax-0.7.0")
    assert target(folder, VIRTUAL_ENV=str(active)) == Target(("0.7.0",), exact=True, origin="jax 0.7.0 in envs/gpu")


def test_active_environment_elsewhere(folder: Path, tmp_path: Path) -> None:
    """An active environment elsewhere counts after the project's own, one without JAX not at all."""
    elsewhere = environment(tmp_path / "elsewhere", "jax-0.7.0")
    variables = {"VIRTUAL_ENV": str(environment(tmp_path / "tools", "numpy-2.1")), "CONDA_PREFIX": str(elsewhere)}
    assert target(folder, **variables) == Target(("0.7.0",), exact=True, origin=f"jax 0.7.0 in {elsewhere}")
    environment(folder / ".venv", "jax-0.6.1")
    assert target(folder, **variables).versions == ("0.6.1",)


@pytest.mark.parametrize("python", ["env/bin/python", "env/bin", "env", "env/Scripts/python.exe"])
def test_configured_interpreter(folder: Path, python: str) -> None:
    """The setting `python` names an interpreter, its folder or its environment, and no other environment is asked."""
    environment(folder / ".venv", "jax-0.6.1")
    environment(folder / "env", "jax-0.7.0")
    write(folder / "env" / "bin" / "python", "")
    write(folder / "env" / "Scripts" / "python.exe", "")
    assert target(folder, Settings(folder, python=folder / python)).versions == ("0.7.0",)


def test_configured_interpreter_without_jax(folder: Path) -> None:
    """Where the configured environment has no JAX that is told, and the lock file is asked, not another environment."""
    environment(folder / ".venv", "jax-0.6.1")
    environment(folder / "env")
    write(folder / "uv.lock", '[[package]]\nname = "jax"\nversion = "0.5.3"\n')
    file = folder / "pyproject.toml"
    found, problems = find_target(folder, Settings(folder, file, python=folder / "env"), CATALOGUED, {})
    assert found.origin == "jax 0.5.3 in uv.lock"
    assert [problem.message for problem in problems] == [
        f"{file}: [tool.shardlint] python: '{folder / 'env'}' holds no JAX; install it there, or set jax-version."
    ]


def test_environment_that_sees_its_base(folder: Path, tmp_path: Path) -> None:
    """With system site packages the base's JAX counts."""
    environment(folder / ".venv")
    (tmp_path / "base" / "lib" / "python3" / "dist-packages" / "jax-0.5.0.dist-info").mkdir(parents=True)
    write(folder / ".venv" / "pyvenv.cfg", f"home = {tmp_path / 'base' / 'bin'}\ninclude-system-site-packages = true\n")
    assert target(folder).versions == ("0.5.0",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("uv.lock", 'version = 1\n[[package]]\nname = "jaxlib"\nversion = "9"\n[[package]]\nname = "jax"\nversion = "0.6.1"\n'),
        ("poetry.lock", '[[package]]\nname = "jax"\nversion = "0.6.1"\n[metadata]\n'),
        ("pdm.lock", '[[package]]\nname = "jax"\nversion = "0.6.1"\nextras = ["cuda12"]\n'),
        ("pylock.toml", 'lock-version = "1.0"\n[[packages]]\nname = "jax"\nversion = "0.6.1"\n'),
        ("pylock.gpu.toml", '[[packages]]\nname = "jax"\nversion = "0.6.1"\n'),
        ("requirements.txt", "-f https://example.org/x\nnumpy\njax[cuda12]==0.6.1 \\\n    --hash=sha256:00\n"),
        ("requirements-dev.txt", "JAX == 0.6.1  # with a comment\n"),
        ("requirements/base.txt", "jax==0.6.1 ; python_version > '3.9'\n"),
    ],
)  # fmt: skip
def test_lock_files(folder: Path, name: str, content: str) -> None:
    """A lock file or a pin gives the exact version and comes before the range in pyproject.toml."""
    write(folder / name, content)
    write(folder / "pyproject.toml", "[project]\ndependencies = ['jax>=0.4']\n")
    found = target(folder)
    assert (found.versions, found.exact) == (("0.6.1",), True)
    assert found.origin.endswith(f" in {name}")


def test_lock_file_with_two_versions(folder: Path) -> None:
    """A lock that differs by platform gives all its versions, ascending, and is not exact."""
    write(folder / "uv.lock", "".join(f'[[package]]\nname = "jax"\nversion = "{v}"\n' for v in ("0.10.0", "0.4.38")))
    assert target(folder) == Target(("0.4.38", "0.10.0"), exact=False, origin="jax 0.4.38 and 0.10.0 in uv.lock")


def test_lock_file_of_a_workspace(folder: Path) -> None:
    """The lock file at the repository's root counts for a member's folder, too."""
    write(folder / "uv.lock", '[[package]]\nname = "jax"\nversion = "0.6.1"\n')
    write(folder / "packages" / "member" / "pyproject.toml", "[project]\ndependencies = ['jax']\n")
    assert target(folder / "packages" / "member").versions == ("0.6.1",)


@pytest.mark.parametrize(
    ("content", "versions"),
    [
        ("[project]\ndependencies = ['numpy', 'jax[cuda12]>=0.5,<0.7']\n", ("0.5", "0.5.3", "0.6.2")),
        ("[project]\ndependencies = ['jax>=0.7,<0.7.2']\n", ("0.7",)),
        ("[project]\ndependencies = ['jax>=0.6.2,<=0.7.1']\n", ("0.6.2", "0.7.1")),
        ("[project]\ndependencies = ['jax>0.6.2']\n", ("0.7.2", "0.10.2")),
        ("[project]\ndependencies = ['jax>=0.7.2.0']\n", ("0.7.2", "0.10.2")),
        ("[project]\ndependencies = ['numpy']\n[project.optional-dependencies]\ngpu = ['jax~=0.5.1']\n", ("0.5.1", "0.5.3")),
        ("[dependency-groups]\ntest = [{include-group = 'x'}, 'jax!=0.10.2,>=0.6']\n", ("0.6", "0.6.2", "0.7.2")),
        ("[project]\ndependencies = ['jax<0.5; python_version<\"3.10\"', 'jax>=0.7; python_version>=\"3.10\"']\n", ("0.4.30", "0.7", "0.7.2", "0.10.2")),
        ("[tool.poetry.dependencies]\njax = '^0.5.1'\n", ("0.5.1", "0.5.3")),
        ("[tool.poetry.dependencies]\njax = {version = '~0.6', extras = ['cuda12']}\n", ("0.6", "0.6.2")),
        ("[tool.poetry.dependencies]\njax = [{version = '0.5.*', python = '<3.10'}, {version = '>=0.10,<0.11'}]\n", ("0.5", "0.5.3", "0.10", "0.10.2")),
        ("[tool.poetry.group.gpu.dependencies]\njax = '<0.5 || ^0.7.0'\n", ("0.4.30", "0.7.0", "0.7.2")),
        ("[project]\ndependencies = ['jax>=0.6.1; extra == \"a\"', 'jax==0.5.2']\n", ("0.5.2", "0.6.1", "0.6.2", "0.7.2", "0.10.2")),
    ],
)  # fmt: skip
def test_ranges(folder: Path, content: str, versions: tuple[str, ...]) -> None:
    """Of a range the catalogued versions are candidates that it admits, and those that it names if it admits them."""
    write(folder / "pyproject.toml", content)
    found = target(folder)
    assert (found.versions, found.exact) == (versions, False)
    assert found.origin.endswith(" in pyproject.toml")


def test_range_in_requirements(folder: Path) -> None:
    """Without pyproject.toml the range of a requirements file counts."""
    write(folder / "requirements.txt", "jax>=0.6,<0.8\n")
    assert target(folder) == Target(("0.6", "0.6.2", "0.7.2"), exact=False, origin="jax<0.8,>=0.6 in requirements.txt")


def test_pin_in_pyproject(folder: Path) -> None:
    """A pin in pyproject.toml is an exact version, catalogued or not."""
    write(folder / "pyproject.toml", "[project]\ndependencies = ['jax==0.6.1']\n")
    assert target(folder) == Target(("0.6.1",), exact=True, origin="jax==0.6.1 in pyproject.toml")


def test_requirement_without_a_version(folder: Path) -> None:
    """A bare `jax` says nothing about the version: the newest catalogued counts, and the target says so."""
    write(folder / "pyproject.toml", "[project]\ndependencies = ['jax', 'numpy']\n")
    assert target(folder) == Target(
        ("0.10.2",), exact=False, origin="jax in pyproject.toml admits any: newest catalogued"
    )


@pytest.mark.parametrize(
    ("range_", "version"), [("<0.3", "0.4.30"), (">0.10.2", "0.10.2"), ("<0.7.2,>0.7", "0.7"), ("<0.6,>=0.8", "0.8")]
)
def test_range_that_no_candidate_fits(folder: Path, range_: str, version: str) -> None:
    """Where no version is known that fits, the lower bound counts, without one the oldest version, and that is told."""
    write(folder / "pyproject.toml", f"[project]\ndependencies = ['jax{range_}']\n")
    origin = f"jax{range_} in pyproject.toml, which no version that was tested fits"
    assert target(folder) == Target((version,), exact=False, origin=origin)


@pytest.mark.parametrize(
    ("demand", "versions", "words"),
    [
        ("==0.4.1", ("0.4.1",), ", older than any version that was tested"),
        ("==0.11", ("0.11",), ", newer than any version that was tested"),
        ("==0.10.2+cuda", ("0.10.2+cuda",), ""),
        (">=0.11", ("0.11",), ", newer than any version that was tested"),
        ("~=0.3.1", ("0.3.1",), ", older than any version that was tested"),
        ("<0.5,>=0.4", ("0.4.30",), ""),
        ("<=0.11,>=0.10.2", ("0.10.2", "0.11"), ", partly newer than any version that was tested"),
        ("==0.6.1", ("0.6.1",), ""),
    ],
)
def test_what_is_beyond_the_tested_versions_is_told(
    folder: Path, demand: str, versions: tuple[str, ...], words: str
) -> None:
    """Where a demand leads beyond the oldest or newest version that was tested, the origin says so."""
    write(folder / "pyproject.toml", f"[project]\ndependencies = ['jax{demand}']\n")
    found = target(folder)
    assert (found.versions, found.origin) == (versions, f"jax{demand} in pyproject.toml{words}")


def test_what_else_is_beyond_the_tested_versions(folder: Path) -> None:
    """The same is told of an installed version, a locked one and one that is set."""
    beyond = ", newer than any version that was tested"
    write(folder / "uv.lock", '[[package]]\nname = "jax"\nversion = "1.0"\n')
    assert target(folder).origin == f"jax 1.0 in uv.lock{beyond}"
    environment(folder / ".venv", "jax-1.1")
    assert target(folder).origin == f"jax 1.1 in .venv{beyond}"
    assert target(folder, Settings(folder, jax_version="1.2")).origin == f"jax-version in pyproject.toml{beyond}"


def test_folders_to_import_from(folder: Path) -> None:
    """Modules are looked for in the project, its `src` first, in those above it, then in the environment's packages."""
    environment(folder / ".venv", "jax-0.6.1")
    member = folder / "members" / "one"
    (member / "src").mkdir(parents=True)
    write(member / "pyproject.toml", "")
    (folder / "src").mkdir()
    packages = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    found = import_folders(member, Settings(folder), {})
    assert found == (member / "src", member, folder / "src", folder, packages)


def test_folders_to_import_from_where_no_environment_has_jax(folder: Path) -> None:
    """Without JAX anywhere the first environment's packages count; without an environment there are none."""
    assert import_folders(folder, Settings(folder), {}) == (folder,)
    environment(folder / ".venv", "numpy-2.1")
    assert import_folders(folder, Settings(folder), {})[1:] == (
        folder / ".venv" / "lib" / "python3.12" / "site-packages",
    )


def test_folders_of_packages_that_are_installed_for_editing(folder: Path) -> None:
    """Folders named by `.pth` files and packages listed by setuptools' finders are looked into last, and no code of theirs is run."""
    environment(folder / ".venv", "jax-0.6.1")
    packages = folder / ".venv" / "lib" / "python3.12" / "site-packages"
    for name in ("one/src", "two/pkg", "three"):
        (folder / name).mkdir(parents=True)
    write(
        packages / "one.pth",
        f"# a comment\n\n{folder / 'one' / 'src'}\nimport os; os.mkdir('ran')\n{folder / 'gone'}\n",
    )
    write(packages / "three.pth", "../../../../three\n")
    mapping = {"pkg": str(folder / "two" / "pkg"), "other": str(folder / "two" / "renamed"), "a.b": "/a/b"}
    write(packages / "__editable___pkg_1_0_finder.py", f"MAPPING: dict[str, str] = {mapping!r}\nraise SystemExit\n")
    write(packages / "__editable___bad_1_0_finder.py", "MAPPING = {")
    found = import_folders(folder, Settings(folder), {})
    assert found == (folder, packages, folder / "one" / "src", folder / "three", folder / "two")


def test_utf16_requirements(folder: Path) -> None:
    """A requirements file as PowerShell writes it is read."""
    (folder / "requirements.txt").write_bytes("jax==0.6.1\r\n".encode("utf-16"))
    assert target(folder).versions == ("0.6.1",)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"jax_version": "newest"}, "[tool.shardlint] jax-version: 'newest' is not a version; give one such as 0.10.2."),
        ({"python": Path("/no/such/python")}, "[tool.shardlint] python: '/no/such/python' does not exist."),
    ],
)  # fmt: skip
def test_wrong_setting(folder: Path, settings: dict[str, str], sentence: str) -> None:
    """A setting that cannot be used is told with its file, and the next source counts."""
    write(folder / "requirements.txt", "jax==0.6.1\n")
    file = folder / "pyproject.toml"
    found, problems = find_target(folder, Settings(folder, file, **settings), CATALOGUED, {})
    assert [problem.message for problem in problems] == [f"{file}: {sentence}"]
    assert found.versions == ("0.6.1",)


@pytest.mark.parametrize("name", ["uv.lock", "pyproject.toml"])
def test_damaged_file(folder: Path, name: str) -> None:
    """A damaged lock or project file is told, and the next source counts."""
    write(folder / name, "[[package\n")
    write(folder / "requirements.txt", "jax>=0.6,<0.7\n")
    found, problems = find_target(folder, Settings(folder), CATALOGUED, {})
    assert [problem.path for problem in problems] == [str(folder / name)]
    assert found.versions == ("0.6", "0.6.2")


def test_nonsense_in_lock_and_ranges(folder: Path) -> None:
    """Tables of the wrong shape and versions that are none name no version and raise nothing."""
    write(folder / "uv.lock", 'package = [1, {name = "jax"}, {name = "jax", version = "zero"}]\n')
    write(folder / "poetry.lock", "package = 3\n")
    write(
        folder / "pyproject.toml",
        "dependency-groups = 3\n[project]\ndependencies = [1, 'jax>>>1', '-e .']\noptional-dependencies = ['jax==1']\n"
        "[tool.poetry.dependencies]\njax = ['^', '^x', 'spam', {git = 'x'}, 4]\n",
    )
    assert target(folder).origin == "nothing names a version: newest catalogued"
