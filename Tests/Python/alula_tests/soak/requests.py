"""What the users of the service ask for in turns: back ends, pages, other dialects, operators, and clients that are wrong."""
import base64
import dataclasses
import itertools
import json
import time
import urllib.parse

from alula_tests.clients import thumbnail
from alula_tests.images import gradient_png, noisy_png
from alula_tests.origins import ImageHandler

PNGS = [gradient_png(600 + 40 * number, 400) for number in range(6)] + [noisy_png(300, 200, n) for n in range(6)]
FORMATS = ("jpeg", "webp", "png", "avif", "auto", "gif")
OPERATIONS = ({}, {"fit": "cover", "h": 150}, {"rotate": 90}, {"blur": 3}, {"fit": "cover", "gravity": "attention", "h": 120})
DIALECTS = ("--imgproxy-path", "/imgproxy", "--thumbor-path", "/thumbor", "--wsrv-path", "/wsrv", "--imaginary-path", "/imaginary")


@dataclasses.dataclass
class Request:
    """A request with the status that is due."""
    target: str
    status: int = 200
    method: str = "GET"
    body: bytes = b""
    fields: dict = dataclasses.field(default_factory=dict)
    is_of_operators: bool = False


class Images(ImageHandler):
    """The files at /image/NUMBER, below /slow after half a second, below /checked to be validated before each use, and below /moved
    their addresses; the first half of one below /half, text below /text, and nothing below /gone."""
    # Pairs of a media type and a file. The service itself makes those that are no PNGs, so that each decoder has work.
    files = [("image/png", body) for body in PNGS]

    @property
    def kind(self):
        return self.path.split("/")[1]

    @property
    def cache_control(self):
        return "no-cache" if self.kind == "checked" else super().cache_control

    def do_GET(self):
        if self.kind == "slow":
            time.sleep(0.5)
        if self.kind == "checked" and self.headers["If-None-Match"]:
            self.send_response(304)
        elif self.kind == "moved":
            self.send_response(302)
            self.send_header("Location", self.path.replace("/moved/", "/image/"))
            self.send_header("Content-Length", "0")
        else:
            return super().do_GET()
        self.end_headers()

    def end_headers(self):
        if self.kind == "checked":
            self.send_header("ETag", '"1"')
        super().end_headers()

    def find(self, path):
        if self.kind == "gone":
            return None
        if self.kind == "text":
            return "image/png", b"no image"
        media_type, body = self.files[int(path.split("/")[2]) % len(self.files)]
        return media_type, body[:len(body) // 2] if self.kind == "half" else body


def in_turns(origin):
    """Requests of every kind in turns; most differ from all before them."""
    for number in itertools.count():
        image, old, width = f"{origin}/image/{number}", f"{origin}/image/{max(number - 20, 0)}", 120 + number % 97
        plain, coded = urllib.parse.quote(image, safe=""), base64.urlsafe_b64encode(image.encode()).decode().rstrip("=")
        renditions = [f"w={width}&format=webp", f"w={width + 200}", f"w=64&h=64&fit=cover&format={FORMATS[number % len(FORMATS)]}"]
        yield Request(thumbnail(image, w=width, format=FORMATS[number % len(FORMATS)], **OPERATIONS[number % len(OPERATIONS)]))
        yield Request(thumbnail(f"{origin}/image/{number % 4}", w=200))
        yield Request(thumbnail(f"{origin}/image/{number % 4}", w=200), 304, fields={"If-None-Match": "*"})
        yield Request(thumbnail(f"{origin}/moved/{number}", w=width), method="HEAD")
        yield Request(thumbnail(f"{origin}/checked/{number % 4}", w=180))
        # They share one download, and are sent before it ends.
        yield from (Request(thumbnail(f"{origin}/slow/{number}", w=width)) for width in (110, 130, 150))
        yield Request(thumbnail(image, w=100, placeholder="red"))
        yield Request("/info?" + urllib.parse.urlencode({"url": image, "include": "color,palette,blurhash,thumbhash"}))
        yield Request("/thumbnails", method="POST", body=json.dumps({"url": image, "renditions": renditions}).encode(),
                      fields={"Content-Type": "application/json"})
        yield Request(f"/thumbnail?w={width}", method="POST", body=PNGS[number % len(PNGS)], fields={"Content-Type": "image/png"})
        yield Request(f"/imgproxy/insecure/rs:fill:{width}:90/{coded}.webp")
        yield Request(f"/thumbor/unsafe/{width}x80/smart/filters:quality(70)/{plain}")
        yield Request(f"/wsrv/?url={plain}&w={width}&sharp=2")
        yield Request(f"/imaginary/resize?width={width}&type=jpeg&url={plain}")
        yield Request("/metrics", is_of_operators=True)
        yield Request("/prefetch", 202, "POST", json.dumps({"sources": [{"url": image, "renditions": renditions}]}).encode(),
                      {"Content-Type": "application/json"}, is_of_operators=True)
        yield Request("/cache?" + urllib.parse.urlencode({"url": old}), method="DELETE", is_of_operators=True)
        yield Request(thumbnail(f"{origin}/gone/{number}", w=100), 404)
        yield Request(thumbnail(f"{origin}/half/{number}", w=100), 422)
        yield Request(thumbnail(f"{origin}/text/{number}", w=100), 415)
        yield Request(thumbnail(image, w=0), 400)
