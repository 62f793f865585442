"""A store of objects that takes requests signed by AWS Signature Version 4 alone, and is strict about them."""
import datetime
import hashlib
import hmac
import http.server
import json
import threading
import time
import urllib.parse

from alula_tests.origins import ImageServer

REGION, ACCESS_KEY, SECRET_KEY = "eu-test-1", "AKTEST", "secret/of+this=test"


def spelled(text):
    return urllib.parse.quote(urllib.parse.unquote_to_bytes(text), safe="-._~")


def fault_of(method, target, fields, body, keys):
    """What is wrong with a request; None if it is signed as it should be, with one of `keys`: secret, token and end by name."""
    words = dict(part.strip().partition("=")[::2]
                 for part in fields.get("Authorization", "").removeprefix("AWS4-HMAC-SHA256 ").split(","))
    date, digest = fields.get("x-amz-date", ""), fields.get("x-amz-content-sha256", "")
    if not {"Credential", "SignedHeaders", "Signature"} <= set(words):
        return "not signed"
    scope = words["Credential"].split("/")
    secret, token, end = keys.get(scope[0], (None, None, 0))
    if secret is None or scope[1:] != [date[:8], REGION, "s3", "aws4_request"]:
        return f"scope {scope}"
    if fields.get("x-amz-security-token") != token:
        return "another token"
    if time.time() >= end:
        return "a key that has ended"
    sent = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    if abs(sent.timestamp() - time.time()) > 900:
        return "too old"
    # What is put must come with its own hash.
    if digest != hashlib.sha256(body).hexdigest() and (method == "PUT" or digest != "UNSIGNED-PAYLOAD"):
        return "another hash"
    names = words["SignedHeaders"].split(";")
    wanted = {"host"} | {name.lower() for name in fields if name.lower().startswith("x-amz-")}
    if names != sorted(names) or not wanted <= set(names):
        return f"signed fields {names}"
    path, _, query = target.partition("?")
    canonical = "\n".join([
        method, "/".join(spelled(part) for part in path.split("/")), query,
        "".join(f"{name}:{' '.join(fields.get(name, '').split())}\n" for name in names), ";".join(names), digest])
    text = "\n".join(["AWS4-HMAC-SHA256", date, "/".join(scope[1:]), hashlib.sha256(canonical.encode()).hexdigest()])
    key = b"AWS4" + secret.encode()
    for part in scope[1:]:
        key = hmac.digest(key, part.encode(), "sha256")
    return None if hmac.new(key, text.encode(), "sha256").hexdigest() == words["Signature"] else "another signature"


class Bucket:
    """A bucket named `kept` on a free port, by path (`/kept/NAME`) and by host (`localhost`)."""

    def __init__(self):
        self.objects, self.faults, self.requests, self.seconds = {}, [], [], 0
        self.keys = {ACCESS_KEY: (SECRET_KEY, None, float("inf"))}
        # The fields of what was put.
        self.fields = {}
        self.status = {}
        bucket = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, found = bucket.answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/octet-stream" if status == 200 else "application/xml")
                self.send_header("Content-Length", str(len(found)))
                self.end_headers()
                self.wfile.write(found)

            do_GET = do_PUT = answer

            def log_message(self, *_):
                pass

        self.server = ImageServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, method, target, fields, body):
        self.requests.append((method, target))
        time.sleep(self.seconds)
        fault = fault_of(method, target, fields, body, self.keys)
        if fault:
            self.faults.append((method, target, fault))
            return 403, b"<Error/>"
        if method in self.status:
            return self.status[method], b"<Error/>"
        target, _, query = target.partition("?")
        name = target.removeprefix("/")
        if not fields["Host"].startswith("localhost"):
            start, _, name = name.partition("/")
            if start != "kept":
                return 404, b"<Error/>"
        if query:
            return self.listing(name, urllib.parse.parse_qs(query))
        if method == "PUT":
            self.objects[name] = body
            self.fields[name] = dict(fields.items())
            return 200, b""
        return (200, self.objects[name]) if name in self.objects else (404, b"<Error/>")

    def listing(self, name, query):
        """A page of keys in their order (ListObjectsV2), of fewer than asked for, as a store may send."""
        if name or query.get("list-type") != ["2"]:
            return 404, b"<Error/>"
        prefix, after = query["prefix"][0], query.get("start-after", [""])[0]
        keys, most = sorted(key for key in self.objects if key.startswith(prefix) and key > after), min(100, int(query["max-keys"][0]))
        words = "".join(f"<Contents><Key>{key}</Key><Size>1</Size></Contents>" for key in keys[:most])
        more = "true" if len(keys) > most else "false"
        return 200, (f"<?xml version='1.0'?><ListBucketResult><Prefix>{prefix}</Prefix><IsTruncated>{more}</IsTruncated>{words}"
                     "</ListBucketResult>").encode()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class KeyService:
    """Lends keys of a life for a bucket to those who bring the token of the moment."""

    def __init__(self, bucket, life, token="the/token=="):
        self.bucket, self.life, self.token, self.lent, self.refused = bucket, life, token, [], 0
        service = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = service.lend() if self.headers.get("Authorization") == service.token else b""
                service.refused += not body
                self.send_response(200 if body else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ImageServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/credentials"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def lend(self):
        number = len(self.lent) + 1
        end = int(time.time()) + self.life
        self.lent.append(time.time())
        self.bucket.keys[f"LENT{number}"] = (f"secret/{number}", f"session+{number}==", end)
        return json.dumps({
            "AccessKeyId": f"LENT{number}", "SecretAccessKey": f"secret/{number}", "Token": f"session+{number}==",
            "Expiration": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))}).encode()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
