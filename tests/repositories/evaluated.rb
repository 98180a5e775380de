#!/usr/bin/env ruby
# frozen_string_literal: true
# What share of the site manifests and functions of checked-out repositories calls nothing but functions that
# hiera-ls evaluates: those that docs/manifests.md lists.
#
#   tests/repositories/evaluated.rb FOLDER…
#
# Puppet's own parser reads every manifest below the folders, which are repositories or hold some; tests (`spec`) are
# left out. A site manifest is one that has a node block, or is called site.pp. It counts where it sets variables, in
# the top scope or in a node block. A function is covered if each function that it calls is: one of the list, or one in
# Puppet of the same repository that is covered itself. What only logs or declares gives no value, and is left out.
# What it misses is of a function that gives a value only here and now (a file of the server, a network, chance), of a
# function of a module in Ruby, which is never run, or of one that could be evaluated.
require 'puppet'
require 'puppet/pops'

M = Puppet::Pops::Model
PAGE = File.read(File.join(__dir__, '../../docs/manifests.md'))
LISTED = ['Functions of Puppet:', 'unless another module defines them:'].flat_map do |start|
  PAGE.split(start, 2)[1].split("\n\n", 2)[0].scan(/`([^`]+)`/).flatten
end
# What else the standard library has, as far as it could be evaluated.
OF_LIBRARY = %w[abs_path base64 basename bool2num camelcase chop clamp convert_base dirname dos2unix first glob grep
                is_a is_array is_hash is_integer is_string last load_module_metadata nest num2bool parsehocon
                parsejson parsepson parseyaml regexpescape seeded_rand shell_escape shell_join shell_split shellquote
                squeeze str2saltedsha512 strftime swapcase to_bytes to_json to_json_pretty to_yaml type_of
                unix2dos uriescape validate_array validate_re validate_string values_at zip].freeze
STATEMENTS = %w[alert contain create_resources crit debug emerg err hiera_include include info notice realize require
                tag warning ensure_packages ensure_resource ensure_resources deprecation assert_private].freeze
IMPURE = %w[generate file find_file loadyaml loadjson template epp inline_epp inline_template puppetdb_query
            puppetdb_lookup_key shuffle time fqdn_rand fqdn_rand_string module_directory binary_file
            find_template].freeze
PUPPETS = %w[functions parser/functions].flat_map do |folder|
  Dir.glob(File.join(File.dirname(Puppet.method(:initialize_settings).source_location[0]), 'puppet', folder, '*.rb'))
end.map { |path| File.basename(path, '.rb') }.freeze

# Definitions are no part of what surrounds them.
def parts(node, &visit)
  visit.call(node)
  node._pcore_contents { |part| parts(part, &visit) unless part.is_a?(M::NamedDefinition) }
end

def called(node)
  case node
  when M::CallNamedFunctionExpression
    name = node.functor_expr
    return 'new' if name.is_a?(M::QualifiedReference) || name.is_a?(M::AccessExpression)

    name.value.sub(/\A::/, '') if name.is_a?(M::QualifiedName)
  when M::CallMethodExpression
    access = node.functor_expr
    access.right_expr.value.sub(/\A::/, '') if access.is_a?(M::NamedAccessExpression) && access.right_expr.is_a?(M::QualifiedName)
  end
end

# What a piece of code calls for values.
Code = Struct.new(:path, :name, :calls, :sets_variables)

def code_of(path, name, bodies)
  code = Code.new(path, name, [], false)
  bodies.compact.each do |body|
    parts(body) do |node|
      code.sets_variables = true if node.is_a?(M::AssignmentExpression)
      call = called(node) or next
      code.calls << call unless STATEMENTS.include?(call)
    end
  end
  code.calls.uniq!
  code
end

def repositories(folders)
  folders.flat_map do |folder|
    inner = Dir.children(folder).map { |name| File.join(folder, name) }.select { |at| File.directory?(at) }
    markers = %w[manifests metadata.json environment.conf Puppetfile hiera.yaml modules functions .git]
    markers.any? { |marker| File.exist?(File.join(folder, marker)) } ? [folder] : inner
  end
end

Report = Struct.new(:sites, :functions, :refused)

def read(repository)
  report = Report.new([], [], 0)
  Dir.glob(File.join(repository, '**/*.pp')).sort.each do |path|
    next if path.match?(%r{/(spec|tests)/}) || !File.file?(path)

    begin
      model = Puppet::Pops::Parser::Parser.new.parse_string(File.read(path, encoding: 'utf-8'), path).model
    rescue StandardError
      report.refused += 1
      next
    end
    nodes = []
    model.definitions.each do |definition|
      nodes << definition if definition.is_a?(M::NodeDefinition)
      next unless definition.is_a?(M::FunctionDefinition) && !definition.is_a?(M::PlanDefinition)

      defaults = definition.parameters.map(&:value)
      report.functions << code_of(path, definition.name, [definition.body, *defaults])
    end
    next if nodes.empty? && File.basename(path) != 'site.pp'

    site = code_of(path, path, [model.body, *nodes.map(&:body)])
    report.sites << site if site.sets_variables
  end
  report
end

# The first function that is not evaluated; nothing where all are.
def missing(code, functions, within = [])
  code.calls.each do |call|
    own = functions[call]
    if own
      next if within.include?(call)

      found = missing(own, functions, within + [call]) and return found
    elsif !LISTED.include?(call)
      return call
    end
  end
  nil
end

def kind_of_function(name)
  return 'reads the server, a network, or chance' if IMPURE.include?(name)
  return "of Puppet's or its standard library, and not evaluated" if PUPPETS.include?(name) || OF_LIBRARY.include?(name) || name.start_with?('stdlib::')

  'a function of a module, which is not run'
end

total = Hash.new(0)
lacking = Hash.new { |hash, key| hash[key] = [] }
Puppet.initialize_settings
repositories(ARGV).uniq.sort.each do |repository|
  report = read(repository)
  functions = report.functions.to_h { |function| [function.name, function] }
  total['manifests that Puppet refuses'] += report.refused
  { 'site manifests that set variables' => report.sites, 'functions in Puppet' => report.functions }.each do |kind, codes|
    codes.each do |code|
      lacks = missing(code, functions)
      total[kind] += 1
      lacks ? lacking[[kind, kind_of_function(lacks)]] << lacks : total["#{kind}, covered"] += 1
    end
  end
end

['site manifests that set variables', 'functions in Puppet'].each do |kind|
  covered, all = total.values_at("#{kind}, covered", kind)
  puts "#{kind}: #{covered} of #{all} (#{all.zero? ? 0 : (100.0 * covered / all).round} %)"
  lacking.select { |(of, _), _| of == kind }.sort.each do |(_, why), names|
    counts = names.tally.sort_by { |name, count| [-count, name] }
    puts "  #{names.size} #{why}: #{counts.map { |name, count| count > 1 ? "#{name} (#{count})" : name }.join(', ')}"
  end
end
puts "manifests that Puppet refuses, left out: #{total['manifests that Puppet refuses']}"
