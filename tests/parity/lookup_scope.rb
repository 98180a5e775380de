#!/usr/bin/env ruby
# frozen_string_literal: true

# Writes the tables of docs/lookup-scope.md: what the variables of hierarchies and data contain in the commands of real
# Puppet, and in a catalog that a server compiles for an agent.
#
#   ruby tests/parity/lookup_scope.rb            writes the page
#   ruby tests/parity/lookup_scope.rb --check    fails if the page says anything else
#   ruby tests/parity/lookup_scope.rb --json     prints the answers
#
# Puppet is Debian's package, which comes first in the page. OPENVOX names a folder with OpenVox's sources, for the second
# table; without it that table is left as it is.

require 'fileutils'
require 'json'
require 'open3'
require 'tmpdir'

PAGE = File.expand_path('../../docs/lookup-scope.md', __dir__)

VARIABLES = %w[
  facts.role role facts.clientcert trusted.authenticated trusted.certname trusted.hostname trusted.domain
  trusted.extensions.pp_role trusted.external.a server_facts.environment server_facts.servername server_facts.serverversion
  environment servername serverversion clientcert clientversion module_name calling_module calling_class title
  from_site from_block found::from_class
].freeze

NODE = 'web1.example.com'
PLAIN = { 'role' => 'web' }.freeze
NAMED = PLAIN.merge('clientcert' => 'cert.example.com', 'fqdn' => 'cert.example.com', 'hostname' => 'cert',
                    'domain' => 'example.com').freeze

# What agents send, among much else.
OF_AGENT = PLAIN.merge('clientcert' => NODE, 'clientversion' => '8.0.0').freeze

# The columns of a table: a title, and how the answer is got.
COLUMNS = {
  '`lookup --facts`' => %w[lookup plain],
  '`lookup --facts` with `clientcert`' => %w[lookup named],
  '`lookup --facts --environment`' => %w[lookup plain --environment staging],
  '`lookup --facts --compile`' => %w[lookup plain --compile],
  '`lookup --compile` with `clientcert`' => %w[lookup named --compile],
  '`lookup`, stored facts' => %w[lookup stored],
  '`lookup --compile`, stored facts' => %w[lookup stored --compile],
  '`apply`' => %w[apply],
  'an agent\'s catalog' => %w[agent]
}.freeze

# The server's part of an agent's run: `Puppet::Resource::Catalog::Compiler#find`, with the data of a certificate.
AGENT = <<~RUBY
  require 'puppet'
  require 'puppet/indirector/catalog/compiler'
  require 'json'
  node, facts, *settings = ARGV
  Puppet.initialize_settings(settings)
  Puppet::Node::Facts.indirection.terminus_class = :memory
  facts = Puppet::Node::Facts.new(node, JSON.parse(File.read(facts)))
  trusted = Puppet::Context::TrustedInformation.new('remote', node, { 'pp_role' => 'extension' }, { 'a' => 'external' })
  Puppet.push_context(Puppet.base_context(Puppet.settings))
  Puppet.override(trusted_information: trusted) do
    request = Puppet::Indirector::Request.new(:catalog, :find, node, nil, environment: 'production', facts: facts,
                                              facts_format: 'application/json')
    catalog = Puppet::Resource::Catalog::Compiler.new.find(request)
    puts catalog.resource('Notify', 'answer')[:message]
  end
RUBY

SITE = <<~PUPPET
  $from_site = 'site'
  node default {
    $from_block = 'block'
    include found
    notify { 'answer': message => lookup('all').map |$name, $value| { "${name}=${value}" }.join("\\n") }
  }
PUPPET

def write(root, name, text)
  path = File.join(root, name)
  FileUtils.mkdir_p(File.dirname(path))
  File.write(path, text)
end

def workspace(root)
  %w[production staging].each do |environment|
    dir = "envs/#{environment}"
    write(root, "#{dir}/hiera.yaml", "version: 5\nhierarchy: [{name: common, path: common.yaml}]\n")
    values = VARIABLES.map { |name| "  #{name}: \"%{#{name}}\"\n" }
    write(root, "#{dir}/data/common.yaml", "all:\n#{values.join}")
    write(root, "#{dir}/manifests/site.pp", SITE)
    write(root, "#{dir}/modules/found/manifests/init.pp", "class found { $from_class = 'class' }\n")
    write(root, "#{dir}/environment.conf", "modulepath = modules\n")
  end
  write(root, 'plain.json', JSON.dump(PLAIN))
  write(root, 'named.json', JSON.dump(NAMED))
  stored = "--- !ruby/object:Puppet::Node::Facts\nname: #{NODE}\nvalues:\n" + OF_AGENT.map { |k, v| "  #{k}: #{v}\n" }.join
  write(root, 'agent.json', JSON.dump(OF_AGENT))
  write(root, "stored/yaml/facts/#{NODE}.yaml", stored)
  write(root, 'agent.rb', AGENT)
end

# What the variables contain in one column: texts by name.
def answer(root, version, column)
  kind, *rest = column
  settings = ['--confdir', "#{root}/conf", '--vardir', "#{root}/var", '--codedir', "#{root}/conf", '--publicdir', "#{root}/var",
              '--environmentpath', "#{root}/envs", '--strict', 'warning', '--no-strict_variables']
  environment = { 'HOME' => root }
  puppet = ['puppet']
  if version
    environment['RUBYLIB'] = "#{version}/lib"
    puppet = ['ruby', '-rset', "#{version}/bin/puppet"]
  end
  command =
    case kind
    when 'lookup'
      facts, *options = rest
      file = facts == 'stored' ? [] : ['--facts', "#{root}/#{facts}.json"]
      settings.map! { |setting| setting.sub('/var', '/stored') } if facts == 'stored'
      [*puppet, 'lookup', 'all', '--node', NODE, '--render-as', 'json', *file, *options, *settings]
    when 'apply'
      [*puppet, 'apply', "#{root}/envs/production/manifests/site.pp", '--environment', 'production', '--certname', NODE,
       '--color', 'false', *settings]
    when 'agent'
      ['ruby', '-rset', "#{root}/agent.rb", NODE, "#{root}/agent.json", *settings]
    end
  out, err, = Open3.capture3(environment.merge('FACTER_role' => 'web'), *command)
  if kind == 'lookup'
    abort "#{command.join(' ')}: #{out} #{err}" unless out[/^\{.*\}$/m]
    return JSON.parse(out[/^\{.*\}$/m])
  end

  found = out.gsub('\n', "\n").scan(/([\w.:]+)=(.*?)["']?$/).to_h.slice(*VARIABLES)
  abort "#{command.join(' ')}: #{out} #{err}" if found.size < VARIABLES.size
  found
end

# What stands in the page for a value: facts and versions of this machine have no place in it.
def shown(name, text, version)
  return '–' if text.empty?
  return '(its version)' if name.end_with?('version')
  return '(its name)' if name.end_with?('servername')

  "`#{text}`"
end

def table(version)
  columns = COLUMNS.map do |_, column|
    Dir.mktmpdir('lookup-scope') do |root|
      workspace(root)
      answer(root, version, column)
    end
  end
  return columns if ARGV.include?('--json')

  rows = VARIABLES.map do |name|
    cells = columns.map { |values| shown(name, values.fetch(name).to_s, version) }
    "| `#{name}` | #{cells.join(' | ')} |\n"
  end
  "| variable | #{COLUMNS.keys.join(' | ')} |\n| --- |#{' --- |' * COLUMNS.size}\n#{rows.join}"
end

def replaced(page, name, table)
  page.sub(/(<!-- #{name} -->\n\n).*?(\n<!-- end -->)/m) { Regexp.last_match(1) + table + Regexp.last_match(2) }
end

if ARGV.include?('--json')
  puts JSON.pretty_generate([table(nil), ENV['OPENVOX'] && table(ENV['OPENVOX'])])
  exit
end
page = File.read(PAGE)
text = replaced(page, 'puppet 7', table(nil))
text = replaced(text, 'openvox 8', table(ENV['OPENVOX'])) if ENV['OPENVOX']
if ARGV.include?('--check')
  abort "#{PAGE} is not what Puppet says: run tests/parity/lookup_scope.rb" unless page == text
else
  File.write(PAGE, text)
end
puts "#{VARIABLES.size} variables in #{COLUMNS.size} commands"
