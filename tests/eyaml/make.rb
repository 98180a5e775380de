# Makes test-only keys and a table of blobs with what the real hiera-eyaml makes of them.
#
#   cd tests/eyaml && ruby make.rb
#
# The keys protect nothing: they exist for these tests alone. They are kept where they exist.
require 'base64'
require 'openssl'
require 'hiera/backend/eyaml'
require 'hiera/backend/eyaml/options'
require 'hiera/backend/eyaml/parser/parser'
require 'hiera/backend/eyaml/encryptors/pkcs7'

include Hiera::Backend::Eyaml
Encoding.default_external = Encoding::UTF_8

PAIRS = { 'first' => [], 'second' => ['--pkcs7-subject=/CN=second/O=Example'] }.freeze
PAIRS.each do |name, options|
  next if File.exist?("test-only-#{name}.private.pem")

  system('eyaml', 'createkeys', "--pkcs7-private-key=test-only-#{name}.private.pem",
         "--pkcs7-public-key=test-only-#{name}.certificate.pem", *options) || abort
end

# A key in PKCS8 and a certificate with an issuer of its own, for what createkeys does not make.
unless File.exist?('test-only-third.private.pem')
  key = OpenSSL::PKey::RSA.new(2048)
  name = OpenSSL::X509::Name.parse('/C=XX/O=Example/CN=Test Authority')
  cert = OpenSSL::X509::Certificate.new
  cert.subject = cert.issuer = name
  cert.serial = 0x8f00000000000001
  cert.version = 2
  cert.not_before = Time.at(0)
  cert.not_after = Time.at(4_000_000_000)
  cert.public_key = key.public_key
  cert.sign(key, OpenSSL::Digest.new('SHA256'))
  File.write('test-only-third.private.pem', key.private_to_pem)
  File.write('test-only-third.certificate.pem', cert.to_pem)
end

def seal(plain, name = 'first', cipher = 'aes-256-cbc')
  cert = OpenSSL::X509::Certificate.new(File.read("test-only-#{name}.certificate.pem"))
  sealed = OpenSSL::PKCS7.encrypt([cert], plain, OpenSSL::Cipher.new(cipher), OpenSSL::PKCS7::BINARY)
  Base64.strict_encode64(sealed.to_der)
end

def enc(*args) = "ENC[PKCS7,#{seal(*args)}]"

ROWS = []
# One row: the text, the private key and certificate used, and either the text or the error.
def row(text, private_key = 'first', certificate = private_key)
  outcome =
    if text !~ /.*ENC\[.*?\]/
      "ok\t#{text.b.unpack1('H*')}"
    else
      begin
        Options.set('pkcs7_private_key' => "test-only-#{private_key}.private.pem",
                    'pkcs7_public_key' => "test-only-#{certificate}.certificate.pem")
        tokens = Parser::ParserFactory.hiera_backend_parser.parse(text)
        "ok\t#{tokens.map(&:to_plain_text).join.chomp.b.unpack1('H*')}"
      rescue LoadError, StandardError => e
        "error\t#{e.message.lines.first.chomp}"
      end
    end
  ROWS << [text.b.unpack1('H*'), private_key, certificate, outcome].join("\t")
end

['', 'a', 'hello', "line\n", "two\nlines\n\n", "crlf\r\n", '%{facts.os}', "é ü 日本語 😀", "\u0000\u0001",
 "\xff\xfe not utf-8"].each { |plain| row(enc(plain)) }
(0..40).each { |length| row(enc('x' * length)) }
[63, 64, 65, 127, 128, 255, 256, 1000].each { |length| row(enc('é' * length)) }
one = enc('hello')
payload = one[/,(.*)\]/, 1]
row("before #{one} behind")
row("é ü #{one} 日本 #{enc('two')}\n")
row(one + one)
row("#{one}\n\n")
row("ENC[#{payload}]")
row("ENC[pkcs7,#{payload}]")
row("ENC[Pkcs7,#{payload}]")
row("ENC[PKCS7,#{payload.scan(/.{1,60}/).join(' ')}]")
row("ENC[PKCS7,#{payload.scan(/.{1,60}/).join("\n")}]")
row("ENC[PKCS7,#{payload.scan(/.{1,60}/).join("\n")}]\nENC[] x")
row("ENC[PKCS7,\t#{payload}]")
row("ENC[ENC[PKCS7,#{payload}]")
row("ENC[PKCS7,#{payload}")
row("ENC[PKCS7, #{payload} ]")
row("ENC[PKCS7 ,#{payload}]")
row("ENC[PK-7,#{payload}]")
row("xENC[PKCS7,#{payload}]]")
row("enc[PKCS7,#{payload}]")
row('DEC::PKCS7[secret]!')
row('plain text')
row("plain text\n")
row('ENC[]')
row("ENC[]\n")
row('ENC[PKCS7,]')
row('ENC[PKCS7, ]')
row('ENC[PKCS7,#bad]')
row('ENC[PKCS7,a_b]')
row('ENC[hello world]')
row('ENC[====]')
row('ENC[PKCS7,aGVsbG8=]')
row('ENC[GPG,aGVsbG8=]')
row('ENC[a_b,abcd]')
row("#{one} ENC[GPG,aGVsbG8=]")
row("ENC[PKCS7,#{payload[0..-9]}]")
row("ENC[PKCS7,#{payload.delete('=')}]")
row("ENC[PKCS7,#{payload}AAAA]")
der = Base64.decode64(payload)
[-1, 200].each do |at|
  broken = der.dup
  broken.setbyte(at, broken.getbyte(at) ^ 1)
  row("ENC[PKCS7,#{Base64.strict_encode64(broken)}]")
end
row(one, 'second')
row(one, 'first', 'second')
row(enc('for the second', 'second'), 'second')
row(enc('for the third', 'third'), 'third')
row(enc('for the third', 'third'), 'first')
row(enc('weaker', 'first', 'aes-128-cbc'))
row(enc('between', 'first', 'aes-192-cbc'))
File.write('blobs.tsv', ROWS.join("\n") + "\n")
