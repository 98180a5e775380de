# frozen_string_literal: true

# Prints every name that the installed Facter knows, from its source: a line each, `core`, `legacy` or `alias`, the
# name (with `.*` for the part that a machine decides), and for an alias the fact that it is another name of.
# tests/cases/facter.tsv holds what it printed.
#
#   ruby tests/parity/facter_names.rb > tests/cases/facter.tsv

folder = $LOAD_PATH.map { |path| File.join(path, 'facter/facts') }.find { |path| Dir.exist?(path) }
folder ||= '/usr/lib/ruby/vendor_ruby/facter/facts'
lines = Dir[File.join(folder, '**/*.rb')].flat_map do |path|
  text = File.read(path)
  fact = text[/FACT_NAME = '([^']+)'/, 1] or next []
  type = text.include?('TYPE = :legacy') ? 'legacy' : 'core'
  aliases = text[/ALIASES = %w\[([^\]]+)\]/m, 1]&.split || text.scan(/ALIASES = '([^']+)'/).flatten
  ["#{type}\t#{fact}", *aliases.map { |name| "alias\t#{name}\t#{fact}" }]
end
puts lines.uniq.sort
