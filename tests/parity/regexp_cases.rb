# Makes tests/cases/regexp.jsonl: what Ruby says about patterns, for tests/library/regexp_cases.rs.
# Run with the Ruby of the Puppet whose behaviour is to be matched:
#   ruby tests/parity/regexp_cases.rb > tests/cases/regexp.jsonl
# Each line: p (pattern), then error (the message of Ruby's RegexpError) or m (for each text of
# the first line: byte offsets of the first match or null) and g (gsub with "<>", where it differs).
require 'json'
$VERBOSE = nil

TEXTS = ['', 'a', 'b', 'ab', 'aab', 'abab', 'abc', 'ABC', 'AbC', 'foo', 'foobar', 'barfoo', "a\n", "\na", "a\nb", "\n", "a\n\n", "b\na\n",
         'profile::base', 'profile::web::port', 'profile::', 'xprofile::base', '12', '0x1F', 'deadBEEF', '10.0.0.1', 'fe80::1', 'a b', "a\tb",
         ' ', "\r\n", 'é', 'É', 'straße', 'ÀÉ_1', '٣', "\u00a0", '-', 'a-b', '[a]', '{', 'a{1', '.', 'a.b', '/etc/passwd', 'C:\\Windows',
         'xx', 'aa', 'aaaa', 'abba', '--gone', 'key1', 'CamelCase', "tail\\", '^', '$', '#x', 'a&&b', "\v", "\e", 'x:y', 'über', 'ß', '日本', '']

FIXED = ['^\z', '\n$', '\w', '\d', '\s', '\b', 'a\b', '\B', '[[:alpha:]]', '(?u)\w', '(?a)[[:alpha:]]', '(?u:\d)', '(?a:\w)\w',
  'a{3,1}', 'a{,2}', 'a{2}?', 'a{1,2}+', 'a{2}?b', 'a{x}', 'a{,}', 'a{2,}', 'a{0}', 'a{1,2}?b',
  'a/(', '^*', '*', '+a', '?', '(*)', '(?:*)', '|*', 'a|*', '(', '(a', 'a)', ')', '[', '[a', '[]', '[^]', '[]a]', '[^]a]', '[a-', '[b-a]', '[a-\d]', '[\d-a]', '[\w-]', '[\w-.]',
  '[\w.-]', '[a-z-\w]', '[[:alpha:]-z]', '[[a]-z]', '[a-z-9]', '[\d\-a]', '[a-c-e-g]', '[z-\x41]', '\\', 'a\\', '\1', '\2(a)', '(a)\2', '\k<a>', '(?<a>x)\k<b>', '(?<a>x)\1', '(?<1a>x)', '(?<>x)', '(?<a', '(?<a-b>x)', '(?z)',
  '(?z:a)', '(?', '(?<', '(?P<a>x)', '(?i', '(?-', '\x', '\x{', '\x{41}', '\x4', '\u', '\u12', '\u{', '\u{110000}', '\u{41 42}', '\u{}', '\u0061', '\u00e9', '\u{61}b', '\p', '\p{', '\p{Foo}', '\p{^Alpha}', '\pL', '\p{L}', '\p{Lu}', '\p{Upper}', '\p{Greek}', '\p{Han}',
  '\p{Letter}', '\p{ALNUM}', '\p{Any}', '\p{XDigit}', '\P{L}', '\P{^L}', '[\P{L}a]', '\c', '\C', '\M', '\C-', '\M-', '[[:foo:]]', '[[:alpha:', '[[:alpha', '[a&&]', '[&&a]', '[a&&b&&c]', '[a-c&&b-d]', '[[a-c]&&[^b]]', '[^a&&b]', '[a-z&&[^aeiou]]', '[^a-z&&[^b]]',
  'a**', 'a+*', 'a{1}{2}', '\A*', '$*', '\b*', '(?=a)*', '(?!a)+', '(?<=a+)b', '(?<=a|bc)d', '(?<!a*)b', '(?<=a)b', '(?<!a)b', '(?<!(a))b', '(?<=(a))b', '(?>a)', '(?>a+)b', '(?~a)', '(?~ab)c',
  '\g<1>', '\g<a>', '(a\g<1>?)', '(?<p>[a-z]+)(?:::\g<p>)*\z', '(?<n>\((?:[^()]|\g<n>)*\))', '(?(1)a|b)', '(x)?(?(1)a|b)', '(a)?(?(1)b|c)', '(?#c', '(?#c)a', 'a(?#c)*b',
  '\Q', '\y', '\e', '\a', '\07', '\08', '\0', '\101', '\400', '\8', '\9', '\10', '(a)\10', '\k<1>', '(a)\k<1>', '(a)\k<-1>', '(a)\k<-2>', '\k', '\k<', '\k<>', "\\k'a'", '\g', '(a)(b)\2\1', '(?<q>.)\k<q>', '(?<q>a)|(?<q>b)\k<q>', '(.)\1', '(?i)(a)\1', '(a)|b\1',
  '(?imx)a', '(?mix-i:a)', '(?s)a', '(?d)a', '(?a)b', '(?U)', 'a{100001}', 'a{100000}', '(?<=(?<!a))b', '[a[b]', '[[]', '[\]', '[a\\', '{1}', '{', '}', 'a{1', 'x{1,2', '(?i)(?-i)a', '(?i)ab(?-i)c', 'a(?i)b|c', '(?i:a)B', '(?i)[b-c]', '(?i)[^b]', '(?i)É', '(?i)straSSe',
  '[[:^alpha:]]', '[a[:digit:]]', '[:alpha:]', '[[=a=]]', '[[.a.]]', '[a-b-c]', '[a-]', '[-a]', '[--a]', '[a--]', '[a\-b]', '[.]', '[+*?]', '[$^]', '[a^]', '[\[\]]', '[a/b]', '[#]', '[ ]', '[\\\\]', '[\/]', '[~&]', '[a&b]', '[a|b]',
  '\R', '\X', '\K', 'a\Kb', '\G', '\Ga', '\Z', '\z', 'a\Z', 'a\z', 'a$', '^a', '\Aa', '^a$', '^b$', '^', '$', '^$', '\A\z', '\A\Z', '^.*$', '(?m).*', '(?m:a.b)', 'a.b', '.', '.+', '.*', '[\b]', '[\R]', '[\h]', '[\H]', '[^\h]', '[^\w]', '[\W]', '[\s\S]', '[\d\D]', '[\p{Alpha}]', '[\u{41}-\u{43}]', '[\x61-\x63]', '[\n-\r]', '\xff', '\xE9', '\M-a', '\C-a', '\ca', '\c\\', '[^a', '[a-[b]]', '[x-[a]%]', '[a-[b]c]', '[x-[a]z-b]', '[x-[a][b]%]', '[x-[a]\d]', '[x-[a]&&b]', '[+-[b]-]', '[x-[a]-', '[x-[a]%]{12345678901234567890}',
  '(?:', '(?>', '(?=', '(?!', '(?<=', '(?<!', '(?<n>', '(?<n', '(?:a', '(?=a', '()', '(?<a>x)(?<a>y)\k<a>', '((a)', '[a]]', 'é(', 'é', '\é', "a\nb(", "a\tb(", 'a\/(', '(?i-', '(?i-z)', '(?=a){2}', '(?:a*)*', '(?:a?)+', '(a*)+', '(a|b)*', 'x*?+', 'x+?*', 'x??', 'a*+a', 'a++b', 'a?+a', '(?:ab)++', 'a+?b', 'a*?b',
  '(?<=\b)a', '(?<=^a)b', '(?<=(?:ab|c))d', '(?<=x(?:ab|c))d', '(?<=a{2})b', '(?<=a{1,2})b', '(?<=.*)x', '(?<!foo)bar', '(?<!^)a', '\p{^Foo}', '\P{Alpha}', '[[:word:]]', '[[:punct:]]', '[[:space:]]', '[[:upper:]]', '[[:lower:]]', '[[:alnum:]]', '[[:blank:]]', '[[:cntrl:]]', '[[:graph:]]', '[[:print:]]', '[[:xdigit:]]', '[[:digit:]]', '[[:ascii:]]', '[[:Alpha:]]',
  '(?~', '\N', '\O', '\H', '\h', '\v', '[\v]', '^^', '$$', '\\B*', '\\-\\+', '\\_', '\\%', '\\@', '\\:', '\\ ', '\\#', "\\'", '\\"', '\\<', '\\>', '\\&',
  '(?x) a b # c', '(?x)a\ b', '(?x)[ ]', '(?x: a ) b', "(?x)a # note\n b", '#x', 'a b', '(?x)a {2}',
  '^profile::', '^profile::.*::port$', '^profile::(web|db)', '^profile::(?!web)', '^(profile|role)::', 'profile::\w+$', '^[a-z][a-z0-9_]*(::[a-z][a-z0-9_]*)*$', '^(?i)PROFILE::', '^profile::base$', '\Aprofile::', '^.*::port', '^x|profile', '^(?:profile::)+',
  '^--', '^-.', '^+', '^*', '^(', '^[', '^?', '^--.*$', '\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\z',
  '^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$', '\A([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\z', '^([a-zA-Z]:[\\\\/].*)$', '\A/([^\n/\0]+(/)?)*\z', '^/([^/\0]+(/)?)+$', '(?i:^https?://.*\z)', '\A(?!-)[A-Za-z0-9-]{1,63}(?<!-)\z', '\A[a-zA-Z0-9]([a-zA-Z0-9\-]*[a-zA-Z0-9])?\z',
  '^(?=.*[a-z])(?=.*[A-Z]).+$', '^[[:alpha:]_]\w*$', '(a+)+$', '(?:(?:a|b)|c){2}', '\A\p{Alpha}+\z', '日.', '[あ-日]', '[à-ü]', '(?i)[à-ü]', '\A[^\s:]+\z', '\t', '\n', '\r\n', "\n", '^\s*$', '\S+', '\W', '\D+',
  '(?<=::)\w+', '\b[a-z]+\b', '(?:^|:)x', 'x(?=:)', '(?<![0-9])1', '\Aa|b\z', '(|a)b', '(a|)b', '||', '|', '(?:|)', '[a-z]{2,3}', '\{', '\}', '\(', '\)', '\[', '\]', '\|', '\/', '/', '\.', '\*', '\^', '\$', '{,3}', 'a{,3}b', '(?<año>a)', '(?<_x>a)', "(?'n'a)b", "(?'n'a)\\k'n'", '(?<n>a)(b)', '(?<n>a)(b)\k<n>']

srand 20
pieces = ['a', 'b', 'ab', '.', '\w', '\d', '[ab]', '[^a]', '(a|b)', '(?:ab)', '^', '$', '\A', '\z', '\Z', '\b', '(?=a)', '(?!b)', '(?<=a)', '(?<!b)', '(?>a*)', '\h', '[[:alpha:]]', '\n', '(?i:b)', '(?m:.)', 'é', '::', '\s']
quants = ['', '', '', '', '*', '+', '?', '*?', '+?', '??', '*+', '++', '?+', '{2}', '{1,2}', '{,2}', '{1,}', '{2}?', '{1,2}?', '{1}+']
random = Array.new(400) { Array.new(1 + rand(4)) { pieces.sample + quants.sample }.join(['', '', '', '|'].sample) }

puts JSON.generate('texts' => TEXTS)
(FIXED + random).uniq.each do |pattern|
  begin
    regexp = Regexp.new(pattern)
    matches = TEXTS.map { |text| (m = regexp.match(text)) ? m.byteoffset(0) : nil } rescue matches = TEXTS.map { |text| (m = regexp.match(text)) ? [m.pre_match.bytesize, m.pre_match.bytesize + m[0].bytesize] : nil }
    gsubs = TEXTS.map { |text| (r = text.gsub(regexp) { '<>' }) == text ? nil : r }
    puts JSON.generate('p' => pattern, 'm' => matches, 'g' => gsubs)
  rescue RegexpError => e
    puts JSON.generate('p' => pattern, 'error' => e.message)
  end
end
