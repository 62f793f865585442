#!/usr/bin/env python3
"""Prints the signed target of a thumbnail: sign.py KEY SOURCE [NAME=VALUE ...]

KEY is hexadecimal, one of the service's `signingKeys`. Needs the standard library only.
"""
import base64
import hashlib
import hmac
import sys
import urllib.parse


def signed(key, source, parameters):
    """The target for a source, with its signature as the last parameter."""
    pairs = [("url", source), *parameters]
    target = "/thumbnail?" + "&".join(f"{name}={urllib.parse.quote(value, safe='')}" for name, value in pairs)
    code = hmac.new(bytes.fromhex(key), target.encode(), hashlib.sha256).digest()
    return f"{target}&sig={base64.urlsafe_b64encode(code).decode().rstrip('=')}"


if __name__ == "__main__":
    print(signed(sys.argv[1], sys.argv[2], [tuple(argument.split("=", 1)) for argument in sys.argv[3:]]))
