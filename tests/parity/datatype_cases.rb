# Makes tests/cases/datatype.jsonl: what Puppet says about data types, for tests/library/datatype_cases.rs.
#   ruby tests/parity/datatype_cases.rb > tests/cases/datatype.jsonl
# Kinds of lines (k): alias (name, text of a type alias the rest may use), parse, check, infer,
# convert, print. Values are tagged as in the batch protocol.
require 'json'
require 'base64'
require 'puppet'
$VERBOSE = nil
Puppet.initialize_settings(['--confdir', '/nonexistent', '--vardir', '/tmp'])
Puppet[:strict] = :warning
ENVIRONMENT = Puppet::Node::Environment.create(:production, [])
LOADERS = Puppet::Pops::Loaders.new(ENVIRONMENT)
include Puppet::Pops::Types

def encode(value)
  case value
  when nil, true, false then value
  when Integer then value.bit_length > 63 ? { '__ptype' => 'Integer', 'value' => value.to_s } : value
  when String
    value.encoding == Encoding::BINARY && !value.ascii_only? ? { '__ptype' => 'BinaryString', 'value' => Base64.strict_encode64(value) } : value
  when Float
    value.nan? ? { '__ptype' => 'Float', 'value' => 'NaN' } : value.infinite? ? { '__ptype' => 'Float', 'value' => value.to_s } : value
  when Symbol then value == :default ? { '__ptype' => 'Default', 'value' => 'default' } : { '__ptype' => 'Symbol', 'value' => value.to_s }
  when Array then value.map { |v| encode(v) }
  when Hash
    value.keys.all? { |k| k.is_a?(String) } ? value.transform_values { |v| encode(v) } : { '__pairs' => value.map { |k, v| [encode(k), encode(v)] } }
  when PSensitiveType::Sensitive then { '__ptype' => 'Sensitive', 'value' => encode(value.unwrap) }
  when PBinaryType::Binary then { '__ptype' => 'Binary', 'value' => value.to_s }
  when Puppet::Pops::Time::Timestamp then { '__ptype' => 'Timestamp', 'value' => value.to_s }
  when Puppet::Pops::Time::Timespan then { '__ptype' => 'Timespan', 'value' => value.to_s }
  when Regexp then { '__ptype' => 'Regexp', 'value' => PRegexpType.regexp_to_s(value) }
  when SemanticPuppet::Version then { '__ptype' => 'SemVer', 'value' => value.to_s }
  when SemanticPuppet::VersionRange then { '__ptype' => 'SemVerRange', 'value' => value.to_s }
  when URI then { '__ptype' => 'URI', 'value' => value.to_s }
  when PAnyType then { '__ptype' => 'Type', 'value' => value.to_s }
  else { '__ptype' => value.class.name, 'value' => value.to_s }
  end
end

def line(hash)
  puts JSON.generate(hash)
end

# Without the excerpt of Ruby's source that newer Rubies add.
def message(error)
  error.is_a?(NameError) ? error.message[/\A.*/].gsub(/0x\h+/, '0x0') : error.message
end

def parse(text)
  type = TypeParser.singleton.parse(text, LOADERS.static_loader)
  line('k' => 'parse', 't' => text, 'ok' => type.to_s)
rescue StandardError, SystemStackError => e
  line('k' => 'parse', 't' => text, 'error' => message(e))
end

def check(text, value)
  type = TypeParser.singleton.parse(text, LOADERS.static_loader)
  TypeAsserter.assert_instance_of('Found value', type, value)
  line('k' => 'check', 't' => text, 'v' => encode(value), 'ok' => true)
rescue StandardError => e
  line('k' => 'check', 't' => text, 'v' => encode(value), 'ok' => false, 'error' => message(e))
end

def convert(text, value, *args)
  scope = {}
  begin
    type = text.is_a?(String) ? TypeParser.singleton.parse(text, LOADERS.static_loader) : text
  rescue StandardError
    return
  end
  input = encode(value)
  result = LOADERS.puppet_system_loader.load(:function, 'new').call(scope, type, value, *args)
  line('k' => 'convert', 't' => encode(text), 'v' => input, 'a' => args.map { |a| encode(a) }, 'ok' => encode(result))
rescue StandardError => e
  line('k' => 'convert', 't' => encode(text), 'v' => input, 'a' => args.map { |a| encode(a) }, 'error' => message(e))
end

def infer(value)
  calculator = TypeCalculator.singleton
  line('k' => 'infer', 'v' => encode(value), 'infer' => calculator.infer(value).to_s, 'set' => calculator.infer_set(value).to_s,
       'generic' => calculator.infer(value).generalize.to_s)
  line('k' => 'print', 'v' => encode(value), 'text' => StringConverter.singleton.convert(value))
end

ALIASES = {
  'Stdlib::Port' => 'Integer[0, 65535]',
  'Stdlib::Absolutepath' => 'Variant[Stdlib::Windowspath, Stdlib::Unixpath]',
  'Stdlib::Windowspath' => 'Pattern[/\A(([a-zA-Z]:[\\\\\/])|([\\\\\/][\\\\\/][^\\\\\/]+[\\\\\/][^\\\\\/]+)|([\\\\\/][\\\\\/]\?[\\\\\/][^\\\\\/]+)).*\z/]',
  'Stdlib::Unixpath' => 'Pattern[/\A\/([^\n\/\0]+\/*)*\z/]',
  'Stdlib::Ensure' => "Enum['present', 'absent']",
  'Stdlib::Fqdn' => 'Pattern[/\A(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]*[a-zA-Z0-9])\.)*([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9\-]*[A-Za-z0-9])\z/]',
  'Stdlib::Host' => 'Variant[Stdlib::Fqdn, Integer]',
  'My::Tree' => 'Hash[String, Variant[My::Tree, Integer]]',
  'My::Entry' => "Struct[{ name => String[1], Optional['port'] => Stdlib::Port, kind => Optional[Enum['a', 'b']] }]",
  'My::List' => 'Array[My::Entry, 1]',
  'My::Loop' => 'Variant[My::Loop, String]',
  'My::Size' => 'Variant[Array[String, 2], Array[Integer, 3]]',
}

V5 = <<'T'.gsub(/\s+/, ' ').strip
Struct[{ version => Integer[5, 5], Optional[defaults] => Struct[{ Optional[options] => Hash[Pattern[/\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\z/], Data], Optional[data_dig] => String[1], Optional[data_hash] => String[1], Optional[lookup_key] => String[1], Optional[datadir] => String[1] }],
 Optional[hierarchy] => Array[Struct[{ name => String[1], Optional[options] => Hash[Pattern[/\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\z/], Data], Optional[data_dig] => String[1], Optional[data_hash] => String[1], Optional[lookup_key] => String[1],
 Optional[hiera3_backend] => String[1], Optional[datadir] => String[1], Optional[path] => String[1], Optional[paths] => Array[String[1], 1], Optional[glob] => String[1], Optional[globs] => Array[String[1], 1], Optional[uri] => String[1], Optional[uris] => Array[String[1], 1], Optional[mapped_paths] => Array[String[1], 3, 3] }]] }]
T

PARSE = ['Integer', 'Integer[', 'Integer[1]', 'Integer[1,2]', 'Integer[1, default]', 'Integer[default, 5]', 'Integer[default,default]', 'Integer[5,1]', 'Integer[-5,-1]', 'Integer[1,2,3]', 'Integer[]', 'Integer[a]', "Integer['1']", 'Integer[1.5]', 'Integer[0x10]', 'Integer[010]', 'Integer[0, 9223372036854775807]', 'Integer[0, 9223372036854775808]', 'integer', 'Bogus', 'Bogus[1]', 'Bogus::Thing', 'Bogus::Thing[Integer, 3]', '', ' ', 'String', 'String[1]', 'String[1,10]', "String['x']", 'String[default]', 'String[default, 3]', 'String[-1]', 'String[Integer[1,2]]', 'String[1,2,3]', 'string[1]',
  'Float', 'Float[1.0]', 'Float[1]', 'Float[1, 2.5]', 'Float[default, 2]', 'Float[2.0,1.0]', 'Float[1e10, 1.5e300]', 'Numeric', 'Numeric[1]', 'Boolean', 'Boolean[true]', 'Boolean[false]', 'Boolean[1]', 'Enum', 'Enum[a]', 'Enum[a, b]', "Enum['b', 'a', 'a']", 'Enum[a, B, true]', 'Enum[a, false]', 'Enum[1]', 'Enum[true]', 'Enum["a\nb", \'it\\\'s\']', 'Pattern[/a/]', 'Pattern["a", /b/]', 'Pattern', 'Pattern[Integer]', 'Pattern[/a(/]', 'Pattern[/a\/b/]', 'Pattern["a/b"]', 'Pattern[Regexp[/x/]]', 'Pattern[Pattern[/x/], /y/, /x/]', 'Pattern[1]', 'Regexp', 'Regexp[/a/]', 'Regexp["a"]', 'Regexp[1]',
  'Array', 'Array[String]', 'Array[String, 1]', 'Array[String, 1, 2]', 'Array[1]', 'Array[1, 2]', 'Array[0, 0]', 'Array[String, 0, 0]', 'Array[String, default, 2]', 'Array[String, 1, default]', 'Array[a]', 'Array[String,1,2,3]', 'Array[Any]', 'Array[String, Integer[1,2]]', 'Array[Array[Integer]]', 'Hash', 'Hash[String, Integer]', 'Hash[String]', 'Hash[1,2]', 'Hash[0,0]', 'Hash[String, Integer, 1]', 'Hash[String, Integer, 1, 2]', 'Hash[String, Integer, default, 2]', 'Hash[a, b]', 'Hash[Any,Any]', 'Hash[String,Integer,1,2,3]',
  'Tuple', 'Tuple[String]', 'Tuple[String, Integer]', 'Tuple[String, 1]', 'Tuple[String, 1, 3]', 'Tuple[String, Integer, 1, default]', 'Tuple[]', 'Tuple[1]', 'Struct', 'Struct[{}]', 'Struct[{a => Integer}]', "Struct[{'a' => Integer, 'b' => Optional[String]}]", 'Struct[{Optional[a] => Integer}]', 'Struct[{NotUndef[a] => Optional[Integer]}]', "Struct[{Optional['a'] => Optional[Integer]}]", 'Struct[{a => Any}]', 'Struct[a]', 'Struct[{1 => Integer}]', "Struct[{'' => Integer}]", 'Struct[{a => 1}]', 'Struct[{Integer => Integer}]', "Struct[{Enum[a] => Integer}]", 'Struct[{a => Integer},{b => String}]', 'Struct[{Optional[Integer] => String}]',
  'Variant', 'Variant[Integer]', 'Variant[Integer, String]', 'Variant[Integer, Integer]', 'Variant[Variant[Integer,String],Float]', 'Variant[1]', 'Variant[]', 'Optional', 'Optional[Integer]', 'Optional[a]', "Optional['a b']", 'Optional[Integer, String]', 'Optional[1]', 'Optional[Optional[Integer]]', 'NotUndef', 'NotUndef[Integer]', 'NotUndef[a]', 'NotUndef[1]', 'NotUndef[Any]', 'Any', 'Any[1]', 'Undef', 'Undef[1]', 'Default', 'Scalar', 'Scalar[1]', 'ScalarData', 'Scalardata', 'ScalarData[1]', 'Data', 'Data[1]', 'RichData', 'RichDataKey', 'Collection', 'Collection[1]', 'Collection[1,2]', 'Collection[a]', 'CatalogEntry', 'CatalogEntry[1]',
  'Type', 'Type[Integer]', 'Type[Type[Integer]]', 'Type[1]', 'Sensitive', 'Sensitive[Integer]', 'Sensitive[String[1]]', 'Sensitive[1]', 'Timestamp', 'Timespan', "Timespan['1-00:00:00']", 'Timespan[10, 20]', 'Timespan[default, 20]', "Timestamp['2020-01-01']", 'Timestamp[1,2,3]', 'SemVer', "SemVer['>=1.0.0']", 'SemVerRange', 'SemVerRange[1]', 'Binary', 'Binary[1]', 'URI', "URI['http://x']", 'Callable', 'Callable[Integer]', 'Callable[1,2]', 'Callable[String, Integer, 1, default]', 'Callable[[Integer], String]', 'Callable[0,0]', 'Callable[Callable]', 'Object', 'Object[{}]', 'Resource', 'Resource[file]', "Resource['file', 'x']", 'File', "File['/etc']", 'Class', 'Class[foo]', "Class['::foo::bar']", 'Package[x]', 'Init', 'Init[Integer]', 'Init[Integer, 16]', 'Iterable', 'Iterable[Integer]', 'Iterator', 'Iterator[String]', 'Runtime', "Runtime[ruby, 'Symbol']", "Runtime['ruby', 'X']", 'Runtime[ruby]', 'TypeReference', "TypeReference['Foo']", 'TypeAlias', 'TypeSet', 'Error', 'Deferred', 'Target', 'Task', 'Sensitive[Any]', 'Unit',
  'Integer String', 'Integer,String', 'Integer]', 'Integer[1', 'Integer[1,', 'Integer[1,]', 'Integer[[1]]', 'Integer[1]]', 'Array[String', 'Hash[String,', 'Array[String]x', 'foo', 'foo bar', 'foo::bar', '1', '1.5', "'x'", '"x"', '"x${y}"', 'Enum["x${y}"]', '$x', 'Enum[$x]', '[Integer]', '{a => 1}', '/x/', 'true', 'undef', 'default', 'Integer + 1', 'Integer[1+2]', 'Integer[(1)]', '(Integer)', 'if', 'Integer[if]', "'", '"', 'Integer[', '::Integer', 'Integer::', 'Foo::bar', 'Integer[@]', '?', 'Integer?', 'Integer[-]', '-1', 'Integer #c', "Integer\n", "\nInteger[\n1,\n2]\n", 'Integer[1 2]', 'Integer()', 'Integer[0b11]', 'Integer[1_000]', 'Integer[08]', 'Integer[12abc]', 'Float[1.]', 'Enum[a b]', 'Enum[a-b]', 'Enum[A]', 'Enum[a::b]', 'Enum[class]', 'Enum[default]', 'Enum[undef]', 'Enum[/a/]', 'Enum[[a]]', 'Array[/a/]', 'Array[default]', 'Stdlib::Port', 'Array[Stdlib::Port]', 'Stdlib::Port[1]', 'My::Tree', 'My::Entry', 'Stdlib::Host', 'My::Loop', 'Optional[Stdlib::Ensure]', 'Array[Bogus]', 'Data::Foo', 'é', 'Integer[é]', "Pattern['\\d']", 'Pattern["\\\\d"]', 'Integer;', 'Integer.new', 'Integer|String', 'Type[Integer[1,2]]', 'Hash[Integer,Array[String],1,default]', 'Puppet::LookupValue', 'Timestamp[default, default]', V5]

VALUES = [nil, true, false, 0, 1, -5, 42, 9223372036854775808, 1.5, -0.0, 1e20, 1e-7, 100.0, 1e16, 1e15, 123456789.123, Float::INFINITY, '', 'a', 'abc', "it's", "tab\tx", "new\nline", '$x', 'back\\slash', 'é', 'a"b', [], [1], [1, 2], [1, 'a'], ['a', 'b'], [nil], [nil, 1], [[1], [2, 3]], [[], [1]], [1.5, 2], [true, false], [1, nil, 'x'], [{}], [{ 'a' => 1 }, { 'a' => 2 }], {}, { 'a' => 1 }, { 'a' => 1, 'b' => 'x' }, { 'a' => nil }, { '' => 1 }, { 1 => 'a' }, { nil => 1 }, { 1 => 2, 'a' => 'b' }, { 'a' => { 'b' => [1, { 'c' => nil }] } }, { 'a' => [], 'b' => {} }, { true => 1 }, { [1] => 2 },
  { 'x' => [1, 2, 3], 'y' => { 'z' => true } }, :sym, :default, { :a => 1 }, [:a], PSensitiveType::Sensitive.new('x'), PSensitiveType::Sensitive.new([1, 'a']), [PSensitiveType::Sensitive.new(1)], /a\/b/, [/x/], SemanticPuppet::Version.parse('1.2.3-rc1'), PBinaryType::Binary.from_base64('aGVsbG8='), [PBinaryType::Binary.from_base64('aGVsbG8=')],
  Puppet::Pops::Time::Timespan.new(93_784_500_000_000), Puppet::Pops::Time::Timestamp.new(1_500_000_000_123_456_789), ['é', "a\nb"], { "k'" => "v'" }, [1, 2.5, 'a', nil, true, { 'k' => [] }], TypeParser.singleton.parse('Integer[1,2]'), [TypeParser.singleton.parse('Integer'), 10], { 'a' => { 'b' => 1 }, 'c' => { 'd' => 'x' } }]

PSIMPLE = ['Integer', 'Integer[1,3]', 'Float', 'Numeric', 'String', 'String[1]', 'String[2,3]', 'Boolean', 'Boolean[true]', 'Enum[a, b]', 'Enum["A", true]', 'Pattern[/\Aa/]', 'Pattern[/x/, /y$/]', 'Array', 'Array[Integer]', 'Array[Integer, 1]', 'Array[String, 2, 3]', 'Array[0,0]', 'Hash', 'Hash[String, Integer]', 'Hash[String[1], String, 1]', 'Hash[Integer, Any]', 'Hash[Enum[a], Any, 0, 1]', 'Tuple[Integer, String]', 'Tuple[Integer, 1, 3]', 'Tuple', 'Struct[{a => Integer}]', 'Struct[{a => Integer, Optional[b] => String}]', 'Struct[{a => Optional[Integer]}]', 'Struct', 'Variant[Integer, String]', 'Variant[Array[Integer], String]', 'Variant[Undef, String]', 'Variant[Enum[a], Enum[b]]', 'Variant[Pattern[/a/], Integer]', 'Optional[Integer]', 'Optional[String[1]]', 'Optional[Enum[a]]', 'Optional[Array[Integer]]', 'NotUndef', 'NotUndef[String]', 'Undef', 'Default', 'Any', 'Scalar', 'ScalarData', 'Data', 'RichData', 'Puppet::LookupValue', 'Puppet::LookupKey', 'Collection', 'Collection[1,1]', 'Type', 'Type[Integer]', 'Sensitive', 'Sensitive[String]', 'Timestamp', 'Timespan', 'SemVer', 'Binary', 'URI', 'Regexp', 'Callable', 'CatalogEntry', 'File', 'Iterable', 'Iterable[Integer]', 'Runtime', "Runtime[ruby, 'Symbol']", 'Init[Integer]', 'Bogus', 'Array[Bogus]', 'Optional[Bogus]', 'Stdlib::Port', 'Stdlib::Absolutepath', 'Stdlib::Ensure', 'Stdlib::Host', 'My::Tree', 'My::Entry', 'My::List', 'My::Loop', 'My::Size', 'Optional[Stdlib::Ensure]', 'Optional[Stdlib::Port]', 'Hash[String, Stdlib::Port]', 'Array[Array[String[1]]]', 'Hash[String, Hash[String, Integer]]', 'Array[Variant[Integer, Enum[a]]]', 'Variant[Hash[String, Integer], Array[Integer]]', 'Variant[Integer[1,3], Integer[5,7]]', 'Variant[Struct[{a => String}], Struct[{b => Integer}]]', 'Variant[Array[String,2], Array[Integer,3]]', 'Variant[Float, Integer, Boolean]', 'Array[Struct[{a => Integer}]]', 'Hash[Pattern[/\A[a-z]/], Variant[String, Integer]]', 'Tuple[String, Hash]', 'Array[Optional[Integer]]', 'Variant[String, Array[String]]', 'Optional[Variant[String, Array[String[1]], Boolean]]', 'Variant[Stdlib::Port, Stdlib::Ensure]', 'Array[Stdlib::Host]', 'Enum[a]', "Struct[{name => String[1], Optional[kind] => Enum[x, y]}]"]

ALIASES.each do |name, text|
  LOADERS.static_loader.send(:add_type, name, PTypeAliasType.new(name, TypeFactory.type_reference(text), nil))
end

Puppet.override(current_environment: ENVIRONMENT, loaders: LOADERS) do
  ALIASES.each { |name, text| line('k' => 'alias', 'name' => name, 't' => text) }
  PARSE.each { |text| parse(text) }
  # Texts that are mostly no types: every token of the language somewhere, and what typing leaves.
  File.foreach(File.join(__dir__, 'syntax_texts.jsonl'), encoding: 'UTF-8') { |text| parse(JSON.parse("[#{text}]").first) }
  VALUES.each { |value| infer(value) }
  PSIMPLE.each { |text| VALUES.each_with_index { |value, i| check(text, value) if %w[RichData Puppet::LookupValue Any Scalar].include?(text) || (text.sum + i * 7) % 4 == 0 } }
  [{}, { 'version' => 5 }, { 'version' => '5' }, { 'version' => 5.0 }, { 'foo' => 1 }, { 'version' => 5, 'foo' => 1 }, { 'version' => 5, 'hierarchy' => {} }, { 'version' => 5, 'hierarchy' => { 'a' => 1 } }, { 'version' => 5, 'hierarchy' => ['x'] }, { 'version' => 5, 'hierarchy' => [{}] }, { 'version' => 5, 'hierarchy' => [{ 'path' => 'x' }] },
   { 'version' => 5, 'hierarchy' => [{ 'name' => 3 }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => '' }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'path' => ['x'] }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'path' => nil }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'path' => '' }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'paths' => 'x' }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'paths' => [] }] },
   { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'paths' => ['a', 1, ''] }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'mapped_paths' => ['x', 'y'] }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'bogus' => 1, 'worse' => 2 }, { 'nam' => 1 }] }, { 'version' => 5, 'defaults' => 'x' }, { 'version' => 5, 'defaults' => { 'path' => 'x' } }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'options' => [1] }] }, { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'options' => { '1a' => 1 } }] },
   { 'version' => 5, 'hierarchy' => [{ 'name' => 'a', 'options' => { 'a' => :b } }] }, { 'version' => 4, 'x' => 1, 'hierarchy' => 3 }, 'x', [], [1], nil, { 1 => 2 }].each { |value| check(V5, value) }

  texts = ['x', '', '1', '-1', '+1', '- 1', ' 1', '1 ', '0x1F', '0X1f', '010', '08', '0b101', '0o17', '1_000', '1.5', '-1.5', '.5', '1.', '1e3', '1e-3', '1E5', '1.5e+3', '0', '-0', '00', '0x', 'true', 'TRUE', 'false', 'yes', 'No', 'y', 'n', 'on', 'ff', '99999999999999999999', '1.2.3', '1.2.3-rc.1+b5', '1.2', '>=1.0.0 <2.0.0', 'aGVsbG8=', 'aGVsbG8', '[1', 'Integer[', 'Integer', '2020-01-01', '2020-01-01T10:11:12', '2020-01-01 10:11:12.5', '2020-01-01T10:11:12.123456789 UTC', '2020-01-01T10:11:12 +02:00', '2020-13-01', '1-02:03:04.5', '02:03:04', '03:04', '4.5', '1-02:03', 'http://user@example.com:8080/p?q#f', 'not a uri', 'mailto:a@b.c', '/path', 'abc']
  numbers = [0, 1, -7, 255, 3.7, -3.7, 1e20, 1.0, 9223372036854775808, 1_500_000_000]
  others = [nil, true, false, [], [1], ['1', 2], [1, 2], [[1, 2], [3, 4]], [[1, 2], 3], [[[1], 2], [[3, 'x'], 4]], [1, 2, 3], {}, { 'a' => 1 }, { 'from' => '12' }, { 'from' => '1F', 'radix' => 16 }, { 'from' => 'x' }, { 'from' => -3, 'abs' => true }, { 'x' => 1 }, { 1 => 2 }, PSensitiveType::Sensitive.new('s'), :sym, :default, { 'a' => [1, { 'b' => nil }] }, [nil, true, 1.5, 'q'], { 'string' => '02:03:04' }, { 'hours' => 3 }, { 'value' => 'aGk=' }, { 'major' => 1, 'minor' => 2, 'patch' => 3 }, { 'scheme' => 'http', 'host' => 'x' }]
  ['Integer', 'Float', 'Numeric', 'String', 'Boolean', 'Array', 'Hash', 'Sensitive', 'Timestamp', 'Timespan', 'SemVer', 'SemVerRange', 'Binary', 'URI', 'Regexp', 'Type', 'Bogus', 'Any', 'Undef', 'NotUndef', 'NotUndef[Integer]', 'Optional[Integer]', 'Optional', 'Variant[Integer, String]', 'Init', 'Init[Integer]', 'Init[Integer, 16]', 'Enum[a, b]', 'Enum', 'Pattern[/1/]', 'Tuple[Integer, Integer]', 'Struct[{a => Integer}]', 'Integer[1, 10]', 'Float[1.0, 2.0]', 'String[1]', 'Array[Integer]', 'Array[String]', 'Hash[String, Integer]', 'Sensitive[Integer]', 'Sensitive[String]', 'Stdlib::Port', 'Data', 'ScalarData', 'Scalar', 'Collection', 'Callable', 'Default', 'Iterable', 'My::Entry', 'My::Tree', 'Optional[Stdlib::Port]', 'Boolean[true]', 'RichData'].each do |type|
    (texts + numbers + others).each_with_index do |value, i|
      next if value.is_a?(Integer) && value > 1000 && !%w[Integer Float Numeric String Boolean Timestamp].include?(type) # would be counted out
      next unless %w[Integer Float Numeric String Boolean Array Hash Timespan SemVer Timestamp Binary Type].include?(type) || (i + type.size) % 5 == 0
      convert(type, value)
    end
  end
  [['Integer', '1F', 16], ['Integer', '0x1F', 16], ['Integer', '11', 2], ['Integer', '0b11', 2], ['Integer', '17', 8], ['Integer', '017', 8], ['Integer', '12', 10], ['Integer', '12', 7], ['Integer', '12', 'x'], ['Integer', 'zz', 16], ['Integer', 'FF', 10], ['Integer', 12, 16], ['Integer', '-12', 10, true], ['Integer', -12.7, 10, true], ['Integer', '12', 10, 'x'], ['Integer', '12', 10, true, 1], ['Integer', '- 1F', 16], ['Integer', '0x1F', 10], ['Integer', '010', 10], ['Integer', '010', 8], ['Float', '-1.5', true], ['Float', '1.5', 'x'], ['Numeric', '-3', true], ['Boolean', 'true', 1],
   ['String', 255, '%x'], ['String', 255, '%#x'], ['String', 255, '%X'], ['String', -255, '%x'], ['String', 255, '%o'], ['String', 255, '%#o'], ['String', 5, '%b'], ['String', 5, '%#b'], ['String', 5, '%B'], ['String', 5, '%08b'], ['String', 5, '%05d'], ['String', 5, '%-5d|'], ['String', 5, '%-5d'], ['String', 5, '%5d'], ['String', 5, '%+d'], ['String', 5, '% d'], ['String', 5, '%e'], ['String', 5, '%.2f'], ['String', 5, '%f'], ['String', 5, '%g'], ['String', 97, '%c'], ['String', 97, '%#c'], ['String', 5, '%s'], ['String', 5, '%#s'], ['String', 5, '%p'], ['String', 5, '%q'], ['String', 5, 'x'], ['String', 5, ''], ['String', 5, '%'], ['String', 5, 3], ['String', 5, 'a%d'], ['String', 5, '%d%d'], ['String', 5, '%##d'], ['String', 5, '%10.3d'],
   ['String', 1.5, '%d'], ['String', 1.5, '%f'], ['String', 1.5, '%.3f'], ['String', 1.5, '%e'], ['String', 1.5, '%.2e'], ['String', 1234567.0, '%g'], ['String', 0.00001, '%g'], ['String', 100000.0, '%G'], ['String', 1.5, '%p'], ['String', 1.5, '%s'], ['String', 1.5, '%#s'], ['String', 1.5, '%10.2f'], ['String', 1.5, '%-10.2f'], ['String', 1.5, '%+.1f'], ['String', 1.5, '%x'], ['String', 1.5, '%a'], ['String', 1.5, '%q'], ['String', 1.5, '%c'],
   ['String', 'abc', '%s'], ['String', 'abc', '%p'], ['String', 'abc', '%#p'], ['String', 'abc', '%10s'], ['String', 'abc', '%-10s'], ['String', 'abc', '%.2s'], ['String', 'abc', '%c'], ['String', 'aBC', '%c'], ['String', 'abc', '%#c'], ['String', 'abc::def', '%C'], ['String', 'abc', '%u'], ['String', 'ABC', '%d'], ['String', ' abc ', '%t'], ['String', 'abc', '%#u'], ['String', 'abc', '%x'], ['String', 'abc', '%10u'], ['String', 'abc', '%#s'], ['String', 'abc', '%10p'],
   ['String', true, '%t'], ['String', true, '%T'], ['String', true, '%y'], ['String', false, '%Y'], ['String', true, '%#t'], ['String', true, '%d'], ['String', true, '%x'], ['String', true, '%f'], ['String', true, '%s'], ['String', true, '%p'], ['String', true, '%q'], ['String', true, '%10s'], ['String', nil, '%s'], ['String', nil, '%p'], ['String', nil, '%n'], ['String', nil, '%#n'], ['String', nil, '%u'], ['String', nil, '%d'], ['String', nil, '%v'], ['String', nil, '%V'], ['String', nil, '%q'], ['String', nil, '%10u'],
   ['String', [1, 'a'], '%s'], ['String', [1, 'a'], '%p'], ['String', [1, 'a'], '%a'], ['String', [1, 'a'], '%d'], ['String', [1, 'a'], '%(a'], ['String', [1, 'a'], '%<a'], ['String', [1, 'a'], '%|a'], ['String', [1, 'a'], '% a'], ['String', [1, [2, 3], 'a'], '%#a'], ['String', [1, { 'a' => [1] }], '%#a'], ['String', [1, 'a', 2], '%#2a'], ['String', [[1, 2], [3, [4]]], '%#a'], ['String', { 'a' => 1 }, '%h'], ['String', { 'a' => 1, 'b' => [1, 2] }, '%#h'], ['String', { 'a' => 1 }, '%a'], ['String', { 'a' => 1 }, '%(h'], ['String', { 'a' => 1 }, '%s'], ['String', { 'a' => { 'b' => 1 } }, '%#h'], ['String', { 'a' => 1 }, '%d'], ['String', { 'a' => 1 }, '%p'], ['String', [], '%a'], ['String', {}, '%#h'], ['String', { 'a' => 1 }, '%<h'],
   ['String', 5, { 'Integer' => '%x' }], ['String', 5, ['%x']], ['String', 5, '%x', 1], ['String', 'x', nil],
   ['Array', 'abc', true], ['Array', [1], true], ['Array', 'abc', false], ['Array', 3, true], ['Array', { 'a' => 1 }, true], ['Array', nil, true], ['Array', nil, false], ['Array', 5], ['Array', -5], ['Array', 'abc', 'x'], ['Array', 1.5], ['Array[Integer]', '123'], ['Array[String]', 'abc'], ['Array[Integer]', ['1']], ['Array[Integer]', 1, true],
   ['Hash', [['a', 1], ['b', 2]]], ['Hash', ['a', 1, 'b', 2]], ['Hash', [[['a', 'b'], 1], [['a', 'c'], 2]], 'tree'], ['Hash', [[['a', 0], 1], [['a', 1], [2, 3]]], 'hash_tree'], ['Hash', [[[], { 'x' => 1 }], [['y'], 2]], 'tree'], ['Hash', [[[], [1, 2]]], 'tree'], ['Hash', [['a', 1]], 'tree'], ['Hash', [[['a'], 1]], 'bogus'], ['Hash', 'ab'], ['Hash', 'abc'], ['Hash', 4], ['Hash', [['a']]], ['Hash', [['a', 1, 2]]], ['Hash', [[['a', 'b'], 1], [['a'], 5], [['a', 'c'], 2]], 'tree'], ['Hash', [[['a'], [1, [2]]]], 'hash_tree'],
   ['Binary', 'hello', '%s'], ['Binary', 'aGVsbG8', '%b'], ['Binary', 'aGVsbG8=', '%B'], ['Binary', 'aGVs-_8=', '%u'], ['Binary', 'hello', '%r'], ['Binary', 'hello', '%x'], ['Binary', [104, 105]], ['Binary', [1, 256]], ['Binary', { 'value' => 'hi', 'format' => '%s' }], ['Binary', { 'value' => [104] }],
   ['SemVer', 1, 2, 3], ['SemVer', 1, 2, 3, 'rc1'], ['SemVer', 1, 2, 3, 'rc1', 'b2'], ['SemVer', 1, 2], ['SemVer', -1, 2, 3], ['Timespan', '1:2', '%M:%S'], ['Timespan', '1:2', '%H:%M'], ['Timespan', 'x', '%S'], ['Timespan', '12', ['%M:%S', '%S']], ['Timespan', '12', '%Q'], ['Timespan', 1, 2, 3, 4], ['Timespan', 1, 2, 3, 4, 5, 6, 7], ['Timespan', 1, 2], ['Timespan', { 'string' => '12', 'format' => '%M' }], ['Timespan', { 'days' => 1, 'negative' => true }], ['Timespan', '5', '%N'], ['Timespan', '1.5', '%S.%L'], ['Timespan', '12', '%%'],
   ['Timestamp', '2020', '%Y'], ['Timestamp', '20200102', '%Y%m%d'], ['Timestamp', '2020-01-02 03', '%Y-%m-%d %H'], ['Timestamp', 'x', '%Y'], ['Timestamp', '2020-01-01T00:00:00', 'default', 'PST'], ['Timestamp', '2020-01-01T00:00:00', '%FT%T', '+02:00'], ['Timestamp', '2020-01-01 10:00', '%F %R', 'UTC'], ['Timestamp', { 'string' => '2020-01-01' }], ['Timestamp', '2020-06-01', ['%Y', '%F']], ['Timestamp', '1 Jan 2020', '%d %b %Y'], ['Timestamp', '2020-01-01T10:11:12Z'], ['Timestamp', '2020-01-01 10:11:12 EST'], ['Timestamp', '2020-01-01T10:11:12+0200'], ['Timestamp', '2020-02-30'], ['Timestamp', '2020-1-1'], ['Timestamp', 1.5], ['Timestamp', -1], ['Timestamp', 0], ['Regexp', '/a[/]'], ['Regexp', '\/a[\/]'], ['String', Regexp.new('/a')], ['String', Regexp.new('\/a')], ['String', Regexp.new('\/a'), '%p'], ['Timestamp', -123456789012345678901234567890], ['Timestamp', 123456789012345678901234567890], ['Timestamp', 1.0e+28], ['Timestamp', '1234567890123456789012-01-02'], ['Timespan', -123456789012345678901234567890], ['Timespan', 1.0e+28],
   ['Regexp', 'a.b', true], ['Regexp', 'a(', false], ['Regexp', 'a('], ['Regexp', 'a b'], ['Type', 'Array[String]'], ['Type', 'Foo'], ['Type', '3'], ['Sensitive', 'x', 1], ['URI', ''], ['URI', { 'scheme' => 'https', 'host' => 'h', 'path' => '/p' }], ['URI', 'http://[bad'], ['SemVerRange', '>=1.0.0'], ['SemVerRange', 'x'], ['SemVerRange', '1.x'],
   ['Init[Integer]', ['1F', 16]], ['Init[Integer]', ['1']], ['Init[Integer, 16]', '1F'], ['Init[String, "%x"]', 255], ['Init[Array]', [1]], ['Init[Boolean]', 'yes'], ['Init[Integer, 3]', '1'], ['Init[Bogus]', 1], ['Init[Enum[a]]', 'a'], ['Optional[Integer]', nil], ['Optional[Integer]', '5'], ['Optional[Integer]', 'x'], ['Optional[String]', 5], ['Variant[Integer, Float]', '5'], ['NotUndef', nil], ['NotUndef[Integer]', '7'], ['Tuple[String, Integer]', { 'a' => 1 }], ['Tuple[Array, Array]', { 'a' => 1, 'b' => 2 }], ['Struct[{a => Integer}]', ['a', 1]], ['Struct[{a => Integer}]', ['b', 1]], ['Integer[1,3]', '7'], ['Integer[1,3]', 7], ['String[5]', 12], ['Array[Integer, 3]', '12'], ['Hash[String, Integer]', ['a', 'b']], ['My::Entry', ['name', 'x', 'port', 99999]], ['Stdlib::Port', '80'], ['Stdlib::Port', '99999'], ['Stdlib::Host', '5'], ['Stdlib::Ensure', 'x'], ['Optional[Stdlib::Port]', '80'],
   ['Integer', [1.5, Float::NAN]], ['Float', { 'a' => Float::NAN, 'b' => 1.5 }], ['Boolean', [[Float::NAN], [1.5]]], ['Numeric', [Float::NAN, 1]], ['Integer', [Float::NAN, nil, Float::NAN]], ['Integer', [Float::NAN]],
   ['URI', 'DEC::PKCS7[x]!'], ['URI', 'HTTP://a:80/b'], ['URI', 'https://u:p@[::1]:8443/x?a b#c'], ['URI', 'https://h:443'], ['URI', 'ftp://h//x'], ['URI', 'mailto:a@b,c@d'], ['URI', 'mailto:a'], ['URI', 'mailto:'], ['URI', 'ldap://h#x'], ['URI', 'a:b'], ['URI', 'a b'], ['URI', '1:2'], ['URI', '//h?%zz'], ['URI', 'http://[::1'], ['URI', 'file:///x'], ['URI', '//@h'], ['URI', 'x?[]'],
   [3, 'x'], [nil, 'x'], [{ 'a' => 1 }, 'x'], [true, 'x'], [['Integer'], 'x']].each { |c| convert(*c) }
end
