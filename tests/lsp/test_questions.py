"""What names of other modules mean is found out behind the editor's back: nothing waits for it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="function")

FAKE = (sys.executable, str(Path(__file__).with_name("fake_server.py")))
ONE, TWO, GATE = "untitled:one", "untitled:two", "untitled:gate"
FOUND = ["fake-rule"]


async def fake(start: Any) -> Any:
    wire = await start(FAKE)
    await wire.initialize()
    return wire


async def publications(wire: Any, until: tuple[str, int, list[str]]) -> list[tuple[str, int, list[str]]]:
    """Each publication as document, version and rules, up to and with the one that is waited for."""
    seen: list[tuple[str, int, list[str]]] = []
    while not seen or seen[-1] != until:
        params = (await wire.message("textDocument/publishDiagnostics"))["params"]
        seen.append((params["uri"], params["version"], [item["code"] for item in params["diagnostics"]]))
    return seen


async def test_the_first_publication_waits_for_no_answer(start: Any) -> None:
    """What is found without answers is published at once; what the answers bring up follows for the same version."""
    wire = await fake(start)
    wire.open("ASK")
    assert await wire.published(ONE, 1) == []
    wire.open("RELEASE", GATE)
    assert (ONE, 1, FOUND) in await publications(wire, (ONE, 1, FOUND))
    assert "fake-rule" in (await wire.hover(0, 1))["result"]["contents"]["value"]


async def test_answers_for_an_older_version_serve_the_newest(start: Any) -> None:
    """A version that is no longer the newest is not published again, and the newest one is told what its question brought."""
    wire = await fake(start)
    wire.open("ASK")
    assert await wire.published(ONE, 1) == []
    wire.replace("ASK \n", 2)
    assert await wire.published(ONE, 2) == []
    wire.open("RELEASE", GATE)
    assert [seen for seen in await publications(wire, (ONE, 2, FOUND)) if seen[:2] == (ONE, 1)] == []


async def test_what_is_known_is_in_the_first_publication(start: Any) -> None:
    """Once answered, a name is known to every later check in the folder: findings do not come and go with each keystroke."""
    wire = await fake(start)
    wire.open("ASK RELEASE")
    await publications(wire, (ONE, 1, FOUND))
    wire.replace("ASK ", 2)
    assert await publications(wire, (ONE, 2, FOUND)) == [(ONE, 2, FOUND)]
    wire.open("ASK", TWO)
    assert await publications(wire, (TWO, 1, FOUND)) == [(TWO, 1, FOUND)]


async def test_answers_without_news_publish_nothing(start: Any) -> None:
    """Where the answers change no finding there is one publication."""
    wire = await fake(start)
    wire.open("ASK_DULL RELEASE")
    wire.open("ASK", TWO)
    seen = await publications(wire, (TWO, 1, FOUND))
    assert [one for one in seen if one[0] == ONE] == [(ONE, 1, [])]


async def test_a_question_that_fails_costs_its_answers_alone(start: Any) -> None:
    """What failed is left open, and other documents get their answers."""
    wire = await fake(start)
    wire.open("BAD ASK_BROKEN RELEASE")
    wire.open("ASK", TWO)
    seen = await publications(wire, (TWO, 1, FOUND))
    assert [one for one in seen if one[0] == ONE] == [(ONE, 1, FOUND)]


async def test_a_closed_document_is_not_published(start: Any) -> None:
    """Answers that come after a document was closed bring nothing back."""
    wire = await fake(start)
    wire.open("ASK")
    assert await wire.published(ONE, 1) == []
    wire.send("textDocument/didClose", {"textDocument": {"uri": ONE}})
    assert (await wire.message("textDocument/publishDiagnostics"))["params"]["diagnostics"] == []
    wire.open("ASK RELEASE", TWO)
    assert [one for one in await publications(wire, (TWO, 1, FOUND)) if one[0] == ONE] == []


async def test_nobody_waits_for_an_answer_to_leave(start: Any) -> None:
    """A server whose question is still open ends when it is told to, with the code for that."""
    wire = await fake(start)
    wire.open("ASK")
    assert await wire.published(ONE, 1) == []
    await wire.ask("shutdown", None, "bye")
    wire.send("exit")
    assert await wire.exit_code() == 0


async def test_a_removed_function_behind_another_module_is_found(start: Any, tmp_path: Path) -> None:
    """`shardlint server` asks jedi what a package of the environment passes on, and follows when that is saved otherwise."""
    packages = ".venv/lib/python3.12/site-packages"
    files = {
        "pyproject.toml": '[tool.shardlint]\njax-version = "0.10.2"\n',
        ".venv/pyvenv.cfg": "",
        f"{packages}/jax/__init__.py": "from jax import dlpack as dlpack\n",
        f"{packages}/jax/dlpack.py": "def from_dlpack(x): ...\n",
        f"{packages}/compat.py": "from jax.dlpack import to_dlpack\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    uri = (tmp_path / "module.py").as_uri()
    wire = await start()
    await wire.initialize()
    wire.open("import jax.numpy as jnp\nimport compat\n\nx = compat.to_dlpack(jnp.ones(3))\n", uri)
    assert await publications(wire, (uri, 1, ["removed-to-dlpack"])) == [(uri, 1, []), (uri, 1, ["removed-to-dlpack"])]
    compat = tmp_path / packages / "compat.py"
    compat.write_text("def to_dlpack(x):\n    return x.__dlpack__()\n")
    wire.save(compat.as_uri())
    wire.save(uri)
    assert (uri, 1, []) in await publications(wire, (uri, 1, []))


async def test_what_another_module_makes_is_found(start: Any, tmp_path: Path) -> None:
    """What a function of another module gives is asked for in the editor as on the command line."""
    (tmp_path / "pyproject.toml").write_text('[tool.shardlint]\njax-version = "0.10.2"\n')
    packages = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("")
    (packages / "shardings.py").write_text("import jax\n\ndef rows() -> jax.sharding.NamedSharding: ...\n")
    uri = (tmp_path / "module.py").as_uri()
    wire = await start()
    await wire.initialize()
    wire.open(
        "import jax, numpy as np\nimport shardings\n\nnp.from_dlpack(jax.device_put(np.ones(8), shardings.rows()))\n",
        uri,
    )
    found = (uri, 1, ["sharded-dlpack-export"])
    assert await publications(wire, found) == [(uri, 1, []), found]
