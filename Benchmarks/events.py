"""Measures what events cost: instructions of one that nobody reads, and the service's rate and CPU time with 64 readers.

The second table's rounds take turns within one run; each of its requests is a render from decoded pixels, which is an event.
"""
import argparse
import contextlib
import os
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading

import load
from processes import free_port, nginx
from run import Alula, copy_images, thumbnail

READERS = 64


def instructions(program, count):
    """Instructions of one run under valgrind, which cannot read the program's debug information."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["strip", "-o", f"{folder}/program", program], check=True)
        text = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"{folder}/program", str(count)],
            capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", text)[1])


class Readers:
    """Connections that read `/events` as fast as they come, on one thread."""

    def __init__(self, port, count):
        self.selector = selectors.DefaultSelector()
        self.bytes = 0
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            self.selector.register(connection, selectors.EVENT_READ)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopped.is_set():
            for key, _ in self.selector.select(timeout=0.1):
                self.bytes += len(key.fileobj.recv(1 << 16))

    def close(self):
        self.stopped.set()
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


def round_of(server, folder, paths, seconds, readers):
    """Requests a second, events a second and server's CPU microseconds a request of one round."""
    with contextlib.closing(Readers(server.admin, readers)):
        renders = server.total("alula_renders_total")
        before = server.cpu()
        run = load.wrk(folder, server.port, paths, 16, seconds)
        cpu = server.cpu() - before
        renders = server.total("alula_renders_total") - renders
    return {"rate": run["rate"], "cpu": cpu / run["count"] * 1e6, "renders": renders / seconds, "failures": run["failures"]}


def row_readers(options, folder, paths, title, *settings):
    with Alula(options.alula, "--access-log", "off", *settings) as server:
        for path in paths[:50]:
            load.get(server.port, path)
        rounds = {count: [] for count in (0, 1, READERS)}
        for _ in range(options.rounds):
            for count, runs in rounds.items():
                runs.append(round_of(server, folder, paths, options.seconds, count))
    medians = {
        count: {name: statistics.median(run[name] for run in runs) for name in runs[0]} for count, runs in rounds.items()}
    for count, row in medians.items():
        print(
            f"{title:12} {count:3} readers {row['rate']:8.0f} requests/s ({row['rate'] / medians[0]['rate'] - 1:+.1%}), "
            f"{row['cpu']:7.1f} us CPU a request ({row['cpu'] / medians[0]['cpu'] - 1:+.1%}), "
            f"{row['renders']:6.0f} events/s, {row['failures']:.0f} failed", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True)
    parser.add_argument("--events", help="the benchmark's program that records events")
    parser.add_argument("--photos", required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    if shutil.which("valgrind") and options.events:
        few, many = (instructions(options.events, count) for count in (10_000, 110_000))
        print(f"an event that nobody reads: {(many - few) / 100_000:.0f} instructions", flush=True)
    else:
        print("an event that nobody reads: not measured, for want of valgrind or the program")
    with tempfile.TemporaryDirectory() as folder:
        names = copy_images(options.photos, folder)
        large = max(names, key=lambda name: os.path.getsize(f"{folder}/images/{name}"))
        with nginx(folder, free_port(), f"root {folder}/images;") as origin:
            paths = [thumbnail(origin.port, large, width) for width in range(100, 500)]
            # No result is kept, so each request is a render.
            row_readers(options, folder, paths, "renders", "--result-cache-capacity", "0", "--result-cache-preferred", "0")
            row_readers(options, folder, paths[:1], "hits")


if __name__ == "__main__":
    main()
