# frozen_string_literal: true

# Asks real Puppet, in this process, what a key of a control repo is worth to a node.
#
# Used by acme_expected.rb (the healthy part of fixtures/acme) and acme_mistakes.rb (the mistakes on
# purpose). It needs Debian's puppet-agent and hiera-eyaml, and reads no configuration of the machine:
# every run has a folder of its own, which is removed at the end.

require 'fileutils'
require 'json'
require 'pathname'
require 'tmpdir'
require 'puppet'

ROOT = Pathname(__dir__).parent.parent
ACME = ROOT + 'fixtures/acme'
KEYS = ROOT + 'fixtures/test-only-keys'
# Where the fixture's hiera.yaml says that the keys are on a real server.
DEPLOYED_KEYS = '/etc/puppetlabs/puppet/keys/'

# One Puppet, many environments.
class Oracle
  # What a lookup came to. `outcome` is :found, :missing or :failed.
  Answer = Struct.new(:outcome, :value, :error_class, :error, :logs, keyword_init: true)

  def initialize
    @work = Pathname(Dir.mktmpdir('acme-oracle'))
    %w[conf var code environments].each { |name| (@work + name).mkpath }
    Puppet.initialize_settings(
      ["--confdir=#{@work}/conf", "--vardir=#{@work}/var", "--codedir=#{@work}/code",
       "--environmentpath=#{@work}/environments", '--node_terminus=plain', '--facts_terminus=memory'],
    )
    Puppet[:basemodulepath] = ''
    Puppet[:code] = 'undef'
    at_exit { FileUtils.rm_rf(@work) }
  end

  # Copies `folder` as the environment `production` of a fresh environment path, with the test-only
  # keys where the copy's hiera.yaml says; yields the copy for changes. Returns the path of the copy.
  def install(folder)
    path = @work + 'environments' + 'production'
    FileUtils.rm_rf(path)
    FileUtils.cp_r(folder, path)
    Pathname.glob(path + '**/hiera.yaml').each do |file|
      text = file.read
      next unless text.include?(DEPLOYED_KEYS)

      file.write(text.gsub(DEPLOYED_KEYS, "#{KEYS}/test-only-"))
    end
    yield path if block_given?
    path
  end

  # Looks `key` up for a node in the environment last installed. `strict` as Puppet's setting:
  # :warning is the default of Puppet 7, :error that of Puppet 8.
  def lookup(key, certname:, facts: {}, trusted: {}, variables: {}, merge: nil, strict: :warning)
    in_environment(strict) do |environment, logs|
      scope_for(environment, certname, facts, trusted, variables) do |scope|
        answer(scope, key, merge, logs)
      end
    end
  end

  # Compiles a node's catalog in the environment last installed: with its site manifests, or with `code` in
  # their place. The value is the list of classes.
  def catalog(code, certname:, facts: {}, trusted: {}, variables: {}, strict: :warning)
    before = Puppet[:code]
    Puppet[:code] = code
    in_environment(strict) do |environment, logs|
      classes = compiler_for(environment, certname, facts, trusted, variables).compile.classes
      Answer.new(outcome: :found, value: classes - ['settings', certname], logs: texts(logs))
    rescue Puppet::Error => e
      Answer.new(outcome: :failed, error_class: e.class.name, error: e.message, logs: texts(logs))
    end
  ensure
    Puppet[:code] = before
  end

  private

  def in_environment(strict)
    Puppet[:strict] = strict
    Puppet[:strict_variables] = strict == :error
    # Some warnings come once in a process: forget the last lookup's.
    Puppet::Util::Warnings.clear_warnings
    Puppet.clear_deprecation_warnings
    logs = []
    collector = Puppet::Test::LogCollector.new(logs)
    Puppet::Util::Log.level = :warning
    Puppet::Util::Log.newdestination(collector)
    environments = Puppet::Environments::Directories.new(@work + 'environments', [])
    environment = environments.get(:production)
    base = { current_environment: environment, environments: environments,
             loaders: Puppet::Pops::Loaders.new(environment) }
    Puppet.override(base, 'acme oracle') { yield environment, logs }
  ensure
    Puppet::Util::Log.close(collector)
  end

  def scope_for(environment, certname, facts, trusted, variables)
    compiler = compiler_for(environment, certname, facts, trusted, variables)
    result = nil
    compiler.compile do |catalog|
      result = yield(compiler.topscope)
      catalog
    end
    result
  end

  def compiler_for(environment, certname, facts, trusted, variables)
    node = Puppet::Node.new(certname, environment: environment, parameters: facts.merge(variables),
                                      facts: Puppet::Node::Facts.new(certname, facts))
    node.trusted_data = { 'authenticated' => 'remote', 'certname' => certname, 'extensions' => {},
                          'external' => {} }.merge(trusted)
    node.add_server_facts('serverversion' => Puppet.version)
    Puppet::Parser::Compiler.new(node)
  end

  def answer(scope, key, merge, logs)
    invocation = Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil)
    value = Puppet::Pops::Lookup.lookup([key], nil, nil, false, merge, invocation)
    Answer.new(outcome: :found, value: value, logs: texts(logs))
  rescue Puppet::DataBinding::LookupError => e
    missing = e.message.start_with?('Function lookup() did not find a value')
    Answer.new(outcome: missing ? :missing : :failed, error_class: e.class.name, error: e.message,
               logs: texts(logs))
  rescue StandardError, ScriptError => e
    Answer.new(outcome: :failed, error_class: e.class.name, error: e.message, logs: texts(logs))
  end

  # The strings of the log, each once: Puppet repeats some for every key.
  def texts(logs)
    logs.map { |entry| "#{entry.level}: #{entry.message}" }.uniq
  end
end

# A value as JSON can hold it, as docs/batch-protocol.md says.
def tagged(value)
  case value
  when nil, true, false, String, Integer then value
  when Float then value.finite? ? value : { '__ptype' => 'Float', 'value' => value.to_s }
  when Symbol then { '__ptype' => 'Symbol', 'value' => value.to_s }
  when Puppet::Pops::Types::PSensitiveType::Sensitive
    { '__ptype' => 'Sensitive', 'value' => tagged(value.unwrap) }
  when Array then value.map { |item| tagged(item) }
  when Hash
    if value.each_key.all?(String)
      value.transform_values { |item| tagged(item) }
    else
      { '__pairs' => value.map { |key, item| [tagged(key), tagged(item)] } }
    end
  else raise "no JSON form for #{value.class}"
  end
end
