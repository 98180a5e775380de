# frozen_string_literal: true

# OpenVox on a Ruby that is a WebAssembly module, behind `tests/parity/oracle.rb`: answers the requests in
# /w/requests.jsonl into /w/answers.txt. run.mjs runs it, openvox.py prepares the folder: `lib` of OpenVox, the gems that
# it needs in `gems`, `oracle.rb`, and the files of the requests.
#
# Neither programs, threads, sockets nor OpenSSL exist there. What OpenVox loads of them but lookups do not use is
# empty here; a lookup that would use it fails. hiera-eyaml is not there.

$VERBOSE = nil
$LOAD_PATH.unshift('/w/lib', '/w/gems')
%w[rubygems set yaml json time date tempfile fileutils erb digest uri monitor forwardable singleton optparse pathname English
   securerandom strscan delegate pp timeout stringio tmpdir].each { |library| require library }

# A namespace in which every constant is there.
module Anything
  def const_missing(name) = const_set(name, Class.new(StandardError) { extend Anything })
  def method_missing(*) = nil
  def respond_to_missing?(*) = false
end

def stub_library(*features)
  features.each { |feature| $LOADED_FEATURES << "#{feature}.rb" }
end

stub_library('socket', 'openssl', 'etc', 'syslog', 'io/console', 'fcntl', 'net/http', 'net/https', 'resolv', 'facter', 'open3', 'pty', 'concurrent')

class BasicSocket < IO
  def self.do_not_reverse_lookup=(_value); end
end

class Socket < BasicSocket
  extend Anything
  module Constants; end
end

class IPSocket < BasicSocket; end
class TCPSocket < IPSocket; end
class UDPSocket < IPSocket; end
class TCPServer < TCPSocket; end
class SocketError < StandardError; end

module OpenSSL
  extend Anything
  class OpenSSLError < StandardError; end
  OPENSSL_VERSION_NUMBER = 0x30000000

  module SSL
    extend Anything
    class SSLError < OpenSSLError; end

    class SSLContext
      extend Anything
      DEFAULT_PARAMS = {} # rubocop:disable Style/MutableConstant
    end
  end

  module X509
    extend Anything
    %i[CertificateError RequestError CRLError StoreError].each { |name| const_set(name, Class.new(OpenSSLError)) }
  end

  module PKey
    extend Anything
    class PKeyError < OpenSSLError; end
    class RSAError < PKeyError; end
    class ECError < PKeyError; end
  end

  class Digest
    extend Anything
  end

  module ASN1
    extend Anything
    class ASN1Error < OpenSSLError; end

    class ObjectId
      def self.register(*); end
    end
  end
end

module Etc
  extend Anything
  Passwd = Struct.new(:name, :passwd, :uid, :gid, :gecos, :dir, :shell)
  def self.getpwuid(*) = Passwd.new('root', 'x', 0, 0, '', '/', '/')
  def self.getlogin = 'root'
end

module Fcntl
  F_SETFD = 2
  FD_CLOEXEC = 1
end

module Net
  extend Anything
  module HTTPHeader; end

  class HTTP
    extend Anything
  end
end

class Resolv
  class ResolvError < StandardError; end

  class DNS
    module Resource; end
  end
end

module Facter
  extend Anything
  def self.to_hash = {}
end

module Open3; end
module PTY; end

module Concurrent
  class Map < ::Hash
    def compute_if_absent(key) = key?(key) ? self[key] : (self[key] = yield)
    def put_if_absent(key, value) = key?(key) ? self[key] : (self[key] = value) && nil
    def each_pair(&block) = each(&block)
  end

  class ThreadLocalVar
    attr_accessor :value

    def initialize(value = nil, &block)
      @value = block ? block.call : value
    end

    def bind(value)
      before = @value
      @value = value
      yield
    ensure
      @value = before
    end
  end

  class ReentrantLock
    def synchronize = yield
  end

  Hash = ::Hash
end

module Process
  class << self
    %i[euid uid gid egid].each { |name| define_method(name) { 0 } }
    def pid = 1
  end
end

class File
  def self.umask(*) = 0o22
end

# Without threads nothing can be timed out.
def Timeout.timeout(*) = yield

module Base64
  def self.strict_encode64(text) = [text].pack('m0')
end
stub_library('base64')

require 'puppet'
require 'puppet/pops'
require 'puppet/util/log'
require 'puppet/test/test_helper'

# The module of the oracle alone: what stands around it opens streams and starts programs again.
source = File.read('/w/oracle.rb')
source = source[/^module Oracle$.*^end$/m]
Dir.mkdir('/w/home')
source = source.sub("Dir.mktmpdir('parity-oracle')", "'/w/home'")
eval(source) # rubocop:disable Security/Eval
Oracle.start

answers = File.foreach('/w/requests.jsonl').map do |line|
  Oracle.encode(Oracle.answer(JSON.parse(line, max_nesting: false)))
end
File.write('/w/answers.txt', "#{answers.join("\n")}\n")
File.write('/w/versions.txt', "OpenVox #{Puppet.version}, Ruby #{RUBY_VERSION}, Psych #{Psych::VERSION}, JSON #{JSON::VERSION}\n")
