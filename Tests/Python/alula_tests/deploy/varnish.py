"""Varnish with deploy/varnish.vcl in front of an instance: what is purged at the instance is asked for again."""
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.parse

from alula_tests.clients import connect, get, thumbnail
from alula_tests.deploy.fleet import CountingOrigin, until
from alula_tests.deploy.proxies import DEPLOY, Proxy, free_port
from alula_tests.origins import serving
from alula_tests.service import Service


class Varnish(Proxy):
    name = "Varnish"

    def __init__(self, place, port, folder):
        text = (DEPLOY / "varnish.vcl").read_text()
        path = pathlib.Path(folder) / "varnish.vcl"
        path.write_text(text.replace('.port = "8080"', f'.port = "{place}"'))
        super().__init__(
            ["varnishd", "-F", "-f", str(path), "-a", f"127.0.0.1:{port}", "-n", f"{folder}/varnish", "-s", "malloc,16m",
             "-j", "none"], port, stdout=subprocess.DEVNULL)

    def kill(self):
        # The manager ends its child only if it is asked to.
        self.process.terminate()
        self.process.wait(10)
        super().kill()


def settings(port):
    """As the page "Behind a CDN" says, for this port."""
    page = (DEPLOY.parent / "docs" / "behind-a-cdn.md").read_text()
    words = page.split("## Varnish")[1].split("```json5\n")[1].split("```")[0].replace("varnish:6081", f"127.0.0.1:{port}")
    words = re.sub(r"\b(cacheTagHeader|purgeHooks|url|method|headers|on): ", r'"\1": ', words)
    return json.loads("{" + re.sub(r",(\s*\])", r"\1", words) + "}")


def check(alula, report):
    page = (DEPLOY.parent / "docs" / "behind-a-cdn.md").read_text()
    report.check(f"```vcl\n{(DEPLOY / 'varnish.vcl').read_text()}```" in page, "the page shows deploy/varnish.vcl as it is")
    with serving(CountingOrigin) as origin, tempfile.TemporaryDirectory() as folder:
        port = free_port()
        config = pathlib.Path(folder) / "alula.json5"
        config.write_text(json.dumps(settings(port)))
        with Service(alula, "--config", str(config), "--auto-formats", "avif,webp") as service, Varnish(service.port, port, folder) as varnish:
            _purges(service, varnish, f"http://127.0.0.1:{origin}", report)
            _accepts(service, varnish, f"http://127.0.0.1:{origin}", report)


# What Chrome, Firefox and Safari send for images, and programs, with the formats that they take.
ACCEPTS = {
    "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8": "avif, webp",
    "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5": "avif, webp",
    "image/webp,image/avif,image/jxl;q=0,video/*;q=0.8,*/*;q=0.5": "avif, webp",
    "image/webp,*/*": "webp",
    "image/avif;q=0, image/webp;q=0.9": "webp",
    "*/*": "",
    "": "",
}


def _accepts(service, varnish, origin, report):
    """Texts that mean the same share an entry, and each gets what the instance alone answers."""
    target = thumbnail(f"{origin}/accept.png", w=40)
    hits = {}
    for accept in ACCEPTS:
        answers = []
        for port in (service.port, varnish.port):
            connection = connect(port)
            connection.request("GET", target, headers={"Accept": accept} if accept else {})
            answer = connection.getresponse()
            answers.append((answer.status, answer.getheader("Content-Type"), answer.read()))
        hits[accept] = len(answer.getheader("X-Varnish").split()) == 2
        report.check(answers[0] == answers[1], f"Accept: {accept or 'none'} gets {answers[0][1]}, with and without Varnish")
    report.check(sum(hits.values()) == len(ACCEPTS) - len(set(ACCEPTS.values())),
                 f"{len(ACCEPTS)} texts of Accept are {len(set(ACCEPTS.values()))} entries")


def _purges(service, varnish, origin, report):
    report.line(f"{varnish.name}:")
    connection = connect(varnish.port)

    def is_hit(target):
        answer, _ = get(connection, target)
        assert answer.status == 200, answer.status
        assert answer.getheader("xkey") is None, "tags stay behind the cache"
        # A hit names the request that brought the entry.
        return len(answer.getheader("X-Varnish").split()) == 2

    def purge(**query):
        operators = connect(service.admin_port)
        operators.request("DELETE", f"/cache?{urllib.parse.urlencode(query)}")
        answer = operators.getresponse()
        return json.loads(answer.read())["entries"]

    tagged = thumbnail(f"{origin}/a.png", w=20, tag="product-7,season")
    plain = thumbnail(f"{origin}/a.png", w=30)
    other = thumbnail(f"{origin}/b.png", w=20)
    fresh = [is_hit(target) for target in (tagged, plain, other)]
    report.check(fresh == [False] * 3 and all(is_hit(target) for target in (tagged, plain, other)),
                 "answers are kept in front")
    report.check(purge(tag="nobodys") == 0 and is_hit(tagged), "a purge of an unknown tag removes nothing")
    report.check(purge(tag="season") > 0, "a purge by tag removes entries of the service")
    until(lambda: not is_hit(tagged), "the answer with the tag is gone in front")
    report.check(not is_hit(plain), "so is the answer for the same source without the tag")
    report.check(is_hit(other), "another source stays")
    report.check(purge(url=f"{origin}/b.png") > 0, "a purge by URL removes entries of the service")
    until(lambda: not is_hit(other), "its answer is gone in front")
    report.check(is_hit(tagged), "the first source stays")
    fresh = is_hit(plain) and is_hit(other)
    report.check(fresh and purge() > 0, "a purge of everything removes entries of the service")
    until(lambda: not is_hit(tagged), "the answer is gone in front")
    report.check(not is_hit(plain) and not is_hit(other), "so are all others")
