if vim.g.loaded_hiera_ls then
  return
end
vim.g.loaded_hiera_ls = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.notify('hiera-ls needs Neovim 0.11 or newer', vim.log.levels.WARN)
  return
end

vim.filetype.add({ extension = { eyaml = 'yaml' } })

vim.api.nvim_create_user_command('HieraLs', function(call)
  require('hiera_ls').command(call)
end, {
  nargs = '*',
  desc = 'Commands of the Hiera language server',
  complete = function(lead, line, cursor)
    return require('hiera_ls').complete(lead, line, cursor)
  end,
})

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('hiera_ls', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'hiera_ls' then
      require('hiera_ls').attached(client)
    end
  end,
})
