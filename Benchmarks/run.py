"""Measures the service beside nginx's image_filter and thumbor on the same images, and prints one table.

Everything runs on this machine over loopback, load generator included. Figures of one run compare with each other only.
"""
import argparse
import contextlib
import dataclasses
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

import load
from processes import Server, free_port, nginx
from servers import image_filter, thumbor

FORMATS = (".jpg", ".jpeg")


class Alula(Server):
    """The service with default settings but for ports, the origin's network and `settings`."""

    def __init__(self, executable, *settings, **options):
        port, self.admin = free_port(), free_port()
        command = [executable, "serve", "--bind", "127.0.0.1", "--port", str(port), "--admin-port", str(self.admin)]
        super().__init__("alula", command + ["--allowed-networks", "127.0.0.0/8", *settings], port, **options)

    def metrics(self):
        values = {}
        for line in load.get(self.admin, "/metrics")[1].decode().splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                values[name] = float(value)
        return values

    def total(self, name):
        return sum(value for key, value in self.metrics().items() if key.split("{")[0] == name)


def thumbnail(origin, name, width=300, quality="&q=80", **extra):
    source = urllib.parse.quote(f"http://127.0.0.1:{origin}/{name}", safe="")
    return f"/thumbnail?w={width}{quality}" + "".join(f"&{key}={value}" for key, value in extra.items()) + f"&url={source}"


def cold(server, folder, paths, connections, seconds, suffix):
    """Distinct sources: images a second, CPU milliseconds an image, and the most memory in MiB."""
    before = server.cpu()
    with server.watched() as largest:
        result = load.wrk(folder, server.port, paths, connections, seconds, unique=True, suffix=suffix)
    result["cpu"] = (server.cpu() - before) * 1000 / max(1, result["count"])
    result["peak"] = largest[0]
    return result


def rows_cold(options, folder, origin, names, others):
    rows = []
    for connections in (2, 8, 32):
        with Alula(options.alula, "--access-log", "off", "--max-active-downloads-per-host", "32") as server:
            paths = [thumbnail(origin.port, name) for name in names]
            columns = {"alula": cold(server, folder, paths, connections, options.seconds, "%3Fn%3D")}
        for name, start, path in others:
            with start() as server:
                columns[name] = cold(server, folder, [path(n) for n in names], connections, options.seconds, "?n=")
        rows.append((f"cold, concurrency {connections}", columns))
    return rows


LARGEST = "largest"
# Formats of sources of 1200 pixels, or the largest JPEG of the folder; formats and widths of results.
PAIRS = [("jpeg", "jpeg", 300), ("png", "jpeg", 300), ("png", "webp", 300), ("webp", "webp", 300), ("webp", "jpeg", 300),
         ("avif", "jpeg", 300), ("jpeg", "webp", 300), ("jpeg", "avif", 500), (LARGEST, "jpeg", 500)]


def converted(alula, folder, names, kinds):
    """Makes the images in 1200 pixels and these formats; their names by format, and the largest file as it is."""
    made = {LARGEST: [max(names, key=lambda name: os.path.getsize(f"{folder}/images/{name}"))]}
    for kind in kinds:
        os.makedirs(f"{folder}/images/{kind}")
        subprocess.run(
            [alula, "batch", "-", "--w", "1200", "--format", kind, "-o", f"{folder}/images/{kind}"], check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
            input="\n".join(f"{folder}/images/{name}" for name in names))
        made[kind] = [f"{kind}/{name}" for name in sorted(os.listdir(f"{folder}/images/{kind}")) if name[0] != "."]
    return made


def rows_formats(options, folder, origin, names):
    """Distinct sources from one format to another, concurrency 8; nginx keeps formats, and knows three."""
    made = converted(options.alula, folder, names, sorted({source for source, _, _ in PAIRS} - {LARGEST}))
    settings = ["--access-log", "off", "--max-active-downloads-per-host", "32", "--max-queue-delay", "30s"]
    for source, target, width in PAIRS:
        with Alula(options.alula, *settings) as server:
            paths = [thumbnail(origin.port, name, width, format=target) for name in made[source]]
            columns = {"alula": cold(server, folder, paths, 8, options.seconds, "%3Fn%3D")}
        for name, start, path in competitors(options, folder, origin, width):
            if name == "image_filter" and target != ("jpeg" if source == LARGEST else source):
                continue
            with start() as server:
                paths = [path(file, target) for file in made[source]]
                columns[name] = cold(server, folder, paths, 8, options.seconds, "?n=")
        yield f"{source} → {target}, {width} pixels", columns


def row_widths(options, folder, origin, name):
    """200 widths of one source, by thumbor too, against the same requests with 200 sources."""
    def alula():
        return Alula(options.alula, "--access-log", "off", "--max-active-downloads-per-host", "32")

    widths = [100 + 4 * i for i in range(200)]
    paths = [thumbnail(origin.port, name, width) for width in widths]
    kinds = {"one source": (alula, paths), "distinct sources": (alula, [f"{path}%3Fn%3D{number}" for number, path in enumerate(paths)])}
    _, start, path = thumbor(folder, origin, options.venv)
    if start:
        kinds["one source, thumbor"] = (lambda: start(300), [path(width, name) for width in widths])
    result = {}
    for kind, (begin, paths) in kinds.items():
        with begin() as server:
            before, begun = server.cpu(), time.monotonic()
            failures = sum(len(load.together(server.port, paths[first : first + 8])[1]) for first in range(0, 200, 8))
            seconds = time.monotonic() - begun
            row = result[kind] = {"rate": 200 / seconds, "cpu": (server.cpu() - before) * 5, "failures": failures}
            if isinstance(server, Alula):
                row |= {"hits": server.total("alula_downloads_total"), "decodes": server.total("alula_decodes_total")}
    return result


def row_identical(options, origin, name):
    """200 simultaneous identical cold requests, and three single ones on a fresh service."""
    with Alula(options.alula, "--access-log", "off") as server:
        before = server.cpu()
        seconds, failures = load.together(server.port, [thumbnail(origin.port, name)] * 200)
        result = {
            "seconds": seconds, "failures": len(failures), "cpu": server.cpu() - before,
            "hits": server.total("alula_downloads_total"), "decodes": server.total("alula_decodes_total"),
        }
        before = server.cpu()
        load.together(server.port, [thumbnail(origin.port, name)] * 200)
        result["answers"] = server.cpu() - before
    singles = []
    for number in range(3):
        with Alula(options.alula, "--access-log", "off") as server:
            before = server.cpu()
            load.get(server.port, thumbnail(origin.port, name))
            singles.append(server.cpu() - before)
    result["three singles"] = sum(singles)
    return result


def row_hot(options, folder, origin, name):
    """One URL repeatedly, against nginx with the same bytes as a file, in turns; the median of five rounds."""
    result = {}
    with Alula(options.alula, "--access-log", "off") as server:
        path = thumbnail(origin.port, name)
        status, body = load.get(server.port, path)
        assert status == 200
        os.makedirs(f"{folder}/static", exist_ok=True)
        with open(f"{folder}/static/hot.jpg", "wb") as file:
            file.write(body)
        root = f"root {folder}/static;"
        with nginx(folder, free_port(), root) as tuned, nginx(
            folder, free_port(), root + " sendfile off; tcp_nopush off;"
        ) as plain:
            rivals = {"alula": (server, path), "nginx": (plain, "/hot.jpg"), "nginx, sendfile and tcp_nopush": (tuned, "/hot.jpg")}
            rates = {rival: [] for rival in rivals}
            for _ in range(5):
                for rival, (process, target) in rivals.items():
                    before = process.cpu()
                    run = load.wrk(folder, process.port, [target], 64, options.seconds)
                    run["cpu"] = (process.cpu() - before) / run["count"] * 1e6
                    rates[rival].append(run)
        result["bytes"] = len(body)
    for rival, runs in rates.items():
        runs.sort(key=lambda run: run["rate"])
        result[rival] = runs[2]
    with open(f"{folder}/access.log", "w") as log, Alula(options.alula, stderr=log) as server:
        load.get(server.port, path)
        result["alula, access log on"] = load.wrk(folder, server.port, [path], 64, options.seconds)
    return result


def row_disk(options, folder, origin, names):
    """Results that only the disk holds, beside the same results from memory; then the start with a full cache file."""
    result = {}
    cache = f"{folder}/cache"
    paths = [thumbnail(origin.port, name) + f"%3Fn%3D{number}" for number in range(40) for name in names[:10]]
    settings = ["--access-log", "off", "--source-cache-path", cache]
    starved = ["--result-cache-capacity", "0", "--result-cache-preferred", "0", "--decoded-cache-capacity", "0",
               "--decoded-cache-preferred", "0", "--source-cache-memory", "0"]
    with Alula(options.alula, *settings) as server:
        for first in range(0, len(paths), 8):
            load.together(server.port, paths[first : first + 8])
        result["memory"] = load.wrk(folder, server.port, paths, 32, options.seconds)
    with Alula(options.alula, *settings, *starved) as server:
        result["disk"] = load.wrk(folder, server.port, paths, 32, options.seconds)
        result["downloads"] = server.total("alula_downloads_total")
        result["decodes"] = server.total("alula_decodes_total")
    result["start"] = full_start(options, folder)
    return result


def row_stale(options, folder, names):
    """Results whose source must be revalidated each time: while its origin answers 304, and after the origin has gone."""
    result = {}
    fields = 'add_header Cache-Control "max-age=0, stale-if-error=3600";'
    with nginx(folder, free_port(), f"root {folder}/images; {fields}") as origin:
        paths = [thumbnail(origin.port, name) for name in names]
        with Alula(options.alula, "--access-log", "off") as server:
            for path in paths:
                load.get(server.port, path)
            before = server.total("alula_decodes_total")
            result["revalidated"] = load.wrk(folder, server.port, paths, 32, options.seconds)
            origin.stop()
            result["stale"] = load.wrk(folder, server.port, paths, 32, options.seconds)
            result["decodes"] = server.total("alula_decodes_total") - before
    return result


def full_start(options, folder):
    """Milliseconds until the first log line: without a cache file, and with one of 1 GiB, twice each, the better ones."""
    cache = f"{folder}/full"
    settings = ["--source-cache-path", cache, "--source-cache-disk", "1GiB", "--result-cache-disk", "1MiB"]
    listening_after(options, settings)
    with contextlib.closing(sqlite3.connect(f"{cache}/alula-cache.sqlite", isolation_level=None)) as file:
        body, cost = os.urandom(20_000), 20_480
        file.execute("PRAGMA locking_mode = EXCLUSIVE")
        file.execute("BEGIN")
        for number in range((1 << 30) // cost):
            name = number.to_bytes(16, "big")
            file.execute("INSERT INTO entry VALUES(?, 1, ?, ?, ?, ?, x'00', x'00')", (number, name, name, number, cost))
            file.execute("INSERT INTO body VALUES(?, ?)", (number, body))
        file.execute("COMMIT")
    return {
        "bytes": os.path.getsize(f"{cache}/alula-cache.sqlite"),
        "none": min(listening_after(options, []) for _ in range(3)),
        "full": min(listening_after(options, settings) for _ in range(3)),
    }


def listening_after(options, settings):
    start = time.monotonic()
    command = [options.alula, "serve", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0", *settings]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    elapsed = (time.monotonic() - start) * 1000
    process.terminate()
    process.communicate()
    assert '"listening"' in line, line
    return elapsed


def bare(folder, files):
    """CPU milliseconds an image of the same libvips calls without a service, one thread and two."""
    here = os.path.dirname(os.path.abspath(__file__))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "vips"], capture_output=True, text=True, check=True)
    program = f"{folder}/bare_loop"
    subprocess.run(["cc", "-O2", f"{here}/bare_loop.c", "-o", program, *flags.stdout.split()], check=True)
    command = [program, "300", "80", "5", *files]
    # Two at once, as the service's two workers share the machine.
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(2)]
    times = [float(run.communicate()[0] or "nan") for run in runs]
    return sum(times) / len(times)


def competitors(options, folder, origin, width=300):
    return [
        (name, lambda start=start: start(width), lambda file, output=None, path=path: path(width, file, output))
        for name, start, path in (image_filter(folder, origin), thumbor(folder, origin, options.venv)) if start
    ]


@dataclasses.dataclass
class Bench:
    """The parameters and servers that all parts share."""
    options: argparse.Namespace
    folder: str
    origin: Server
    names: list

    @property
    def large(self):
        """The image whose file is nearest to 1.3 MB."""
        return min(self.names, key=lambda name: abs(os.path.getsize(f"{self.folder}/images/{name}") - 1_300_000))


def say(text):
    print(text, flush=True)


def part_cold(bench, figures):
    options, folder, names = bench.options, bench.folder, bench.names
    others = competitors(options, folder, bench.origin)
    figures["bare"] = bare(folder, [f"{folder}/images/{name}" for name in names])
    say(f"bare libvips loop, two at once: {figures['bare']:.1f} ms CPU/image")
    say(f"{'':24}" + "".join(f"{name:>40}" for name in ["alula"] + [other[0] for other in others]))
    figures["cold"] = rows_cold(options, folder, bench.origin, names, others)
    for title, columns in figures["cold"]:
        cells = [f"{c['rate']:.0f} images/s, {c['cpu']:.1f} ms, {c['peak']:.0f} MiB"
                 + (f", {c['failures']} failed" if c["failures"] else "") for c in columns.values()]
        say(f"{title:24}" + "".join(f"{cell:>40}" for cell in cells))


def part_formats(bench, figures):
    others = ["alula"] + [name for name, _, _ in competitors(bench.options, bench.folder, bench.origin)]
    say(f"\n| images/s (CPU ms an image) | {' | '.join(others)} |\n|---|{'---|' * len(others)}")
    figures["formats"] = []
    for title, columns in rows_formats(bench.options, bench.folder, bench.origin, bench.names):
        figures["formats"].append((title, columns))
        cells = [f"{c['rate']:.0f} ({c['cpu']:.1f})" + (f", {c['failures']} failed" if c["failures"] else "") if c else "–"
                 for c in map(columns.get, others)]
        say(f"| {title} | {' | '.join(cells)} |")


def part_widths(bench, figures):
    figures["widths"] = row_widths(bench.options, bench.folder, bench.origin, bench.large)
    for kind, row in figures["widths"].items():
        work = f", {row['hits']:.0f} downloads, {row['decodes']:.0f} decodes" if "hits" in row else ""
        say(f"200 widths, {kind:19} {row['rate']:6.0f} images/s, {row['cpu']:.1f} ms{work}, {row['failures']} failed")


def part_identical(bench, figures):
    row = figures["identical"] = row_identical(bench.options, bench.origin, bench.large)
    say(f"200 identical at once    {row['seconds']:.3f} s, {row['hits']:.0f} downloads, {row['decodes']:.0f} decodes, "
        f"{row['failures']} failed, {row['cpu']:.3f} s CPU; three singles {row['three singles']:.3f} s, "
        f"200 hits {row['answers']:.3f} s")


def part_hot(bench, figures):
    row = figures["hot"] = row_hot(bench.options, bench.folder, bench.origin, bench.names[0])
    for name in ("alula", "nginx", "nginx, sendfile and tcp_nopush", "alula, access log on"):
        cpu = f", {row[name]['cpu']:.1f} us CPU a request" if "cpu" in row[name] else ""
        say(f"hot, {row['bytes']} bytes, {name:31} {speed(row[name])}{cpu}")


def part_disk(bench, figures):
    row = figures["disk"] = row_disk(bench.options, bench.folder, bench.origin, bench.names)
    for name in ("memory", "disk"):
        say(f"400 results from {name:21} {speed(row[name])}")
    say(f"while from disk: {row['downloads']:.0f} downloads, {row['decodes']:.0f} decodes; first log line after "
        f"{row['start']['none']:.0f} ms without a disk cache, {row['start']['full']:.0f} ms with a full one of "
        f"{row['start']['bytes'] / 1048576:.0f} MiB")


def part_stale(bench, figures):
    row = figures["stale"] = row_stale(bench.options, bench.folder, bench.names)
    for name, label in (("revalidated", "confirmed by 304"), ("stale", "stale, origin down")):
        say(f"results, {label:25} {speed(row[name])}")
    say(f"{row['decodes']:.0f} decodes meanwhile")


def speed(run):
    return f"{run['rate']:8.0f} requests/s, p99 {run['p99']:.2f} ms, {run['failures']} failed"


PARTS = {"cold": part_cold, "formats": part_formats, "widths": part_widths, "identical": part_identical, "hot": part_hot, "disk": part_disk,
         "stale": part_stale}


def copy_images(photos, folder):
    """Copies the JPEG files under `photos` into the origin's folder, numbered; their new names."""
    files = sorted(f for f in glob.glob(os.path.join(photos, "**"), recursive=True) if f.lower().endswith(FORMATS))
    if not files:
        raise SystemExit(f"no JPEG files under {photos}")
    # nginx reads them as another user.
    os.chmod(folder, 0o755)
    os.makedirs(f"{folder}/images")
    for number, file in enumerate(files):
        shutil.copy(file, f"{folder}/images/{number:03}{os.path.splitext(file)[1].lower()}")
    return sorted(os.listdir(f"{folder}/images"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alula", required=True)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--venv", default=".build/venv-bench")
    parser.add_argument("--only", default="", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--json", help="also write the raw figures to this file")
    options = parser.parse_args()
    options.alula = os.path.abspath(options.alula)
    figures = {}
    with tempfile.TemporaryDirectory(prefix="alula-bench-", ignore_cleanup_errors=True) as folder:
        names = copy_images(options.photos, folder)
        # Files copied just now would be stale at once by their dates.
        server = f'root {folder}/images; default_type application/octet-stream; add_header Cache-Control "max-age=86400";'
        with nginx(folder, free_port(), server) as origin:
            bench = Bench(options, folder, origin, names)
            for name, part in PARTS.items():
                if not options.only or name in options.only.split(","):
                    part(bench, figures)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
