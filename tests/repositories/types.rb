#!/usr/bin/env ruby
# frozen_string_literal: true
# Holds the type errors that `hiera-ls check` reports against catalogs of real Puppet.
#
#   tests/repositories/types.rb --nodes FILE [--facts FILE] [--plant COUNT] [--seed N] [--server PROGRAM] FOLDER
#
# FOLDER is a control repository with the modules that it uses, and hiera.yaml at its top. It is copied; in the copy
# COUNT values of parameters in its data are replaced by others, at random: many of them are wrong. Then
# `hiera-ls check` judges all data, and for each value that is planted, and each that is reported, Puppet compiles a
# catalog: the class alone, for a node of FILE (a nodes file of hiera-ls) for which the data file is the highest with
# the key. Likewise for each parameter that is reported as missing, for the node that is named. Facts of FILE beat those of --facts. Each report that Puppet does not make is printed, and how many values
# Puppet refuses that are not reported.
require 'json'
require 'fileutils'
require 'open3'
require 'optparse'
require 'tmpdir'
require 'yaml'
require 'puppet'

OPTIONS = { plant: 0, seed: 1, server: 'target/debug/hiera-ls' }
OptionParser.new do |parser|
  parser.on('--nodes FILE')
  parser.on('--facts FILE')
  parser.on('--server PROGRAM')
  parser.on('--plant COUNT', Integer)
  parser.on('--seed N', Integer)
end.parse!(into: OPTIONS)
SOURCE = ARGV.fetch(0)
VALUES = ['{x: 1}', '[1]', "'some text'", '4711', 'true', "['a', 'b']", '-1', "''", '{a: {b: c}}', '3.5'].freeze
M = Puppet::Pops::Model

# The names of the parameters of the classes, by Puppet's own parser.
def parameters(folder)
  found = Hash.new { |classes, name| classes[name] = [] }
  Dir.glob(File.join(folder, '**/manifests/**/*.pp')).each do |path|
    next if path.include?('/spec/')

    model = Puppet::Pops::Parser::Parser.new.parse_string(File.read(path, encoding: 'utf-8'), path).model
    classes = model.definitions.grep(M::HostClassDefinition)
    classes.each { |definition| found[definition.name] = definition.parameters.map(&:name) }
  rescue Puppet::ParseErrorWithIssue
    next
  end
  found
end

# Where keys of parameters stand at the top of data files: path, number of the line, key.
def places(folder, classes)
  files = Dir.glob(File.join(folder, '{data,hieradata}/**/*.{yaml,eyaml}')).sort
  files.flat_map do |path|
    keys = YAML.safe_load(File.read(path), aliases: true)
    next [] unless keys.is_a?(Hash)

    lines = File.readlines(path)
    lines.each_with_index.filter_map do |line, at|
      # What others stand for stays.
      own = [line] + lines[at + 1..].take_while { |below| inside?(below) }
      next if own.any? { |text| text.match?(/(^|\s)&\w/) }

      key = line[/\A['"]?([a-z]\w*(?:::\w+)+)['"]?:(\s|$)/, 1]
      scope, _, name = key.to_s.rpartition('::')
      [path, at, key] if key && keys.key?(key) && classes[scope].include?(name)
    end
  end
end

# Whether a line belongs to the key above it.
def inside?(line)
  line.match?(/\A(\s|-|#|\]|\})/)
end

# Replaces values in place: what is indented below a key goes.
def plant(places)
  places.group_by(&:first).each do |path, all|
    lines = File.readlines(path)
    all.each do |_, at, key, value|
      lines[at] = "#{key}: #{value}\n"
      (at + 1...lines.size).take_while { |below| inside?(lines[below]) }.each { |below| lines[below] = "\n" }
    end
    File.write(path, lines.join)
  end
end

# The loader of one environment without manifests.
class OnlyEnvironment
  include Puppet::Environments::EnvironmentLoader

  def initialize(folder)
    @conf = Puppet::Settings::EnvironmentConf.load_from(folder, [])
    paths = @conf.modulepath.split(File::PATH_SEPARATOR).reject { |path| path.start_with?('$') }
    @env = Puppet::Node::Environment.create(:production, paths, Puppet::Node::Environment::NO_MANIFEST)
  end
  attr_reader :env

  def search_paths = []
  def list = [@env]
  def get(_name) = @env
  def get_conf(_name) = @conf
end

# The data files of the hierarchy that a node reads, the highest first.
def files_of(folder, levels, node)
  value = lambda do |name|
    name.delete_prefix('::').split('.').reduce(node['all']) { |found, part| found.is_a?(Hash) ? found[part] : nil }.to_s
  end
  levels.flat_map do |datadir, paths|
    paths.map { |path| File.join(folder, datadir, path.gsub(/%\{([^}]*)\}/) { value.call(Regexp.last_match(1)) }) }
  end
end

# Why Puppet refuses a class for a node; nothing where it compiles, or fails otherwise.
def refusal(loader, name, node, class_name)
  Puppet.override(environments: loader, current_environment: loader.env) do
    # Puppet freezes what it gets.
    facts = Puppet::Node::Facts.new(name, Marshal.load(Marshal.dump(node['facts'])))
    facts.sanitize
    parameters = facts.values.merge(node['variables'])
    subject = Puppet::Node.new(name, parameters: parameters, environment: loader.env, facts: facts, classes: [class_name])
    Puppet.override(trusted_information: Puppet::Context::TrustedInformation.new('remote', name, {}, {})) do
      Puppet::Parser::Compiler.new(subject).compile
    end
    nil
  end
rescue StandardError, ScriptError, SystemStackError => e
  e.message
end

Dir.mktmpdir do |home|
  folder = File.join(home, 'environments', 'production')
  FileUtils.mkdir_p(File.dirname(folder))
  FileUtils.cp_r(SOURCE, folder)
  FileUtils.rm_rf(File.join(folder, '.git'))
  FileUtils.cp(OPTIONS.fetch(:nodes), File.join(folder, 'nodes.json'))
  classes = parameters(folder)
  random = Random.new(OPTIONS[:seed])
  planted = places(folder, classes).shuffle(random: random).first(OPTIONS[:plant])
  planted.each { |place| place << VALUES[random.rand(VALUES.size)] }
  originals = planted.map(&:first).uniq.to_h { |path| [path, File.read(path)] }
  plant(planted)

  output, = Open3.capture2(OPTIONS[:server], 'check', '--workspace', folder, '--format', 'json-lines', err: File::NULL)
  all = output.lines.map { |line| JSON.parse(line) }
  found = all.select { |finding| finding['code'] == 'type-mismatch' }
  defaults, found = found.partition { |finding| finding['path'].end_with?('.pp') }
  path_of = ->(finding) { File.expand_path(finding['path'], File.exist?(finding['path']) ? Dir.pwd : folder) }
  reported = Hash.new { |all, place| all[place] = [] }
  found.each do |finding|
    path = path_of.call(finding)
    lines = File.readlines(path)
    at = (0...finding['line']).to_a.reverse.find { |line| lines[line].match?(/\A['"]?[a-z]\w*(::\w+)+['"]?:/) }
    reported[[path, lines[at][/\A['"]?([\w:]+?)['"]?:(\s|$)/, 1]]] << finding
  end

  state = File.join(home, 'state')
  Puppet.settings.preferred_run_mode = :server
  Puppet.initialize_settings(%w[confdir codedir vardir].flat_map { |name| ["--#{name}", File.join(state, name)] })
  Puppet[:environmentpath] = File.dirname(folder)
  Puppet[:strict] = :warning
  Puppet::Util::Log.level = :crit
  common = OPTIONS[:facts] ? JSON.parse(File.read(OPTIONS[:facts])) : {}
  nodes = JSON.parse(File.read(OPTIONS[:nodes])).transform_values do |node|
    facts = common.merge(node['facts'] || {}) { |_, one, other| one.is_a?(Hash) && other.is_a?(Hash) ? one.merge(other) : other }
    variables = node['variables'] || {}
    trusted = { 'trusted' => node['trusted'] || {} }
    { 'facts' => facts, 'variables' => variables, 'all' => facts.merge('facts' => facts).merge(variables, trusted) }
  end
  config = YAML.safe_load(File.read(File.join(folder, 'hiera.yaml')), aliases: true)
  levels = config['hierarchy'].map do |level|
    datadir = level['datadir'] || config.dig('defaults', 'datadir') || 'data'
    [datadir, level['paths'] || [level['path']].compact]
  end
  readings = nodes.transform_values { |node| files_of(folder, levels, node) }
  keys_of = Hash.new { |all, path| all[path] = File.file?(path) ? (YAML.safe_load(File.read(path), aliases: true) || {}) : {} }
  loader = OnlyEnvironment.new(folder)
  Puppet.push_context(Puppet.base_context(Puppet.settings), 'types')
  counts = Hash.new(0)
  retried = []
  judge = lambda do |path, key, is_last|
    name, = readings.find { |_, files| files.find { |file| keys_of[file].key?(key) } == path }
    findings = reported.key?([path, key]) ? reported[[path, key]] : []
    unless name
      counts["no node gets the value, of #{findings.empty? ? 'values that are not reported' : 'reports'}"] += 1
      next
    end
    scope, _, parameter = key.rpartition('::')
    why = refusal(loader, name, nodes[name], scope).to_s
    # A class that it inherits, or another of its values.
    title = scope.split('::').map(&:capitalize).join('::')
    if !is_last && !findings.empty? && !why.include?("Class[#{title}]")
      retried << [path, key]
      next
    end
    refused = why.match?(/parameter '#{parameter}'|expects a value for parameter '#{parameter}'/)
    if findings.empty?
      kind = refused ? 'Puppet refuses, not reported' : 'accepted, not reported'
      counts[kind] += 1
      puts "#{kind}: #{path.delete_prefix(folder)} #{key} for #{name}: #{why.lines.first(3).join.strip}" if refused && ENV['SHOW']
      next
    end
    findings.each do |finding|
      message = finding['message'].sub(/; none of the known nodes.*/m, '').sub(/ for (\d+ of )?\d+ nodes.*| for \S+\z/m, '').sub(/\AClass\[[^\]]*\]: /, '')
      # Puppet tells several together, each on a line of its own.
      is_confirmed = why.include?(message)
      counts[is_confirmed ? 'reported, confirmed' : 'reported, NOT confirmed'] += 1
      puts "not confirmed: #{path.delete_prefix(folder)} #{key} for #{name}: #{finding['message']}; Puppet: #{why}" unless is_confirmed
    end
  end
  (planted.map { |path, _, key| [path, key] } + reported.keys).uniq.each { |path, key| judge.call(path, key, false) }
  defaults.each do |finding|
    message = finding['message'].sub(/: this default is used.*/m, '').sub(/.*this default fails: /m, '')
    name = nodes.keys.find { |node| message.match?(/ (such as|for) #{Regexp.escape(node)}\z/) } || nodes.keys.first
    message = message.sub(/ for (\d+ of )?\d+ nodes.*| for \S+\z/m, '')
    scope = finding['message'][/no level sets '(.*)::\w+'/, 1]
    why = refusal(loader, name, nodes[name], scope).to_s
    is_confirmed = why.include?(message.sub(/\AClass\[[^\]]*\]: /, ''))
    counts[is_confirmed ? 'defaults reported, confirmed' : 'defaults reported, NOT confirmed'] += 1
    puts "not confirmed: #{finding['message']} for #{name}; Puppet: #{why}" unless is_confirmed
  end
  all.select { |finding| finding['code'] == 'missing-parameter' }.each do |finding|
    scope, parameter = finding['message'].scan(/'([^']*)'/).flatten
    name = nodes.keys.find { |node| finding['message'].match?(/ (such as|for) #{Regexp.escape(node)}\b/) } || nodes.keys.first
    why = refusal(loader, name, nodes[name], scope).to_s
    is_confirmed = why.include?("expects a value for parameter '#{parameter}'")
    counts[is_confirmed ? 'reported as missing, confirmed' : 'reported as missing, NOT confirmed'] += 1
    puts "not confirmed: #{finding['message']} for #{name}; Puppet: #{why}" unless is_confirmed
  end
  # Where Puppet fails for something else first, the value is planted alone.
  retried.each do |path, key|
    originals.each { |file, text| File.write(file, text) }
    plant(planted.select { |place| place[0] == path && place[2] == key })
    loader = OnlyEnvironment.new(folder)
    judge.call(path, key, true)
  end
  puts "#{planted.size} values planted, #{found.size} type errors reported"
  counts.sort.each { |what, count| puts "#{count} #{what}" }
  exit 1 if counts.keys.any? { |what| what.end_with?('NOT confirmed') }
end
