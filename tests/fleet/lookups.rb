# Runs `puppet lookup` for many keys of one node in one process, which compiles the node's catalog once:
#
#   ruby lookups.rb ARGUMENTS… < KEYS
#
# Keys are lines. Prints one line of JSON for each: {"key": …, "status": the exit code, "output": …}.
require 'json'
require 'stringio'
require 'puppet'
require 'puppet/util/command_line'
require 'puppet/application/lookup'

KEYS = $stdin.read.lines.map(&:chomp)
RESULTS = $stdout.dup

class Puppet::Application::Lookup
  def run_command
    generate_scope do |scope|
      define_singleton_method(:generate_scope) { |&block| block.call(scope) }
      KEYS.each { |key| answer(key) }
    end
  end

  def answer(key)
    command_line.args.replace([key])
    $stdout = StringIO.new
    status = 0
    begin
      main
    rescue SystemExit => e
      status = e.status
    rescue StandardError => e
      status = e.message
    end
    RESULTS.puts(JSON.generate('key' => key, 'status' => status, 'output' => $stdout.string))
  end
end

Puppet::Util::CommandLine.new('puppet', ['lookup', *ARGV]).execute
