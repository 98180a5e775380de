# frozen_string_literal: true

# Asks real Puppet about every mistake on purpose in fixtures/acme/mistakes and writes its answers into
# that folder's README.md.
#
#   ruby tests/parity/acme_mistakes.rb            writes the table
#   ruby tests/parity/acme_mistakes.rb --check    fails if the table says anything else
#
# A mistake is marked by a comment at the end of its line: `#~ CODE`, then optionally `ask KEY` (the key
# whose lookup shows it, where that is not the top-level key around the line, or the literal entry of
# lookup_options; `class:NAME` for a catalog with that class, `catalog` for the node's own) and `as CERTNAME`.
# A mistake that fails every lookup is tried alone: without the other
# marked files or lines of its folder.

require_relative 'acme_oracle'

MISTAKES = ACME + 'mistakes'
TARGET = MISTAKES + 'README.md'
TABLE = /(?<=<!-- what Puppet says -->\n).*(?=<!-- end -->)/m
MARK = %r{(?:\#|//)~ (?<code>[a-z0-9-]+)(?: ask (?<key>\S+))?(?: as (?<node>\S+))?\s*$}
TYPICAL = 'web01.lon.acme.example'

# What Puppet must do with each code, for the claim to count: fail with the defaults of 7 and of 8, fail
# with those of 8 only, warn, or stay silent (the rest).
FAILS = %w[
  alias-not-whole unknown-interpolation-function malformed-call interpolation-loop subkey-of-scalar
  bad-strategy bad-merge-option merge-type-clash bad-convert-to symbol-value non-string-map-key
  lookup-options-namespace yaml-syntax yaml-date unknown-alias ruby-tags json-syntax hocon-syntax eyaml-blob
  lookup-options-regex-invalid lookup-options-not-hash hiera-config unknown-backend wrong-backend-kind
  no-location backend-options eyaml-without-keys type-mismatch missing-parameter convert-to-arguments
].freeze
FAILS_WHEN_STRICT = %w[undefined-variable foreign-percent-syntax not-a-hash].freeze
WARNS = %w[data-namespace].freeze
# Single places that differ from their code: what Puppet does there (7, strict).
EXCEPTIONS = {
  'call::unquoted' => %i[found failed],
  'shape::legacy' => %i[found failed],
  'secret::unterminated' => %i[found found],
  'configuration/empty/hiera.yaml' => %i[missing failed],
  'configuration/version-3/hiera.yaml' => %i[missing failed],
  'configuration/no-version/hiera.yaml' => %i[failed failed],
  'configuration/version-4/hiera.yaml' => %i[found found],
}.freeze

Mistake = Struct.new(:file, :line, :code, :key, :node, keyword_init: true) do
  def place = "#{file}:#{line}"
  def folder = file.start_with?('configuration/') ? file.split('/').first(2).join('/') : file.split('/').first
  def alone? = folder != 'values'
end

def key_around(lines, index)
  lines[0..index].reverse_each do |text|
    entry = text[/\A  ([a-z0-9_.:]+?): /, 1]
    return entry if entry && in_lookup_options?(lines, index)
    next if text.match?(/\A(\s|#|---|- )/)

    return text[/\A"?([^"]*?)"?:(?:\s|$)/, 1]
  end
  nil
end

def in_lookup_options?(lines, index)
  lines[0..index].reverse.find { |text| !text.match?(/\A(\s|#)/) }&.start_with?('lookup_options:')
end

def mistakes
  MISTAKES.glob('**/*').select(&:file?).sort.reject { |file| file == TARGET }.flat_map do |file|
    name = file.relative_path_from(MISTAKES).to_s
    lines = file.readlines
    lines.each_with_index.filter_map do |text, index|
      mark = text.match(MARK) or next
      key = mark[:key] || (name.end_with?('hiera.yaml', '.json') ? 'key' : key_around(lines, index) || 'key')
      Mistake.new(file: name, line: index + 1, code: mark[:code], key: key, node: mark[:node] || TYPICAL)
    end
  end
end

# Leaves nothing of the folder's other marked mistakes in `copy`.
def isolate(copy, mistake)
  copy.glob('**/*').select(&:file?).each do |file|
    lines = file.readlines
    own = file.relative_path_from(copy).to_s == mistake.file.delete_prefix("#{mistake.folder}/")
    if !own && mistake.folder != 'configuration' && lines.any? { |text| text.match?(MARK) }
      file.delete
    elsif own
      file.write(lines.each_with_index.reject { |text, i| text.match?(MARK) && i + 1 != mistake.line }.map(&:first).join)
    end
  end
end

def answer_of(oracle, key, **options)
  case key
  when 'catalog' then oracle.catalog('', **options)
  when /\Aclass:(.+)/ then oracle.catalog("include #{Regexp.last_match(1)}", **options)
  else oracle.lookup(key, **options)
  end
end

def answer_text(answer, copy)
  text = case answer.outcome
         when :found then "`#{JSON.dump(tagged(answer.value))}`"
         when :missing then 'not found'
         when :failed
           kind = answer.error_class == 'Puppet::DataBinding::LookupError' ? '' : "#{answer.error_class}: "
           "fails: `#{kind}#{answer.error}`"
         end
  ([text] + answer.logs.map { |log| "`#{log}`" }).join('; ').gsub("#{copy}/", '').gsub(copy.to_s, '.')
                                                 .gsub(/\s*\n\s*/, ' ⏎ ').gsub('|', '\\|')
                                                 .gsub(/[A-Za-z0-9+\/]{60,}/) { |blob| "#{blob[0, 12]}…" }
end

def complaint(mistake, lenient, strict)
  got = [lenient.outcome, strict.outcome]
  wanted = EXCEPTIONS[mistake.key] || EXCEPTIONS[mistake.file]
  return (got == wanted ? nil : "#{got} instead of #{wanted}") if wanted

  failed = got.map { |outcome| outcome == :failed }
  expected = if FAILS.include?(mistake.code) then [true, true]
             elsif FAILS_WHEN_STRICT.include?(mistake.code) then [false, true]
             else [false, false]
             end
  return "#{failed} instead of #{expected}" unless failed == expected
  return 'no warning' if WARNS.include?(mistake.code) && lenient.logs.empty?

  line = lenient.error.to_s[/ at line (\d+) column/, 1]
  # Inside a block mapping Puppet names the line where the mapping begins.
  line = nil if lenient.error.to_s.include?('while parsing a block mapping')
  "Puppet names line #{line}" if mistake.code == 'yaml-syntax' && line && line.to_i != mistake.line
end

oracle = Oracle.new
nodes = JSON.parse((ACME + 'nodes.json').read)
installed = nil
copy = nil
wrong = []
rows = mistakes.map do |mistake|
  if mistake.alone? || installed != mistake.folder
    copy = oracle.install(MISTAKES + mistake.folder) do |path|
      if mistake.folder.start_with?('configuration/')
        (path + 'data').mkpath
        (path + 'data/common.yaml').write("key: 1\n")
      end
      isolate(path, mistake) if mistake.alone?
    end
    installed = mistake.folder
  end
  node = nodes.fetch(mistake.node)
  options = { certname: mistake.node, facts: node['facts'], trusted: node['trusted'], variables: node['variables'] }
  lenient, strict = %i[warning error].map { |level| answer_of(oracle, mistake.key, **options, strict: level) }
  problem = complaint(mistake, lenient, strict)
  wrong << "#{mistake.place} #{mistake.code} #{mistake.key}: #{problem}: #{answer_text(lenient, copy)} / #{answer_text(strict, copy)}" if problem
  answers = [lenient, strict].map { |answer| answer_text(answer, copy) }
  "| #{mistake.place} | `#{mistake.code}` | `#{mistake.key}` | #{answers[0]} | #{answers[1] == answers[0] ? 'same' : answers[1]} |\n"
end
abort "Puppet does not confirm #{wrong.size} of #{rows.size} mistakes:\n#{wrong.join("\n")}" unless wrong.empty?

table = "| place | code | key asked for | Puppet #{Puppet.version} | with `strict=error` |\n" \
        "| --- | --- | --- | --- | --- |\n#{rows.join}"
text = TARGET.read
if ARGV.include?('--check')
  abort "#{TARGET} is not what Puppet says: run tests/parity/acme_mistakes.rb" unless text[TABLE] == table
else
  TARGET.write(text.sub(TABLE) { table })
end
puts "#{rows.size} mistakes on purpose, each confirmed by Puppet #{Puppet.version}"
