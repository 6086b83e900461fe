-- What a user of Neovim 0.11 writes to have shardlint; the command comes from the test.
vim.lsp.config("shardlint", {
  cmd = vim.json.decode(vim.env.SHARDLINT_SERVER),
  filetypes = { "python" },
  root_markers = { "pyproject.toml", ".git" },
})
vim.lsp.enable("shardlint")
