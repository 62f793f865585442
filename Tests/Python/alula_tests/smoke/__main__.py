"""Sends every image of a folder through the running service, in every fit and output format."""
import argparse
import dataclasses
import functools
import http.client
import http.server
import io
import itertools
import pathlib
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

from alula_tests.clients import connect
from alula_tests.origins import serving
from alula_tests.service import Service
from alula_tests.smoke import expected, geometry

FITS = ["inside", "outside", "cover", "contain", "fill"]
FORMATS = ["jpeg", "png", "webp", "gif", "avif"]
WITH_ALPHA = {"png", "webp", "gif", "avif"}
SUFFIXES = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".webp": "webp", ".gif": "gif"}
# Width, height, device pixels per CSS pixel, enlarge.
BOXES = [(320, 200, "1", 0), (137, 211, "1", 0), (300, None, "1", 0), (None, 240, "1", 0), (201, 201, "1.5", 0),
         (333, 1, "1", 0), (900, 600, "0.5", 1)]
# Images of each type that are tried in all combinations; the rest take turns.
WHOLE = 3
# Mean and largest difference over squares of an image.
TOLERANCE = (2.5, 16)


@dataclasses.dataclass(frozen=True)
class Job:
    fit: str
    format: str
    w: int | None
    h: int | None
    dpr: str = "1"
    enlarge: int = 0

    def target(self, source):
        query = {"url": source, "fit": self.fit, "format": self.format, "dpr": self.dpr, "enlarge": self.enlarge}
        query |= {name: side for name, side in [("w", self.w), ("h", self.h)] if side}
        return "/thumbnail?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote)


class Photos(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


def jobs(number, is_whole, size):
    """The request for the image with this number."""
    boxes = itertools.cycle(BOXES[number % len(BOXES):] + BOXES[:number % len(BOXES)])
    pairs = list(itertools.product(FITS, FORMATS)) if is_whole else [
        (fit, FORMATS[(number + turn) % len(FORMATS)]) for turn, fit in enumerate(FITS)]
    found = [Job(fit, format, *next(boxes)) for fit, format in pairs]
    # A box larger than the source, which only `contain` may fill.
    found.append(Job(FITS[number % len(FITS)], "jpeg", size[0] + 50, size[1] + 20))
    return found


class Walk:
    """All requests for one image; each has its own connection."""

    def __init__(self, service, sheet, complaints):
        self.service, self.sheet, self.complaints = service, sheet, complaints

    def take(self, path, name, url, number, is_whole):
        reference, size = expected.upright(path)
        self.sheet.add(name, "source", reference)
        connection = connect(self.service.port, 120)
        all_jobs = jobs(number, is_whole, size)
        for job in all_jobs:
            try:
                found = list(self.judge(connection, job, job.target(url), reference, size, name))
            except (OSError, http.client.HTTPException) as failure:
                connection.close()
                found = [repr(failure)]
            self.complaints += [f"{name} {job}: {complaint}" for complaint in found]
        connection.close()
        return len(all_jobs)

    def ask(self, connection, method, target, fields={}):
        connection.request(method, target, headers=fields)
        answer = connection.getresponse()
        return answer, answer.read()

    def judge(self, connection, job, target, reference, size, name):
        answer, body = self.ask(connection, "GET", target)
        if answer.status != 200:
            yield f"status {answer.status}: {body[:300]!r}"
            return
        if answer.headers["Content-Type"] != f"image/{job.format}":
            yield f"Content-Type {answer.headers['Content-Type']}"
        yield from self.judge_image(job, body, reference, size, name)
        yield from self.judge_repeats(connection, target, answer, body)

    def judge_image(self, job, body, reference, size, name):
        try:
            image = Image.open(io.BytesIO(body))
            image.load()
        except (OSError, SyntaxError, ValueError) as failure:
            yield f"cannot be decoded: {failure!r}"
            return
        # Slivers show nothing.
        if min(image.size) >= expected.GRID[0]:
            self.sheet.add(name, job.fit, image)
            self.sheet.add(name, job.format, image)
        if image.format.lower() != job.format:
            yield f"holds {image.format}"
        if image.size != geometry.expected(job, size):
            yield f"{image.size} instead of {geometry.expected(job, size)} from {size}"
            return
        if {"exif", "icc_profile", "xmp"} & set(image.info):
            yield f"has metadata: {sorted(image.info)}"
        drawn = expected.drawn(reference, job, size, image.size)
        # GIF knows no half transparent colors.
        if job.format == "gif" and expected.is_hazy(drawn):
            return
        mean, largest = expected.difference(image, drawn)
        if min(image.size) >= expected.GRID[0] and (mean > TOLERANCE[0] or largest > TOLERANCE[1]):
            yield f"looks different: mean {mean:.1f}, largest {largest}"
        if expected.is_translucent(drawn) and job.format in WITH_ALPHA and not expected.is_translucent(image):
            yield "has lost its alpha"

    def judge_repeats(self, connection, target, first, body):
        """The same again, its header alone, and only if it has changed."""
        tag = first.headers["ETag"]
        again, same = self.ask(connection, "GET", target)
        if (again.status, again.headers["ETag"], same) != (200, tag, body):
            yield f"the second answer differs: {again.status} {again.headers['ETag']} after {tag}"
        if not (again.headers["Cache-Status"] or "").startswith("alula-result;hit"):
            yield f"the second answer was no hit: {again.headers['Cache-Status']}"
        head, nothing = self.ask(connection, "HEAD", target)
        compared = ["Content-Type", "Content-Length", "ETag", "Cache-Control", "Content-Disposition"]
        if nothing or head.status != 200 or any(head.headers[field] != again.headers[field] for field in compared):
            yield f"HEAD differs from GET: {head.status} {dict(head.headers)}"
        unchanged, nothing = self.ask(connection, "GET", target, {"If-None-Match": tag})
        if nothing or unchanged.status != 304 or unchanged.headers["ETag"] != tag:
            yield f"with If-None-Match: {unchanged.status} {unchanged.headers['ETag']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--photos", required=True, type=pathlib.Path, help="a folder of JPEG, PNG, WebP and GIF files")
    parser.add_argument("--sheet", help="where to write a contact sheet, a PNG file")
    parser.add_argument("--all", action="store_true", help="every image in all combinations")
    options = parser.parse_args()
    files = sorted(path for path in options.photos.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    if not files:
        raise SystemExit(f"no image in {options.photos}")

    complaints = []
    sheet = expected.ContactSheet(["source"] + FITS + FORMATS)
    with serving(functools.partial(Photos, directory=options.photos)) as port, \
            Service(options.alula, "--request-timeout", "100s", "--decode-timeout", "60s") as service:
        walk = Walk(service, sheet, complaints)
        with ThreadPoolExecutor(2) as pool:
            seen = {}
            walks = []
            for number, path in enumerate(files):
                kind = SUFFIXES[path.suffix.lower()]
                seen[kind] = seen.get(kind, 0) + 1
                name = path.relative_to(options.photos).as_posix()
                url = f"http://127.0.0.1:{port}/{urllib.parse.quote(name)}"
                is_whole = options.all or seen[kind] <= WHOLE
                walks.append(pool.submit(walk.take, path, name, url, number, is_whole))
            count = sum(walk.result() for walk in walks)
        complaints += service.stop()
    if options.sheet:
        sheet.save(options.sheet)
    for complaint in complaints:
        print("FAILED:", complaint)
    print(f"{count} thumbnails of {len(files)} images, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
