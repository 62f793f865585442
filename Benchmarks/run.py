"""Measures the service beside nginx's image_filter and thumbor on the same pictures, and prints one table.

Everything runs on this machine over loopback, load generator included. Figures of one run compare with each other only.
"""
import argparse
import contextlib
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

    def __init__(self, executable, *settings):
        port, self.admin = free_port(), free_port()
        command = [executable, "serve", "--bind", "127.0.0.1", "--port", str(port), "--admin-port", str(self.admin)]
        super().__init__("alula", command + ["--allowed-networks", "127.0.0.0/8", *settings], port)

    def metrics(self):
        values = {}
        for line in load.get(self.admin, "/metrics")[1].decode().splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                values[name] = float(value)
        return values

    def total(self, name):
        return sum(value for key, value in self.metrics().items() if key.split("{")[0] == name)


def thumbnail(origin, name, width=300, **extra):
    source = urllib.parse.quote(f"http://127.0.0.1:{origin}/{name}", safe="")
    return f"/thumbnail?w={width}&q=80" + "".join(f"&{key}={value}" for key, value in extra.items()) + f"&url={source}"


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


def row_widths(options, folder, origin, name):
    """200 widths of one source against the same requests with 200 sources."""
    widths = [100 + 4 * i for i in range(200)]
    result = {}
    for kind in ("one source", "distinct sources"):
        with Alula(options.alula, "--access-log", "off", "--max-active-downloads-per-host", "32") as server:
            suffixes = [""] * 200 if kind == "one source" else [f"%3Fn%3D{number}" for number in range(200)]
            paths = [thumbnail(origin.port, name, width) + suffix for width, suffix in zip(widths, suffixes)]
            before = server.cpu()
            start = time.monotonic()
            failures = 0
            for first in range(0, 200, 8):
                failures += len(load.together(server.port, paths[first : first + 8])[1])
            seconds = time.monotonic() - start
            result[kind] = {
                "rate": 200 / seconds, "cpu": (server.cpu() - before) * 5, "failures": failures,
                "hits": server.total("alula_downloads_total"), "decodes": server.total("alula_decodes_total"),
            }
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
    """One URL again and again, against nginx serving the very same bytes as a file, in turns; the median of five rounds."""
    result = {}
    logs = open(os.path.join(folder, "access.log"), "w")
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
    port, admin = free_port(), free_port()
    logged = subprocess.Popen(
        [options.alula, "serve", "--bind", "127.0.0.1", "--port", str(port), "--admin-port", str(admin),
         "--allowed-networks", "127.0.0.0/8"], stderr=logs)
    from processes import wait_for

    wait_for(port)
    load.get(port, path)
    result["alula, access log on"] = load.wrk(folder, port, [path], 64, options.seconds)
    logged.terminate()
    logged.wait()
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
    """Results whose source has to be asked about each time: while its origin says 304, and after it has gone."""
    result = {}
    fields = 'add_header Cache-Control "max-age=0, stale-if-error=3600";'
    with nginx(folder, free_port(), f"root {folder}/pictures; {fields}") as origin:
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


def competitors(options, folder, origin):
    return [
        (name, lambda start=start: start(300), lambda picture, path=path: path(300, picture))
        for name, start, path in (image_filter(folder, origin), thumbor(folder, origin, options.venv)) if start
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--alula", required=True)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--venv", default=".build/venv-bench")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", help="also write the raw figures to this file")
    options = parser.parse_args()
    options.alula = os.path.abspath(options.alula)
    files = sorted(f for f in glob.glob(os.path.join(options.photos, "**"), recursive=True) if f.lower().endswith(FORMATS))
    if not files:
        raise SystemExit(f"no JPEG files under {options.photos}")
    folder = tempfile.mkdtemp(prefix="alula-bench-")
    os.chmod(folder, 0o755)
    os.makedirs(f"{folder}/pictures")
    for number, file in enumerate(files):
        shutil.copy(file, f"{folder}/pictures/{number:03}{os.path.splitext(file)[1].lower()}")
    names = sorted(os.listdir(f"{folder}/pictures"))
    large = min(names, key=lambda name: abs(os.path.getsize(f"{folder}/pictures/{name}") - 1_300_000))
    wanted = lambda part: not options.only or part in options.only.split(",")
    figures = {}
    # Files copied just now would be stale at once by their dates.
    with nginx(folder, free_port(), f'root {folder}/pictures; add_header Cache-Control "max-age=86400";') as origin:
        others = competitors(options, folder, origin)
        if wanted("cold"):
            usable = [name for name in names]
            figures["bare"] = bare(folder, [f"{folder}/pictures/{name}" for name in usable])
            print(f"bare libvips loop, two at once: {figures['bare']:.1f} ms CPU/image", flush=True)
            print(f"{'':24}" + "".join(f"{name:>40}" for name in ["alula"] + [other[0] for other in others]))
            figures["cold"] = rows_cold(options, folder, origin, usable, others)
            for title, columns in figures["cold"]:
                cells = [
                    f"{c['rate']:.0f} images/s, {c['cpu']:.1f} ms, {c['peak']:.0f} MiB" + (f", {c['failures']} failed" if c["failures"] else "")
                    for c in columns.values()
                ]
                print(f"{title:24}" + "".join(f"{cell:>40}" for cell in cells), flush=True)
        if wanted("widths"):
            figures["widths"] = row_widths(options, folder, origin, large)
            for kind, row in figures["widths"].items():
                print(f"200 widths, {kind:17} {row['rate']:6.0f} images/s, {row['cpu']:.1f} ms, {row['hits']:.0f} downloads, "
                      f"{row['decodes']:.0f} decodes, {row['failures']} failed", flush=True)
        if wanted("identical"):
            row = figures["identical"] = row_identical(options, origin, large)
            print(f"200 identical at once    {row['seconds']:.3f} s, {row['hits']:.0f} downloads, {row['decodes']:.0f} decodes, "
                  f"{row['failures']} failed, {row['cpu']:.3f} s CPU; three singles {row['three singles']:.3f} s, "
                  f"200 hits {row['answers']:.3f} s", flush=True)
        if wanted("hot"):
            row = figures["hot"] = row_hot(options, folder, origin, names[0])
            for name in ("alula", "nginx", "nginx, sendfile and tcp_nopush", "alula, access log on"):
                cpu = f", {row[name]['cpu']:.1f} us CPU a request" if "cpu" in row[name] else ""
                print(f"hot, {row['bytes']} bytes, {name:31} {row[name]['rate']:8.0f} requests/s, p99 {row[name]['p99']:.2f} ms, "
                      f"{row[name]['failures']} failed{cpu}", flush=True)
        if wanted("disk"):
            row = figures["disk"] = row_disk(options, folder, origin, names)
            for name in ("memory", "disk"):
                print(f"400 results from {name:21} {row[name]['rate']:8.0f} requests/s, p99 {row[name]['p99']:.2f} ms, "
                      f"{row[name]['failures']} failed", flush=True)
            print(f"while from disk: {row['downloads']:.0f} downloads, {row['decodes']:.0f} decodes; first log line after "
                  f"{row['start']['none']:.0f} ms without a disk cache, {row['start']['full']:.0f} ms with a full one of "
                  f"{row['start']['bytes'] / 1048576:.0f} MiB", flush=True)
        if wanted("stale"):
            row = figures["stale"] = row_stale(options, folder, names)
            for name, label in (("revalidated", "confirmed by 304"), ("stale", "stale, origin down")):
                print(f"results, {label:25} {row[name]['rate']:8.0f} requests/s, p99 {row[name]['p99']:.2f} ms, "
                      f"{row[name]['failures']} failed", flush=True)
            print(f"{row['decodes']:.0f} decodes meanwhile", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
