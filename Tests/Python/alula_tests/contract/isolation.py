"""What one tenant can learn of another: nothing by caches, names, keys or `Host`."""
import base64
import hashlib
import hmac
import json
import pathlib
import socket
import tempfile
import urllib.parse

from alula_tests.service import Service

KEY = "0123456789abcdef" * 4
CHANGING = ("date", "x-request-id", "server-timing", "alula-receipt")


def settings(origin):
    return {
        "uploads": "on", "clientCacheControl": "honour",
        "origins": {"shop-media": {"url": origin + "/"}, "guarded": {"url": origin + "/", "forward": ["Authorization"]}},
        "presets": {"card": {"w": 99}},
        "tenants": {
            "shop": {"hosts": ["shop.test"], "origins": ["shop-media"], "presets": ["card"]},
            "news": {"hosts": ["news.test"]},
            "keyed": {"keys": [{"id": "known", "secret": KEY}]},
            "small": {"keys": [{"id": "small", "secret": KEY[::-1]}], "maxSourceBytes": "1KiB"},
            "narrow": {"hosts": ["narrow.test"], "allowedSources": ["https://cdn.example/*"]},
        },
    }


class Client:
    """Writes requests as they are."""

    def __init__(self, port):
        self.port = port

    def send(self, text, body=b""):
        """Status, fields and content."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(text.encode() + body)
            received = b""
            while piece := connection.recv(1 << 16):
                received += piece
        head, _, content = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1]), fields, content

    def get(self, host, target, fields=""):
        return self.send(f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n")

    def post(self, host, target, kind, body, fields="", length=None):
        length = len(body) if length is None else length
        return self.send(f"POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n{fields}"
                         f"Content-Length: {length}\r\nConnection: close\r\n\r\n", body)


def lasting(answer, *names):
    """An answer without what differs each time, and without these names."""
    status, fields, content = answer
    content = content.replace(fields.get("x-request-id", "-").encode(), b"")
    for name in names:
        content = content.replace(name.encode(), b"")
    return status, {name: value for name, value in fields.items() if name not in CHANGING + ("content-length",)}, content


def signed(target, key):
    code = hmac.new(bytes.fromhex(key), target.encode(), hashlib.sha256).digest()
    return f"{target}&sig={base64.urlsafe_b64encode(code).decode().rstrip('=')}"


def judge(executable, origin):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "alula.json5")
        file.write_text(json.dumps(settings(origin)))
        with Service(executable, "--config", str(file)) as service:
            client = Client(service.port)
            source = urllib.parse.quote(origin + "/cached/max-age", safe="")
            complaints = [*caches(client, source), *hosts(client), *names(client, source), *keys(client, source)]
            return complaints + service.stop()


def caches(client, source):
    targets = [(f"/thumbnail?url={source}&w=20", ""), ("/thumbnail?url=guarded:cached/max-age&w=20", "Authorization: a\r\n")]
    for target, fields in targets:
        tenants = ["shop.test", "news.test", "other.test"] if not fields else ["news.test", "other.test"]
        for host in tenants:
            first, again = client.get(host, target, fields), client.get(host, target, fields)
            if first[0] != 200 or "hit" in first[1]["cache-status"]:
                yield f"{host} {target}: {first[0]} {first[1].get('cache-status')}, which others have requested"
            if "alula-result;hit" not in again[1].get("cache-status", ""):
                yield f"{host} {target}: its own result is no hit"
    image = client.get("shop.test", f"/thumbnail?url={source}&w=30&format=png")[2]
    for host in ["shop.test", "news.test"]:
        status, fields, _ = client.post(host, "/thumbnail?w=10", "image/png", image)
        if status != 200 or "alula-result;hit" in fields["cache-status"]:
            yield f"{host}: an upload tells that another tenant had the same file"
    forbidden = [lasting(client.get("narrow.test", f"/thumbnail?url={source}&w={width}")) for width in (20, 21)]
    if forbidden[0] != forbidden[1] or forbidden[0][0] != 403:
        yield f"a forbidden source tells that it is cached: {forbidden}"


def hosts(client):
    target = "/thumbnail?url=shop-media:cached/max-age&w=20"
    for host, status in [("shop.test", 200), ("SHOP.test.:8080", 200), ("news.test", 400), ("shop.test..", 400), (".shop.test", 400),
                         ("shop%2etest", 400), ("shop.test@news.test", 400), ("shop.test,news.test", 400), ("", 400)]:
        if (answered := client.get(host, target)[0]) != status:
            yield f"Host: {host}: {answered} instead of {status}"
    for line in ["X-Forwarded-Host: shop.test", "Forwarded: host=shop.test", "X-Original-Host: shop.test", "Host: shop.test"]:
        if (answered := client.get("news.test", target, line + "\r\n")[0]) != 400:
            yield f"{line} beside Host: {answered}"
    for text in [f"GET http://shop.test{target} HTTP/1.1\r\nHost: news.test\r\nConnection: close\r\n\r\n",
                 f"GET {target} HTTP/1.0\r\n\r\n", f"GET {target} HTTP/1.1\r\nHost : shop.test\r\nHost: news.test\r\n\r\n"]:
        if (answered := client.send(text)[0]) != 400:
            yield f"{text!r}: {answered}"


def names(client, source):
    for target, foreign, missing in [
            ("/thumbnail?url=NAME:cached/max-age&w=20", "shop-media", "shop-music"), ("/info?url=NAME:cached/max-age", "shop-media", "shop-music"),
            (f"/thumbnail?url={source}&preset=NAME", "card", "cord"), (f"/thumbnail?url={source}&watermark=NAME:a", "shop-media", "shop-music")]:
        answers = [lasting(client.get("news.test", target.replace("NAME", name)), name) for name in (foreign, missing)]
        if answers[0] != answers[1] or answers[0][0] != 400:
            yield f"{target}: a foreign name differs from a missing one: {answers}"


def keys(client, source):
    target = f"/thumbnail?url={source}&w=20&key="
    for host in ["shop.test", "other.test"]:
        refusals = [lasting(client.get(host, text)) for text in [
            target + "unknown&sig=AAAA", target + "known&sig=AAAA", target + "known", target + "unknown",
            signed(target + "known", KEY[::-1]), signed(target + "unknown", KEY)]]
        if any(refusal != refusals[0] for refusal in refusals) or refusals[0][0] != 403:
            yield f"{host}: keys differ: {refusals}"
    for length in [2, 20 << 20]:
        for path, kind, fields in [("/thumbnails?key=", "application/json", "Alula-Signature: AAAA\r\n"), ("/thumbnail?w=9&key=", "image/jpeg", "")]:
            refusals = [lasting(client.post("news.test", path + key, kind, b"{}", fields, length)) for key in ("unknown", "known", "small")]
            if any(refusal != refusals[0] for refusal in refusals) or refusals[0][0] != 403:
                yield f"{path} of {length} bytes: keys differ: {refusals}"
    if client.get("other.test", signed(target + "known", KEY))[0] != 200:
        yield "a signed request is refused"
