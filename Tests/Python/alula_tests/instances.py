"""Instances that share something, as their clients and operators see them, and a runner of checks."""
import http.client
import json
import time
import urllib.parse

from alula_tests.images import noisy_png
from alula_tests.origins import ImageHandler
from alula_tests.service import Service

PATIENCE = 30


class Images(ImageHandler):
    hits = {}

    def find(self, path):
        Images.hits[path] = Images.hits.get(path, 0) + 1
        return "image/png", noisy_png(80, 60, sum(path.encode()))


def eventually(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


class SharingInstance(Service):
    """An instance that shares results by one `layer`, with the `state` of this name and metrics that begin with `prefix`."""
    layer, member, prefix = None, None, None

    def __init__(self, executable, *settings, **options):
        super().__init__(executable, "--decode-in-process", "on", *settings, **options)

    def ask(self, method, target, operators=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port if operators else self.port, timeout=60)
        try:
            connection.request(method, target)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def thumbnail(self, url, width=20, tag=None):
        target = f"/thumbnail?w={width}&url={urllib.parse.quote(url, safe='')}" + (f"&tag={tag}" if tag else "")
        status, fields, body = self.ask("GET", target)
        assert status == 200, (status, body)
        return fields["Cache-Status"], fields["ETag"], body

    def is_hit(self, url, width=20):
        return f"{self.layer};hit" in self.thumbnail(url, width)[0]

    def purge(self, url=None, tag=None):
        return self.ask("DELETE", self.removal(url, tag), operators=True)[0]

    def purged(self, url=None, tag=None):
        return json.loads(self.ask("DELETE", self.removal(url, tag), operators=True)[2])

    @staticmethod
    def removal(url, tag):
        return "/cache?" + urllib.parse.urlencode({"url": url} if url else {"tag": tag} if tag else {})

    @property
    def state(self):
        return json.loads(self.ask("GET", "/status", operators=True)[2])[self.member]["state"]

    def reaches(self, state, seconds=PATIENCE):
        begun = time.monotonic()
        assert eventually(lambda: self.state == state, seconds), (state, self.state, self.lines[-3:])
        return time.monotonic() - begun

    def metric(self, name):
        for line in self.ask("GET", "/metrics", operators=True)[2].decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        raise KeyError(name)

    def settles(self):
        assert eventually(lambda: self.metric(f"{self.prefix}_queue_bytes") == 0)


def run_checks(trial, names):
    """Runs methods of a trial, and says how each went; returns how many failed."""
    failures = 0
    for name in names:
        begun = time.monotonic()
        try:
            note = getattr(trial, name)()
            print(f"ok    {name.replace('_', ' ')} ({time.monotonic() - begun:.1f} s){': ' + note if note else ''}", flush=True)
        except AssertionError as failure:
            failures += 1
            line = failure.__traceback__
            while line.tb_next:
                line = line.tb_next
            print(f"FAIL  {name.replace('_', ' ')}, line {line.tb_lineno}: {failure}", flush=True)
    return failures
