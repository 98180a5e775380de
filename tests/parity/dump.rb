# Writes tests/cases/psych-dump.jsonl: values, in the tagged JSON of `lookup --batch`, and what
# YAML.dump makes of them.
#
#   ruby tests/parity/dump.rb > tests/cases/psych-dump.jsonl
require 'json'
require 'puppet'
require 'puppet/pops'
require 'yaml'
Encoding.default_external = Encoding::UTF_8

Sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive
Binary = Puppet::Pops::Types::PBinaryType::Binary
Timestamp = Puppet::Pops::Time::Timestamp
Timespan = Puppet::Pops::Time::Timespan

def tag(type, value) = { '__ptype' => type, 'value' => value }

def tagged(value)
  case value
  when :default then tag('Default', 'default')
  when Symbol then tag('Symbol', value.to_s)
  when Sensitive then tag('Sensitive', tagged(value.unwrap))
  when Binary then tag('Binary', value.to_s)
  when Timestamp then tag('Timestamp', value.to_s)
  when Timespan then tag('Timespan', value.to_s)
  when Regexp then tag('Regexp', value.source)
  when SemanticPuppet::Version then tag('SemVer', value.to_s)
  when Float then value.finite? ? value : tag('Float', value.to_s)
  when Array then value.map { |element| tagged(element) }
  when Hash
    return value.transform_values { |element| tagged(element) } if value.keys.all? { |key| key.is_a?(String) && key.encoding != Encoding::BINARY }

    { '__pairs' => value.map { |key, element| [tagged(key), tagged(element)] } }
  when String
    value.encoding == Encoding::BINARY ? tag('BinaryString', [value].pack('m0')) : value
  else value
  end
end

def row(value)
  puts JSON.generate({ 'value' => tagged(value), 'yaml' => YAML.dump(value) }, max_nesting: false)
end

words = %w[
  y n Y N yes no Yes NO on off ON true false True FALSE null NULL ~ nil none t f yess yEs nUll
  0 1 -1 +1 01 012 08 09 018 0o17 0x1f 0X1F 0b1 1_000 1,000 1__0 1_ 1.0 1. .5 . .. ... - -- --- -a -1a +a 1e3 1.5e3 1.5e+3 1e+3
  .inf -.inf +.inf .nan .NaN .INF 1:30 12:30 1:30:45 1:60 1:2:3:4 1:30.5 190:20:30 22:22 aa:bb:cc 00:11:22:33:44:55
  2024-01-01 2024-02-30 2024-13-01 1582-10-10 1582-10-15 1500-02-29 1900-02-29 2000-02-29 2024-1-1 24-01-01
  2024-01-01T10:00:00Z 2024-01-01t10:00:00.5 2024-01-01T10:00:00+01:00 2024-13-01T10:00:00Z 2024-01-01T25:00:00Z 2024-01-01T24:00:00Z 2024-01-01T24:00:01Z 2024-01-01T10:60:00Z
  :sym : :: :a:b a: :a- "a" 'a' 'a "a a" a' << <<: = => == ! !a !! & &a * *a @a `a %a %{a} #a a#b # ? ?a | > |- >- [ ] { } [a] {a} , ,a a,b
  \ a\b / /a a/b ~a ~/a a~ $a ^a (a) a(b) <a> ; a;b +a é É ñandú 日本 ß 😀 😀a a😀 ①a ²a Ⅳ ١٢ _a __ -_ a_b
  12e03 0755 0.5 00.5 1.2.3 1.2 127.0.0.1 10.0.0.0/8 ::1 fe80::1 a::b ::a 1a a1 0a 08a 089 0779 0_7 0_9
].uniq
words += ['2024-01-01 10:00:00', '2024-01-01 10:00', '2024-13-01 10:00:00', '2024-01-01  10:00:00 Z', '2024-01-45 99:99:99', '-2024-01-01 10:00:00']
words += ['', ' ', '  ', 'a b', ' a', 'a ', ' a ', "\t", "a\t", "\ta", "a\tb", "\n", "\n\n", "\n\n\n", "a\n", "a\n\n", "a\n\n\n", "\na", "\n\na", "a\nb", "a\nb\n", "a\nb\n\n",
          " a\nb", "a\n b", "a \nb", "a\nb ", "\ta\nb", "a\n\tb", "a\n\nb", "a\n\n\nb\n", "-\n-", "- a\n- b", "# a\nb", "a: b\nc: d", "a\r\nb", "a\r\nb\r\n", "\r", "a\rb", "a\r", "a\r\n", "---\na", "...\na", "a\n---\nb", "a\n...",
          'a: b', 'a:b', 'a :b', 'a: ', 'a #b', 'a# b', '# a', '- a', '-a b', '? a', '?a b', ': a', '! a', '& a', '* a', '"a" b', "'a' b", 'a "b"', "a 'b'", '"', "'", '""', "''", '%"', '-"', '"-', '<a "b">', '<a b>', '(a) "b"',
          "\u0000", "\u0001", "\u0007", "\e", "\u007f", "\u0085", "a\u0085b", "\u00a0", "a\u00a0b", "\u00ad", "\u200b", "\u2028", "a\u2028b", "\u2029", "\ufeff", "a\ufeff", "\ufeffa", "\ufffe", "\uffff", "\ue000", "\u{10ffff}", "a\u0301", "\u0301",
          "a\u0000b", "a\eb", "\e[1m", "a\nb\u0001", "a\nb\u0085", "é\nü", "😀\na", "a\n😀", "yes\n", "no\nno", "1\n", "1\n2", "12:30\n", "true\n\n", ":a\n", "- \n", "~\n", "y\n", "n\n", "<<\n", "null\n\n",
          'x' * 79, 'x' * 80, 'x' * 81, 'x' * 200, 'ab ' * 40, ('ab ' * 40).strip, 'ab  ' * 40, "#{'ab ' * 40}\n", "a\n#{'ab ' * 40}", "#{'x' * 90} y", "y #{'x' * 90}", "é #{'é ' * 60}", "'#{'ab ' * 40}", "#{'ab ' * 40}: x", "\"#{'ab ' * 40}",
          "\t#{'ab ' * 40}", "\e#{'ab ' * 40}", "\e#{'x' * 200}", "#{'日本 ' * 40}", "日本#{'語' * 100}", "x #{'😀 ' * 50}", "#{'a' * 100}\n#{'b ' * 60}\n", "# #{'ab ' * 40}", "- #{'ab "c" ' * 20}", ' ' * 100, "x#{' ' * 100}", "x#{' ' * 100}y", "%{lookup('a')}", "%{facts.os} \"x\"",
          "ENC[PKCS7,#{'MIIB' * 60}]", 'http://a/b?c=d&e=f', '$1$abc', 'a=b', 'C:\\x', '*.example.com', '@x', '{a: 1}', '[1, 2]', 'a, b', 'a]', 'a}', 'a}b', '::ntp', 'Foo[bar]', '=~', '!x', '~> 1.0', '>= 1.0', '%w[a]', '/a b/', '-----BEGIN X-----', "-----BEGIN X-----\nabc\n-----END X-----\n",
          "#!/bin/sh\necho \"a\"\n", "\n#!/bin/sh\n", "if a\n  b\nend\n", "  indented\nless\n", "    a\n  b", "a\n\n  b\n", "\n  a\n", " \na", " \n", "\t\na", "a\n \nb", "a\nb\n ", "trailing \nlines ", "0\n", "08\n", "089 x", '0 8']
words.uniq!
words.each { |word| row(word) }
words.each { |word| row({ word => word }) }
words.each { |word| row([word, [word], { 'k' => [{ 'j' => word }] }]) }
words.each { |word| row(word.to_sym) if word.valid_encoding? }

[nil, true, false, 0, -1, 2**62, 2**63, -(2**63), -(2**63) - 1, 10**40, 0.0, -0.0, 1.5, 1e15, 1e14, 1e20, 1e-5, 1.0e-10, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, Float::NAN, Float::INFINITY, -Float::INFINITY,
 [], {}, [[]], [{}], [[], {}], { 'a' => [] }, { 'a' => {} }, [nil], { 'a' => nil }, { nil => 1 }, { nil => nil }, [nil, [nil]], [[[1]]], [[1, 2], [3]], [{ 'a' => 1, 'b' => 2 }], [{ 'a' => { 'b' => 1 } }], { 'a' => [1, [2, { 'b' => 3 }]] },
 { 1 => 2 }, { 1.5 => 2 }, { true => 1 }, { :a => :b }, { [1] => 2 }, { { 'a' => 1 } => 2 }, { [] => 1 }, { {} => 1 }, { [1, [2]] => { [3] => 4 } }, { 'x' * 130 => 1 }, { "a\nb" => 1 }, { 'a b' => 1 }, { '' => 1 }, { ("é" * 70) => 1 }, [{ ('x' * 127) => 1 }, { ('x' * 128) => 1 }, { ('x' * 129) => 1 }],
 { 1 => { 2 => [3] } }, :default, [:default], "\xff".b, "\xff\x00abc".b, 'abc'.b, ''.b, ["\xff".b], { "\xff".b => 1 }, ("\xff" * 100).b,
 Sensitive.new('x'), [Sensitive.new('x')], { 'a' => Sensitive.new({ 'b' => ['c'] }) }, Sensitive.new(nil), Sensitive.new([]), Sensitive.new("a\nb"), Sensitive.new(Sensitive.new(1)),
 /a/, [/a b/], /a"b/, /^a: #/, SemanticPuppet::Version.parse('1.2.3'), [SemanticPuppet::Version.parse('1.2.3-rc.1+b1.2')], Binary.from_base64('aGVsbG8='), Binary.from_base64('/w=='), [Binary.from_base64('')],
 Timestamp.parse('2020-01-01T00:00:00.000 UTC'), [Timestamp.parse('1969-12-31T23:59:59.5 UTC')], Timestamp.parse('2000-02-29T12:34:56.123456789 UTC'), Timespan.parse('1-00:00:01.5'), [Timespan.parse('0-12:00:00.0')],
 { 'a' => "x\n", 'b' => ['y', "z\nw"], 'c' => { 'd' => "e\nf\n\n" } }].each { |value| row(value) }

generator = Random.new(11)
alphabets = ["ab 1:-.\n", "ab\"'\\#: \n\t", "0123456789:._,-+e", "yesnotruflYESNO~\n ", "aé日😀\u0085\u2028\u00a0\ufeff \n", "a b  \n", "%{}[],&*!|>@`?-: #a", (32..126).map(&:chr).join]
1500.times do |index|
  letters = alphabets[index % alphabets.size].chars
  text = Array.new(generator.rand(1..12)) { letters.sample(random: generator) }.join
  row(index % 3 == 0 ? { text => [text] } : text)
end
200.times do
  text = Array.new(generator.rand(20..120)) { ['ab', 'c', "d\n", 'e:', '#f', '"g"', 'é', ' ', '  '].sample(random: generator) }.join(' ')
  row([text, { 'k' => text }])
end
