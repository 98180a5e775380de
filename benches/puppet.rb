# frozen_string_literal: true

# Real Puppet's side of benches/lookup.rs: a plan as JSON on standard input, answers and processor seconds
# as JSON on standard output. Files stay parsed in Puppet's environment cache and the process is warm, as in
# a server; the compiler that a scope needs is made outside of the clock.

require 'json'
require_relative '../tests/parity/oracle'

Oracle.start
plan = JSON.parse($stdin.read)

def cpu
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

def ask(scope, key)
  invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
  Oracle.find(scope, { 'key' => key }, invocation)
rescue Puppet::DataBinding::LookupError => e
  e.message.start_with?('Function lookup() did not find') ? Oracle::NOTHING : raise
end

def request(plan, node)
  { 'environment_dir' => plan['environment_dir'], 'node' => node['certname'], 'facts' => Marshal.load(Marshal.dump(node['facts'])),
    'puppet_version' => 8, 'keys' => [] }
end

def answer_of(value)
  value.equal?(Oracle::NOTHING) ? { 'missing' => true } : { 'value' => Oracle.tag(value) }
end

result = { 'puppet' => Puppet.version, 'sets' => {} }
Oracle.configure('puppet_version' => 8)

# One scope, many keys. The first key makes what a scope keeps; then the clock runs for each other key
# once, and again for all keys asked some more times.
plan['sets'].each do |name, rounds|
  once = 0.0
  again = 0.0
  answers = []
  plan['nodes'].each do |node|
    keys = node[name]
    Oracle.with_scope(request(plan, node)) do |scope|
      first = ask(scope, keys.first)
      start = cpu
      found = keys.drop(1).map { |key| ask(scope, key) }
      once += cpu - start
      answers << [first, *found].map { |value| answer_of(value) }
      start = cpu
      rounds.times { keys.each { |key| ask(scope, key) } }
      again += cpu - start
    end
  end
  key_count = plan['nodes'].sum { |node| node[name].size }
  result['sets'][name] = { 'seconds' => once, 'count' => key_count - plan['nodes'].size, 'answers' => answers }
  result['sets']["again #{name}"] = { 'seconds' => again, 'count' => rounds * key_count }
end

# A new scope for every key.
plan['fresh'].each do |name, pairs|
  seconds = 0.0
  answers = []
  2.times do |round|
    pairs.each do |node, key|
      Oracle.with_scope(request(plan, plan['machines'][node])) do |scope|
        start = cpu
        value = ask(scope, key)
        seconds += cpu - start if round == 1
        answers << answer_of(value) if round == 0
      end
    end
  end
  result['sets'][name] = { 'seconds' => seconds, 'count' => pairs.size, 'answers' => answers }
end

ANSWERS.puts(JSON.generate(result))
