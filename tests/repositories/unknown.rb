#!/usr/bin/env ruby
# frozen_string_literal: true
# Judges the keys that `hiera-ls check` reports as unknown parameters of checked-out control repositories.
#
#   tests/repositories/unknown.rb [--server PROGRAM] FOLDER…
#
# It shares nothing with hiera-ls but the findings: Puppet's own parser reads all manifests. A finding holds if the
# class is there, has no such parameter, and the key stands in quotes or in a lookup nowhere else: in no manifest,
# template or Ruby file (but as the name of a variable of a class in a template, `scope['ntp::servers']`), and in no
# `lookup('…')` of data. Each finding that does not hold is printed, and each lookup by a name that is computed, to read.
require 'json'
require 'open3'
require 'optparse'
require 'puppet'

OPTIONS = { server: 'target/debug/hiera-ls' }
OptionParser.new { |parser| parser.on('--server PROGRAM') }.parse!(into: OPTIONS)
M = Puppet::Pops::Model
CALLS = [M::CallNamedFunctionExpression, M::CallMethodExpression].freeze
Puppet.initialize_settings

# The name of a function that looks up, with its first argument.
def looked_up(call)
  name = call.functor_expr
  first = call.arguments.first
  name, first = name.right_expr, name.left_expr if name.is_a?(M::NamedAccessExpression)
  [name.value, first] if name.is_a?(M::QualifiedName) && name.value.match?(/\A(lookup|hiera(_\w+)?)\z/)
end

def read(folder)
  classes = Hash.new { |all, name| all[name] = [] }
  computed = []
  texts = Dir.glob(File.join(folder, '**/*.{pp,epp,erb,rb,yaml,yml,eyaml}')).select { |path| File.file?(path) && !path.include?('/spec/') }
  texts = texts.to_h { |path| [path, File.read(path, encoding: 'utf-8').scrub] }
  texts.each do |path, text|
    next unless path.end_with?('.pp', '.epp')

    parser = path.end_with?('.epp') ? Puppet::Pops::Parser::EppParser : Puppet::Pops::Parser::Parser
    model = parser.new.parse_string(text, path).model
    model.definitions.grep(M::HostClassDefinition).each { |definition| classes[definition.name] += definition.parameters.map(&:name) }
    model._pcore_all_contents([]) do |node|
      _, key = looked_up(node) if CALLS.any? { |kind| node.is_a?(kind) }
      next if key.nil? || key.is_a?(M::LiteralString) || key.is_a?(M::QualifiedName)

      computed << "#{path}:#{node.line}: #{node.locator.extract_text(node.offset, node.length).lines.first.strip}"
    end
  rescue StandardError
    next
  end
  [classes, texts, computed]
end

failed = false
ARGV.each do |folder|
  classes, texts, computed = read(folder)
  output, = Open3.capture2(OPTIONS[:server], 'check', '--workspace', folder, '--format', 'json-lines', err: File::NULL)
  findings = output.lines.map { |line| JSON.parse(line) }.select { |finding| finding['code'] == 'unknown-parameter' }
  holding = findings.count do |finding|
    path = File.exist?(finding['path']) ? finding['path'] : File.join(folder, finding['path'])
    key = File.readlines(path)[finding['line'] - 1][/\A\s*['"]?(\w+(?:::\w+)+)/, 1]
    scope, _, parameter = key.rpartition('::')
    users = texts.select do |at, text|
      quoted = text.scan(/(\S*?)['"](?:::)?#{key}(?:\.[^'"\n]*)?['"]/).flatten
      next true if text.match?(/\b(lookup|hiera\w*)\(\s*(::)?#{key}\b/)

      quoted.any? { |before| at.match?(/\.e?yaml\z|\.yml\z/) ? before.end_with?('(') : !before.match?(/scope\[\z|lookupvar\(\z/) }
    end
    holds = classes.key?(scope) && !classes[scope].include?(parameter) && users.empty?
    puts "does not hold: #{finding['path']}:#{finding['line']} #{key}: #{users.keys.first(3).join(', ')}" unless holds
    holds
  end
  failed |= holding < findings.size
  puts "#{folder}: #{holding} of #{findings.size} hold; lookups by a computed name: #{computed.size}"
  puts(computed.map { |line| "  #{line}" })
end
exit 1 if failed
