--- `:checkhealth hiera_ls`

local M = {}

local function check_program(config)
  local command = type(config.cmd) == 'table' and config.cmd[1] or nil
  if not command then
    vim.health.info('the server is started by your own function')
    return
  end
  local advice = {
    'Install it: cargo install --locked --path . in the project, and see that ~/.cargo/bin is on PATH',
    'Or name it: HIERA_LS_SERVER=/path/to/hiera-ls in the environment',
    "Or: vim.lsp.config('hiera_ls', { cmd = { '/path/to/hiera-ls', '--stdio' } })",
  }
  if vim.fn.executable(command) == 0 then
    vim.health.error(("no program '%s'"):format(command), advice)
    return
  end
  local ok, process = pcall(vim.system, { command, '--version' }, { text = true, timeout = 10000 })
  local said = ok and vim.trim(process:wait().stdout or '') or ''
  if said:match('^hiera%-ls %S') then
    vim.health.ok(('%s: %s'):format(said, vim.fn.exepath(command)))
  else
    vim.health.error(("'%s' is not hiera-ls: --version says '%s'"):format(command, said), advice)
  end
end

local function check_clients()
  local clients = vim.lsp.get_clients({ name = 'hiera_ls' })
  if #clients == 0 then
    vim.health.info('not attached: open a YAML or JSON file of a control repository')
  end
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_count(client.attached_buffers)
    local counted = buffers == 1 and '1 buffer' or buffers .. ' buffers'
    vim.health.ok(('attached to %s, root %s'):format(counted, client.root_dir or 'none'))
  end
  if #vim.lsp.get_clients({ name = 'yamlls' }) > 0 then
    vim.health.info('yamlls runs too: it reads YAML 1.2, hiera-ls reads YAML as Puppet does')
  end
end

function M.check()
  vim.health.start('hiera-ls')
  if vim.fn.has('nvim-0.11') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error('Neovim 0.11 or newer is needed')
    return
  end
  local config = vim.lsp.config.hiera_ls
  if not config then
    vim.health.error("no configuration 'hiera_ls': is the plugin on 'runtimepath'?")
    return
  end
  if vim.lsp.is_enabled('hiera_ls') then
    vim.health.ok('enabled')
  else
    vim.health.warn('not enabled', { "Put vim.lsp.enable('hiera_ls') into your init.lua" })
  end
  check_program(config)
  check_clients()
end

return M
