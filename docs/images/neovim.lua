-- The editor of the pictures: as little as a person would have. Run by docs/images/make.
vim.opt.runtimepath:append(vim.env.PLUGIN)
vim.cmd('runtime plugin/hiera_ls.lua | filetype plugin on | syntax on')
vim.o.termguicolors = true
vim.o.number = true
vim.o.signcolumn = 'yes'
vim.o.winborder = 'rounded'
vim.o.laststatus = 2
vim.o.shortmess = vim.o.shortmess .. 'F'
vim.o.statusline = " %f %m%= %{v:lua.require'hiera_ls'.status()} "
vim.diagnostic.config({ virtual_text = true })
vim.lsp.config('hiera_ls', { settings = { ['hiera-ls'] = { nodesFiles = { 'nodes.json' } } } })
vim.lsp.enable('hiera_ls')
