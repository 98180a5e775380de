-- The plugin of editors/neovim in a real Neovim, with its own language client, on a copy of
-- fixtures/acme. Run by tests/editors/run: nvim --clean --headless -l test.lua
-- In the environment: PLUGIN, WORKSPACE, HIERA_LS_SERVER.

local workspace = vim.env.WORKSPACE
local passed, failed = 0, 0

local function test(name, body)
  local ok, why = xpcall(body, debug.traceback)
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
  io.stdout:write(ok and ('ok   ' .. name .. '\n') or ('FAIL ' .. name .. '\n' .. tostring(why) .. '\n'))
end

local function finish()
  io.stdout:write(('%d passed, %d failed\n'):format(passed, failed))
  os.exit(failed == 0 and 0 or 1)
end

--- Longer than anything takes on two cores with much else to do, in milliseconds.
local LIMIT = 30000

local function wait(what, condition)
  assert(vim.wait(LIMIT, condition, 20), 'timed out waiting for ' .. what)
end

local function contains(text, ...)
  for _, part in ipairs({ ... }) do
    assert(text:find(part, 1, true), ("'%s' is missing in:\n%s"):format(part, text))
  end
end

local function text_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

local function client()
  return vim.lsp.get_clients({ bufnr = 0, name = 'hiera_ls' })[1]
end

local function open(path)
  vim.cmd.edit(vim.fn.fnameescape(workspace .. '/' .. path))
  wait('the client on ' .. path, function()
    return client() ~= nil and client().initialized
  end)
end

--- What `K` shows on the first place of `text`, or of `at` in its line, as a person would see it.
local function hover(text, at)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      vim.api.nvim_win_close(window, true)
    end
  end
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  assert(vim.fn.search('\\V' .. text, 'c') > 0, text)
  if at then
    vim.fn.cursor(0, 1)
    assert(vim.fn.search('\\V' .. at, 'c', vim.fn.line('.')) > 0, at)
  end
  -- The server may still be reading: it answers when it can.
  local parameters = vim.lsp.util.make_position_params(0, client().offset_encoding)
  wait('an answer on ' .. text, function()
    local reply = client():request_sync('textDocument/hover', parameters, LIMIT)
    return reply and reply.result and reply.result ~= vim.NIL
  end)
  vim.lsp.buf.hover()
  local float
  wait('a hover on ' .. text, function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        float = window
      end
    end
    return float
  end)
  return text_of(vim.api.nvim_win_get_buf(float))
end

vim.opt.runtimepath:append(vim.env.PLUGIN)
vim.cmd('filetype plugin on')
vim.cmd.runtime('plugin/hiera_ls.lua')
-- Lenses are off by default.
vim.lsp.config('hiera_ls', { init_options = { codeLens = { overrides = true, uses = true, impact = true } } })
vim.lsp.enable('hiera_ls')

test('attaches with the outermost hiera.yaml as root', function()
  open('modules/ntp/data/common.yaml')
  assert(client().root_dir == workspace, client().root_dir)
  -- Else the server would show the answers of commands once more, as files.
  assert(client().capabilities.experimental.documents)
end)
if failed > 0 then
  -- Nothing can work without a server: no reason to wait for each test's time to run out.
  finish()
end

test('.eyaml files are data too', function()
  open('data/secrets.eyaml')
  assert(vim.bo.filetype == 'yaml')
end)

test('nothing is attached outside of a workspace', function()
  local outside = vim.fn.tempname() .. '.yaml'
  vim.fn.writefile({ 'a: 1' }, outside)
  vim.cmd.edit(outside)
  -- What a wrong attachment would need has happened when this has been run.
  vim.wait(50)
  assert(client() == nil)
end)

test('hover shows the merged value and its levels', function()
  open('data/role/web.yaml')
  local shown = hover('profile::web::firewall')
  contains(shown, 'profile::web::firewall', 'merged as hash from 2 levels', 'port: 443', 'common.yaml:102', 'role/web.yaml:8')
  assert(not shown:find('|---', 1, true), 'no raw tables')
end)

-- The same table is asked in every editor.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
for _, place in ipairs(vim.json.decode(table.concat(vim.fn.readfile(here .. '/../places.json'), '\n'))) do
  test('at ' .. place.what, function()
    open(place.file)
    -- A hover may break its lines anywhere between words.
    local shown = hover(place.line, place.at):gsub('[`*]', ''):gsub('%s+', ' ')
    contains(shown, unpack(place.shows))
    for _, part in ipairs(place.never or {}) do
      assert(not shown:find(part, 1, true), shown)
    end
  end)
end

test('an edit changes a hover before it is saved', function()
  open('data/role/web.yaml')
  vim.fn.cursor(1, 1)
  local line = vim.fn.search('\\Vprofile::web::firewall', 'c')
  vim.api.nvim_buf_set_lines(0, line, line + 1, false, { '  canary: {port: 8443, from: any}' })
  local shown = hover('profile::web::firewall')
  contains(shown, 'canary', '8443')
  assert(not shown:find('https', 1, true), shown)
  assert(vim.bo.modified)
  vim.cmd('edit!')
end)

test('problems, with the other places of a loop', function()
  open('mistakes/values/data/families/loops.yaml')
  local found
  wait('diagnostics', function()
    found = vim.tbl_filter(function(diagnostic)
      return diagnostic.code == 'interpolation-loop' and diagnostic.lnum == 3
    end, vim.diagnostic.get(0))
    return #found > 0
  end)
  local first = found[1]
  assert(first.severity == vim.diagnostic.severity.ERROR, vim.inspect(first))
  local related = first.user_data.lsp.relatedInformation
  assert(related and #related >= 2, vim.inspect(first))
end)

test('a quick fix, and all safe ones of a file', function()
  local path = workspace .. '/data/node/fixes.acme.example.yaml'
  vim.fn.writefile({ 'fix::mode: 0644', 'fix::on: yes # really', 'fix::most: 1_000' }, path)
  open('data/node/fixes.acme.example.yaml')
  wait('problems to fix', function()
    return #vim.tbl_filter(function(diagnostic)
      return vim.startswith(diagnostic.code or '', 'yaml')
    end, vim.diagnostic.get(0)) >= 3
  end)
  vim.api.nvim_win_set_cursor(0, { 1, 12 })
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.kind == 'quickfix' and action.title == 'Quote it'
    end,
  })
  wait('the quick fix', function()
    return text_of(0) == 'fix::mode: "0644"\nfix::on: yes # really\nfix::most: 1_000'
  end)
  vim.lsp.buf.code_action({ apply = true, context = { only = { 'source.fixAll.hiera-ls' }, diagnostics = {} } })
  -- What may change a meaning is left.
  wait('all fixes', function()
    return text_of(0) == 'fix::mode: "0644"\nfix::on: true # really\nfix::most: 1_000'
  end)
  vim.cmd('bwipeout!')
  vim.fn.delete(path)
end)

test('a healthy file has no problems', function()
  open('data/common.yaml')
  local reply
  -- Neovim cancels a request of its kind when the server says that problems have changed.
  wait('an answer', function()
    reply = client():request_sync('textDocument/diagnostic', {
      textDocument = vim.lsp.util.make_text_document_params(0),
    }, 3000)
    return reply and reply.result
  end)
  assert(#reply.result.items == 0, vim.inspect(reply.result.items))
end)

test('the outline has the keys', function()
  vim.lsp.buf.document_symbol({ loclist = true })
  wait('symbols', function()
    return #vim.fn.getloclist(0) > 0
  end)
  local names = vim.iter(vim.fn.getloclist(0)):map(function(item)
    return item.text
  end)
  contains(names:join('\n'), 'profile::web::port')
  vim.cmd.lclose()
end)

test(':HieraLs completes its own commands and the server\'s', function()
  local offered = vim.fn.getcompletion('HieraLs ', 'cmdline')
  assert(vim.tbl_contains(offered, 'restart') and vim.tbl_contains(offered, 'rescan'), vim.inspect(offered))
  assert(vim.deep_equal(vim.fn.getcompletion('HieraLs lo', 'cmdline'), { 'log' }))
  for _, command in ipairs(client().server_capabilities.executeCommandProvider.commands) do
    local for_choices = { 'hiera.nodes', 'hiera.hierarchies', 'hiera.facts', 'hiera.recipes' }
    if not vim.tbl_contains(for_choices, command) then
      assert(vim.tbl_contains(offered, command:match('[^.]+$')), command)
    end
  end
end)

test('a command that is not there is named', function()
  local message
  local notify = vim.notify
  vim.notify = function(text)
    message = text
  end
  vim.cmd('HieraLs nonsense')
  vim.notify = notify
  contains(message, "'nonsense': the server has no such command")
end)

test('selecting a node changes a hover, and back', function()
  open('data/role/web.yaml')
  assert(vim.tbl_contains(vim.fn.getcompletion('HieraLs selectNode web01.l', 'cmdline'), 'web01.lon.acme.example'))
  contains(hover('profile::web::tags'), 'tls', '3 nodes')
  vim.cmd('HieraLs selectNode web01.nyc.acme.example')
  wait('the node in the status line', function()
    return require('hiera_ls').status():find('web01.nyc.acme.example', 1, true)
  end)
  local shown = hover('profile::web::tags')
  contains(shown, 'web01.nyc.acme.example', 'frontend')
  assert(not shown:find('tls', 1, true), shown)
  local offered
  local select = vim.ui.select
  vim.ui.select = function(names, options, done)
    offered = vim.tbl_map(options.format_item, names)
    done(names[1])
  end
  vim.cmd('HieraLs selectNode')
  wait('a choice', function()
    return offered
  end)
  vim.ui.select = select
  local line = vim.iter(offered):find(function(text)
    return vim.startswith(text, 'web01.nyc.acme.example (selected)')
  end)
  contains(line or vim.inspect(offered), 'role = web', 'facts.site = nyc')
  contains(hover('profile::web::tags'), 'tls', '3 nodes')
end)

test('explain opens a scratch buffer, again in the same one', function()
  for _ = 1, 2 do
    open('data/role/web.yaml')
    vim.fn.search('\\Vprofile::web::firewall', 'cw')
    local before = vim.api.nvim_get_current_buf()
    vim.cmd('HieraLs explain')
    wait('the explanation', function()
      return vim.api.nvim_get_current_buf() ~= before
    end)
    contains(text_of(0), 'profile::web::firewall', '# levels, the highest first')
    assert(vim.bo.buftype == 'nofile' and not vim.bo.modifiable and not vim.bo.modified)
    -- It begins with lookup_options; what was asked for is further down.
    contains(vim.api.nvim_get_current_line(), '# profile::web::firewall')
  end
  vim.cmd.close()
end)

--- Runs a command that answers with a text, and waits for the buffer of that name.
local function shown_by(command, title)
  vim.cmd(command)
  wait("the buffer '" .. title .. "'", function()
    return vim.api.nvim_buf_get_name(0):find('hiera-ls://' .. title, 1, true)
  end)
  return text_of(0)
end

test('the matrix of the key under the cursor, and to the places that it names', function()
  open('data/role/web.yaml')
  vim.fn.search('\\Vprofile::web::tags', 'cw')
  local shown = shown_by('HieraLs matrix', 'Values of profile::web::tags')
  contains(shown, '3 different values on 8 nodes', 'web01.nyc.acme.example', '# from data/role/web-lon.yaml:4', '- tls')
  assert(not vim.bo.modifiable and vim.bo.syntax == 'yaml')
  -- Names of nodes unfold; how many they are is not folded.
  local names = vim.fn.search('\\V#   web01.nyc', 'cw')
  assert(vim.fn.foldclosed(names) == names and vim.fn.foldclosed(names - 1) == -1, 'names are folded')
  vim.cmd.normal('zo')
  assert(vim.fn.foldclosed(names) == -1)
  vim.fn.search('\\Vweb-lon.yaml:4', 'cw')
  vim.cmd.normal(vim.keycode('<CR>'))
  assert(vim.api.nvim_buf_get_name(0) == workspace .. '/data/role/web-lon.yaml')
  assert(vim.api.nvim_win_get_cursor(0)[1] == 4)
  vim.cmd.only()
end)

test('the matrix of a key that is typed, with completion', function()
  open('data/common.yaml')
  local offered = vim.fn.getcompletion('HieraLs matrix profile::web::po', 'cmdline')
  assert(vim.deep_equal(offered, { 'profile::web::port' }), vim.inspect(offered))
  local shown = shown_by('HieraLs matrix profile::web::port', 'Values of profile::web::port')
  contains(shown, '9443', '8443', '8080', '# 6 nodes')
  vim.cmd.only()
end)

--- The message that a command shows.
local function message_of(command)
  local message
  local notify = vim.notify
  vim.notify = function(text)
    message = text
  end
  vim.cmd(command)
  wait('a message', function()
    return message
  end)
  vim.notify = notify
  return message
end

test('the differences of two nodes, chosen one after the other', function()
  open('data/role/web.yaml')
  local prompts = {}
  local select = vim.ui.select
  vim.ui.select = function(names, options, done)
    table.insert(prompts, options.prompt)
    done(vim.tbl_contains(names, 'web01.lon.acme.example') and 'web01.lon.acme.example' or 'web01.nyc.acme.example')
  end
  local tabs = vim.fn.tabpagenr('$')
  vim.cmd('HieraLs diff')
  wait('two windows that are compared', function()
    return vim.fn.tabpagenr('$') > tabs and vim.fn.winnr('$') == 2
  end)
  vim.ui.select = select
  assert(vim.deep_equal(prompts, { 'Compare', 'Compare web01.lon.acme.example with' }), vim.inspect(prompts))
  local texts = {}
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    assert(vim.wo[window].diff)
    local buffer = vim.api.nvim_win_get_buf(window)
    assert(not vim.bo[buffer].modifiable and vim.bo[buffer].syntax == 'yaml')
    table.insert(texts, text_of(buffer))
  end
  contains(texts[1], 'profile::base::timezone: Europe/London', 'ntp-canary.lon.acme.example', 'data/site/lon.yaml')
  contains(texts[2], 'profile::base::timezone: America/New_York', 'data/site/nyc.yaml:3')
  vim.cmd.normal('q')
  assert(vim.fn.tabpagenr('$') == tabs)
  local offered = vim.fn.getcompletion('HieraLs diff web01.lon.acme.example web01.n', 'cmdline')
  assert(vim.deep_equal(offered, { 'web01.nyc.acme.example' }), vim.inspect(offered))
  vim.cmd('HieraLs diff web01.lon.acme.example web02.lon.acme.example')
  wait('the comparison', function()
    return vim.fn.tabpagenr('$') > tabs and vim.fn.winnr('$') == 2
  end)
  contains(text_of(0), 'profile::web::port: 9443')
  vim.cmd.tabclose()
  contains(message_of('HieraLs diff web01.lon.acme.example web02.lon.acme.example site::name'), 'the same value')
end)

test('the plain text of an encrypted value, once the user lets it be shown', function()
  local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
  local function sealed(name)
    return vim.fs.normalize(vim.fs.joinpath(here, '../../eyaml', name))
  end
  -- What the real hiera-eyaml made of "hello".
  local blob
  for row in io.lines(sealed('blobs.tsv')) do
    local cells = vim.split(row, '\t')
    blob = blob or (cells[5] == '68656c6c6f' and vim.text.hexdecode(cells[1]))
  end
  vim.fn.writefile({ 'sealed::word: ' .. blob }, workspace .. '/data/node/sealed.acme.example.eyaml')
  open('data/node/sealed.acme.example.eyaml')
  assert(not hover('PKCS7'):find('hiera.reveal', 1, true))
  contains(message_of('HieraLs reveal'), 'decryption is off')
  --- Settings that name keys count only when the server starts.
  local function restart_with(options)
    local before = client().id
    vim.lsp.config('hiera_ls', { init_options = options })
    vim.cmd('HieraLs restart')
    wait('another client', function()
      local now = client()
      return now and now.id ~= before and now.initialized
    end)
  end
  restart_with({
    decrypt = true,
    pkcs7PrivateKey = sealed('test-only-first.private.pem'),
    pkcs7PublicKey = sealed('test-only-first.certificate.pem'),
  })
  wait('keys', function()
    return hover('PKCS7'):find('plain text: command hiera.reveal', 1, true)
  end)
  -- With the log at its loudest, the hover is in it and the plain text is not.
  vim.lsp.log.set_level(vim.log.levels.TRACE)
  assert(not hover('PKCS7'):find('hello', 1, true))
  local shown = shown_by('HieraLs reveal', 'Plain text of sealed::word')
  assert(vim.lsp.log.get_level() == vim.log.levels.TRACE)
  vim.lsp.log.set_level(vim.log.levels.WARN)
  assert(shown == 'hello', shown)
  assert(not vim.bo.modifiable and not vim.bo.swapfile and vim.bo.buftype == 'nofile' and vim.bo.syntax == '')
  local written = table.concat(vim.fn.readfile(vim.lsp.log.get_filename()), '\n')
  contains(written, 'plain text: command hiera.reveal')
  assert(not written:find('hello', 1, true), 'the log has the plain text')
  vim.cmd.close()
  restart_with({ decrypt = false })
  vim.cmd.bwipeout()
end)

test('the impact of an edit before it is saved', function()
  open('data/role/web.yaml')
  contains(message_of('HieraLs impact'), 'data/role/web.yaml has no unsaved changes')
  local line = vim.fn.search('\\Vprofile::web::firewall', 'cw')
  vim.api.nvim_buf_set_lines(0, line, line + 1, false, { '  https: {port: 8443, from: any}' })
  local shown = shown_by('HieraLs impact', 'What the edit of data/role/web.yaml changes')
  contains(shown, '1 key for 3 of 8 nodes', 'profile::web::firewall', 'port: 443', 'port: 8443')
  vim.cmd.close()
  vim.cmd('edit!')
end)

test('the doctor says what is known of the workspace', function()
  open('data/common.yaml')
  local shown = shown_by('HieraLs doctor', 'Hiera doctor')
  contains(shown, 'hiera.yaml — environment in .', 'Variables that levels need', '8 nodes from nodes.json')
  vim.cmd.close()
end)

test('an upgrade is previewed, and hovers say what changes', function()
  open('data/role/db.yaml')
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'profile::db::host: "%{::fqdn}"' })
  local shown = shown_by('HieraLs upgrade 8 7', 'Upgrade from Puppet 7 to Puppet 8')
  contains(shown, '1 key fails on 2 nodes: profile::db::host', 'data/role/db.yaml:', "Undefined variable '::fqdn'")
  vim.cmd.close()
  contains(hover('profile::db::host'), 'changes in 8: fails on 2 of 8 nodes')
  vim.cmd('HieraLs upgrade off')
  vim.cmd('edit!')
end)

test('another hiera.yaml is chosen, and the usual one again', function()
  local lab = workspace .. '/hiera-lab.yaml'
  vim.fn.writefile({
    'version: 5',
    'defaults: {datadir: data, data_hash: yaml_data}',
    'hierarchy:',
    '  - {name: Lab, path: common.yaml}',
  }, lab)
  open('data/common.yaml')
  vim.cmd('HieraLs rescan')
  local message
  local notify, select = vim.notify, vim.ui.select
  vim.notify = function(text)
    message = text
  end
  local function choose(file)
    local chosen
    vim.ui.select = function(choices, options, done)
      chosen = false
      for _, choice in ipairs(choices) do
        if vim.startswith(options.format_item(choice), file) then
          chosen = true
          return done(choice)
        end
      end
    end
    wait(file .. ' to be offered', function()
      chosen = nil
      vim.cmd('HieraLs hierarchy')
      vim.wait(LIMIT, function()
        return chosen ~= nil
      end, 20)
      return chosen
    end)
  end
  choose('hiera-lab.yaml')
  wait('the chosen one to answer', function()
    return not hover('profile::web::firewall'):find('role/web.yaml', 1, true)
  end)
  contains(message, '.hiera-ls.yaml', 'hierarchy: "hiera-lab.yaml"')
  choose('automatic')
  wait('the usual one to answer', function()
    return hover('profile::web::firewall'):find('role/web.yaml', 1, true)
  end)
  vim.notify, vim.ui.select = notify, select
  vim.fn.delete(lab)
end)

test('lenses open what they count', function()
  open('data/role/web.yaml')
  local buffer = vim.api.nvim_get_current_buf()
  local titles
  wait('the lenses', function()
    vim.lsp.codelens.refresh({ bufnr = buffer })
    vim.wait(100, function()
      return #vim.lsp.codelens.get(buffer) > 0
    end)
    titles = vim.tbl_map(function(lens)
      return lens.command.title
    end, vim.lsp.codelens.get(buffer))
    return vim.tbl_contains(titles, 'also set in 1 file of higher levels · 1 file of lower levels')
  end)
  vim.api.nvim_win_set_cursor(0, { 6, 0 })
  -- The line has two: the first is chosen.
  local select = vim.ui.select
  vim.ui.select = function(choices, _, done)
    done(choices[1], 1)
  end
  contains(shown_by('lua vim.lsp.codelens.run()', 'Values of profile::web::tags'), '3 different values on 8 nodes')
  vim.ui.select = select
  vim.cmd.only()
end)

test('hints say what is overridden, and what a token is worth', function()
  open('data/common.yaml')
  vim.lsp.inlay_hint.enable(true)
  local labels = {}
  wait('the hints', function()
    for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = 0 })) do
      local label = hint.inlay_hint.label
      labels[hint.inlay_hint.position.line + 1] = type(label) == 'table' and label[1].value or label
    end
    return labels[35] and labels[56]
  end)
  contains(labels[35], '↑ 7/8 site/lon.yaml:2 +1')
  assert(labels[56] == '= Acme', labels[56])
  vim.lsp.inlay_hint.enable(false)
end)

test('calls lead from a key to those that it looks up', function()
  open('data/common.yaml')
  vim.fn.search('\\Vprofile::web::server_name', 'cw')
  vim.lsp.buf.outgoing_calls()
  wait('the calls', function()
    return #vim.fn.getqflist() > 0
  end)
  contains(vim.inspect(vim.tbl_map(function(item)
    return item.text
  end, vim.fn.getqflist())), 'site::domain')
  vim.cmd.cclose()
end)

test('who looks a key up', function()
  open('data/common.yaml')
  local shown = shown_by('HieraLs uses site::domain', 'Uses of site::domain')
  contains(shown, '3 uses', 'data/inventory.json:8', 'profile::web::server_name')
  vim.cmd.only()
end)

test('a fact of a what-if is shown, and can be taken back', function()
  open('data/role/web.yaml')
  assert(vim.tbl_contains(vim.fn.getcompletion('HieraLs setFact os.', 'cmdline'), 'os.family'))
  vim.cmd('HieraLs setFact os.family RedHat')
  wait('the what-if in the status line', function()
    return require('hiera_ls').status():find('what if 1', 1, true)
  end)
  local input = vim.ui.input
  vim.ui.input = function(_, done)
    done('')
  end
  vim.cmd('HieraLs setFact os.family')
  vim.ui.input = input
  wait('the end of the what-if', function()
    return not require('hiera_ls').status():find('what if', 1, true)
  end)
end)

test('a fact is chosen among those that the hierarchy uses, and all are taken back', function()
  open('data/role/web.yaml')
  local offered
  local select, input = vim.ui.select, vim.ui.input
  vim.ui.select = function(choices, options, done)
    offered = vim.tbl_map(options.format_item, choices)
    for at, label in ipairs(offered) do
      if vim.startswith(label, 'site  ') then
        done(choices[at])
      end
    end
  end
  vim.ui.input = function(_, done)
    done('nyc')
  end
  vim.cmd('HieraLs setFact')
  wait('the override', function()
    return require('hiera_ls').status():find('what if 1', 1, true)
  end)
  vim.ui.select, vim.ui.input = select, input
  contains(table.concat(offered, '\n'), 'os.family  Debian (5 nodes), RedHat (3 nodes)')
  assert(not vim.iter(offered):any(function(label)
    return vim.startswith(label, 'trusted.')
  end))
  vim.cmd('HieraLs clearFacts')
  wait('the end of the what-if', function()
    return not require('hiera_ls').status():find('what if', 1, true)
  end)
end)

test('a recipe for a file of nodes is shown, not run', function()
  local select = vim.ui.select
  vim.ui.select = function(recipes, _, done)
    done(recipes[1])
  end
  local shown = shown_by('HieraLs createNodes', 'nodes.json from PuppetDB')
  vim.ui.select = select
  contains(shown, 'hiera-ls nodes import --puppetdb https://puppetdb.example.com:8081')
  vim.cmd.close()
end)

test('the command that imports nodes is offered, to be changed before it runs', function()
  local input, offered = vim.ui.input, nil
  vim.ui.input = function(options, done)
    offered = options.default
    done(nil)
  end
  vim.cmd('HieraLs importNodes')
  wait('the command', function()
    return offered
  end)
  vim.ui.input = input
  contains(offered, 'hiera-ls nodes import --workspace ')
end)

test('a key that is not there is a sentence, not a stack of errors', function()
  open('data/role/web.yaml')
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  local message = message_of('HieraLs explain')
  contains(message, 'hiera-ls: ', 'no key')
  assert(not message:find('\n'), message)
end)

--- The diagnostics of the buffer by source: the numbers of their lines, counted from 1.
local function problems()
  local lines = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    lines[diagnostic.source] = lines[diagnostic.source] or {}
    table.insert(lines[diagnostic.source], diagnostic.lnum + 1)
  end
  return lines
end

local function count(text, part)
  local _, times = text:gsub(vim.pesc(part), '')
  return times
end

test('beside yamlls, a hover shows what each knows, once', function()
  local schema = vim.fn.tempname() .. '.json'
  local described = { ['profile::web::firewall'] = { description = 'from the schema' } }
  vim.fn.writefile({ vim.json.encode({ type = 'object', properties = described }) }, schema)
  vim.lsp.config('yamlls', {
    cmd = { vim.env.YAMLLS, '--stdio' },
    filetypes = { 'yaml' },
    root_dir = workspace,
    settings = {
      redhat = { telemetry = { enabled = false } },
      -- Nothing is asked for in the network.
      yaml = { schemaStore = { enable = false, url = '' }, schemas = { [schema] = 'data/role/*.yaml' } },
    },
  })
  vim.lsp.enable('yamlls')
  open('data/role/web.yaml')
  vim.fn.search('\\Vprofile::web::firewall', 'cw')
  wait('yamlls to know the schema', function()
    local other = vim.lsp.get_clients({ bufnr = 0, name = 'yamlls' })[1]
    if not (other and other.initialized) then
      return false
    end
    local parameters = vim.lsp.util.make_position_params(0, other.offset_encoding)
    local reply = other:request_sync('textDocument/hover', parameters, LIMIT)
    return vim.tbl_get(reply or {}, 'result', 'contents') ~= nil
  end)
  local shown = hover('profile::web::firewall')
  for _, part in ipairs({ 'merged as hash from 2 levels', 'from the schema', '# hiera_ls', '# yamlls' }) do
    assert(count(shown, part) == 1, part .. ' is not there once:\n' .. shown)
  end
end)

test('beside yamlls, healthy data has no problems, and a mistake one of each at most', function()
  open('data/role/web.yaml')
  -- The second of the same keys brings both to speak, and so shows that both have looked.
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'twice: 1', 'twice: 2' })
  local last = vim.api.nvim_buf_line_count(0)
  wait('both to find the second key', function()
    return vim.deep_equal(problems(), { ['hiera-ls'] = { last }, YAML = { last } })
  end)
  vim.cmd('silent undo')
  wait('no problems', function()
    return vim.tbl_isempty(problems())
  end)
  vim.cmd('edit!')
end)

test('yamlls without its own checks leaves the mistakes to hiera-ls', function()
  open('mistakes/values/data/families/scalars.yaml')
  wait('problems of both', function()
    return problems()['hiera-ls'] and problems().YAML
  end)
  local ours = problems()['hiera-ls']
  local other = vim.lsp.get_clients({ bufnr = 0, name = 'yamlls' })[1]
  other.settings.yaml.validate = false
  other:notify('workspace/didChangeConfiguration', { settings = other.settings })
  wait('those of yamlls to go', function()
    return not problems().YAML
  end)
  assert(vim.deep_equal(problems()['hiera-ls'], ours))
  vim.lsp.enable('yamlls', false)
  other:stop()
  wait('yamlls to end', function()
    return #vim.lsp.get_clients({ name = 'yamlls' }) == 0
  end)
end)

test('the status line names what there is', function()
  open('mistakes/values/data/families/loops.yaml')
  -- The buffer is from before a restart: Neovim asks for its problems when it is read again.
  vim.cmd('edit!')
  local status = require('hiera_ls').status
  wait('errors in the status line', function()
    return status():find(' E%d+')
  end)
  assert(status():find('^Hiera: all nodes %(8%) E%d+'), status())
end)

test('restart attaches again', function()
  local before = client().id
  vim.cmd('HieraLs restart')
  wait('a new client', function()
    return client() and client().initialized and client().id ~= before
  end)
end)

test(':HieraLs log opens what the language clients have written', function()
  vim.cmd('HieraLs log')
  assert(vim.api.nvim_buf_get_name(0) == vim.lsp.log.get_filename(), vim.api.nvim_buf_get_name(0))
  vim.cmd('bwipeout!')
end)

test('what takes long shows how far it is, and can be ended', function()
  -- Two environments with many keys over many nodes: comparing them takes a while on any machine.
  local folder = vim.fs.joinpath(vim.fs.dirname(workspace), 'large')
  local function write(path, lines)
    local file = vim.fs.joinpath(folder, path)
    vim.fn.mkdir(vim.fs.dirname(file), 'p')
    vim.fn.writefile(lines, file)
  end
  local levels = { 'version: 5', 'hierarchy:', '  - {name: common, path: common.yaml, data_hash: yaml_data, datadir: data}' }
  local keys, nodes = {}, {}
  for number = 1, 2000 do
    table.insert(keys, ('key%d: "%%{facts.n}-%d"'):format(number, number))
  end
  for number = 1, 1000 do
    nodes[('n%d.example'):format(number)] = { facts = { n = number } }
  end
  write('hiera.yaml', levels)
  write('nodes.json', { vim.json.encode(nodes) })
  for _, environment in ipairs({ 'production', 'staging' }) do
    write('environments/' .. environment .. '/hiera.yaml', levels)
    write('environments/' .. environment .. '/environment.conf', {})
    write('environments/' .. environment .. '/data/common.yaml', keys)
  end
  vim.cmd.edit(vim.fn.fnameescape(folder .. '/environments/production/data/common.yaml'))
  wait('the client', function()
    return client() ~= nil and client().initialized
  end)
  local nodes_known = { command = 'hiera.nodes', arguments = { vim.empty_dict() } }
  assert(client():request_sync('workspace/executeCommand', nodes_known, LIMIT), 'all files are read')
  local messages, ended = {}, false
  local listening = vim.api.nvim_create_autocmd('LspProgress', {
    callback = function(event)
      local progress = event.data.params.value
      table.insert(messages, progress.message)
      ended = ended or progress.kind == 'end'
    end,
  })
  local function is_reported()
    return vim.iter(messages):any(function(message)
      return message:find(' of 2000 keys', 1, true)
    end)
  end
  vim.cmd('HieraLs diff production staging')
  wait('progress', is_reported)
  ended = false
  vim.cmd('HieraLs cancel')
  wait('the end', function()
    return ended
  end)
  vim.api.nvim_del_autocmd(listening)
  assert(not vim.api.nvim_buf_get_name(0):find('hiera-ls://', 1, true), 'nothing is shown')
end)

--- The first answer to a request at the place of `text` in the buffer.
local function ask(method, text, more)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  assert(vim.fn.search('\\V' .. text, 'c') > 0, text)
  local parameters = vim.lsp.util.make_position_params(0, client().offset_encoding)
  local reply = client():request_sync(method, vim.tbl_extend('force', parameters, more or {}), LIMIT)
  assert(reply and reply.result, vim.inspect(reply))
  return reply.result
end

test('from a token to the level of its key, in another file', function()
  open('data/inventory.json')
  ask('textDocument/definition', 'site::domain')
  vim.fn.setqflist({})
  vim.lsp.buf.definition()
  wait('the levels of the key', function()
    return #vim.fn.getqflist() == 3
  end)
  -- Neovim orders them by the names of their files.
  vim.cmd('cclose | cfirst')
  contains(vim.api.nvim_buf_get_name(0), 'data/common.yaml')
  contains(vim.api.nvim_get_current_line(), 'site::domain:')
end)

test('references of a key are listed', function()
  open('data/common.yaml')
  ask('textDocument/references', 'site::name', { context = { includeDeclaration = true } })
  vim.fn.setqflist({})
  vim.lsp.buf.references()
  wait('references', function()
    return #vim.fn.getqflist() > 1
  end)
  vim.cmd('silent! cclose')
end)

test('a completion is accepted in half-typed text', function()
  open('data/common.yaml')
  local before = text_of(0)
  local half = "half: \"%{lookup('site::na"
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { half })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), #half })
  local parameters = vim.lsp.util.make_position_params(0, client().offset_encoding)
  -- Outside of insert mode the cursor stands on the last letter, not behind it.
  parameters.position.character = #half
  local reply = client():request_sync('textDocument/completion', parameters, LIMIT)
  local item = reply.result.items[1]
  assert(item and item.label == 'site::name', vim.inspect(reply.result))
  vim.lsp.util.apply_text_edits({ item.textEdit }, vim.api.nvim_get_current_buf(), client().offset_encoding)
  contains(text_of(0), "half: \"%{lookup('site::name')}")
  vim.cmd('silent undo | silent undo')
  assert(text_of(0) == before, 'the completion is undone')
end)

test('a rename goes through other files, and is undone', function()
  open('data/inventory.json')
  local inventory = vim.api.nvim_get_current_buf()
  open('data/common.yaml')
  local common = vim.api.nvim_get_current_buf()
  local before = { text_of(common), text_of(inventory) }
  ask('textDocument/prepareRename', '\\^site::domain')
  vim.lsp.buf.rename('site::zone')
  wait('the new name', function()
    return text_of(common):find('\nsite::zone:', 1, true) ~= nil
  end)
  contains(text_of(common), "lookup('site::zone')")
  contains(text_of(inventory), "lookup('site::zone')")
  for _, buffer in ipairs({ common, inventory }) do
    vim.api.nvim_buf_call(buffer, function()
      vim.cmd('silent undo')
    end)
  end
  assert(vim.deep_equal(before, { text_of(common), text_of(inventory) }), 'the rename is undone')
end)

test('a parameter is renamed in data and in code', function()
  -- What was undone is as it was; Neovim takes it for changed.
  vim.cmd('silent! wall')
  open('data/common.yaml')
  local common = vim.api.nvim_get_current_buf()
  local before = text_of(common)
  ask('textDocument/prepareRename', '\\^profile::web::workers')
  vim.lsp.buf.rename('profile::web::processes')
  wait('the new name', function()
    return text_of(common):find('\nprofile::web::processes:', 1, true) ~= nil
  end)
  local in_code = false
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buffer].modified then
      local is_class = vim.endswith(vim.api.nvim_buf_get_name(buffer), 'manifests/web.pp')
      in_code = in_code or (is_class and text_of(buffer):find('$processes', 1, true) ~= nil)
      vim.api.nvim_buf_call(buffer, function()
        vim.cmd('silent undo')
      end)
    end
  end
  assert(in_code, 'the class has the new name')
  assert(text_of(common) == before, 'the rename is undone')
end)

--- Answers what a command asks, one after the other: of choices the first that contains the text.
local function answering(answers, command)
  local prompts = {}
  local select, input = vim.ui.select, vim.ui.input
  local function next_answer(prompt)
    table.insert(prompts, prompt)
    return table.remove(answers, 1)
  end
  vim.ui.select = function(choices, options, done)
    local wanted = next_answer(options.prompt)
    for at, choice in ipairs(choices) do
      if options.format_item and options.format_item(choice):find(wanted, 1, true) or choice == wanted then
        return done(choice, at)
      end
    end
    error(("'%s' is not offered: %s"):format(wanted, vim.inspect(choices)))
  end
  vim.ui.input = function(options, done)
    done(next_answer(options.prompt))
  end
  vim.cmd(command)
  wait('all questions', function()
    return #answers == 0
  end)
  vim.ui.select, vim.ui.input = select, input
  return prompts
end

test('a value is set for the nodes that are named, after its diff was shown', function()
  -- Undone edits of other tests leave it marked.
  vim.cmd('silent edit!')
  open('data/common.yaml')
  vim.fn.search('\\Vprofile::web::port', 'cw')
  answering({ '8443', 'role=web', 'only these nodes', "Set 'profile::web::port' in data/role/web", 'no' }, 'HieraLs setValue')
  local web = vim.fn.bufadd(workspace .. '/data/role/web.yaml')
  vim.fn.bufload(web)
  assert(not text_of(web):find('profile::web::port', 1, true), 'nothing is edited')
  local prompts = answering({ 'only these nodes', "Set 'profile::web::port' in data/role/web", 'yes' }, 'HieraLs setValue 8443 role=web')
  assert(vim.deep_equal(prompts[3], 'Make this edit?'), vim.inspect(prompts))
  wait('the edit', function()
    return text_of(web):find('profile::web::port: 8443', 1, true)
  end)
  -- What overrides it went from other files.
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buffer].modified then
      vim.api.nvim_buf_call(buffer, function()
        vim.cmd('silent undo')
      end)
    end
  end
  assert(not text_of(web):find('profile::web::port', 1, true), 'the edit is undone')
  -- A value that there is already needs no edit.
  open('data/common.yaml')
  vim.fn.search('\\Vsite::name', 'cw')
  local message
  local notify = vim.notify
  vim.notify = function(text)
    message = text
  end
  answering({ 'only these nodes' }, 'HieraLs setValue Acme all')
  wait('a message', function()
    return message
  end)
  vim.notify = notify
  contains(message, "these nodes already get this value of 'site::name'")
end)

test('the levels in the way of a value are named', function()
  open('data/common.yaml')
  vim.fn.search('\\Vprofile::web::port', 'cw')
  local shown = shown_by('HieraLs whyNot 8080 web01.lon.acme.example', 'Why web01.lon.acme.example does not get')
  contains(shown, '9443, not 8080 for web01.lon.acme.example', 'web01.lon.acme.example.yaml:2 sets it to 9443, which is used')
  vim.cmd.close()
end)

test('a refactoring is made, and undone', function()
  local path = workspace .. '/data/node/moves.acme.example.yaml'
  local lines = { 'moves::one: [alpha, beta]', 'moves::two: [alpha, beta]' }
  vim.fn.writefile(lines, path)
  open('data/node/moves.acme.example.yaml')
  ask('textDocument/documentSymbol', 'moves::one')
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return vim.startswith(action.title, 'Extract this value')
    end,
  })
  wait('the new key', function()
    return text_of(0):find('moves::one_shared:', 1, true) ~= nil
  end)
  contains(text_of(0), [[moves::two: "%{alias('moves::one_shared')}"]])
  vim.cmd('silent undo')
  assert(text_of(0) == table.concat(lines, '\n'), text_of(0))
  vim.cmd('bwipeout!')
  vim.fn.delete(path)
end)

test(':help hiera-ls', function()
  -- As it comes, without a plugin manager that makes them; they are those of the text.
  local tags = vim.env.PLUGIN .. '/doc/tags'
  local before = vim.fn.readfile(tags)
  vim.cmd.help('hiera-ls')
  vim.cmd.helptags(vim.env.PLUGIN .. '/doc')
  assert(vim.deep_equal(before, vim.fn.readfile(tags)), 'doc/tags is old: run :helptags')
  contains(vim.api.nvim_buf_get_name(0), 'hiera-ls.txt')
  vim.cmd.help(':HieraLs')
  vim.cmd.helpclose()
end)

test(':checkhealth hiera_ls', function()
  vim.cmd.checkhealth('hiera_ls')
  local shown = text_of(0)
  contains(shown, 'hiera-ls 0.', 'enabled', 'attached to', workspace)
  assert(not shown:find('ERROR', 1, true), shown)
  vim.cmd.close()
  -- And when the program is missing.
  vim.lsp.config('hiera_ls', { cmd = { '/nowhere/hiera-ls', '--stdio' } })
  vim.cmd.checkhealth('hiera_ls')
  contains(text_of(0), "no program '/nowhere/hiera-ls'", 'cargo install')
end)

finish()
