# Writes src/value/printable.rs: the code points that this Ruby calls printable.
#
#   ruby tests/parity/printable.rb > src/value/printable.rs
ranges = []
(0..0x10ffff).each do |code|
  next if (0xd800..0xdfff).cover?(code)

  # Not `[[:print:]]`, which leaves out U+0085. Quotes and the like are escaped yet printable.
  text = [code].pack('U')
  next unless text.inspect == %("#{text}") || ['"', '\\', '#'].include?(text)

  if ranges.any? && ranges.last[1] == code - 1
    ranges.last[1] = code
  else
    ranges << [code, code]
  end
end

puts <<~HEAD
  //! Which characters Ruby's `inspect` prints as they are: those of Ruby #{RUBY_VERSION}
  //! (Unicode #{RbConfig::CONFIG['UNICODE_VERSION']}), as `tests/parity/printable.rb` wrote it.

  /// Whether Ruby calls a character printable.
  pub(super) fn is_printable(character: char) -> bool {
      let code = u32::from(character);
      if code < 0x7f {
          return code >= 0x20;
      }
      let after = RANGES.partition_point(|(first, _)| *first <= code);
      after > 0 && RANGES[after - 1].1 >= code
  }

  /// First and last code point of each run of printable characters, in order.
  #[rustfmt::skip]
  const RANGES: [(u32, u32); #{ranges.size}] = [
HEAD
ranges.each_slice(5) do |slice|
  puts '    ' + slice.map { |first, last| format('(0x%x, 0x%x),', first, last) }.join(' ')
end
puts '];'
