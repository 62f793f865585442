"""The keys that haproxy.cfg reduces targets to, wherever the dialects lie: an origin in place of the service sends the key back."""
import collections
import contextlib
import re
import tempfile

from alula_tests.clients import connect, get, thumbnail
from alula_tests.deploy import proxies, spellings
from alula_tests.deploy.spellings import quoted
from alula_tests.origins import ImageHandler, serving

SOURCE = "http://images.example.com/2026/a%20photo.jpg"
KEY = "images.example.com/2026/a photo.jpg"
NOWHERE = "/nowhere"


class Echo(ImageHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("X-Key", self.headers.get("X-Key", ""))
        self.send_header("X-Port", str(self.server.server_port))
        self.send_header("Content-Length", "0")
        self.end_headers()


class Telling(proxies.HAProxy):
    """HAProxy that sends its key to the instances, which are one origin here."""

    def __init__(self, ports, folder, **places):
        text = (proxies.DEPLOY / "haproxy.cfg").read_text()
        line = "    default_backend alula\n"
        assert line in text
        with open(f"{folder}/haproxy.cfg", "w") as file:
            file.write(text.replace(line, f"    http-request set-header X-Key %[var(txn.source)]\n{line}"))
        super().__init__(ports, folder, f"{folder}/haproxy.cfg",
                         **{f"ALULA_{name.upper()}_PATH": place for name, place in places.items()})


def check(report):
    shares(report)
    with serving(Echo) as port:
        everywhere = spellings.plain(SOURCE) | spellings.in_base64(SOURCE) | spellings.other_writings(SOURCE) | {
            "imgproxy, twice escaped": f"/imgproxy/insecure/plain/{spellings.quoted(SOURCE)}@webp",
            "thumbor, nested filters": "/thumbor/s_-=/debug/meta/trim:top-left:10/1x2:0.5x9/adaptive-full-fit-in/stretch/-3x-orig"
                                       f"/1x2:3x4/left/middle/smart/filters:watermark(https://a.example/w.png,(1)):blur(3)/{SOURCE}",
            "wsrv, ssl and capitals": f"/wsrv/?w=3&URL=ssl:{SOURCE.removeprefix('http://')}",
            "the first of two": f"/wsrv?url={SOURCE}&url=other.example",
        }
        compare(report, "at their places", port, everywhere, {})
        for dialect, prefix in spellings.PREFIXES.items():
            others = {name: NOWHERE for name in spellings.PREFIXES if name != dialect}
            at_root = {name: re.sub(f"^{prefix}/?", "/", target) for name, target in everywhere.items()
                       if target.startswith((prefix, "/thumbnail", "/info", *spellings.ENDPOINTS.values()))}
            compare(report, f"{dialect} at /", port, at_root, {dialect: "/", **others})
        escaped = quoted(SOURCE + "?size=2&v=1")
        queries = {
            "native": f"/thumbnail?url={escaped}", "astro": f"/_image?w=3&href={escaped}",
            "cloudflare": f"/cdn-cgi/image/w=3/{SOURCE}?size=2&v=1", "ipx": f"/_ipx/_/{SOURCE}?size=2&v=1",
            "imaginary": f"/imaginary/crop?width=3&url={escaped}"}
        compare(report, "with a query", port, queries, {}, KEY + "?size=2&v=1")
        elsewhere = {name: target.replace("/imgproxy/", "/img/px/") for name, target in everywhere.items()
                     if not target.startswith(("/thumbor", "/wsrv"))}
        compare(report, "imgproxy elsewhere, thumbor at /", port, elsewhere, {"imgproxy": "/img/px", "thumbor": "/", "wsrv": NOWHERE})


def shares(report, count=1500):
    """Many sources are spread evenly."""
    with contextlib.ExitStack() as stack:
        ports = [stack.enter_context(serving(Echo)) for _ in range(4)]
        proxy = stack.enter_context(Telling(ports, stack.enter_context(tempfile.TemporaryDirectory())))
        connection, found = connect(proxy.port), collections.Counter()
        for number in range(count):
            found[get(connection, thumbnail(f"https://images.example.com/{number}.jpg"))[0].getheader("X-Port")] += 1
    parts = sorted(round(100 * part / count) for part in found.values())
    report.check(len(parts) == 4 and parts[0] >= 21 and parts[-1] <= 29, f"four instances have even shares of sources: {parts} %")


def compare(report, claim, port, targets, places, key=KEY):
    with tempfile.TemporaryDirectory() as folder, Telling([port] * 4, folder, **places) as proxy:
        wrong = {}
        for name, target in targets.items():
            answer, _ = get(connect(proxy.port), target)
            if answer.getheader("X-Key") != key:
                wrong[name] = answer.getheader("X-Key")
        report.check(len(targets) > 4 and not wrong, f"{len(targets)} ways to write a source have one key, {claim}: {wrong or 'all'}")
