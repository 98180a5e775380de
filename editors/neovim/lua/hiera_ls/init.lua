--- The commands of the Hiera language server in Neovim.
---
--- Which commands there are is the server's word (`executeCommandProvider.commands`). A command gets
--- one argument, a table with `uri` and `position` of the cursor and what the user is asked for, and
--- may answer with
---
--- - nothing,
--- - `{ language, content, uri? }`: a text, shown in a scratch buffer,
--- - `{ message }`: a sentence for the user.
---
--- So a new command of the server needs no code here, unless it wants to know more than a place: then
--- it needs an entry in `questions`.

local M = {}

--- The command that lists the known nodes; for choices, not for people.
local NODES = 'hiera.nodes'

--- How a choice among nodes names none of them.
local ALL_NODES = 'all'

--- How long a completion may wait for the server, in milliseconds.
local COMPLETION_TIMEOUT = 1000

--- By client: the node that answers are for.
---@type table<integer, string?>
local selected = {}

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

---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param done fun(answer: any)
local function request(client, command, argument, done)
  local parameters = { command = command, arguments = { argument } }
  client:request('workspace/executeCommand', parameters, function(failure, answer)
    if failure then
      notify(failure.message, vim.log.levels.ERROR)
    else
      done(answer)
    end
  end)
end

--- Calls a command of the server and shows what it answers.
---@param client vim.lsp.Client
---@param command string
---@param argument table
local function call(client, command, argument)
  request(client, command, argument, function(answer)
    if command == 'hiera.selectNode' then
      local certname = argument.certname
      selected[client.id] = certname ~= vim.NIL and certname or nil
      vim.cmd.redrawstatus()
    end
    if type(answer) ~= 'table' then
      return
    elseif answer.content then
      M.show(command, answer)
    elseif answer.message then
      notify(answer.message)
    end
  end)
end

--- What somebody typed as a value: JSON where it is some, else text; null for nothing.
local function value(typed)
  if vim.trim(typed) == '' then
    return vim.NIL
  end
  local is_json, decoded = pcall(vim.json.decode, typed)
  return is_json and decoded or typed
end

--- What commands want to know beside a place. Each gets what was typed behind the command, asks for
--- the rest, and calls back with the whole argument.
---@type table<string, fun(client: vim.lsp.Client, place: table, words: string[], done: fun(argument: table))>
local questions = {
  ['hiera.selectNode'] = function(client, place, words, done)
    local function choose(name)
      if name then
        done(vim.tbl_extend('force', place, { certname = name == ALL_NODES and vim.NIL or name }))
      end
    end
    if words[1] then
      return choose(words[1])
    end
    request(client, NODES, place, function(answer)
      local names = vim.list_extend({ ALL_NODES }, answer.nodes)
      local function format(name)
        local is_selected = name == answer.selected or (name == ALL_NODES and answer.selected == vim.NIL)
        return is_selected and name .. ' (selected)' or name
      end
      vim.ui.select(names, { prompt = 'Answer for', kind = 'hiera_ls', format_item = format }, choose)
    end)
  end,
  ['hiera.setFact'] = function(_, place, words, done)
    local function ask(prompt, given, next)
      if given then
        return next(given)
      end
      vim.ui.input({ prompt = prompt }, function(typed)
        if typed then
          next(typed)
        end
      end)
    end
    local rest = words[2] and table.concat(vim.list_slice(words, 2), ' ')
    ask('Fact, such as os.family: ', words[1], function(path)
      ask(('Value of %s (empty takes it back): '):format(path), rest, function(typed)
        done(vim.tbl_extend('force', place, { path = path, value = value(typed) }))
      end)
    end)
  end,
}

---@param client vim.lsp.Client
local function place_of_cursor(client)
  if not vim.lsp.buf_is_attached(0, client.id) then
    return vim.empty_dict()
  end
  local here = vim.lsp.util.make_position_params(0, client.offset_encoding)
  return { uri = here.textDocument.uri, position = here.position }
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
    if command ~= NODES then
      found[short(command)] = command
    end
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
    local place, question = place_of_cursor(client), questions[command]
    if question then
      question(client, place, words, function(argument)
        call(client, command, argument)
      end)
    else
      call(client, command, place)
    end
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
  local client = client_here()
  if not (client and commands()[name] == 'hiera.selectNode') then
    return {}
  end
  local parameters = { command = NODES, arguments = { place_of_cursor(client) } }
  local reply = client:request_sync('workspace/executeCommand', parameters, COMPLETION_TIMEOUT)
  local nodes = reply and vim.tbl_get(reply, 'result', 'nodes') or {}
  return starting_with(lead, vim.list_extend({ ALL_NODES }, nodes))
end

--- A client has attached: the commands of its lenses and actions show what they answer.
---@param client vim.lsp.Client
function M.attached(client)
  vim.schedule(vim.cmd.redrawstatus)
  for _, command in ipairs(announced(client)) do
    client.commands[command] = function(given)
      call(client, command, (given.arguments or {})[1] or place_of_cursor(client))
    end
  end
end

--- A short text for a status line: empty without a server, else problems and the selected node.
---@return string
function M.status()
  local client = vim.lsp.get_clients({ name = 'hiera_ls', bufnr = 0 })[1]
  if not client then
    return ''
  end
  local parts = { 'Hiera' }
  table.insert(parts, selected[client.id])
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
