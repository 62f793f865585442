"""Kills the service with a disk cache under load again and again; whatever it answers, then and afterwards, must be right."""
import argparse
import http.client
import http.server
import pathlib
import random
import sqlite3
import struct
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Support"))

from service import Service  # noqa: E402

SOURCES = 120
WIDTHS = [16, 24, 40, 64]
# Small enough that entries are evicted all the time.
BOUNDS = ["--source-cache-disk", "1500KiB", "--result-cache-disk", "600KiB"]
# So little memory that answers come from the disk as soon as they are there.
MEMORY = ["--source-cache-memory", "64KiB", "--result-cache-capacity", "64KiB", "--result-cache-preferred", "32KiB",
          "--decoded-cache-capacity", "64KiB", "--decoded-cache-preferred", "32KiB", "--access-log", "off"]


def png(number):
    """A picture that no other number makes: noise in two tones, 80 by 60."""
    noise = random.Random(number)
    rows = b"".join(b"\0" + noise.randbytes(80 * 3) for _ in range(60))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 80, 60, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


class Pictures(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bodies = [png(number) for number in range(SOURCES)]
    hits = 0

    def do_GET(self):
        Pictures.hits += 1
        body = self.bodies[int(self.path.strip("/"))]
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Origin(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A service that is killed leaves its transfers; that is no news."""


def target(origin, number, width):
    return "/thumbnail?" + urllib.parse.urlencode({"url": f"{origin}/{number}", "w": width, "format": "png"})


def get(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Cache-Status") or "", answer.read()


def references(executable, origin):
    """What every thumbnail has to be: the answers of a service that writes nothing."""
    service = Service(executable, "--access-log", "off")
    try:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
        found = {}
        for number in range(SOURCES):
            for width in WIDTHS:
                status, _, body = get(connection, target(origin, number, width))
                assert status == 200, f"reference {number}, {width}: {status}"
                found[number, width] = body
        return found
    finally:
        service.kill()


class Load:
    """Readers that ask for random thumbnails until the service is gone."""

    def __init__(self, port, origin, expected, seed):
        self.answers, self.wrong = 0, []
        self.threads = [
            threading.Thread(target=self.read, args=(port, origin, expected, random.Random(f"{seed} {number}")))
            for number in range(6)
        ]
        for thread in self.threads:
            thread.start()

    def read(self, port, origin, expected, choice):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            while True:
                key = choice.randrange(SOURCES), choice.choice(WIDTHS)
                status, _, body = get(connection, target(origin, *key))
                self.answers += 1
                if status != 200 or body != expected[key]:
                    self.wrong.append((*key, status, len(body)))
        except (OSError, http.client.HTTPException):
            pass

    def join(self):
        for thread in self.threads:
            thread.join()


def metric(service, line):
    connection = http.client.HTTPConnection("127.0.0.1", service.admin_port, timeout=30)
    text = get(connection, "/metrics")[2].decode()
    return sum(float(row.rsplit(" ", 1)[1]) for row in text.splitlines() if row.startswith(line))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"{options.kills} kills, seed {options.seed}", flush=True)
    choice = random.Random(options.seed)

    server = Origin(("127.0.0.1", 0), Pictures)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    expected = references(options.alula, origin)

    answers, from_disk, wrong, damaged = 0, 0, [], 0
    with tempfile.TemporaryDirectory(prefix="alula-crash-") as folder:
        settings = ["--source-cache-path", folder, *BOUNDS, *MEMORY]
        for number in range(options.kills):
            service = Service(options.alula, *settings)
            load = Load(service.port, origin, expected, f"{options.seed} {number}")
            time.sleep(choice.uniform(0.02, 0.5))
            # As the kernel ends a process: no handler runs, nothing is closed in order.
            service.kill()
            load.join()
            answers += load.answers
            wrong += load.wrong
            damaged += sum("disk cache" in line for line in service.lines)
        # What is left is asked for once, by a service that has just started.
        service = Service(options.alula, *settings)
        try:
            connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
            hits = Pictures.hits
            for key, body in expected.items():
                status, cache, found = get(connection, target(origin, *key))
                if status != 200 or found != body:
                    wrong.append((*key, status, len(found)))
                from_disk += "alula-result;hit" in cache or "alula-source;hit" in cache
            hits = Pictures.hits - hits
            damaged += metric(service, 'alula_disk_cache_failures_total{kind="damaged') + metric(
                service, 'alula_disk_cache_failures_total{kind="file"}')
            complaints = service.stop()
        finally:
            service.kill()
        with sqlite3.connect(f"{folder}/alula-cache.sqlite") as file:
            verdict = file.execute("PRAGMA integrity_check").fetchone()[0]
    server.shutdown()

    print(f"{answers} answers under load, {len(expected)} afterwards: {from_disk} from the disk, {hits} hits of the origin; "
          f"{len(wrong)} wrong, {damaged:.0f} damages, file: {verdict}")
    for fault in wrong[:10]:
        print(f"  wrong: source {fault[0]}, width {fault[1]}: status {fault[2]}, {fault[3]} bytes")
    for complaint in complaints:
        print(f"  {complaint}")
    if wrong or complaints or damaged or verdict != "ok" or from_disk == 0 or answers < options.kills:
        raise SystemExit("FAILED")
    print("ok")


if __name__ == "__main__":
    main()
