"""Folders in a workspace that have the name of a library."""

from __future__ import annotations

from pathlib import Path

from shardlint.check import Snapshot, check
from shardlint.model import Target
from shardlint.records.catalogue import Catalogue
from shardlint.text import Text
from shardlint.workspace import Workspaces


def test_what_is_known_of_a_library_counts_beside_a_copy_of_it(tmp_path: Path, catalogue: Catalogue) -> None:
    """In a folder that holds a package called jax, as a clone of JAX does, `jax` means what the tables say."""
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("from jax.dlpack import nothing\n")
    text = Text("import jax\nfrom jax.dlpack import to_dlpack\n\nto_dlpack(jax.numpy.ones(3))\n")
    modules = Workspaces().at((tmp_path,), catalogue)
    target = Target(("0.10.2",), True, "the test")
    report = check(Snapshot(str(tmp_path / "tool.py"), text, target, catalogue, modules=modules, module="tool"))
    assert [text.line_of(one.location.span.start) + 1 for one in report.findings] == [2, 4]
    assert not report.looked_into
