#!/usr/bin/env ruby
# frozen_string_literal: true

# Real Puppet behind the protocol of `hiera-ls lookup --batch`: JSON Lines in, one answer per line out, in order.
#
# The answers come from Puppet's own compiler scope and `Puppet::Pops::Lookup`, not from its command line, so thousands of requests cost
# seconds. Every request gets a new node, compiler, scope and lookup adapter, and freshly parsed files; only the environment object with its
# function loaders is kept while requests name the same folder. Settings live in a temporary folder of this process: nothing under
# /etc/puppetlabs is read.
#
# Beyond the batch protocol, for tests that ask many keys of one scope:
# * `keys` instead of `key`: all keys are looked up with one compiler, as one catalog would; the answer is `{"id", "answers": […]}`.
#   Warnings that Puppet gives once per catalog appear in the first answer they belong to.
# * `top_level_keys` (a glob) alone: the top-level keys of those YAML files.
# * A request that takes more than ten seconds is answered `{"id", "too_slow"}`, and the process starts again: what was interrupted may
#   leave Puppet's types half made.
# * `compile`: `lookup` and `agent` compile the catalog first; the lookup then has the top scope, or that of the node's block. An error
#   is answered `{"no_catalog": message}`.
# * `compile: catalog`: the answer is `{"parameters": {class: {parameter: value}}}` or `no_catalog`.
# * `{"hello": true}` is answered with the versions of the programs behind this process.

require 'json'
require 'base64'
require 'tmpdir'
require 'fileutils'
require 'tempfile'
require 'timeout'

# Both add source excerpts and guesses to Ruby's own error texts, which Puppet's users see only where they are installed.
if defined?(ErrorHighlight) || defined?(DidYouMean)
  exec('ruby', '--disable=error_highlight', '--disable=did_you_mean', __FILE__, *ARGV)
end

$VERBOSE = nil
$stdout.sync = false
$stdout.set_encoding(Encoding::UTF_8)
$stdin.set_encoding(Encoding::UTF_8)
# merge_debug and plugins print to standard output, which belongs to the protocol.
ANSWERS = $stdout.dup
ANSWERS.set_encoding(Encoding::UTF_8)
$stdout.reopen(File::NULL, 'w')

require 'puppet'
require 'puppet/pops'
require 'puppet/util/log'

module Oracle
  HOME = Dir.mktmpdir('parity-oracle')
  at_exit { FileUtils.rm_rf(HOME) }

  # What a test compares of a warning: its level and text.
  class Recorder
    attr_reader :entries

    def initialize
      @entries = []
    end

    def <<(log)
      return if %i[debug info notice].include?(log.level)

      @entries << { 'level' => log.level.to_s, 'message' => log.message.to_s }
    end

    def drain
      taken = @entries
      @entries = []
      taken
    end
  end

  # The one environment of a request: its folder may have any name and place.
  class SingleEnvironment
    include Puppet::Environments::EnvironmentLoader

    def initialize(name, dir, modulepath, compile)
      @name = name.intern
      @conf = Puppet::Settings::EnvironmentConf.load_from(dir, [])
      paths = modulepath || @conf.modulepath.split(File::PATH_SEPARATOR).reject { |p| p.start_with?('$') }
      manifest = compile ? @conf.manifest : Puppet::Node::Environment::NO_MANIFEST
      @env = Puppet::Node::Environment.create(@name, paths, manifest)
    end

    attr_reader :env

    def search_paths
      []
    end

    def list
      [@env]
    end

    def get(name)
      name.intern == @name ? @env : nil
    end

    def get_conf(name)
      name.intern == @name ? @conf : nil
    end
  end

  # A catalog whose settings are no variables: filling them costs more than all else.
  class Catalog < Puppet::Parser::Compiler
    def create_settings_scope; end

    def agent_scope
      @node_scope || topscope
    end
  end

  # What the manifests of a request fail with.
  class NoCatalog < StandardError; end

  # Values that look up values that look up values can cost any time: such a request is given up.
  PATIENCE = 10

  # No `rescue` on the way takes it for an error of the lookup.
  class TooSlow < Exception; end # rubocop:disable Lint/InheritException

  module_function

  def start
    %w[conf code var].each { |d| FileUtils.mkdir_p(File.join(HOME, d)) }
    Puppet.initialize_settings(
      ['--confdir', "#{HOME}/conf", '--codedir', "#{HOME}/code", '--vardir', "#{HOME}/var", '--publicdir', "#{HOME}/var",
       '--logdir', "#{HOME}/var", '--rundir', "#{HOME}/var", '--basemodulepath', '', '--vendormoduledir', '']
    )
    Puppet::Util::Log.level = :warning
    @recorder = Recorder.new
    Puppet::Util::Log.newdestination(Puppet::Test::LogCollector.new(@recorder))
    Puppet[:code] = ''
    @environments = {}
  end

  # Answers each line of the input, behind those that were read already.
  def serve(input, read)
    *lines, rest = read.split("\n", -1)
    loop do
      while (line = lines.shift)
        answer = answer(JSON.parse(line.force_encoding(Encoding::UTF_8), max_nesting: false))
        ANSWERS.puts(encode(answer))
        ANSWERS.flush
        start_again([*lines, rest].join("\n")) if answer.key?('too_slow')
      end
      *lines, rest = (rest.to_s + input.readpartial(65_536)).split("\n", -1)
    end
  rescue EOFError
    nil
  end

  # What was interrupted may leave Puppet's types half made: the rest is for a fresh process.
  def start_again(read)
    file = Tempfile.create('parity-requests')
    file.binmode
    file.write(read)
    file.close
    FileUtils.rm_rf(HOME)
    $stdout.reopen(ANSWERS)
    exec('ruby', '--disable=error_highlight', '--disable=did_you_mean', __FILE__, file.path)
  end

  def encode(answer)
    JSON.generate(answer, max_nesting: 0)
  rescue JSON::GeneratorError, Encoding::UndefinedConversionError
    JSON.generate(scrub(answer), max_nesting: 0)
  end

  def scrub(value)
    case value
    when String then value.dup.force_encoding(Encoding::UTF_8).scrub
    when Array then value.map { |v| scrub(v) }
    when Hash then value.to_h { |k, v| [scrub(k), scrub(v)] }
    else value
    end
  end

  def answer(request)
    return versions.merge('id' => request['id']) if request['hello']
    return { 'id' => request['id'], 'keys' => top_level_keys(request['top_level_keys']) } if request['top_level_keys']

    configure(request)
    with_scope(request) do |scope|
      if request['keys']
        answers = request['keys'].map { |key| lookup(scope, request.merge('key' => key)) }
        { 'id' => request['id'], 'answers' => answers }
      elsif request['compile'] == 'catalog'
        { 'id' => request['id'], 'parameters' => parameters(scope) }
      else
        { 'id' => request['id'] }.merge(Timeout.timeout(PATIENCE, TooSlow) { lookup(scope, request) })
      end
    end
  rescue NoCatalog => e
    { 'id' => request['id'], 'no_catalog' => e.message }
  rescue Puppet::ParseError => e
    # A node that no catalog is compiled for.
    { 'id' => request['id'] }.merge(failure(e))
  rescue TooSlow
    { 'id' => request['id'], 'too_slow' => "no answer within #{PATIENCE} s" }
  rescue StandardError, ScriptError => e
    # A request that the harness got wrong: neither side can answer it.
    { 'id' => request && request['id'], 'oracle_error' => "#{e.class}: #{e.message}", 'backtrace' => (e.backtrace || []).first(5) }
  end

  # The top-level keys of all files of a glob, in order of first appearance.
  def top_level_keys(glob)
    data = Dir.glob(glob).sort.map { |file| Psych.safe_load(File.read(file), permitted_classes: [Symbol], aliases: true) }
    data.grep(Hash).flat_map(&:keys).uniq - ['lookup_options']
  end

  def versions
    gem_version = ->(name) { Gem.loaded_specs[name]&.version&.to_s || (Gem::Specification.find_by_name(name).version.to_s rescue 'unknown') }
    { 'puppet' => Puppet.version, 'ruby' => RUBY_VERSION, 'psych' => Psych::VERSION, 'deep_merge' => gem_version.call('deep_merge'),
      'hiera_eyaml' => gem_version.call('hiera-eyaml') }
  end

  # Puppet's settings, set only where they differ from the last request's: every change empties the settings' caches.
  def configure(request)
    eight = (request['puppet_version'] || 8) >= 8
    want = {
      strict: (request['strict'] || (eight ? 'error' : 'warning')).to_sym,
      strict_variables: request.key?('strict_variables') && !request['strict_variables'].nil? ? request['strict_variables'] : eight,
      hiera_config: request['global_hiera_yaml'] || "#{HOME}/conf/hiera.yaml",
      codedir: request['codedir'] || "#{HOME}/code"
    }
    @settings ||= {}
    want.each do |name, value|
      next if @settings[name] == value

      Puppet[name] = value
      @settings[name] = value
      @environments.clear
    end
  end

  def with_scope(request)
    name = request['environment'] || 'production'
    dir = request['environment_dir']
    modulepath = request['modulepath']
    modulepath = modulepath.split(File::PATH_SEPARATOR) if modulepath.is_a?(String)
    # Types defined for a class scope stay in an environment: such a request gets one of its own.
    @environments.clear if request['class_scope']
    compile = request['compile']
    environments = @environments[[name, dir, modulepath, compile.nil?]] ||= begin
      @environments.clear
      SingleEnvironment.new(name, dir, modulepath, compile)
    end
    env = environments.env
    # Files stay parsed for a caller that asks many keys: its folder does not change meanwhile.
    Puppet::Pops::Lookup::EnvironmentContext.clear(env) unless request['keys']

    Puppet.override(environments: environments, current_environment: env, trusted_information: trusted(request)) do
      name = request['node'] || 'localhost'
      facts = Puppet::Node::Facts.new(name, request['facts'] || {})
      facts.sanitize
      # A variable given by a classifier beats a fact of its name.
      parameters = facts.values.merge(request['variables'] || {})
      node = Puppet::Node.new(name, parameters: parameters, environment: env, facts: facts)
      $unique_warnings&.clear
      Puppet.clear_deprecation_warnings
      @recorder.drain
      compiler = compile ? catalog(node) : Puppet::Parser::Compiler.new(node)
      Puppet.override(compiler.context_overrides, 'parity') do
        unless compile
          compiler.send(:set_node_parameters)
          settings_scope(compiler) if reads_settings?(request)
          main(compiler)
        end
        next yield compile == 'lookup' ? compiler.topscope : compiler.agent_scope if compile

        scope = request['class_scope'] ? class_scope(compiler, request['class_scope']) : compiler.topscope
        yield scope
      end
    end
  ensure
    @environments.clear if request['class_scope']
  end

  # The manifests, run for a node.
  def catalog(node)
    compiler = Catalog.new(node)
    compiler.compile
    # What lookups of the manifests left in caches came from variables as they were then.
    Puppet::Pops::Lookup::LookupAdapter.clear(compiler)
    compiler
  rescue StandardError, ScriptError, SystemStackError => e
    raise NoCatalog, e.message
  end

  # Filling 250 `settings::…` variables costs more than most lookups.
  def reads_settings?(request)
    request['settings_scope']
  end

  def settings_scope(compiler)
    compiler.send(:create_settings_scope)
  end

  def main(compiler)
    type = Puppet::Resource::Type.new(:hostclass, '')
    compiler.topscope.source = type
    compiler.topscope.resource = Puppet::Parser::Resource.new('class', :main, scope: compiler.topscope, source: type)
    # As `Compiler#evaluate_main` leaves the top scope.
    { 'module_name' => '', 'title' => 'main', 'name' => 'main' }.each { |name, value| compiler.topscope[name] = value }
    compiler.topscope.class_set('', compiler.topscope)
  end

  # A class as if it were being evaluated: its variables shadow top-scope ones, and answer as `name::variable` too.
  def class_scope(compiler, spec)
    type = Puppet::Resource::Type.new(:hostclass, spec['name'])
    compiler.environment.known_resource_types.add(type)
    resource = Puppet::Parser::Resource.new('class', spec['name'], scope: compiler.topscope, source: type)
    scope = compiler.topscope.newscope(source: type, resource: resource)
    scope.class_set(spec['name'], scope)
    scope['title'] = spec['name']
    scope['name'] = spec['name']
    (spec['vars'] || {}).each { |name, value| scope[name] = value }
    scope
  end

  def trusted(request)
    base = Puppet::Context::TrustedInformation.new('local', request['node'], {}, {}).to_h
    hash = base.merge(request['trusted'] || {})
    Struct.new(:to_h).new(hash)
  end

  def lookup(scope, request)
    explain = request['explain']
    explain_options = request['explain_options']
    explainer = if explain || explain_options
                  # The command does the same: --explain-options beside --explain changes nothing.
                  Puppet::Pops::Lookup::Explainer.new(explain_options ? true : false, explain_options && !explain ? true : false)
                end
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, request['override'] || {}, request['default_values_hash'] || {}, explainer)
    result = begin
      { 'found' => true, 'value' => tag(find(scope, request, invocation)) }
    rescue Puppet::DataBinding::LookupError => e
      invocation.report_text { e.message }
      failure(e)
    rescue StandardError, ScriptError, SystemStackError => e
      failure(e)
    end
    result = { 'found' => false, 'not_found' => true } if result['value'].equal?(NOTHING)
    result['explain'] = explainer.explain if explainer
    logs = @recorder.drain
    result['logs'] = logs unless logs.empty?
    # Puppet warns once in a catalog: what the manifests met is not told again.
    result['logged'] = 'once' if request['compile']
    result
  end

  # The values of the parameters of all classes in a catalog.
  def parameters(scope)
    classes = scope.catalog.resources.select { |resource| resource.type == 'Class' && resource.title != 'main' }
    classes.to_h { |resource| [resource.title.downcase, resource.to_hash.transform_keys(&:to_s).transform_values { |value| tag(value) }] }
  end

  NOTHING = Object.new

  def find(scope, request, invocation)
    key = request['key']
    if request['facet'] == 'search_and_merge'
      value = NOTHING
      catch(:no_such_key) { value = Puppet::Pops::Lookup.search_and_merge(key, invocation, request['merge']) }
      return value
    end
    # The command passes the scope here and crashes on every type that is not built in; a type in a manifest is resolved like this.
    loader = scope.compiler.loaders.private_environment_loader
    type = request['value_type'] && Puppet::Pops::Types::TypeParser.singleton.parse(request['value_type'], loader)
    Puppet::Pops::Lookup.lookup(key, type, request['default_value'], request.key?('default_value'), request['merge'], invocation)
  end

  def failure(error)
    out = { 'found' => false, 'error_class' => error.class.name, 'error' => error.message }
    out['issue_code'] = error.issue_code.to_s if error.respond_to?(:issue_code) && error.issue_code
    out['error_file'] = error.file.to_s if error.respond_to?(:file) && error.file
    out['error_line'] = error.line if error.respond_to?(:line) && error.line
    out['not_found'] = true if error.message.start_with?('Function lookup() did not find a value for ')
    out
  end

  # A value as the batch protocol writes it.
  def tag(value)
    case value
    when NOTHING, nil, true, false, Integer then value
    when String then text(value)
    when Float
      value.finite? ? value : tagged('Float', value.nan? ? 'NaN' : (value.positive? ? 'Infinity' : '-Infinity'))
    when Symbol then value == :default ? tagged('Default', 'default') : tagged('Symbol', value.to_s)
    when Array then value.map { |v| tag(v) }
    when Hash
      if value.each_key.all? { |k| k.is_a?(String) && plain_text?(k) }
        value.to_h { |k, v| [text(k), tag(v)] }
      else
        { '__pairs' => value.map { |k, v| [tag(k), tag(v)] } }
      end
    else special(value)
    end
  end

  def special(value)
    types = Puppet::Pops::Types
    time = Puppet::Pops::Time
    case value
    when types::PSensitiveType::Sensitive then tagged('Sensitive', tag(value.unwrap))
    when types::PBinaryType::Binary then tagged('Binary', value.to_s)
    when time::Timestamp then tagged('Timestamp', value.to_s)
    when time::Timespan then tagged('Timespan', value.to_s)
    when Regexp then tagged('Regexp', value.source)
    when SemanticPuppet::Version then tagged('SemVer', value.to_s)
    when SemanticPuppet::VersionRange then tagged('SemVerRange', value.to_s)
    when URI then tagged('URI', value.to_s)
    when types::PAnyType then tagged('Type', value.to_s)
    when Puppet::DataTypes::Error then tagged('Error', value.to_s)
    when types::PuppetObject then tagged(value._pcore_type.name, value.to_s)
    else tagged(value.class.name, value.to_s)
    end
  end

  def text(string)
    plain_text?(string) ? string.encode(Encoding::UTF_8) : tagged('BinaryString', Base64.strict_encode64(string))
  end

  def plain_text?(string)
    return false unless string.valid_encoding?

    string.encoding != Encoding::ASCII_8BIT || string.ascii_only?
  end

  def tagged(type, value)
    { '__ptype' => type, 'value' => value }
  end
end

# Benchmarks load this file and ask in their own way.
if $PROGRAM_NAME == __FILE__
  Oracle.start
  read = ARGV.empty? ? '' : File.binread(ARGV[0]).tap { File.delete(ARGV[0]) }
  Oracle.serve($stdin.binmode, read.b)
end
