--- The commands of the Hiera language server in Neovim.
---
--- Which commands there are is the server's word (`executeCommandProvider.commands`). A command gets
--- the place of the cursor as its argument, and may answer with
---
--- - nothing,
--- - `{ language, content, uri? }`: a text, shown in a scratch buffer,
--- - `{ message }`: a sentence for the user,
--- - `{ choose = { title?, items = { { label, description?, detail?, value } } } }` or
---   `{ ask = { title?, prompt?, value? } }`: a question; the command is called again with what was
---   chosen or typed added to its argument as `answers`, a list, oldest first.

local M = {}

--- A command that asks more questions than this is broken.
local MAX_QUESTIONS = 16

--- Commands that do nothing but ask when they are called without answers. Only these are called to
--- complete what somebody types.
local ASKS_FIRST = { ['hiera.selectNode'] = true }

--- How long a completion may wait for the server, in milliseconds.
local COMPLETION_TIMEOUT = 1000

--- By client: what the server last said about itself.
---@type table<integer, { node?: string }>
local statuses = {}

---@return vim.lsp.Client?
local function client_here()
  local here = vim.lsp.get_clients({ name = 'hiera_ls', bufnr = 0 })
  return here[1] or vim.lsp.get_clients({ name = 'hiera_ls' })[1]
end

---@param client vim.lsp.Client
---@return string[]
local function announced(client)
  return vim.tbl_get(client.server_capabilities or {}, 'executeCommandProvider', 'commands') or {}
end

--- `hiera.explain` is typed as `explain`.
local function short(command)
  return command:match('([^.]+)$')
end

local function notify(message, level)
  vim.notify('hiera-ls: ' .. message, level or vim.log.levels.INFO)
end

--- Shows a text of the server in a scratch buffer of its own; the same name again replaces the text.
---@param command string
---@param document { uri?: string, language: string, content: string }
function M.show(command, document)
  local title = document.uri and vim.uri_decode(document.uri:gsub('^%w[%w+.-]*:/*', '')) or command
  local name = 'hiera-ls://' .. title
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\^$.*~[]') .. '$')
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  end
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].bufhidden = 'wipe'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(document.content:gsub('\n$', ''), '\n'))
  vim.bo[buffer].modifiable = false
  -- Not with vim.bo: no plugin is to take a made text for a data file of the workspace.
  if document.language == 'markdown' then
    pcall(vim.treesitter.start, buffer, 'markdown')
  else
    vim.bo[buffer].syntax = document.language
  end
  local window = vim.fn.bufwinid(buffer)
  if window ~= -1 then
    vim.api.nvim_set_current_win(window)
    return
  end
  vim.cmd('botright split')
  vim.api.nvim_win_set_buf(0, buffer)
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, desc = 'Close' })
end

--- Calls a command of the server, with what was answered so far, until it asks nothing more.
---@param client vim.lsp.Client
---@param command string
---@param place table
---@param answers any[]
---@param typed string[] answers that the user gave on the command line, as labels
local function call(client, command, place, answers, typed)
  if #answers > MAX_QUESTIONS then
    return
  end
  local argument = vim.deepcopy(place)
  if #answers > 0 then
    argument.answers = answers
  end
  local function again(value)
    call(client, command, place, vim.list_extend(vim.list_slice(answers), { value }), typed)
  end
  client:request('workspace/executeCommand', { command = command, arguments = { argument } }, function(failure, answer)
    if failure then
      notify(failure.message, vim.log.levels.ERROR)
    elseif type(answer) ~= 'table' then
      return
    elseif answer.choose then
      local wanted = table.remove(typed, 1)
      for _, item in ipairs(answer.choose.items) do
        if item.label == wanted then
          return again(item.value)
        end
      end
      if wanted then
        return notify(("there is no '%s' to choose"):format(wanted), vim.log.levels.ERROR)
      end
      vim.ui.select(answer.choose.items, {
        prompt = answer.choose.title or 'Hiera',
        kind = command,
        format_item = function(item)
          return item.description and (item.label .. '  ' .. item.description) or item.label
        end,
      }, function(item)
        if item then
          again(item.value)
        end
      end)
    elseif answer.ask then
      local wanted = table.remove(typed, 1)
      if wanted then
        return again(wanted)
      end
      local prompt = (answer.ask.prompt or answer.ask.title or 'Hiera') .. ': '
      vim.ui.input({ prompt = prompt, default = answer.ask.value }, function(text)
        if text then
          again(text)
        end
      end)
    elseif answer.content then
      M.show(command, answer)
    elseif answer.message then
      notify(answer.message)
    end
  end)
end

---@param client vim.lsp.Client
local function place_of_cursor(client)
  if not vim.lsp.buf_is_attached(0, client.id) then
    return vim.empty_dict()
  end
  return vim.lsp.util.make_position_params(0, client.offset_encoding)
end

local function restart()
  local clients = vim.lsp.get_clients({ name = 'hiera_ls' })
  for _, client in ipairs(clients) do
    client:stop()
  end
  local function is_gone()
    return #vim.lsp.get_clients({ name = 'hiera_ls' }) == 0
  end
  if not vim.wait(3000, is_gone, 20) then
    for _, client in ipairs(clients) do
      client:stop(true)
    end
  end
  -- Looks at every open buffer again.
  vim.lsp.enable('hiera_ls')
end

--- Commands that need no server.
local own = {
  log = function()
    vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename()))
  end,
  restart = restart,
  health = function()
    vim.cmd.checkhealth('hiera_ls')
  end,
}

--- The commands there are now, by the name that is typed; `false` for those without a server.
---@return table<string, string|false>
local function commands()
  local found = {}
  local client = client_here()
  for _, command in ipairs(client and announced(client) or {}) do
    found[short(command)] = command
  end
  for name in pairs(own) do
    found[name] = false
  end
  return found
end

--- `:HieraLs NAME [ANSWER…]`; without a name it asks which.
function M.command(invocation)
  local words = vim.list_slice(invocation.fargs)
  local name = table.remove(words, 1)
  local known = commands()
  if not name then
    local names = vim.tbl_keys(known)
    table.sort(names)
    vim.ui.select(names, { prompt = 'Hiera' }, function(picked)
      if picked then
        M.command({ fargs = { picked } })
      end
    end)
    return
  end
  local command = known[name]
  if command == nil then
    local why = client_here() and 'the server has no such command' or 'no server is attached'
    notify(("'%s': %s"):format(name, why), vim.log.levels.ERROR)
  elseif command == false then
    own[name]()
  else
    local client = assert(client_here())
    call(client, command, place_of_cursor(client), {}, words)
  end
end

local function starting_with(lead, words)
  local found = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
  table.sort(found)
  return found
end

--- What may follow on the command line.
---@return string[]
function M.complete(lead, line)
  local name = line:match('^%s*%S+%s+(%S+)%s')
  if not name then
    return starting_with(lead, vim.tbl_keys(commands()))
  end
  local client, command = client_here(), commands()[name]
  if not (client and command and ASKS_FIRST[command]) then
    return {}
  end
  local parameters = { command = command, arguments = { place_of_cursor(client) } }
  local reply = client:request_sync('workspace/executeCommand', parameters, COMPLETION_TIMEOUT)
  local labels = {}
  for _, item in ipairs(reply and vim.tbl_get(reply, 'result', 'choose', 'items') or {}) do
    table.insert(labels, item.label)
  end
  return starting_with(lead, labels)
end

--- A client has attached: the commands of its lenses and actions show what they answer.
---@param client vim.lsp.Client
function M.attached(client)
  vim.schedule(vim.cmd.redrawstatus)
  for _, command in ipairs(announced(client)) do
    client.commands[command] = function(given)
      local parameters = { command = command, arguments = given.arguments }
      client:request('workspace/executeCommand', parameters, function(failure, answer)
        if failure then
          notify(failure.message, vim.log.levels.ERROR)
        elseif type(answer) == 'table' and answer.content then
          M.show(command, answer)
        elseif type(answer) == 'table' and answer.message then
          notify(answer.message)
        end
      end)
    end
  end
end

function M.said(client_id, status)
  statuses[client_id] = status
  vim.schedule(vim.cmd.redrawstatus)
end

--- A short text for a status line: empty without a server, else problems and the selected node.
---@return string
function M.status()
  local client = vim.lsp.get_clients({ name = 'hiera_ls', bufnr = 0 })[1]
  if not client then
    return ''
  end
  local parts = { 'Hiera' }
  local node = (statuses[client.id] or {}).node
  if type(node) == 'string' then
    table.insert(parts, node)
  end
  local counts = { 0, 0 }
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    if diagnostic.source == 'hiera-ls' and counts[diagnostic.severity] then
      counts[diagnostic.severity] = counts[diagnostic.severity] + 1
    end
  end
  if counts[1] > 0 then
    table.insert(parts, 'E' .. counts[1])
  end
  if counts[2] > 0 then
    table.insert(parts, 'W' .. counts[2])
  end
  return table.concat(parts, ' ')
end

return M
