--- The server's texts in scratch buffers.

local M = {}

--- Where the server has nothing better than plain text, the colours of syntax/hiera_report.vim.
local SYNTAXES = { text = 'hiera_report' }

--- An explanation begins with how `lookup_options` were found; the key itself comes last.
---@param lines string[]
---@return integer
local function beginning(lines)
  for number = #lines, 1, -1 do
    if lines[number]:find('^Searching for "') then
      return number
    end
  end
  return 1
end

--- The place that a line of such a text names: `data/common.yaml:12`, or a path in quotes. Where it
--- names several, the one under the cursor or behind it.
---@return string? path, integer? line
local function place_in(line, column)
  local last
  local at = 1
  while true do
    local from, to, path, number = line:find('([%w./@+_-]+%.%a+):(%d+)', at)
    if not from then
      break
    end
    last = { path, tonumber(number) }
    if to >= column then
      break
    end
    at = to + 1
  end
  if last then
    return last[1], last[2]
  end
  return line:match('^%s*Path "([^"]+)"') or line:match('^%s*Using configuration "([^"]+)"')
end

--- Opens the place that the line under the cursor names.
---@param root string where relative paths start
local function follow(root)
  local column = vim.api.nvim_win_get_cursor(0)[2] + 1
  local path, number = place_in(vim.api.nvim_get_current_line(), column)
  if not path then
    return
  end
  local file = vim.startswith(path, '/') and path or vim.fs.joinpath(root, path)
  if not vim.uv.fs_stat(file) then
    vim.notify(("hiera-ls: no file '%s'"):format(file), vim.log.levels.WARN)
    return
  end
  vim.cmd.wincmd('p')
  vim.cmd.edit(vim.fn.fnameescape(file))
  if number then
    vim.api.nvim_win_set_cursor(0, { math.min(number, vim.api.nvim_buf_line_count(0)), 0 })
  end
end

--- Folds of a document: lists of nodes, of which the line above says how many they are.
---@param number integer
---@return integer
function M.fold(number)
  return vim.startswith(vim.fn.getline(number), '#   ') and 1 or 0
end

--- A scratch buffer with a text of the server; the same question again replaces it.
---@param document { uri?: string, title?: string, language: string, content: string, secret?: boolean }
---@return integer
local function buffer_of(command, document, root)
  local named = document.uri and vim.uri_decode((document.uri:gsub('^%w[%w+.-]*:/*', '')))
  local name = 'hiera-ls://' .. (named or document.title or command)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\^$.*~[]') .. '$')
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  end
  local lines = vim.split((document.content:gsub('\n$', '')), '\n')
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].modifiable = false
  -- Not the file type: no plugin is to take a made text for a data file of the workspace.
  if document.language == 'markdown' then
    pcall(vim.treesitter.start, buffer, 'markdown')
  else
    -- A secret is coloured by nothing.
    vim.bo[buffer].syntax = document.secret and '' or SYNTAXES[document.language] or document.language
  end
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, desc = 'Close' })
  vim.keymap.set('n', '<CR>', function()
    follow(root or vim.fn.getcwd())
  end, { buffer = buffer, desc = 'Open the place that this line names' })
  return buffer
end

--- Shows a text of the server in a window of its own; the same question again replaces it.
---@param command string
---@param document { uri?: string, title?: string, language: string, content: string, secret?: boolean }
---@param root string? where relative paths in the text start
function M.show(command, document, root)
  local buffer = buffer_of(command, document, root)
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('botright split')
    vim.api.nvim_win_set_buf(0, buffer)
    vim.wo.wrap = false
  end
  local is_matrix = command == 'hiera.matrix' or command == 'hiera.value'
  vim.wo.foldmethod = is_matrix and 'expr' or 'indent'
  vim.wo.foldexpr = "v:lua.require'hiera_ls.documents'.fold(v:lnum)"
  vim.wo.foldminlines = is_matrix and 0 or 1
  vim.wo.foldlevel = 0
  vim.wo.foldenable = is_matrix
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local first = beginning(lines)
  vim.api.nvim_win_set_cursor(0, { first, 0 })
  if first > 1 then
    vim.cmd('normal! zt')
  end
end

--- Shows the two sides of a comparison beside each other, in the editor's own comparison. `q` closes both.
---@param sides { uri?: string, title?: string, language: string, content: string }[]
---@param root string? where relative paths in the texts start
function M.compare(sides, root)
  vim.cmd.tabnew()
  local empty = vim.api.nvim_get_current_buf()
  for at, side in ipairs(sides) do
    if at > 1 then
      vim.cmd('rightbelow vsplit')
    end
    local buffer = buffer_of('hiera.diff', side, root)
    vim.api.nvim_win_set_buf(0, buffer)
    vim.wo.wrap = false
    vim.cmd.diffthis()
    vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = buffer, desc = 'Close' })
  end
  if vim.api.nvim_buf_is_valid(empty) and vim.api.nvim_buf_get_name(empty) == '' then
    vim.api.nvim_buf_delete(empty, { force = true })
  end
  vim.cmd.wincmd('t')
end

return M
