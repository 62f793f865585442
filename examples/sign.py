#!/usr/bin/env python3
"""Signs requests to Alula, and verifies its callbacks:

    sign.py KEY SOURCE [NAME=VALUE ...]        prints the signed target of a thumbnail
    sign.py --post KEY TARGET < BODY           prints the value of Alula-Signature for a POST
    sign.py --verify KEY TARGET CODE < BODY    ends with status 0 if a callback has a valid Alula-Signature

KEY is hexadecimal, one of the service's `signingKeys`, or a tenant's: then the last parameter is key=ID, and so is
TARGET's. TARGET is the path with its query, exactly as sent. Needs the standard library only.
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
    return f"{target}&sig={code(key, target)}"


def code(key, text):
    digest = hmac.new(bytes.fromhex(key), text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def post_signature(key, target, body):
    """The value of Alula-Signature for a POST to Alula."""
    return code(key, f"POST\n{target}\n{hashlib.sha256(body).hexdigest()}")


def is_callback(key, target, signature, body):
    """Whether a POST with this Alula-Signature comes from Alula."""
    return hmac.compare_digest(post_signature(key, target, body).encode(), signature.encode())


if __name__ == "__main__":
    if sys.argv[1] == "--post":
        print(post_signature(*sys.argv[2:4], sys.stdin.buffer.read()))
    elif sys.argv[1] == "--verify":
        sys.exit(0 if is_callback(*sys.argv[2:5], sys.stdin.buffer.read()) else 1)
    else:
        print(signed(sys.argv[1], sys.argv[2], [tuple(argument.split("=", 1)) for argument in sys.argv[3:]]))
