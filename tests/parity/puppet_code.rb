#!/usr/bin/env ruby
# frozen_string_literal: true
# What Puppet's own parser and validator say of manifests and templates: one JSON object per line in,
# one per line out.
#
#   {"text": "…", "epp": false, "tasks": false}  →  {"tree": […]} or {"error": {message, line, pos, stage}}
#
# A tree is given as a text. A node of it is [kind, offset, length, field…] with the kinds and fields of Puppet's
# model, offsets and lengths in bytes as Puppet keeps them; null in a heredoc, where Puppet adds them up wrongly. An integer is a decimal text, a float the 16 hex digits of its bits,
# a pattern its source.
require 'json'
require 'tmpdir'
require 'puppet'
require 'puppet/pops'

M = Puppet::Pops::Model
BINARY = %i[left_expr right_expr].freeze
OPERATOR = %i[operator left_expr right_expr].freeze
CALL = %i[rval_required functor_expr arguments lambda].freeze
FUNCTION = %i[name parameters return_type body].freeze
FIELDS = {
  'AccessExpression' => %i[left_expr keys], 'AndExpression' => BINARY, 'OrExpression' => BINARY,
  'InExpression' => BINARY, 'NamedAccessExpression' => BINARY, 'ArithmeticExpression' => OPERATOR,
  'AssignmentExpression' => OPERATOR, 'ComparisonExpression' => OPERATOR, 'MatchExpression' => OPERATOR,
  'RelationshipExpression' => OPERATOR, 'ApplyBlockExpression' => %i[statements],
  'ApplyExpression' => %i[arguments body], 'AttributeOperation' => %i[attribute_name operator value_expr],
  'AttributesOperation' => %i[expr], 'BlockExpression' => %i[statements], 'CallNamedFunctionExpression' => CALL,
  'CallMethodExpression' => CALL, 'CaseExpression' => %i[test options], 'CaseOption' => %i[values then_expr],
  'CollectExpression' => %i[type_expr query operations], 'ConcatenatedString' => %i[segments],
  'EppExpression' => %i[parameters_specified body], 'VirtualQuery' => %i[expr], 'ExportedQuery' => %i[expr],
  'FunctionDefinition' => FUNCTION, 'PlanDefinition' => FUNCTION, 'HeredocExpression' => %i[syntax text_expr],
  'HostClassDefinition' => %i[name parent_class parameters body],
  'ResourceTypeDefinition' => %i[name parameters body], 'IfExpression' => %i[test then_expr else_expr],
  'UnlessExpression' => %i[test then_expr else_expr], 'KeyedEntry' => %i[key value],
  'LambdaExpression' => %i[parameters return_type body], 'LiteralBoolean' => %i[value],
  'LiteralFloat' => %i[value], 'LiteralInteger' => %i[value radix], 'LiteralHash' => %i[entries],
  'LiteralList' => %i[values], 'LiteralString' => %i[value], 'LiteralRegularExpression' => %i[value],
  'LiteralUndef' => [], 'LiteralDefault' => [], 'Nop' => [], 'NodeDefinition' => %i[host_matches parent body],
  'NotExpression' => %i[expr], 'ParenthesizedExpression' => %i[expr], 'RenderExpression' => %i[expr],
  'TextExpression' => %i[expr], 'UnaryMinusExpression' => %i[expr], 'UnfoldExpression' => %i[expr],
  'VariableExpression' => %i[expr], 'Parameter' => %i[name type_expr captures_rest value],
  'QualifiedName' => %i[value], 'QualifiedReference' => %i[cased_value], 'RenderStringExpression' => %i[value],
  'ReservedWord' => %i[word], 'ResourceBody' => %i[title operations],
  'ResourceExpression' => %i[form type_name bodies], 'ResourceDefaultsExpression' => %i[form type_ref operations],
  'ResourceOverrideExpression' => %i[form resources operations], 'SelectorEntry' => %i[matching_expr value_expr],
  'SelectorExpression' => %i[left_expr selectors], 'TypeAlias' => %i[name type_expr],
  'TypeMapping' => %i[type_expr mapping_expr], 'TypeDefinition' => %i[name parent body]
}.freeze

def tree(node, is_inside = false)
  kind = node.class.name.split('::').last
  place = is_inside ? [nil, nil] : [node.offset, node.length]
  is_inside ||= kind == 'HeredocExpression'
  [kind, *place] + FIELDS.fetch(kind).map { |field| field_of(node.public_send(field), is_inside) }
end

def field_of(value, is_inside)
  case value
  when M::PopsObject then tree(value, is_inside)
  when Array then value.map { |element| field_of(element, is_inside) }
  when Integer then value.to_s
  when Float then [value].pack('G').unpack1('H*')
  when Regexp then value.source.dup.force_encoding('UTF-8')
  else value
  end
end

def error_of(error, stage)
  message = Exception.instance_method(:to_s).bind(error).call.to_s
  message = message.split("\n\n", 2)[0] if error.is_a?(NameError)
  answer = { 'stage' => stage, 'message' => message.dup.force_encoding('UTF-8').scrub }
  %w[line pos].each do |place|
    value = error.respond_to?(place) ? error.public_send(place) : nil
    answer[place] = value if value
  end
  { 'error' => answer }
end

def answer(request)
  Puppet[:tasks] = request['tasks'] || false
  parser = request['epp'] ? Puppet::Pops::Parser::EppParser.new : Puppet::Pops::Parser::Parser.new
  begin
    model = parser.parse_string(request['text'], nil).model
  rescue Puppet::ParseError, Racc::ParseError => e
    return error_of(e, 'parse')
  rescue StandardError, SystemStackError, NotImplementedError => e
    return error_of(e, 'crash')
  end
  acceptor = Puppet::Pops::Validation::Acceptor.new
  begin
    Puppet::Pops::Validation::ValidatorFactory_4_0.new.validator(acceptor).validate(model)
  rescue Puppet::ParseError => e
    return error_of(e, 'text')
  rescue StandardError, SystemStackError => e
    return error_of(e, 'crash')
  end
  first = acceptor.diagnostics.find { |diagnostic| diagnostic.severity == :error }
  return { 'tree' => JSON.generate(model.body && tree(model.body), max_nesting: false) } unless first

  message = Puppet::Pops::Validation::DiagnosticFormatterPuppetStyle.new.format_message(first)
  place = first.source_pos
  { 'error' => { 'stage' => 'validate', 'message' => message, 'line' => place&.line, 'pos' => place&.pos } }
end

Dir.mktmpdir do |state|
  arguments = %w[confdir codedir vardir].flat_map { |folder| ["--#{folder}", File.join(state, folder)] }
  Puppet.settings.preferred_run_mode = :user
  Puppet.initialize_settings(arguments, true, true)
  environment = Puppet::Node::Environment.create(:production, [])
  context = Puppet.base_context(Puppet.settings).merge(current_environment: environment)
  Puppet.push_context(context, 'manifests of a test')
  Puppet[:strict] = :warning
  Puppet::Util::Log.close_all
  $stdin.set_encoding('UTF-8')
  $stdout.sync = true
  $stdin.each_line(chomp: true) do |line|
    puts JSON.generate(answer(JSON.parse(line)))
  end
end
