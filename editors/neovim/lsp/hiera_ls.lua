---@brief
---
--- `hiera-ls`, a language server for Hiera, the data of Puppet and OpenVox.
---
--- It attaches only to files below a `hiera.yaml`.

---@type vim.lsp.Config
return {
  cmd = { vim.env.HIERA_LS_SERVER or 'hiera-ls', '--stdio' },
  filetypes = { 'yaml', 'json', 'puppet' },
  -- Modules have a hiera.yaml of their own, below that of the control repository: the outermost one
  -- within the repository is the root. Without any, the server is not started.
  root_dir = function(buffer, on_root)
    local file = vim.api.nvim_buf_get_name(buffer)
    local repository = vim.fs.root(buffer, '.git')
    local found = vim.fs.find('hiera.yaml', {
      upward = true,
      path = vim.fs.dirname(file),
      stop = repository and vim.fs.dirname(repository) or nil,
      limit = math.huge,
    })
    if #found > 0 then
      on_root(vim.fs.dirname(found[#found]))
    end
  end,
  -- This plugin shows what commands answer.
  capabilities = { experimental = { documents = true } },
  settings = { ['hiera-ls'] = vim.empty_dict() },
}
