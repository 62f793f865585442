"""Measures the service beside oximg, imgproxy, imagor and thumbor, and prints one table of speed, quality and bytes.

A cell of a conversion has images a second, CPU milliseconds an image, the mean SSIMULACRA2 of the answers, and their mean size. Every service has
its defaults, without access log and signatures, and each request a source URL of its own. Services take turns within a row; each turn starts the
service anew, and the turn with the median rate counts.
"""
import argparse
import dataclasses
import io
import os
import statistics
import tempfile

from PIL import Image

import load
from processes import Server, free_port, nginx
from quality import Reference
from run import Alula, converted, copy_images, thumbnail
from servers import peers

# Formats of sources and answers, and the width; photographs as they are, else in 1200 pixels.
PHOTOGRAPHS = "photographs"
PAIRS = [(PHOTOGRAPHS, "jpeg", 300), ("png", "jpeg", 300), ("png", "png", 300), ("png", "webp", 300), ("webp", "webp", 300), ("webp", "jpeg", 300),
         ("jpeg", "avif", 500), ("avif", "jpeg", 300)]


@dataclasses.dataclass
class Bench:
    """The parameters and servers that all rows share."""
    options: argparse.Namespace
    folder: str
    origin: Server
    services: list

    def measured(self, measure):
        """The median of the turns of each service, by name; `measure` gives a rate first."""
        turns = {name: [] for name, _, _ in self.services}
        for _ in range(self.options.rounds):
            for name, start, path in self.services:
                with start(300) as server:
                    turns[name].append(measure(server, path))
        return {name: sorted(found, key=lambda one: one[0])[len(found) // 2] for name, found in turns.items()}

    def fetches(self):
        """The number of requests to the origin so far for sources under their plain names."""
        with open(f"{self.folder}/origin.log") as log:
            return sum(1 for _ in log)


def alula(executable, origin):
    def start(width):
        return Alula(executable, "--access-log", "off", "--max-active-downloads-per-host", "32", "--max-queue-delay", "30s")

    def path(width, file, output):
        # A quality would reduce the colors of PNG.
        return thumbnail(origin.port, file, width, quality="" if output == "png" else "&q=80", format=output)

    return "Alula", start, path


def judged(server, targets, references, output, width):
    """Mean score and size of the answers; None if the service does not make them."""
    scores, sizes = [], []
    for target, reference in zip(targets, references):
        status, body = load.get(server.port, target)
        if status != 200:
            return None
        image = Image.open(io.BytesIO(body))
        if image.format.lower() != output or image.width != width:
            raise SystemExit(f"{server.name}: {target} is {image.format} {image.width} pixels wide")
        scores.append(reference.score(io.BytesIO(body)))
        sizes.append(len(body))
    return statistics.mean(scores), statistics.mean(sizes)


def conversion(bench, files, output, width):
    """The cells of one conversion, by service."""
    references = [Reference(f"{bench.folder}/images/{file}") for file in files]
    looks = {}

    def measure(server, path):
        if server.name not in looks:
            looks[server.name] = judged(server, [path(width, file, output) for file in files], references, output, width)
        if not looks[server.name]:
            return 0, "–"
        load.get(server.port, path(width, files[0], output))
        before = server.cpu()
        run = load.wrk(bench.folder, server.port, [path(width, f"u{load.NUMBER}/{file}", output) for file in files], 8, bench.options.seconds)
        cpu = (server.cpu() - before) * 1000 / max(1, run["count"])
        score, size = looks[server.name]
        return run["rate"], f"{run['rate']:.0f} ({cpu:.1f}) · {score:.1f} · {size / 1000:.1f} kB{failed(run['failures'])}"

    return bench.measured(measure)


def widths(bench, file):
    def measure(server, path):
        before = bench.fetches()
        seconds, failures = load.each(server.port, [path(width, file, "jpeg") for width in range(100, 901, 4)], 8)
        return 201 / seconds, f"{201 / seconds:.0f}, {bench.fetches() - before} fetched{failed(failures)}"

    return bench.measured(measure)


def hot(bench, file):
    def measure(server, path):
        load.get(server.port, path(300, file, "jpeg"))
        run = load.wrk(bench.folder, server.port, [path(300, file, "jpeg")], 16, bench.options.seconds)
        return run["rate"], f"{run['rate']:,.0f}/s{failed(run['failures'])}"

    return bench.measured(measure)


def identical(bench, file):
    def measure(server, path):
        before = bench.fetches()
        seconds, failures = load.together(server.port, [path(300, file, "jpeg")] * 200)
        return seconds, f"{seconds * 1000:,.0f} ms, {bench.fetches() - before} fetched{failed(len(failures))}"

    return bench.measured(measure)


def failed(count):
    return f", {count} failed" if count else ""


def is_comparable(file):
    """Pillow makes other colors of CMYK than services do, and thumbor does not turn images."""
    with Image.open(file) as image:
        return image.mode in ("RGB", "L") and image.getexif().get(0x0112, 1) == 1


def rows(bench, names):
    """The title of each row and a function that gives its cells."""
    sources = converted(bench.options.alula, bench.folder, names, ["jpeg", "png", "webp", "avif"])
    sources[PHOTOGRAPHS] = names
    for source, output, width in PAIRS:
        title = f"{source} → {output}{', lossless' if output == 'png' else ''}, {width} pixels"
        yield title, lambda files=sources[source], output=output, width=width: conversion(bench, files, output, width)
    large = min(names, key=lambda name: abs(os.path.getsize(f"{bench.folder}/images/{name}") - 1_300_000))
    for title, row in (("201 widths of one JPEG: images/s", widths), ("one hot URL", hot), ("200 identical cold", identical)):
        yield title, lambda row=row: row(bench, large)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alula", required=True)
    parser.add_argument("--peers", required=True, help="the folder of their programs: oximg, imgproxy, imagor")
    parser.add_argument("--photos", required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--venv", default=".build/venv-bench")
    parser.add_argument("--only", default="", help="rows whose titles hold this")
    options = parser.parse_args()
    options.alula = os.path.abspath(options.alula)
    with tempfile.TemporaryDirectory(prefix="alula-peers-", ignore_cleanup_errors=True) as folder:
        names = [name for name in copy_images(options.photos, folder) if is_comparable(f"{folder}/images/{name}")]
        # Any number of URLs for each file; only fetches of plain names are counted.
        site = (f'root {folder}/images; default_type application/octet-stream; add_header Cache-Control "max-age=86400";'
                f" access_log {folder}/origin.log; location ~ ^/u[0-9]+/ {{ access_log off; rewrite ^/u[0-9]+/(.*)$ /$1 break; }}")
        with nginx(folder, free_port(), site) as origin:
            services = [alula(options.alula, origin)] + peers(options.peers, folder, origin, options.venv)
            bench = Bench(options, folder, origin, services)
            print(f"| from → to | {' | '.join(name for name, _, _ in services)} |\n|---|{'---|' * len(services)}", flush=True)
            for title, row in rows(bench, names):
                if options.only in title:
                    print(f"| {title} | {' | '.join(cell for _, cell in row().values())} |", flush=True)


if __name__ == "__main__":
    main()
