--- The commands of the Hiera language server in Neovim, as docs/lsp-commands.md describes them.
---
--- Which commands there are is the server's word (`executeCommandProvider.commands`). A command gets
--- one argument, a table with `uri` and `position` of the cursor and what the user is asked for, and
--- answers with nothing, a text for a scratch buffer, or a sentence.
---
--- So a new command of the server needs no code here, unless it wants to know more than a place: then
--- it needs an entry in `questions`.

local documents = require('hiera_ls.documents')

local M = {}

--- The command that lists the known nodes; for choices, not for people.
local NODES = 'hiera.nodes'

--- The command that lists the configurations of hierarchies; for choices, not for people.
local HIERARCHIES = 'hiera.hierarchies'

--- The commands that list the facts that the hierarchy uses, and ways to a file of nodes; the same.
local FACTS, RECIPES = 'hiera.facts', 'hiera.recipes'

--- Commands that no one types.
local FOR_CHOICES = { [NODES] = true, [HIERARCHIES] = true, [FACTS] = true, [RECIPES] = true }

--- Commands that change what answers are for.
local CHOOSING = { ['hiera.selectNode'] = true, ['hiera.setFact'] = true, ['hiera.clearFacts'] = true }

--- What is asked for beside a text, by command.
local MORE = { ['hiera.diff'] = { sides = true } }

--- How a choice among nodes names none of them.
local ALL_NODES = 'all'

--- How long a completion may wait for the server, in milliseconds.
local COMPLETION_TIMEOUT = 1000

--- By client: what answers are for, as `hiera.nodes` tells it.
---@type table<integer, table?>
local chosen = {}

--- By request: the client that still works on a command.
---@type table<integer, vim.lsp.Client?>
local underway = {}

--- Commands whose answers hold secrets.
local SECRET = { ['hiera.reveal'] = true }

--- How many answers with secrets are awaited, and the level of the log before the first.
local hushed, log_level = 0, nil

--- Keeps answers out of the log of Neovim's language clients, however much else they write.
local function hush()
  if hushed == 0 then
    log_level = vim.lsp.log.get_level()
    vim.lsp.log.set_level(math.max(log_level, vim.log.levels.WARN))
  end
  hushed = hushed + 1
end

local function unhush()
  hushed = hushed - 1
  if hushed == 0 then
    vim.lsp.log.set_level(log_level)
  end
end

--- A value that is there: JSON's null is none.
local function present(given)
  return given ~= vim.NIL and given or nil
end

--- The environments, where there are two to compare.
---@return string[]
local function comparable(choices)
  local environments = present(choices.environments) or {}
  return #environments > 1 and environments or {}
end

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

--- Asks the server. The answer may take long: `:HieraLs cancel` ends it.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param done fun(answer: any)
local function request(client, command, argument, done)
  local parameters = { command = command, arguments = { argument } }
  local sent, id
  local is_secret = SECRET[command]
  if is_secret then
    hush()
  end
  sent, id = client:request('workspace/executeCommand', parameters, function(failure, answer)
    underway[id] = nil
    if is_secret then
      unhush()
    end
    if not failure then
      done(answer)
    elseif failure.code ~= vim.lsp.protocol.ErrorCodes.RequestCancelled then
      notify(failure.message, vim.log.levels.ERROR)
    end
  end)
  if sent then
    underway[id] = client
  elseif is_secret then
    unhush()
  end
end

--- Learns what answers are for now: the server remembers it from one session to the next.
---@param client vim.lsp.Client
---@param argument table
local function learn_choices(client, argument)
  request(client, NODES, { uri = argument.uri }, function(choices)
    chosen[client.id] = choices
    vim.cmd.redrawstatus()
  end)
end

--- Lets the user choose one of several edits, shows what it does, and makes it once that is confirmed.
---@param client vim.lsp.Client
---@param proposals { title: string, proof: string, diff: string, edit: lsp.WorkspaceEdit }[]
local function choose_edit(client, proposals)
  local function format(proposal)
    return ('%s: %s'):format(proposal.title, proposal.proof)
  end
  local options = { prompt = 'The smallest edit comes first', kind = 'hiera_ls', format_item = format }
  vim.ui.select(proposals, options, function(proposal)
    if not proposal then
      return
    end
    local document = { title = 'Edit', language = 'diff', content = proposal.diff }
    documents.show('hiera.setValue', document, client.root_dir)
    local window = vim.api.nvim_get_current_win()
    vim.cmd.redraw()
    vim.ui.select({ 'yes', 'no' }, { prompt = 'Make this edit?', kind = 'hiera_ls' }, function(answer)
      if vim.api.nvim_win_is_valid(window) then
        vim.api.nvim_win_close(window, true)
      end
      if answer == 'yes' then
        vim.lsp.util.apply_workspace_edit(proposal.edit, client.offset_encoding)
      end
    end)
  end)
end

--- Calls a command of the server and shows what it answers.
---@param client vim.lsp.Client
---@param command string
---@param argument table
local function call(client, command, argument)
  request(client, command, vim.tbl_extend('error', argument, MORE[command] or {}), function(answer)
    if CHOOSING[command] then
      learn_choices(client, argument)
    end
    if type(answer) ~= 'table' then
      return
    elseif answer.proposals and #answer.proposals > 0 then
      choose_edit(client, answer.proposals)
    elseif answer.sides then
      documents.compare(answer.sides, client.root_dir)
    elseif answer.content then
      documents.show(command, answer, client.root_dir)
    elseif answer.message then
      notify(answer.message)
    end
  end)
end

--- Typed text as a value: JSON if it parses, else text; null for empty text.
local function value(typed)
  if vim.trim(typed) == '' then
    return vim.NIL
  end
  local is_json, decoded = pcall(vim.json.decode, typed)
  return is_json and decoded or typed
end

--- Lets the user choose a name; the selected one is marked, and `says` tells more of some.
local function select(names, prompt, selected, choose, says)
  local function format(name)
    local more = says and says[name] and says[name] ~= '' and '  ' .. says[name] or ''
    return (name == selected and name .. ' (selected)' or name) .. more
  end
  vim.ui.select(names, { prompt = prompt, kind = 'hiera_ls', format_item = format }, function(name)
    if name then
      choose(name)
    end
  end)
end

--- What tells nodes apart, by their names.
local function says(answer)
  local found = {}
  for _, choice in ipairs(answer.choices or {}) do
    local environment = present(choice.environment)
    local parts = environment and { environment, choice.says } or { choice.says }
    found[choice.node] = table.concat(parts, ' · ')
  end
  return found
end

--- A value in a line: text as it is, the rest as JSON.
local function shown(given)
  return type(given) == 'string' and given or vim.json.encode(given)
end

--- What a fact is now.
local function now(fact, node)
  if node and present(fact.current) ~= nil then
    return shown(fact.current)
  end
  local told = {}
  for _, count in ipairs(vim.list_slice(fact.values, 1, 3)) do
    local nodes = count.nodes == 1 and ' (1 node)' or count.nodes > 1 and (' (%d nodes)'):format(count.nodes) or ''
    table.insert(told, shown(count.value) .. nodes)
  end
  return #told == 0 and 'not known' or table.concat(told, ', ')
end

local function ask(prompt, given, next)
  if given then
    return next(given)
  end
  vim.ui.input({ prompt = prompt }, function(typed)
    if typed and typed ~= '' then
      next(typed)
    end
  end)
end

--- A command about the key under the cursor, or a typed key.
local function about_a_key(_, place, words, done)
  if words[1] or not place.uri then
    ask('Key, such as profile::web::port: ', words[1], function(key)
      done({ uri = place.uri, key = key })
    end)
  else
    done(place)
  end
end

--- A command about the key under the cursor and a value of it; `rest` gets what was typed behind that.
local function about_a_value(place, words, rest)
  local function with_key(about)
    ask('Value, as YAML: ', words[1], function(yaml)
      rest(vim.tbl_extend('force', about, { yaml = yaml }), vim.list_slice(words, 2))
    end)
  end
  if place.uri then
    return with_key(place)
  end
  ask('Key, such as profile::web::port: ', nil, function(key)
    with_key({ key = key })
  end)
end

--- What commands want to know beside a place. Each gets what was typed behind the command, asks for
--- the rest, and calls back with the whole argument.
---@type table<string, fun(client: vim.lsp.Client, place: table, words: string[], done: fun(argument: table))>
local questions = {
  ['hiera.selectNode'] = function(client, place, words, done)
    local function choose(name)
      done(vim.tbl_extend('force', place, { certname = name == ALL_NODES and vim.NIL or name }))
    end
    if words[1] then
      return choose(words[1])
    end
    request(client, NODES, vim.tbl_extend('force', place, { details = true }), function(answer)
      if #answer.nodes == 0 then
        notify('no nodes are known: :HieraLs createNodes shows how to get a file of them')
      end
      local selected = present(answer.selected) or ALL_NODES
      local names = vim.list_extend({ ALL_NODES }, answer.nodes)
      select(names, 'Show values for', selected, choose, says(answer))
    end)
  end,
  ['hiera.setFact'] = function(client, place, words, done)
    local rest = words[2] and table.concat(vim.list_slice(words, 2), ' ')
    local function set(path, typed)
      done(vim.tbl_extend('force', place, { path = path, value = value(typed) }))
    end
    local function ask_value(path)
      if rest then
        return set(path, rest)
      end
      -- Nothing is an answer here.
      local prompt = ('Value of %s (leave empty to remove the override): '):format(path)
      vim.ui.input({ prompt = prompt }, function(typed)
        if typed then
          set(path, typed)
        end
      end)
    end
    if words[1] then
      return ask_value(words[1])
    end
    request(client, FACTS, place, function(answer)
      local overrides, facts = answer.overrides, {}
      for _, fact in ipairs(answer.facts) do
        if fact.settable then
          table.insert(facts, fact)
        end
      end
      table.insert(facts, { path = 'another fact…' })
      local function format(fact)
        local override = overrides[fact.path]
        local of = override ~= nil and 'overridden: ' .. shown(override)
          or fact.values and now(fact, present(answer.node))
        return of and ('%s  %s'):format(fact.path, of) or fact.path
      end
      vim.ui.select(facts, { prompt = 'Override a fact', kind = 'hiera_ls', format_item = format }, function(fact)
        if fact and fact.values then
          ask_value(fact.path)
        elseif fact then
          ask('Fact, such as os.family: ', nil, ask_value)
        end
      end)
    end)
  end,
  ['hiera.diff'] = function(client, place, words, done)
    if #words >= 2 then
      return done({ uri = place.uri, from = words[1], to = words[2], key = words[3] })
    end
    request(client, NODES, vim.tbl_extend('force', place, { details = true }), function(answer)
      local names = vim.list_extend(vim.deepcopy(answer.nodes), comparable(answer))
      local function to(from)
        local is_node = vim.tbl_contains(answer.nodes, from)
        local others = vim.tbl_filter(function(name)
          return name ~= from and vim.tbl_contains(answer.nodes, name) == is_node
        end, names)
        select(others, ('Compare %s with'):format(from), nil, function(name)
          done({ uri = place.uri, from = from, to = name })
        end, says(answer))
      end
      if words[1] then
        to(words[1])
      else
        select(names, 'Compare', present(answer.selected), to, says(answer))
      end
    end)
  end,
  ['hiera.impact'] = function(_, place, _, done)
    done({ uri = place.uri })
  end,
  ['hiera.upgrade'] = function(_, place, words, done)
    if words[1] == 'off' then
      return done({ uri = place.uri, to = vim.NIL })
    end
    done({ uri = place.uri, to = tonumber(words[1]), from = tonumber(words[2]) })
  end,
  ['hiera.doctor'] = function(_, place, _, done)
    done({ uri = place.uri })
  end,
  ['hiera.setValue'] = function(_, place, words, done)
    about_a_value(place, words, function(wanted, whose)
      local typed = #whose > 0 and table.concat(whose, ' ') or nil
      ask('Nodes, such as role=web,db site=lon (all: every node): ', typed, function(conditions)
        wanted['for'] = conditions ~= ALL_NODES and vim.split(vim.trim(conditions), '%s+') or nil
        local choices = { 'only these nodes', 'other nodes may change too' }
        select(choices, 'Which nodes may change?', nil, function(choice)
          done(vim.tbl_extend('force', wanted, { only = choice == choices[1] }))
        end)
      end)
    end)
  end,
  ['hiera.whyNot'] = function(client, place, words, done)
    about_a_value(place, words, function(wanted, rest)
      local function with_node(node)
        done(vim.tbl_extend('force', wanted, { node = node }))
      end
      if rest[1] then
        return with_node(rest[1])
      end
      request(client, NODES, vim.tbl_extend('force', place, { details = true }), function(answer)
        select(answer.nodes, 'The node', present(answer.selected), with_node, says(answer))
      end)
    end)
  end,
  ['hiera.explain'] = about_a_key,
  ['hiera.matrix'] = about_a_key,
  ['hiera.value'] = about_a_key,
  ['hiera.uses'] = about_a_key,
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

--- A path from the root, or nothing for one outside of it.
local function below_root(client, uri)
  local path = vim.uri_to_fname(uri)
  return path == client.root_dir and '.' or vim.fs.relpath(client.root_dir or '', path)
end

--- Lets the user choose which hiera.yaml answers, for as long as the server runs.
local function choose_hierarchy()
  local client = client_here()
  if not (client and vim.tbl_contains(announced(client), HIERARCHIES)) then
    return notify('no server is attached', vim.log.levels.ERROR)
  end
  local function keep(root)
    local settings = client.settings['hiera-ls'] or {}
    settings.roots = root and { root } or nil
    client.settings['hiera-ls'] = next(settings) and settings or vim.empty_dict()
    client:notify('workspace/didChangeConfiguration', { settings = client.settings })
    if root then
      local line = ('roots: [{hierarchy: "%s", folder: "%s"}]'):format(root.hierarchy, root.folder)
      notify('to keep this, put into .hiera-ls.yaml: ' .. line)
    end
  end
  request(client, HIERARCHIES, { uri = place_of_cursor(client).uri }, function(answer)
    local choices = { { label = 'automatic' } }
    for _, one in ipairs(answer.hierarchies) do
      local file, folder = below_root(client, one.uri), below_root(client, one.folder)
      if file and folder then
        local use = one.uri == present(answer.hierarchy) and ' (in use)' or ''
        local version = present(one.version)
        local what = version and ('version %d, %d files'):format(version, one.files) or 'Puppet refuses it'
        local label = ('%s%s: %s, %s'):format(file, use, what, present(one.error) or one.why)
        table.insert(choices, { label = label, root = { hierarchy = file, folder = folder } })
      end
    end
    local function format(choice)
      return choice.label
    end
    vim.ui.select(choices, { prompt = 'hiera.yaml to use', kind = 'hiera_ls', format_item = format }, function(choice)
      if choice then
        keep(choice.root)
      end
    end)
  end)
end

--- Shows how to get a file of nodes; what is to be run is run by the user.
local function create_nodes()
  local client = client_here()
  if not (client and vim.tbl_contains(announced(client), RECIPES)) then
    return notify('no server is attached', vim.log.levels.ERROR)
  end
  request(client, RECIPES, vim.empty_dict(), function(answer)
    local function format(recipe)
      return ('%s: %s'):format(recipe.title, recipe.detail)
    end
    local options = { prompt = 'A file of nodes', kind = 'hiera_ls', format_item = format }
    vim.ui.select(answer.recipes, options, function(recipe)
      if recipe then
        local content = ('# %s\n%s\n'):format(format(recipe), recipe.command)
        local document = { title = 'nodes.json ' .. recipe.title, language = 'sh', content = content }
        documents.show(RECIPES, document, client.root_dir)
      end
    end)
  end)
end

--- Lets the user complete the command that imports nodes, and runs it in a terminal.
local function import_nodes()
  local client = client_here()
  if not (client and vim.tbl_contains(announced(client), RECIPES)) then
    return notify('no server is attached', vim.log.levels.ERROR)
  end
  request(client, RECIPES, place_of_cursor(client), function(answer)
    vim.ui.input({ prompt = 'Import nodes: ', default = answer.import }, function(line)
      if line and line ~= '' then
        vim.cmd.new()
        vim.fn.termopen(line)
      end
    end)
  end)
end

--- Commands that need no server.
local own = {
  createNodes = create_nodes,
  importNodes = import_nodes,
  hierarchy = choose_hierarchy,
  log = function()
    vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename()))
  end,
  restart = restart,
  cancel = function()
    for id, client in pairs(underway) do
      client:cancel_request(id)
    end
  end,
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
    if not FOR_CHOICES[command] then
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

--- How many keys are offered as completions at most.
local MAX_KEYS = 200

---@param client vim.lsp.Client
---@return any
local function soon(client, method, parameters)
  local reply = client:request_sync(method, parameters, COMPLETION_TIMEOUT)
  return reply and present(reply.result)
end

---@param client vim.lsp.Client
---@return { nodes: string[], environments: string[]? }
local function choices_now(client)
  local parameters = { command = NODES, arguments = { { uri = place_of_cursor(client).uri } } }
  return soon(client, 'workspace/executeCommand', parameters) or { nodes = {} }
end

---@param client vim.lsp.Client
local function keys(client, lead)
  local seen, found = {}, {}
  for _, symbol in ipairs(soon(client, 'workspace/symbol', { query = lead }) or {}) do
    if not seen[symbol.name] and #found < MAX_KEYS then
      seen[symbol.name] = true
      table.insert(found, symbol.name)
    end
  end
  return found
end

--- What the words behind a command may be, the first first.
---@type table<string, (fun(client: vim.lsp.Client, lead: string): string[])[]>
local completions = {}

completions['hiera.selectNode'] = {
  function(client)
    return vim.list_extend({ ALL_NODES }, choices_now(client).nodes)
  end,
}
local function nodes(client)
  return choices_now(client).nodes
end
local function none()
  return {}
end
completions['hiera.setValue'] = { none, nodes }
completions['hiera.whyNot'] = { none, nodes }
local function sides(client)
  local choices = choices_now(client)
  return vim.list_extend(choices.nodes, comparable(choices))
end
completions['hiera.diff'] = { sides, sides, keys }
completions['hiera.setFact'] = {
  function(client)
    local parameters = { command = FACTS, arguments = { { uri = place_of_cursor(client).uri } } }
    local answer = soon(client, 'workspace/executeCommand', parameters) or { facts = {} }
    local settable = vim.tbl_filter(function(fact)
      return fact.settable
    end, answer.facts)
    return vim.tbl_map(function(fact)
      return fact.path
    end, settable)
  end,
}
for _, command in ipairs({ 'hiera.explain', 'hiera.matrix', 'hiera.uses', 'hiera.value' }) do
  completions[command] = { keys }
end

--- What may follow on the command line, up to the cursor.
---@return string[]
function M.complete(lead, line, cursor)
  local words = vim.split(vim.trim(line:sub(1, cursor - #lead)), '%s+')
  if #words == 1 then
    return starting_with(lead, vim.tbl_keys(commands()))
  end
  local client = client_here()
  local complete = (completions[commands()[words[2]] or ''] or {})[#words - 1]
  return client and complete and starting_with(lead, complete(client, lead)) or {}
end

--- A client has attached: the commands of its lenses and actions show what they answer.
---@param client vim.lsp.Client
function M.attached(client)
  vim.schedule(vim.cmd.redrawstatus)
  if vim.tbl_contains(announced(client), NODES) then
    learn_choices(client, {})
  end
  for _, command in ipairs(announced(client)) do
    client.commands[command] = function(given)
      call(client, command, (given.arguments or {})[1] or place_of_cursor(client))
    end
  end
end

--- For whom answers are: a node, or how many.
local function whom(choices)
  local nodes = #(choices.nodes or {})
  return present(choices.selected) or (nodes == 0 and 'no nodes known') or ('all nodes (%d)'):format(nodes)
end

--- A short text for a status line: empty without a server, else for whom answers are, how many facts are
--- overridden, and problems.
---@return string
function M.status()
  local client = vim.lsp.get_clients({ name = 'hiera_ls', bufnr = 0 })[1]
  if not client then
    return ''
  end
  local choices = chosen[client.id]
  local parts = { choices and 'Hiera: ' .. whom(choices) or 'Hiera' }
  local facts = vim.tbl_count(choices and present(choices.facts) or {})
  if facts > 0 then
    table.insert(parts, 'what if ' .. facts)
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
