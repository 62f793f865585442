"""Measures two builds of the service in turns, and prints the CPU time of a request of each, and their ratio.

Both serve at the same time from one origin, and get the same requests, so that what else the machine does meanwhile counts for both. A round of a row
is a fixed number of requests to one build, then to the other; the next round begins with the other one.
"""
import argparse
import os
import statistics
import tempfile

from PIL import Image

import load
from processes import free_port, nginx
from run import LARGEST, Alula, converted, copy_images, thumbnail

SETTINGS = ("--access-log", "off", "--max-active-downloads-per-host", "32", "--max-queue-delay", "30s")
PAIRS = [("png", "jpeg"), ("png", "webp"), ("webp", "jpeg"), ("webp", "webp"), ("gif", "jpeg"), ("moving", "jpeg")]


def animations(folder, names):
    """Animations of 20 frames of 500×333, which pan over the first two images; their names, as GIF and as WebP."""
    made = {"gif": [], "moving": []}
    for number, name in enumerate(names[:2]):
        with Image.open(f"{folder}/images/{name}") as file:
            image = file.convert("RGB").resize((600, 400))
        frames = [image.crop((5 * step, 3 * step, 500 + 5 * step, 333 + 3 * step)) for step in range(20)]
        for kind, ending in (("gif", "gif"), ("moving", "webp")):
            made[kind].append(f"moving-{number}.{ending}")
            frames[0].save(f"{folder}/images/{made[kind][-1]}", save_all=True, append_images=frames[1:], duration=50)
    return made


def at_most(server, paths, count=8):
    """Makes the requests, `count` at once."""
    for first in range(0, len(paths), count):
        _, failures = load.together(server.port, paths[first : first + count])
        if failures:
            raise SystemExit(f"{paths[first]}: {failures[0]}")


def rows(origin, names, sources, folder):
    """The title of each row, and a function that makes its requests of a round and returns their number."""
    def distinct(files, output, width=300, least=24):
        def run(server, number):
            many = enumerate(files * -(-least // len(files)))
            paths = [thumbnail(origin, name, width, format=output) + f"%3Fn%3D{output}-{number}-{place}" for place, name in many]
            at_most(server, paths)
            return len(paths)
        return run

    def widths(server, number):
        at_most(server, [thumbnail(origin, names[0], width) + f"%3Fn%3D{number}" for width in range(100, 301)])
        return 201

    def herd(server, number):
        for turn in range(8):
            at_most(server, [thumbnail(origin, names[0]) + f"%3Fn%3Dherd-{number}-{turn}"] * 32, 32)
        return 256

    def hot(server, _):
        path = thumbnail(origin, names[0])
        load.get(server.port, path)
        return load.wrk(folder, server.port, [path], 16, 2)["count"]

    yield "cold JPEG → JPEG", distinct(names, "jpeg")
    yield "201 widths of one JPEG, 100 to 300 pixels", widths
    for source, output in PAIRS:
        titles = {"gif": "GIF of 20 frames, its first", "moving": "WebP of 20 frames, its first"}
        yield f"{titles.get(source, source)} → {output}", distinct(sources[source], output)
    yield "the largest JPEG → 500 pixels", distinct(sources[LARGEST], "jpeg", 500, 8)
    yield "32 requests at once for one cold URL, each", herd
    yield "one hot URL", hot


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alula", required=True)
    parser.add_argument("--against", required=True, help="the other build's program")
    parser.add_argument("--photos", required=True)
    parser.add_argument("--settings", default="", help='of this build alone, such as "--webp-effort 2"')
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose titles hold this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="alula-against-", ignore_cleanup_errors=True) as folder:
        names = copy_images(options.photos, folder)
        sources = converted(os.path.abspath(options.alula), folder, names, ["png", "webp"]) | animations(folder, names)
        site = f'root {folder}/images; default_type application/octet-stream; add_header Cache-Control "max-age=86400";'
        with nginx(folder, free_port(), site) as origin, Alula(os.path.abspath(options.against), *SETTINGS) as before, Alula(
            os.path.abspath(options.alula), *SETTINGS, *options.settings.split()
        ) as now:
            print("| from → to | before, ms | now, ms | before ÷ now | rounds |\n|---|---|---|---|---|", flush=True)
            for title, run in rows(origin.port, names, sources, folder):
                if options.only in title:
                    print(f"| {title} | {measured(run, before, now, options.rounds)} |", flush=True)


def measured(run, before, now, rounds):
    """The cells of a row: medians of CPU milliseconds, and of the ratio of each round, with its least and most."""
    costs = {before: [], now: []}
    for number in range(-1, rounds):
        for server in (before, now) if number % 2 else (now, before):
            start = server.cpu()
            count = run(server, number)
            # The first round warms both up.
            if number >= 0:
                costs[server].append((server.cpu() - start) * 1000 / count)
    ratios = [one / other for one, other in zip(costs[before], costs[now])]
    middle = [f"{statistics.median(costs[server]):.3g}" for server in (before, now)]
    return " | ".join(middle + [f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f}–{max(ratios):.2f}"])


if __name__ == "__main__":
    main()
