# Writes tests/cases/ruby-inspect.tsv: kind, the thing, and Ruby's text of it. Strings and the
# texts are in hexadecimal (UTF-8); floats are the 64 bits in hexadecimal.
#
#   ruby tests/parity/inspect.rb > tests/cases/ruby-inspect.tsv
Encoding.default_external = Encoding::UTF_8

def hex(text) = text.b.unpack1('H*')

symbols = %w[
  a A aB a? a! a= A? A= a?= A! A!= é É ñ= 9 9a _ _a= nil true self class [] []= + - * / ** % < <=
  <=> == === =~ ! != !~ ~ +@ -@ ~@ !@ >> << > >= & | ^ ` && || = @a @A @1 @ @@a @@ @@@a @a= @a?
  $a $1 $12 $0 $-w $-ww $- $! $@ $& $~ $+ $a= $ a-b a.b a::b foo? ? $_ $é @é 日本 日本? あ= . .. ...
  ; => $1a $-é a== a!?
].map(&:to_sym)
symbols += [:'', :'a b', :"a\n", :"é\u0378", :"\#{x}", :'"', :"a\u200b", :"\u00a0", :"😀", :"\u0085"]
symbols.each { |symbol| puts "symbol\t#{hex(symbol.to_s)}\t#{hex(symbol.inspect)}" }

strings = ['', 'a', "\n\t\r\e\a\b\v\f\0\x7f\x1f", '#', '#{', '#$', '#@', '##{', '#a#', '\\', '"\'"',
           "\u200b\u00a0\u0085\ue000\u{10ffff}\u{1f600}\u2028\u00ad\ufeff\u0378\u{e0001}\ufffe\uffff",
           "日本語 é ñ", "\u{1fae0}\u{1fae8}\u{323b0}", "\u0000a", "\u061c\u180e\ufff9"]
strings.each { |string| puts "string\t#{hex(string)}\t#{hex(string.inspect)}" }
(0..0x3ff).each { |code| s = [code].pack('U'); puts "string\t#{hex(s)}\t#{hex(s.inspect)}" }
generator = Random.new(7)
500.times do
  s = Array.new(4) { loop { c = generator.rand(0x11000); break c unless (0xd800..0xdfff).cover?(c) } }.pack('U*')
  puts "string\t#{hex(s)}\t#{hex(s.inspect)}"
end
bytes = ["\xff\x7f\x00a#\{\n\"", (0..255).to_a.pack('C*'), '', 'abc']
bytes.each { |string| puts "bytes\t#{hex(string)}\t#{hex(string.b.inspect)}" }

floats = [0.0, -0.0, 1.0, -1.5, 1e14, 1e15, 1e16, 1e20, 1e22, 1e23, 1e100, 1e-3, 1e-4, 1e-5, 0.00012345,
          123456789012345.6, 999999999999999.9, 9999999999999998.0, 9007199254740993.0, 5e-324, 2.2250738585072014e-308,
          1.7976931348623157e308, 0.1 + 0.2, 100.0, 123.456, Float::NAN, Float::INFINITY, -Float::INFINITY]
500.times { floats << [generator.bytes(8)].first.unpack1('G') }
500.times { floats << (generator.rand - 0.5) * 10**generator.rand(-8..20) }
floats.each { |float| puts "float\t#{[float].pack('G').unpack1('H*')}\t#{hex(float.to_s)}" unless float.nan? && !float.equal?(Float::NAN) }
