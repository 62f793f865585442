#!/usr/bin/env ruby
# Signs requests to Alula, and verifies its callbacks:
#
#   ruby sign.rb KEY SOURCE [NAME=VALUE ...]        prints the signed target of a thumbnail
#   ruby sign.rb --post KEY TARGET < BODY           prints the value of Alula-Signature for a POST
#   ruby sign.rb --verify KEY TARGET CODE < BODY    ends with status 0 if a callback has a valid Alula-Signature
#
# KEY is hexadecimal, one of the service's `signingKeys`, or a tenant's: then the last parameter is key=ID, and so is
# TARGET's. TARGET is the path with its query, exactly as sent. Needs the standard library only.
require "base64"
require "erb"
require "openssl"

# The target for a source, with its signature as the last parameter.
def signed(key, source, parameters)
  pairs = [["url", source], *parameters].map { |name, value| "#{name}=#{ERB::Util.url_encode(value)}" }
  target = "/thumbnail?" + pairs.join("&")
  "#{target}&sig=#{code(key, target)}"
end

def code(key, text)
  Base64.urlsafe_encode64(OpenSSL::HMAC.digest("SHA256", [key].pack("H*"), text), padding: false)
end

# The value of Alula-Signature for a POST to Alula.
def post_signature(key, target, body)
  code(key, "POST\n#{target}\n#{OpenSSL::Digest::SHA256.hexdigest(body)}")
end

# Whether a POST with this Alula-Signature comes from Alula.
def callback?(key, target, signature, body)
  OpenSSL.secure_compare(post_signature(key, target, body), signature)
end

case ARGV[0]
when "--post" then puts post_signature(ARGV[1], ARGV[2], $stdin.binmode.read)
when "--verify" then exit callback?(ARGV[1], ARGV[2], ARGV[3], $stdin.binmode.read)
else puts signed(ARGV[0], ARGV[1], ARGV.drop(2).map { |text| text.split("=", 2) })
end
