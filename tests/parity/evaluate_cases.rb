# frozen_string_literal: false
# Makes tests/cases/evaluate.jsonl: what real Puppet sets in the top scope and in a node's block, for
# tests/library/evaluate.rs.
#   ruby tests/parity/evaluate_cases.rb > tests/cases/evaluate.jsonl
#   ruby tests/parity/evaluate_cases.rb --requests < REQUESTS    answers other requests, a line of JSON each
# With `whole` in a request the whole catalog is compiled, and the error is told with all of its lines.
# Each line: id, files (of an environment), certname, facts, strict_variables, then top and node (variables
# with value, file, line) and error (Puppet's message, where the compilation ends early).
require 'json'
require 'tmpdir'
require 'fileutils'
require 'puppet'
require 'puppet/node'
require 'puppet/parser/compiler'
require 'puppet/pops'

T = Puppet::Pops::Types
EVENTS = []

# Notes what is set where it lasts.
module Watch
  def set_variable(name, value, place, scope)
    result = super
    lasting = scope.send(:effective_symtable, false).equal?(scope.instance_variable_get(:@symtable))
    EVENTS << [scope, name, value, place.file, place.line] if lasting
    result
  end
end
Puppet::Pops::Evaluator::EvaluatorImpl.prepend(Watch)

class Stop < StandardError; end

# Ends behind the node's block.
class UpToNode < Puppet::Parser::Compiler
  def evaluate_node_classes
    raise Stop
  end
end

def tag(value)
  case value
  when nil, true, false, Integer, Float, String then value
  when :default then { '__ptype' => 'Default', 'value' => 'default' }
  when Array then value.map { |each| tag(each) }
  when Hash
    return value.to_h { |key, each| [key, tag(each)] } if value.keys.all?(String)

    { '__pairs' => value.map { |key, each| [tag(key), tag(each)] } }
  when T::PSensitiveType::Sensitive then { '__ptype' => 'Sensitive', 'value' => tag(value.unwrap) }
  when Regexp then { '__ptype' => 'Regexp', 'value' => value.source }
  when T::PAnyType then { '__ptype' => 'Type', 'value' => value.to_s }
  else { '__ptype' => value.class.name, 'value' => value.to_s }
  end
end

def answer(request, folder)
  request['files'].each do |path, text|
    at = File.join(folder, path)
    FileUtils.mkdir_p(File.dirname(at))
    File.write(at, text)
  end
  Puppet[:strict_variables] = request['strict_variables']
  Puppet[:strict] = :warning
  FileUtils.mkdir_p("#{folder}/manifests")
  environment = Puppet::Node::Environment.create(:production, ["#{folder}/modules"], "#{folder}/manifests")
  loader = Puppet::Environments::Static.new(environment)
  loader.define_singleton_method(:get_conf) { |_| Puppet::Settings::EnvironmentConf.load_from(folder, []) }
  node = Puppet::Node.new(request['certname'], environment: environment)
  node.fact_merge(Puppet::Node::Facts.new(request['certname'], JSON.parse(JSON.generate(request['facts']))))
  host, domain = request['certname'].split('.', 2)
  node.trusted_data = { 'authenticated' => 'remote', 'certname' => request['certname'], 'extensions' => {},
                        'hostname' => host, 'domain' => domain, 'external' => {} }
  EVENTS.clear
  out = { 'top' => {}, 'node' => {} }
  Puppet.override(environments: loader, current_environment: environment) do
    (request['whole'] ? Puppet::Parser::Compiler : UpToNode).new(node).compile
  rescue Stop
    nil
  rescue StandardError => e
    text = e.message.gsub(folder, '')
    out['error'] = request['whole'] ? text : text.lines.first.strip
  end
  EVENTS.each do |scope, name, value, file, line|
    where = scope.is_topscope? ? 'top' : ('node' if scope.is_nodescope?)
    out[where][name] = { 'value' => tag(value), 'file' => file.to_s.delete_prefix("#{folder}/"), 'line' => line } if where
  end
  out
end

FACTS = {
  'os' => { 'family' => 'Debian', 'name' => 'Debian', 'release' => { 'major' => '12', 'full' => '12.5' } },
  'networking' => { 'fqdn' => 'web01.lon.example.com', 'interfaces' => { 'eth0' => { 'ip' => '10.0.0.1' } } },
  'mounts' => ['/', '/var'], 'site' => 'lon', 'size' => 3, 'virtual' => true
}.freeze

EXPRESSIONS = <<'END'.lines.map(&:chomp).freeze
7 / 2
-7 / 2
7 / -2
-7 % 3
7 % -3
7.0 / 2
1 / 0
'3' + 4
'x' + 4
9223372036854775807 + 1
0x1F + 017
1 << 4
-1 >> 1
2 * 3.5
10 % 2.5
- '5'
1e3
[1, 2] + [3]
[1] + { a => 1 }
[1] + 'x'
[1, 2, 1] - 1
[1, 2, 3] - [1, 3]
{ a => 1 } + { a => 2, b => 3 }
{ a => 1 } + [b, 2]
{ a => 1 } + [[b, 2], [c, 3]]
{ a => 1, b => 2 } - a
{ a => 1, b => 2 } - { a => 5 }
{ a => 1 } + 1
[1] << [2]
'a' == 'A'
'ß' == 'SS'
'É' == 'é'
'1' == 1
1 == 1.0
9007199254740993 == 9007199254740992.0
9007199254740993 > 9007199254740992.0
9007199254740992.0 in [9007199254740993]
[1, 'A'] == [1.0, 'a']
{ a => 'X' } == { a => 'x' }
undef == ''
'a' < 'B'
1 < 2.5
'a' < 1
'10' < '9'
'b' in 'ABC'
/b/ in 'abc'
'A' in ['a', 'b']
1 in [1.0]
'a' in { a => 1 }
1 in '123'
/^b/ in ['abc', 'bcd']
String in [1, 'a']
'abc' =~ /b(.)/
'abc' !~ 'x'
'abc' =~ String
5 =~ Integer[1, 3]
5 =~ /a/
'x' ? { 'X' => 1, default => 2 }
'x' ? { /y/ => 1, default => 2 }
'x' ? { 'y' => 1 }
'x' ? { Integer => 1, String[1] => 'text' }
'web01' ? { /^([a-z]+)(\d+)/ => "${1}-${2}", default => 'none' }
[1, 2] ? { [1, 2] => 'same', default => 'other' }
'b' ? { *['a', 'b'] => 'one of', default => 'none' }
if false { 1 }
if '' { 'true' } else { 'false' }
if 0 { 'true' } else { 'false' }
unless undef { 'unless' } else { 'else' }
case 'a' { 'b', 'A': { 'found' } default: { 'default' } }
case 'a' { 'b': { 'found' } }
case 5 { Integer[0, 3]: { 'low' } Integer[4]: { 'high' } }
case 'web01.lon' { /^(\w+)\.(\w+)$/: { $2 } default: { 'none' } }
"a${1}b"
"${[1, 'a', undef, true]}"
"${ { a => [1, 2], 'b' => undef } }"
"${facts['os']['family']}-${facts['size']} ${facts['none']}"
"${1.5} ${1e20} ${0.1}"
"${/a\/b/} ${String[1]} ${default}"
'single ${facts}\n'
"tab\tquote\"dollar\$x"
@(END)
$facts['os']['release']['major']
$facts['none']['deeper']
$facts['mounts'][1]
$facts['mounts'][-1]
$facts['mounts'][9]
$facts['mounts'][0, 1]
[1, 2, 3, 4][1, -1]
[1, 2, 3, 4][-2, 2]
[1, 2, 3, 4][1, -2]
[1, 2, 3, 4][-9, 7]
'abcdef'[2]
'abcdef'[-3, 2]
'abcdef'[1, -2]
'abcdef'[10]
{ a => 1, b => 2 }[a, b, c]
{ a => 1 }['A']
undef[a]
5[0]
$trusted['certname']
$trusted['extensions']['pp_role']
$site
$::site
$none
$::none
$none::x
$environment
$facts['virtual'] and $facts['size'] >= 3
!$facts['none'] or fail('no')
downcase('ÀB')
'aB c'.upcase
capitalize('hELLO wORLD')
camelcase('foo_bar_BAZ')
['A', 'b'].downcase
'  a '.strip
lstrip("\t x ")
rstrip(['a ', ' b '])
chomp("a\r\n")
chop("ab\r\n")
split('a,b,,c,,', ',')
split('abc', '')
split('a1b22c', /\d/)
split('a1b', /(\d)/)
split('web-lon-01', '-')
split('', ',')
split(' a b', ' ')
split('aXbxc', '[xX]')
split(',a', ',')
'a.b'.split('.')
join(['a', 1, undef, ['b', 2.5]], '-')
join([], ',')
regsubst('abc', 'b', 'X')
regsubst('aabb', 'b', '[\0]', 'G')
regsubst('web01.lon', '^(\w+?)(\d+)\.(\w+)$', '\3-\1')
regsubst('ABC', 'b', 'x', 'I')
regsubst(['ab', 'cb'], /b/, 'X')
regsubst('a/b', /\//, '\\\\')
regsubst('abc', '', '-', 'G')
regsubst('a', /(?<n>a)/, '<\k<n>>')
regsubst('abc', '(?<x>b)', '[\1\0]')
regsubst('abc', 'b', '[\`\&]')
regsubst('abc', 'b', "[\\']")
regsubst('abc', 'b', '\k \x \\')
regsubst('ac', '(?<x>a)|(?<x>b)', '\k<x>\k<x>')
'abc123'.match(/([a-z]+)(\d+)/)
'abc'.match(/x/)
sprintf('%s-%d %05d %-5s| %.2f %x %%', 'a', 7, 42, 'ab', 3.14159, 255)
sprintf('%3d|%+d|%03s', 5, 6, 'a')
versioncmp('8.1', '10.0')
versioncmp('2.0-1', '2.0-rc1')
versioncmp('1.0', '1.0.0')
versioncmp('01', '1')
versioncmp('1.a', '1.B')
size('abc')
size({ a => 1 })
length([1, 2])
empty('')
empty([1])
empty(undef)
empty({})
flatten([1, [2, [3, { a => 1 }]]])
unique([1, 1.0, 'a', 'A', 'a'])
unique([3, 1, 3])
sort(['b', 'A', 'a'])
sort([3, 1, 2])
keys({ b => 1, a => 2 })
values({ b => 1, a => 2 })
[1, 2, 3].map |$x| { $x * 2 }
{ a => 1, b => 2 }.map |$k, $v| { "${k}${v}" }
{ a => 1 }.map |$pair| { $pair[0] }
['a', 'b'].map |$i, $v| { "${i}${v}" }
[1, 2, 3].filter |$x| { $x > 1 }
{ a => 1, b => 2 }.filter |$k, $v| { $v > 1 }
{ a => 1, b => 2 }.filter |$pair| { $pair[1] > 1 }
[1, 2, 3].reduce |$memo, $x| { $memo + $x }
[1, 2, 3].reduce(10) |$memo, $x| { $memo + $x }
{ a => 1, b => 2 }.reduce([]) |$memo, $pair| { $memo + [$pair[1]] }
[].reduce |$memo, $x| { 1 }
[1, 2].any |$x| { $x == 2 }
[1, 2].all |$x| { $x > 1 }
[1, 2, 3].map |$x| { if $x == 2 { next('two') } $x }
[1, 2, 3].map |$x| { if $x == 2 { break() } $x }
[1, 2, 3].each |$x| { $y = $x }
[1, 2, 3].partition |$x| { $x > 1 }
['a', 'bb', 'c'].group_by |$x| { size($x) }
{ a => 5, b => 6 }.index |$v| { $v == 6 }
['x', 'y'].index |$v| { $v == 'y' }
with(1, 2) |$a, $b| { $a + $b }
undef.then |$x| { $x }
5.then |$x| { $x + 1 }
undef.lest || { 'lest' }
{ a => { b => [10, 20] } }.dig('a', 'b', 1)
{ a => undef }.dig('a', 'b')
dig([1], 'a')
$facts.dig('os', 'release', 'major')
get($facts, 'os.release.major')
get($facts, 'os.none', 'default')
$facts.get('mounts.0')
getvar('site')
getvar('facts.os.family')
getvar('none', 'default')
getvar('::site')
getvar('facts.none.x', 'd')
Integer('42')
Integer('x')
Integer('0x1f', 16)
String(5, '%03d')
Boolean('yes')
Array('abc')
Hash([['a', 1]])
Float('1.5')
Numeric('7')
'7'.convert_to(Integer)
Sensitive('x').unwrap
assert_type(String, 'a')
assert_type(Integer, 'a')
defined('$site')
defined('$none')
defined('$facts')
abs(-3)
floor(2.7)
ceiling(2.1)
round(2.5)
round(-2.5)
max(1, 5, 3)
"${Regexp('a.b')}"
"${[Regexp('a/b'), /c/]}"
Regexp('a.b') == /a.b/
String(Regexp('a.b'))
String(Regexp('a/b'), '%p')
String(/a\/b/)
min([4, 2])
[$a1, $a2] = [1, 2]
[$a1, $a2] = [1]
({ 'a' => 1 })['a']
$x = $y = 5
[*[1, 2], 3]
type('a')
notice('x')
return 5
fail('bad')
undefined_function(1)
lookup('port')
lookup('port', Integer)
lookup('port', String)
lookup('none', undef, undef, 'default')
lookup('none')
lookup('none', { default_value => 7 })
lookup({ name => 'list', merge => 'unique' })
lookup('list', Array, 'unique', [])
lookup('settings.deep')
lookup(['none', 'port'])
hiera('port')
hiera('none', 'default')
hiera_array('list')
hiera_hash('settings')
lookup('greeting')
END

HEREDOC = "$v = @(\"END\"/L)\n  site ${facts['site']} \\\n    joined\n    | x\n  | END\n".freeze

DATA = {
  'hiera.yaml' => "version: 5\nhierarchy:\n  - name: roles\n    path: role/%{role}.yaml\n  - name: tops\n    path: top/%{::role}.yaml\n  - name: common\n    path: common.yaml\n",
  'data/common.yaml' => "port: 80\nlist: [a, b]\nsettings: {deep: 1}\ngreeting: \"hello %{facts.site} %{role}\"\nwho: common\nshow: \"role=%{role} ::role=%{::role} local=%{local}\"\n",
  'data/role/web.yaml' => "who: role web\nlist: [w]\nsettings: {more: 2}\n",
  'data/top/web.yaml' => "who: top web\n"
}.freeze

SITES = {
  'from that statement on' => "$k0 = lookup('who')\n$role = 'web'\n$k1 = lookup('who')\n$s = lookup('show')\n",
  'a node block reaches its own names only' => "node default {\n  $k0 = lookup('who')\n  $role = 'web'\n  $k1 = lookup('who')\n  $s = lookup('show')\n  $q = $::role\n}\n",
  'a node block shadows' => "$role = 'top'\nnode default {\n  $role = 'node'\n  $s = lookup('show')\n  $t = $::role\n}\n",
  'a fact cannot be set at the top' => "$before = 1\n$site = 'x'\n$after = 2\n",
  'a fact can be shadowed in a node block' => "node default {\n  $site = 'x'\n  $s = \"${site} ${::site} ${facts['site']}\"\n  $g = lookup('greeting')\n}\n",
  'a name cannot be set twice' => "$a = 1\n$a = 2\n$b = 3\n",
  'facts cannot be set' => "$facts = {}\n",
  'trusted cannot be set' => "node default { $trusted = 1 }\n",
  'environment cannot be set' => "$environment = 'x'\n",
  'exact name before patterns' => "node /^web/ { $m = 1 }\nnode 'WEB01.lon.example.com' { $m = 2 }\nnode default { $m = 3 }\n",
  'patterns in their order' => "node /lon/ { $m = 1 }\nnode /^web/ { $m = 2 }\nnode default { $m = 3 }\n",
  'groups of a pattern' => "node /^([a-z]+)(\\d+)\\.(\\w+)/ {\n  $role = $1\n  $place = \"${3}-${2}\"\n  if 'x' =~ /(x)/ { $inner = $1 }\n  $again = $1\n}\n",
  'a short name does not match' => "node 'web01' { $m = 1 }\nnode default { $m = 2 }\n",
  'no block matches' => "$t = 1\nnode 'other' { $m = 1 }\n",
  'a node sees what comes later at the top' => "node default { $m = $late }\n$late = 'set'\n",
  'several names of a block' => "node 'a', 'web01.lon.example.com', /x/ { $m = 1 }\n",
  'branches share the scope' => "if $facts['size'] > 2 { $m = 1 } else { $m = 2 }\n$n = $m\ncase $site { 'LON': { $c = 'l' } default: { $c = 'd' } }\n[1].each |$i| { $l = $i }\n$d = $l\n",
  'groups do not leave a branch' => "if 'ab' =~ /(b)/ { $in = $1 }\n$out = $1\n'cd' =~ /(d)/\n$stays = $1\n'x' =~ /(y)/\n$still = $1\n",
  'a lambda sees its surroundings' => "$a = 1\n$b = [1, 2].map |$x| { $a + $x }\nnode default { $n = 5\n  $c = [1].map |$x| { $n + $x } }\n",
  'a function sees the top scope' => { 'manifests/site.pp' => "$role = 'top'\nnode default {\n  $local = 'x'\n  $role = 'node'\n  $f = m::f('a')\n}\n",
                                       'modules/m/functions/f.pp' => "function m::f(String $v, $w = \"${v}!\") >> String {\n  \"${v} ${w} ${role} ${local} ${lookup('show')}\"\n}\n" },
  'functions return early' => { 'manifests/site.pp' => "$a = m::f(1)\n$b = m::f(2)\n$c = m::g(1, 2, 3)\n$d = m::g()\n$e = m::wrong(1)\n",
                                'modules/m/functions/f.pp' => "function m::f($x) {\n  if $x == 1 { return('one') }\n  'other'\n}\n",
                                'modules/m/functions/g.pp' => "function m::g(Integer *$all) { $all.reduce(0) |$m, $x| { $m + $x } }\n",
                                'modules/m/functions/wrong.pp' => "function m::wrong(String $x) { $x }\n" },
  'functions call each other' => { 'manifests/site.pp' => "$a = m::fib(7)\n",
                                   'modules/m/functions/fib.pp' => "function m::fib(Integer $n) { if $n < 2 { $n } else { m::fib($n - 1) + m::fib($n - 2) } }\n" },
  'types of modules' => { 'manifests/site.pp' => "$a = 'web' =~ M::Role\n$b = 'x' ? { M::Role => 1, default => 2 }\n",
                          'modules/m/types/role.pp' => "type M::Role = Enum['web', 'db']\n" },
  'manifests of a folder' => { 'manifests/10.pp' => "$first = 1\n", 'manifests/05.pp' => "node default { $third = \"n${second}\" }\n",
                               'manifests/20.pp' => "$second = \"s${first}\"\n", 'manifests/sub/1.pp' => "$in_sub = $second\n" },
  'a manifest that is broken' => { 'manifests/10.pp' => "$first = 1\n", 'manifests/20.pp' => "$second = \n" },
  'a failing node block' => "$t = 1\nnode default {\n  $a = 1\n  if $site == 'lon' { fail('no') }\n  $b = 2\n}\n",
  'resources in between' => "notify { 'x': message => 'y' }\n$a = 1\nNotify { loglevel => 'notice' }\nnode default { notify { 'z': }\n $b = 2\n Notify['x'] -> Notify['z'] }\n",
  'classes do not set' => { 'manifests/site.pp' => "include c\n$a = $v\n$b = $c::v\nnode default { include c\n $d = 1 }\n",
                            'modules/c/manifests/init.pp' => "class c { $v = 'in c' }\n" },
  'a data dependent role' => "node default {\n  $role = lookup('role_of', { default_value => 'none' })\n  $who = lookup('who')\n}\n",
  'two blocks for a node' => "$t = 1\nnode default { $a = 1 }\nnode default { $a = 2 }\n",
  'two blocks for a name' => "$t = 1\nnode 'a' { $a = 1 }\nnode 'A', /x/ { $a = 2 }\nnode default { $b = 1 }\n",
  'two blocks for a pattern' => "$t = 1\nnode /a/ { $a = 1 }\nnode /a/ { $a = 2 }\nnode default { $b = 1 }\n",
  'other namespaces cannot be set' => "$t = 1\n$::role = 'a'\n",
  'a key that is missing' => "$t = 1\n[$a, $b] = { 'a' => 1 }\n$c = 2\n",
  'lists in lists' => "[$role, [$place]] = ['a', ['b']]\n[$p, [$q, [$r]]] = [1, [2, [3]]]\n[$s, [$t]] = [1, 5]\n" \
                      "[[$x, $y], $z] = [{ 'x' => 1, 'y' => 2 }, 3]\n",
  'lists in a hash' => "$t = 1\n[[$x, $y], $z] = { 'x' => 1, 'y' => 2, 'z' => 3 }\n",
  'lists in lists of another length' => "$t = 1\n[$x, [$y]] = [1, [2, 3]]\n",
  'a failing top scope' => "$a = 1\nif $site == 'lon' { fail('no') }\n$b = 2\nnode default { $c = 1 }\n",
  'functions of the site' => { 'manifests/site.pp' => "$a = m::f()\nfunction m::f() { \"site ${y}\" }\n$y = 1\n$b = m::f()\nnode default { $c = own() }\n",
                               'manifests/own.pp' => "function own() { 'own' }\n",
                               'modules/m/functions/f.pp' => "function m::f() { 'module' }\n" },
  'a library function of another module' => { 'manifests/site.pp' => "$a = merge({ x => 1 }, {})\n",
                                              'modules/m/lib/puppet/functions/merge.rb' =>
                                                "Puppet::Functions.create_function(:merge) do\n  def merge(*all) 'own' end\nend\n" },
  'an old library function of another module' => { 'manifests/site.pp' => "$a = pick('x')\n",
                                                   'modules/m/lib/puppet/parser/functions/pick.rb' =>
                                                     "Puppet::Parser::Functions.newfunction(:pick, :type => :rvalue) do |all|\n  'own'\nend\n" },
  'what statements give' => { 'manifests/site.pp' => "$a = contain('c')\n$b = include('c')\n$d = notice('x')\n$after = 1\n",
                              'modules/c/manifests/init.pp' => "class c { }\n" },
  'an empty site' => "# nothing\n",
  'undefined is an error where variables are strict' => [true, "$a = 1\n$b = $none\n$c = 2\n"],
  'unknown group is none' => [true, "$a = $1\n$b = \"x${2}y\"\n"],
  'defined asks' => [true, "$a = defined('$b')\n$b = 1\n$c = defined('$b')\n$d = defined('$::b', '$none')\n"],
  'undef is set' => [true, "$role = undef\n$s = lookup('show')\n$d = defined('$role')\n"]
}.freeze

# Levels whose data comes from functions in the Puppet language.
FUNCTIONS = {
  'hiera.yaml' => "version: 5\nhierarchy:\n  - {name: hash, data_hash: m::data, options: {extra: x}}\n  - {name: key, lookup_key: m::key}\n" \
                  "  - {name: dig, data_dig: m::dig}\n  - {name: common, path: common.yaml}\n",
  'data/common.yaml' => "last: common\nby_key: no\nlookup_options: {list: {merge: unique}}\nlist: [c]\n",
  'modules/m/functions/data.pp' => <<~'PP',
    function m::data(Hash $options, Puppet::LookupContext $context) {
      $base = { 'from_hash' => "${options['extra']} %{site}", 'list' => ['a'] }
      $more = case $facts['os']['family'] {
        'Debian': { { 'package' => 'ntp' } }
        default: { { 'package' => 'ntpd' } }
      }
      $base + $more
    }
  PP
  'modules/m/functions/key.pp' => <<~'PP',
    function m::key(Variant[String, Numeric] $key, Hash $options, Puppet::LookupContext $context) {
      if $context.cache_has_key($key) { return($context.cached_value($key)) }
      if $key == 'cached' {
        unless $context.cache_has_key('all') { $context.cache('all', {'x' => 'deep'}) }
        $none = $context.cache_all({'one' => 1, 'two' => undef})
        $found = [$context.cached_value('all')['x'], $context.cached_value('one'), $context.cache_has_key('two'), $context.cached_value('no')]
        return([$none] + $found)
      }
      unless $key in ['by_key', 'list'] { $context.not_found() }
      $context.explain || { 'found it' }
      $value = $key ? { 'list' => ['b', 'a'], default => "value of ${key} on ${trusted['hostname']}" }
      $context.cache($key, $context.interpolate($value))
    }
  PP
  'modules/m/functions/dig.pp' => <<~'PP'
    function m::dig(Array[Variant[String, Numeric]] $segments, Hash $options, Puppet::LookupContext $context) {
      $data = { 'deep' => { 'er' => ['x', { 'est' => 5 }] } }
      $found = $data.dig(*$segments)
      if $found =~ Undef { $context.not_found() }
      $found
    }
  PP
}.freeze

LOOKUPS = ["'from_hash'", "'package'", "'list'", "'by_key'", "'by_key', undef, 'first'", "'deep.er'", "'deep.er.1.est'", "'deep'", "'deep.none', undef, undef, 'none'",
           "'last'", "'nothing', undef, undef, 'default'", "'cached'"].freeze

requests = EXPRESSIONS.map do |text|
  code = text == '@(END)' ? HEREDOC : "$v = #{text}\n$after = 1\n"
  { 'id' => text, 'files' => DATA.merge('manifests/site.pp' => code), 'strict_variables' => false }
end
SITES.each do |id, site|
  strict, site = site if site.is_a?(Array)
  site = { 'manifests/site.pp' => site } if site.is_a?(String)
  requests << { 'id' => id, 'files' => DATA.merge(site), 'strict_variables' => strict == true }
end

LOOKUPS.each do |arguments|
  files = FUNCTIONS.merge('manifests/site.pp' => "$v = lookup(#{arguments})\n")
  requests << { 'id' => "functions: #{arguments}", 'files' => files, 'strict_variables' => false }
end

requests = $stdin.each_line.map { |line| JSON.parse(line) } if ARGV.include?('--requests')

Dir.mktmpdir('evaluate') do |root|
  Puppet.settings.preferred_run_mode = :server
  Puppet.initialize_settings(['--confdir', "#{root}/conf", '--codedir', "#{root}/code", '--vardir', "#{root}/vars"], true, true)
  Puppet.push_context(Puppet.base_context(Puppet.settings))
  Puppet::Util::Log.close_all
  requests.each_with_index do |request, at|
    request = { 'id' => request['id'], 'certname' => 'web01.lon.example.com', 'facts' => FACTS }.merge(request)
    folder = "#{root}/#{at}"
    FileUtils.mkdir_p(folder)
    puts JSON.generate(request.merge(answer(request, folder)))
  end
end
