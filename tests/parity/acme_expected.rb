# frozen_string_literal: true

# Writes fixtures/acme/EXPECTED.json: what real Puppet says of the fixture's keys for all its nodes.
#
#   ruby tests/parity/acme_expected.rb            writes the file
#   ruby tests/parity/acme_expected.rb --check    fails if the file says anything else
#   ruby tests/parity/acme_expected.rb --cli      also asks the `puppet lookup` command for a sample
#
# The fixture is healthy: a warning, or a failure, under the defaults of Puppet 7 or under the strict
# defaults of Puppet 8 is an error of this script.

require_relative 'acme_oracle'
require 'open3'
require 'yaml'

TARGET = ACME + 'EXPECTED.json'

# Besides every key that the data holds: dotted keys, a key nobody sets, and merges asked for.
MORE_REQUESTS = [
  { 'key' => 'profile::web::tls.protocols.0' },
  { 'key' => 'profile::base::sysctl.net."core.somaxconn"' },
  { 'key' => 'accounts::users.alice.groups' },
  { 'key' => 'accounts::users.nobody' },
  { 'key' => 'haproxy::timeouts.server.read' },
  { 'key' => 'site::racks.nyc.0' },
  { 'key' => 'site::racks.nyc.7' },
  { 'key' => 'profile::web::nothing' },
  { 'key' => 'nowhere' },
  { 'key' => 'lookup_options' },
  { 'key' => 'profile::base::packages', 'merge' => 'first' },
  { 'key' => 'ntp::servers', 'merge' => 'unique' },
  { 'key' => 'accounts::users', 'merge' => 'hash' },
  { 'key' => 'accounts::users', 'merge' => 'first' },
  { 'key' => 'profile::base::cron', 'merge' => 'first' },
  { 'key' => 'profile::base::tags', 'merge' => { 'strategy' => 'deep', 'sort_merged_arrays' => true } },
  { 'key' => 'profile::web::tags', 'merge' => 'unique' },
  { 'key' => 'haproxy::timeouts', 'merge' => 'first' },
].freeze

# (key, node) pairs for the command itself. It has no node classifier and knows no trusted extensions,
# so the node's variables go in as facts.
CLI_SAMPLE = [
  ['profile::web::port', 'web01.lon.acme.example'], ['profile::web::port', 'web02.lon.acme.example'],
  ['accounts::users', 'web01.lon.acme.example'], ['profile::base::packages', 'db01.lon.acme.example'],
  ['profile::base::mounts', 'web01.nyc.acme.example'], ['profile::db::url', 'db01.nyc.acme.example'],
  ['profile::base::motd', 'build01.lon.acme.example'], ['haproxy::timeouts', 'cache01.nyc.acme.example'],
  ['inventory::rack', 'mail01.ams.acme.example'], ['profile::web::certificates', 'web01.lon.acme.example']
].freeze

def keys_of_the_data
  files = Pathname.glob(ACME + '{data,modules/*/data,site-modules/*/data}/**/*.{yaml,eyaml,json}')
  keys = files.flat_map { |file| YAML.safe_load(file.read, aliases: true).keys }
  (keys + %w[inventory::rack inventory::warranty_years]).uniq.sort - ['lookup_options']
end

def same_on_the_command_line(path, nodes, answers)
  CLI_SAMPLE.each do |key, certname|
    node = nodes.fetch(certname)
    Dir.mktmpdir do |folder|
      facts = "#{folder}/facts.json"
      File.write(facts, JSON.dump(node['facts'].merge(node['variables'])))
      out, err, = Open3.capture3(
        'puppet', 'lookup', key, '--node', certname, '--facts', facts, '--render-as', 'json',
        '--environment', 'production', '--environmentpath', path.parent.to_s,
        '--confdir', "#{folder}/conf", '--vardir', "#{folder}/var", '--codedir', "#{folder}/code", stdin_data: ''
      )
      want = answers.find { |a| a['key'] == key && a['node'] == certname && !a['merge'] }
      abort "puppet lookup #{key} for #{certname}: #{out.inspect} #{err}" unless JSON.parse("[#{out}]") == [want['value']]
      abort "puppet lookup #{key} for #{certname} says: #{err}" unless err.empty?
    end
  end
  puts "#{CLI_SAMPLE.size} lookups by the puppet command agree"
end

# The catalogs of all nodes, by the compiler of tests/parity/oracle.rb.
def every_catalog_compiles(path, nodes)
  requests = nodes.map do |certname, node|
    JSON.dump('id' => certname, 'node' => certname, 'environment_dir' => path.to_s, 'puppet_version' => 7, 'compile' => 'catalog',
              **node.slice('facts', 'trusted', 'variables'))
  end
  out, = Open3.capture2('ruby', "#{__dir__}/oracle.rb", stdin_data: requests.join("\n") + "\n")
  answers = out.lines.map { |line| JSON.parse(line) }
  refused = answers.reject { |answer| answer.key?('parameters') }
  abort "no catalog: #{refused.first}" unless refused.empty? && answers.size == nodes.size
  puts "the catalogs of #{answers.size} nodes compile"
end

oracle = Oracle.new
path = oracle.install(ACME) { |copy| FileUtils.rm_rf(copy + 'mistakes') }
nodes = JSON.parse((ACME + 'nodes.json').read)
requests = keys_of_the_data.map { |key| { 'key' => key } } + MORE_REQUESTS
complaints = []
answers = requests.flat_map do |request|
  nodes.map do |certname, node|
    options = { certname: certname, facts: node['facts'], trusted: node['trusted'], variables: node['variables'],
                merge: request['merge'] }
    lenient, strict = %i[warning error].map { |level| oracle.lookup(request['key'], **options, strict: level) }
    complaints << [request, certname, lenient, strict] unless lenient == strict && lenient.logs.empty? &&
                                                              lenient.outcome != :failed
    result = { 'key' => request['key'], 'node' => certname }
    result['merge'] = request['merge'] if request['merge']
    result['found'] = lenient.outcome == :found
    result['value'] = tagged(lenient.value) if result['found']
    result
  end
end
unless complaints.empty?
  complaints.first(10).each { |complaint| warn complaint.inspect }
  abort "#{complaints.size} lookups of the healthy part warn, fail or depend on strictness"
end

text = "{\n\"puppet\": #{JSON.dump(Puppet.version)},\n\"answers\": [\n" +
       answers.map { |answer| JSON.dump(answer) }.join(",\n") + "\n]\n}\n"
if ARGV.include?('--check')
  abort "#{TARGET} is not what Puppet says: run tests/parity/acme_expected.rb" unless TARGET.read == text
else
  TARGET.write(text)
end
found = answers.count { |answer| answer['found'] }
puts "#{answers.size} lookups: #{found} found, #{answers.size - found} not found, no warning"
every_catalog_compiles(path, nodes)
same_on_the_command_line(path, nodes, answers) if ARGV.include?('--cli')
