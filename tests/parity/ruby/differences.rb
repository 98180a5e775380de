# frozen_string_literal: true

# What this Ruby does of that which lookups need from it: the texts of values, YAML, JSON, HOCON, patterns, numbers and
# the words of errors. Writes versions.txt and answers.txt into /w (or the folder $W): a line for each question, with
# its kind, the question and the answer as JSON texts. `make` compares several versions of Ruby.
#
# The folder has `hocon`, the gem, and `regexp.jsonl` and `psych-scalars.jsonl` of tests/cases.

require 'json'
require 'psych'
require 'set'

$VERBOSE = nil
W = ENV['W'] || '/w'
$LOAD_PATH.unshift("#{W}/hocon")
require 'hocon'

LINES = [] # rubocop:disable Style/MutableConstant

# JSON.generate writes floats otherwise in each version; these are all strings.
def answer(kind, question, text)
  text = text.to_s.dup.force_encoding('UTF-8').scrub.gsub(/0x[0-9a-f]{8,}/, '0x')
  LINES << [kind, JSON.generate(question), JSON.generate(text)].join("\t")
end

def tried
  yield
rescue SyntaxError, StandardError => e
  "#{e.class}: #{e.message}"
end

# A text of a value that is the same in all versions.
def shown(value, depth = 0)
  return '…' if depth > 9

  inside = ->(part) { shown(part, depth + 1) }
  case value
  when Hash then "{#{value.map { |key, part| "#{inside[key]}: #{inside[part]}" }.join(', ')}}"
  when Array then "[#{value.map(&inside).join(', ')}]"
  when String then value.dump
  when Symbol then ":#{value.to_s.dump}"
  when Float then "#{value.to_s} (float)"
  when nil then 'nil'
  else value.to_s
  end
end

# Characters that a text of a list shows as they are, as runs.
first = nil
(0x20..0x110000).each do |code|
  next if (0xd800..0xdfff).cover?(code)

  character = code == 0x110000 ? nil : [code].pack('U')
  plain = character && character.inspect == "\"#{character}\""
  if plain then first ||= code
  elsif first
    LINES << "run\t#{first.to_s(16)}\t#{(code == 0xe000 ? 0xd7ff : code - 1).to_s(16)}"
    first = nil
  end
end

SYMBOLS = %w[a A a? a! a= A! é ñ= 9a _ nil self [] []= + == ! !~ @a @@a $a $1 $! && ; a-b a.b a::b 日本 😀] + ['a b', '', '"']
SYMBOLS.each { |name| answer('symbol key', name, { name.to_sym => 1 }.to_s) }
{
  'a hash' => { 'a' => 1, 'c' => nil, s: 2 }, 'a hash in a list' => [{ 1 => { nil => [] } }], 'an empty hash' => {},
  'a float as key' => { 1.0 => -0.0 }, 'a list' => [1, 'a', :b, nil, 1.5, true], 'floats' => [1e15, 1e16, 1e-4, 1e-5, 1.0 / 0, 0.0 / 0],
  'big numbers' => [10**20, 2**64, 1e22, 1e23], 'symbols' => %i[a a? [] + 9a], 'a set' => Set[1, 2],
  'an error of two lines' => [StandardError.new("a\nb")], 'a pattern' => [%r{a/b}i], 'a range' => [(1..2), (1..)],
  'NEL' => ["\u0085"], 'a new character' => ["\u{1fae8}"], 'spaces' => ["\u00a0\u200b\u2028\ufeff"], 'escapes' => ["\e\a\0\t\u007f\#{x}\#a"],
  'bytes' => ["\xff\x00a".b]
}.each { |name, value| answer('text', name, value.to_s) }

JSON_TEXTS = [
  '"\q"', '"\d+"', '"C:\Users"', '"\/"', '"\ "', '"\u00e9"', '"\u12"', '"\ud83d"', '"\ude00"', '"\u0000"', '{"a": 1} // x', '{"a": 1} /* x */', "// x\n1",
  '/* x */', '//', '{"a": 1, "a": 2}', '[1,]', '{"a": 1,}', '[1 2]', '{"a" 1}', '{a: 1}', "{'a': 1}", '', ' ', '[', '{', '"a', '01', '1.', '.5', '+1', '-',
  '1e5', '1E+5', '1e400', '-0', '-0.0', '100000000000000000000', '0.1000000000000000055511151231257827', 'NaN', '[NaN]', 'Infinity', '-Infinity', 'nul', 'Null',
  "\ufeff{}", "\u00a01", "\"a\tb\"", "\"a\nb\"", '{"a": 1} x', '[1]]', "{\"a\": 1}\0", '[' * 101 + ']' * 101, '[' * 100 + ']' * 100, '{"a":' * 101 + '1' + '}' * 101,
  '{"json_class": "String"}', '[1.5, 2.5e3, -3.25E-2]', '[9007199254740993, 9007199254740993.0, 5e-324, 1.7976931348623157e308]'
].freeze
JSON_TEXTS.each { |text| answer('JSON', text, tried { shown(JSON.parse(text)) }) }
[1e15, 1e16, 1e20, 1e-5, 0.0001, -0.0, [], {}, [[]], { 'a' => [] }].each do |value|
  answer('to JSON', shown(value), "#{JSON.generate([value])} #{JSON.pretty_generate([value])}")
end

%w[1. 1.e5 1.E-1 -1. .5 -.5 1e5 1.5e3 1e 01 +1 1.0.0].each { |text| answer('HOCON', "a = #{text}", tried { shown(Hocon.parse("a = #{text}")) }) }

YAML_TEXTS = [
  'a: *x', 'a: &x [*x]', "a: &x 1\nb: *x", 'a: !ruby/data:X {b: 1}', 'a: !ruby/object:Object {}', 'a: !ruby/struct:X {b: 1}', 'a: !ruby/set {b: 1}',
  'a: !ruby/object:Set {hash: {a: true}}', 'a: !!set {b, c}', 'a: !!omap [b: 1]', 'a: !!binary aGk=', 'a: !foo {b: 1}', 'a: !!float x', 'a: !!int x', 'a: 2020-01-01',
  'a: 2020-13-45', 'a: 20:30:15', 'a: 1_000', 'a: 1,000', 'a: 1__0', 'a: 0o17', 'a: 017', 'a: 08', 'a: 0x_1', 'a: 1.', 'a: 1.e5', 'a: 1.e+5', 'a: 1e5', 'a: .5', 'a: ._1', 'a: -.inf',
  'a: =', '=: 1', '<<: {a: 1}', '<<: 1', 'a: y', 'a: NO', 'a: :b', "a: :'b c'", ':a: 1', "a: \"\\N\\L\\_\\x41\"", "a: \u{1fae8}", 'a: [1', "a: 'x", 'a: b: c', "a:\n\tb: 1", '', '~', '---', "--- a\n--- b"
].freeze
load_yaml = ->(text) { tried { shown(Psych.safe_load(text, permitted_classes: [Symbol], aliases: true, filename: 'f')) } }
YAML_TEXTS.each { |text| answer('YAML', text, load_yaml[text]) }
File.foreach("#{W}/psych-scalars.jsonl") do |line|
  text = JSON.parse(line)['yaml']
  # Loading BigDecimal crashes the WebAssembly module, which does not have it.
  next if text.size > 3000 || text.include?('BigDecimal')

  answer('YAML scalar', text, load_yaml[text])
end
['Y', 'N', 'y', 'n', 'yes', '1582-10-10', '1500-02-29', '2020-01-01', '1e3', '1.', '1_0', "\u0085", "\u{1fae8}", ' a', "a\n", '', '~', ':a', '0o7', '08', 'a: b', '!a', '=', '<<'].each do |text|
  answer('to YAML', text, Psych.dump(text))
end

texts = nil
File.foreach("#{W}/regexp.jsonl") do |line|
  line = JSON.parse(line)
  next texts = line['texts'] if line['texts']

  answer('pattern', line['p'], tried do
    pattern = Regexp.new(line['p'])
    found = texts.map { |text| (match = pattern.match(text)) ? "#{match.begin(0)}+#{match[0].size}" : '-' }
    "#{found.join(' ')} #{texts.map { |text| text.gsub(pattern) { '<>' } }.join('|')} #{pattern}"
  end)
end

%w[1. 1.e5 1.E-1 1_0 1__0 0x1f 1e 08 +1].each do |text|
  answer('number', text, "#{tried { Float(text) }}, #{tried { Integer(text) }}, #{text.to_f}, #{text.to_i}")
end
%w[%f %d %c].product(['1.', '0x1f', 'ab', '']) { |form, text| answer('format', "#{form} #{text}", tried { format(form, text) }) }
answer('rounded', '', [2.5.round, 0.5.round, 1.005.round(2), 2.675.round(2), 5.015.round(2), 25.0.round(-1), 291.4.floor(1)].join(' '))
answer('sorted', '', %w[b a é Z _ 1 ~].sort.join)
answer('case', '', %w[É ß ǆ İ Σ ŉ ﬃ Ɤ].map { |text| text.upcase + text.downcase + text.capitalize }.join(' '))
answer('stripped', '', ["\u00a0a\0", " a\v\f\0 ", "\0 a"].map { |text| text.strip.dump }.join(' '))
answer('split', '', ['a..b', '.a', 'a.', 'a,b,,'].map { |text| text.split('.').concat(text.split(',')).join('|') }.join(' '))

{
  'nil["a"]' => -> { nil['a'] }, '"a".dig' => -> { 'a'.dig(0) }, '{}.foo' => -> { {}.foo }, '1.each' => -> { 1.each }, 'true.size' => -> { true.size },
  '[1]["a"]' => -> { [1]['a'] }, '"a" + 1' => -> { 'a' + 1 }, '1 + "a"' => -> { 1 + 'a' }, '[1] + nil' => -> { [1] + nil }, 'Integer("x")' => -> { Integer('x') },
  'Integer(nil)' => -> { Integer(nil) }, 'Float("x")' => -> { Float('x') }, '{"a" => "b"}.dig("a", "c")' => -> { { 'a' => 'b' }.dig('a', 'c') }, '[1, "a"].sort' => -> { [1, 'a'].sort },
  '["a", 1].sort' => -> { ['a', 1].sort }, '[nil, 1].sort' => -> { [nil, 1].sort }, '1 < "a"' => -> { 1 < 'a' }, '{}.merge(1)' => -> { {}.merge(1) }, '[1].first(1, 2)' => -> { [1].first(1, 2) },
  'Regexp.new("(")' => -> { Regexp.new('(') }, 'String.foo' => -> { String.foo }, '1.puts' => -> { 1.puts }, '1.clamp(3, 2)' => -> { 1.clamp(3, 2) }, '1 / 0' => -> { 1 / 0 },
  'a frozen string' => -> { 'a'.dup.freeze << 'b' }, '"é" + bytes' => -> { 'é' + "\xe9".b }, 'bytes that are no UTF-8' => -> { "\xff" =~ /a/ }, 'a file' => -> { File.read('/nosuch') }
}.each { |name, call| answer('error', name, tried { call.call.to_s }) }

File.write("#{W}/answers.txt", "#{LINES.join("\n")}\n")
File.write("#{W}/versions.txt", "Ruby #{RUBY_VERSION}, Psych #{Psych::VERSION}, JSON #{JSON::VERSION}, hocon #{Hocon::Version::STRING rescue '1.3.1'}\n")
