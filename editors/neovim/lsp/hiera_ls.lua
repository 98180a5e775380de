---@brief
---
--- `hiera-ls`, a language server for Hiera, the data of Puppet and OpenVox.
---
--- It attaches only to files of a control repository or a module with data.

--- What the root of a control repository, or of a module with data, has.
local MARKERS = { 'hiera.yaml', '.hiera-ls.yaml', 'environment.conf', 'Puppetfile', 'manifests/site.pp' }

---@type vim.lsp.Config
return {
  cmd = { vim.env.HIERA_LS_SERVER or 'hiera-ls', '--stdio' },
  filetypes = { 'yaml', 'json', 'puppet' },
  -- Modules have a hiera.yaml of their own, below that of the control repository: the outermost folder
  -- within the repository that has one of the markers is the root. Without any, the server is not started.
  root_dir = function(buffer, on_root)
    local file = vim.api.nvim_buf_get_name(buffer)
    local repository = vim.fs.root(buffer, '.git')
    local outermost
    for folder in vim.fs.parents(file) do
      for _, marker in ipairs(MARKERS) do
        if vim.uv.fs_stat(vim.fs.joinpath(folder, marker)) then
          outermost = folder
        end
      end
      if folder == repository then
        break
      end
    end
    if outermost then
      on_root(outermost)
    end
  end,
  -- This plugin shows what commands answer.
  capabilities = { experimental = { documents = true } },
  settings = { ['hiera-ls'] = vim.empty_dict() },
}
