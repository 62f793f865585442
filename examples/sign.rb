#!/usr/bin/env ruby
# Prints the signed target of a thumbnail: ruby sign.rb KEY SOURCE [NAME=VALUE ...]
#
# KEY is hexadecimal, one of the service's `signingKeys`. Needs the standard library only.
require "base64"
require "erb"
require "openssl"

# The target for a source, with its signature as the last parameter.
def signed(key, source, parameters)
  pairs = [["url", source], *parameters].map { |name, value| "#{name}=#{ERB::Util.url_encode(value)}" }
  target = "/thumbnail?" + pairs.join("&")
  code = OpenSSL::HMAC.digest("SHA256", [key].pack("H*"), target)
  "#{target}&sig=#{Base64.urlsafe_encode64(code, padding: false)}"
end

puts signed(ARGV[0], ARGV[1], ARGV.drop(2).map { |text| text.split("=", 2) })
