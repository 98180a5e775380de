# Writes tests/cases/hocon.jsonl: HOCON texts and what the real gem (1.3.1) makes of them.
#
#   ruby tests/parity/hocon.rb > tests/cases/hocon.jsonl
require 'hocon'
require 'json'
ENV.clear
Encoding.default_external = Encoding::UTF_8

CASES = [
  '', ' ', "\n\n", '# only', '{}', '{ }', '[]', '[1]', "\n\n[1]", 'a', 'a b', '"a"', '1',
  # Keys.
  'a=1', 'a:1', 'a: 1', '{a:1}', '{"a":1}', "{\n a = 1\n}", "a = 1\nb = 2", 'a=1,b=2', 'a=1,,b=2', 'a=1,', ',a=1',
  "a=1\n,b=2", "a=1,\n\nb=2", 'a.b=1', 'a.b.c = 1, a.b.d = 2', '"a.b"=1', 'a."b.c".d=1', '"a"."b"=1', 'a b c = 1',
  'a b.c = 1', 'a . b = 1', '1=2', '1.5=2', 'true=1', 'null.x=1', 'a.=1', '.a=1', 'a..b=1', '""=1', 'a.""=1',
  '"a" "b" = 1', 'a-b = 1', 'a_b = 1', 'a/b = 1', 'a::b = 1', '"a::b" = 1', 'é = 1', 'a$b = 1', 'a@b=1', '10s=1',
  'a 1.5 b = 1', '-=1', '-5=1', 'include=1', 'include.a=1', 'includes=1', '"include"=1', "a\n=1", "a=\n1", "a\n:\n{b:1}",
  "a {\n b = 1\n}", "a\n{ b = 1 }", 'a{b:1}', 'a={b:1}', 'a.b{c=1}', "a=1\na=2", 'a={x=1},a={y=2}', 'a={x=1},a=2', 'a=2,a={x=1}',
  'a={x=1},a=null,a={y=2}', 'a={x=1},a=[1],a={y=2}', 'a.x=1,a.y=2,a.x=3', 'a={x={p=1}},a={x={q=2}}', 'z=1,y=2,x=3,z=4',
  'a={x=1,y=2},a={y=3,z=4}', 'a.b=1,a=2,a.c=3',
  # Scalars.
  'a=', 'a=,b=1', 'a=true', 'a=false', 'a=null', 'a=True', 'a=yes', 'a=no', 'a=on', 'a=trueish', 'a=nullable', 'a=falsey', 'a=xtrue',
  'a=1.0', 'a=1.5', 'a=-1', 'a=-1.5', 'a=+1', 'a=1e3', 'a=1E3', 'a=1e-3', 'a=1.5e3', 'a=1.', 'a=.5', 'a=-', 'a=--1', 'a=1-2', 'a=1+2',
  'a=010', 'a=08', 'a=0', 'a=-0', 'a=-0.0', 'a=0.0', 'a=00', 'a=0x1f', 'a=1_000', 'a=10s', 'a=10 s', 'a=1.2.3', 'a=127.0.0.1',
  'a=2024-01-01', 'a=12:30', 'a=1e400', 'a=-1e400', 'a=123456789012345678901234567890', 'a=1e20', 'a=1e-7', 'a=123456789.123456789',
  'a=1e308', 'a=9007199254740993.0', 'a=0.1e1', 'a=1e', 'a=1e+', 'a=e1',
  'a=foo', 'a=foo bar', 'a=  foo   bar  ', 'a=foo # c', 'a=foo // c', 'a=foo/bar', 'a=http://x', 'a="http://x"', 'a=foo//bar', 'a=a#b',
  "a=foo\tbar", "a=foo\u00a0bar", "a=\u00a0foo", "\ufeffa=1", 'a=%{facts.os}', 'a="%{facts.os}"', 'a=a%b', 'a=a;b', 'a=a|b', 'a=a(b)',
  "a='x'", "a='x y'", 'a=a`b', 'a=a^b', 'a=a?b', 'a=a!b', 'a=a*b', 'a=a&b', 'a=a\\b', 'a=<b>', 'a=~',
  # Strings.
  'a=""', 'a="x"', 'a="x y"', 'a="x" "y"', 'a="x"y', 'a=x"y"', 'a="x"  y', 'a="\\n\\t\\r\\b\\f\\\\\\"\\/"', 'a="\\u00e9"', 'a="\\u0041"',
  'a="\\u005f"', 'a="\\u12"', 'a="\\uzzzz"', 'a="\\u-001"', 'a="\\u00_1"', 'a="\\q"', "a=\"\\'\"", "a=\"\\\t\"", 'a="x', 'a="x\\', "a=\"x\ny\"",
  "a=\"x\ty\"", 'a="\\u00', 'b="x" "\\q"', 'a="é 日本 😀"', "a=\"\u0085\"", 'a="""x"""', 'a=""""""', 'a="""x""""', 'a="""x"""""', "a=\"\"\"x\ny\"\"\"",
  'a="""x\\ny"""', 'a="""x', 'a="""x""', 'a=""x', 'a="" x', "a=\"\"\"\n x\n\"\"\"\nb=", 'a="""a""" "b"', "a = \"\"\"x\ny\"\"\" z\nb ]",
  # Lists.
  'a=[]', 'a=[1]', 'a=[1,2]', 'a=[1,2,]', 'a=[,]', 'a=[1,,2]', 'a=[,1]', "a=[1\n2]", "a=[\n1\n,\n2\n]", "a=[1 # c\n2]", 'a=[1 2]', 'a=[a b, c d]',
  'a=[[1],[2]]', 'a=[{b=1},{c=2}]', 'a=[{b=1}{c=2}]', 'a=[1] [2]', 'a=[1][2]', 'a=[1] foo', 'a=foo [1]', 'a=[1] "foo"', 'a=[1] {b=1}',
  'a={b=1} [1]', 'a={"1"=x} [2]', 'a=[2] {"0"=x}', 'a={b=1} {c=2}', 'a={b=1} c', 'a=c {b=1}', 'a={b=1} 5', 'a="x" {b=1}', 'a={z=1,"10"=2,"9"=[1.5,null,true]} 5',
  "a=[1]\n[2]", "a={b=1}\n{c=2}", 'a=[1', 'a=[1,', 'a=[', 'a=]', 'a=[1}', 'a={b=1', 'a={b=1]', 'a=1}', '{a=1}}', '{a=1} b=2', '{a=1', '}', ']', '{', '[',
  "a=1 b=2", "a=1\nb=2 c=3", 'a={b=1} c=2', 'a=[1] b=2', 'a="x" b="y"', 'a : b : c', 'a = b = c', 'a:=1', 'a=:1', 'a=b:c',
  "a=1\n\n\n  b ]\n", "# c\n\na = [\n 1,\n }\n", "a {\n  b = 1\n  c ? 2\n}", "\n\n\nx", "a=1 /* c */", 'a=@x', 'a=x@y', '@=1',
  # Comments.
  "# c\na=1", "// c\na=1", "a=1 # c\nb=2 // d", "a=[ # c\n1 // d\n]", 'a=1#', "a # c\n= 1", "/ = 1", 'a=/', 'a=/ /',
  # Includes.
  "include \"x\"\na=1", 'include file("/nowhere/x.conf"),a=1', 'include x', 'include "x" a=1', 'include', 'include file(x)', 'include file( "x" ), a=1',
  'include foo("x")', 'a { include "x", b=1 }', 'include file("x" y)',
  # Substitutions.
  'a=1,b=${a}', 'b=${a},a=1', 'a=${b}', 'a=${?b}', 'a=${?b},c=1', 'a=[${?b},1]', 'a=[${b}]', 'a={b=1},c=${a}', 'a={b=1},c=${a.b}', 'a={b=1},c=${a.x}',
  'a={b=1},c=${?a.x}', 'a=1,b=${ a }', 'a=1,b=${"a"}', '"a b"=1,c=${a b}', '"a.b"=1,c=${"a.b"}', 'a=${}', 'a=${?}', 'a=${ }', 'a=${a', 'a=${', 'a=$', 'a=$b', 'a=${a.}',
  'a=${{}', 'a=${${b}}', 'a=${b,c}', 'a=${b=c}', "a=${b\n}", 'a=1,${a}=2', 'a=${1},1=x', 'b.c=1,a=${b}{d=2}', 'b.c=1,a={d=2}${b}', 'b.c=1,a=${b} {d=2} {e=3}',
  'a=x,b=${a}y', 'a=x,b=${a} y', 'a=x,b=y${a}', 'a=x,b="y "${a}" z"', 'a=x,b="${a}"', 'a=x,b=${a}${a}', 'a=x,b=${a} ${a}', 'a=x,b=${?c} ${a}', 'a=${?c}${?d}',
  'a=1,b=${a}2', 'a=1.0,b=${a}x', 'a=null,b=${a}', 'a=null,b=${a}x', 'a=true,b=${a}x', 'a=[1],b=${a}[2]', 'a=[1],b=[0]${a}', 'a=[1],b=${a} 2', 'a=[1],b=${a}" 2"',
  'a={x=1},b=${a} 2', 'a={x=1},b=${a}" 2"', 'a={x=1},b=[1]${a}', 'a=${a}', 'a=${?a}', 'a=${b},b=${a}', 'a=${b},b=${c},c=${a}', 'a={b=${a}}', 'a={b=${a.c},c=1}', 'a={b=${a.b}}',
  'a=1,a=${a}', 'a=1,a=${a}2', 'a=[1],a=${a}[2]', 'a=[1],a=${a} [2]', 'a={x=1},a=${a}{y=2}', 'path=/bin,path=${path}":/opt"', 'path=/bin,path=${?path}":/opt"', 'path=${?path}":/opt"',
  'a={x=1},a=${b},b={y=2}', 'a=${b},a={x=1},b={y=2}', 'a=${b},a=1,b=2', 'a={x=1},a=${b},b=2', 'a={x=1},a=${b},a={z=3},b={y=2}', 'a={x=${b}},b=1,a={y=2}', 'a={x=${b}},b=1', 'a={x=1},a={x=${b}},b=2',
  'n.a=5,n.a={b=${x}},x=1', 'n.a={b=${x}},n.a={c=1},x=1', 'n.a={b=1},n.a=${x},x={c=2}', 'n.a=${x},n.a={b=1},x={c=2}', 'n={a={b=1}},n={a=${x}},x={c=2}', 'n={a=${x}},n={a={b=1}},x={c=2}',
  'bar:{foo:42,baz:${bar.foo}}', 'bar:{foo:42,baz:${bar.foo}},bar:{foo:43}', 'bar:{a:${foo.d},b:1},bar.b=3,foo:{c:${bar.b},d:2},foo.d=4', 'a:${a}{b:1}', 'a:{b:${?a.c}},a:{c:${?a.b}}',
  'foo:{a:2},foo:${foo.a}', 'foo:{a:{c:1}},foo:${foo.a},foo:{a:2}', 'a:{b:{c:1}},x:${a.b},y:${x.c}', 'a=${b.c},b=${d},d={c=7}', 'a=[{b=${x}}],x=1', 'a=[{b=${x},b=${?y}}],x=1', 'a=[{b={p=1},b=${x}}],x={q=2}',
  'a=[${x}],x=[1,2]', 'a=[${x}] [3],x=[1,2]', 'a=${x}${y},x=[1],y=[2]', 'a=${x} ${y},x={p=1},y={q=2}', 'a=${x}${y},x={p=1},y=[2]', 'a=1,a=${?b}', 'a=1,a=${?b},b=2', 'a=${?HOME}', 'a=${HOME}',
  'a.b.c=1,a.b=${a.x},a.x={d=2}', 'x=${y.z},y=${?q},y.z=3', 'a={b=${c}},c=${?d}', 'a=${x},a=${y},x={p=1},y={q=2}', 'a=${x},a=${?y},x={p=1}', 'a=${x.y},x=1', 'a=${x.0},x=[1]',
  'd={x=1},s1=${d}{x=2},s2=${d}{y=3}', 'd={x=1,l=[1]},s=${d},s.l+=2', 'd={p=80,u="http:"${d.p}},e=${d}{p=81}', 'v="1.0",url="http://x/"${v}"/y"', "a=${b} # c\nb=1", 'a="x"${?n}"y"',
  'a={b=1,c=${a.b}},d=${a.c}', 'a=${x}foo{b=1},x=1', 'a={b=1}${?x}5', 'a={b=${x}}{c=${y}},x=1,y=2', 'a={b=1}{b=${x}},x=1', 'a=[1,${?x}[2]]', 'a=[${?x}${?y}]',
  # Append.
  'a+=1', 'a+=1,a+=2', 'a=[1],a+=2', 'a=1,a+=2', 'a={b=1},a+=2', 'a+=[1]', 'a+={b=1}', 'a.b+=1', 'a.b+=1,a.b+=2', 'a{b+=1,b+=2}', 'a+=${x},x=1', 'a+=${x}', 'a=[{b+=1}]', 'a+={b+=1}', 'a+=[{b=1}]', 'a + = 1', 'a+1=2', 'a =+ 1',
  'a=${x},a+=2,x=[1]', 'a="x",a+="y"', 'a+="x" y', 'a=null,a+=1', 'l=[1],m=${l},m+=2', "a=[\n{b+=1}\n]", "x=1\n\na=[\n{b+=1}\n]",
  # Errors that tell their line.
  "a=1\nb=${c}", "a=1\n\nb={c=1} 5", "a={\nb=1\n} [\n2\n]", "a=1\nb=\"x\n", "a=[\n1\n2 3]\nb=]", "a=\"\"\"\n\n\"\"\"\nb=${x}", "a=${x}\nx=${y}", "a {\n b {\n  c = @\n }\n}", "a=1\n\n,\n,", "a=1 \n  }",
  # Puppet data.
  "lookup_options { \"^a::\" { merge = deep } }\na::b = 1", "\"a::b\" = 1\n\"a::c\" { d = [x, y] }", "ntp.servers = [a, b]\nntp.servers = ${ntp.servers} [c]",
  "hosts {\n  web { ip = 10.0.0.1, roles = [web, db] }\n}", "x = \"%{hiera('y')}\"", 'x = %{alias(y)}', "a = one\\\ntwo"
].freeze

def plain(value)
  case value
  when String then value.dup.force_encoding('UTF-8').scrub
  when Array then value.map { |element| plain(element) }
  when Hash then value.to_h { |key, element| [plain(key), plain(element)] }
  else value
  end
end

CASES.uniq.each do |text|
  outcome =
    begin
      { 'value' => plain(Hocon.parse(text.dup)) }
    rescue Exception => e # rubocop:disable Lint/RescueException
      message = plain(e.message).lines.first.to_s.chomp.gsub(/0x\h{16}/, '0x0000000000000000')
      { 'error' => message, 'class' => e.class.name }
    end
  puts JSON.generate({ 'hocon' => text }.merge(outcome))
end
