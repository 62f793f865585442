"""Kills, stops or crashes a random decode worker each second under load; every answer must be right, and the service stays."""
import argparse
import http.client
import http.server
import json
import os
import pathlib
import random
import signal
import sys
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Support"))

from service import Service  # noqa: E402

BLOWS = [signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS]
# AVIF is encoded by workers as well.
QUERIES = [{"w": 60}, {"w": 150}, {"w": 300}, {"w": 150, "format": "avif"}]
# Every request is to be decoded.
SETTINGS = ["--access-log", "off", "--result-cache-capacity", "0", "--result-cache-preferred", "0",
            "--decoded-cache-capacity", "0", "--decoded-cache-preferred", "0", "--source-cache-memory", "64MiB"]


class Pictures(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bodies = []

    def do_GET(self):
        kind, body = self.bodies[int(self.path.strip("/"))]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def load_pictures(folder):
    kinds = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif"}
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() in kinds)
    small = sorted(files, key=lambda path: path.stat().st_size)[:24]
    Pictures.bodies = [(kinds[path.suffix.lower()], path.read_bytes()) for path in small]
    if not small:
        raise SystemExit(f"no pictures under {folder}")


def get(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read()


def target(origin, number, query):
    return "/thumbnail?" + urllib.parse.urlencode({"url": f"{origin}/{number}", **QUERIES[query]})


def references(executable, origin):
    """What every thumbnail has to be: the answers of a service that decodes in its own process."""
    service = Service(executable, "--access-log", "off", "--decode-in-process", "on")
    try:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        found = {}
        for number in range(len(Pictures.bodies)):
            for query in range(len(QUERIES)):
                status, body = get(connection, target(origin, number, query))
                assert status == 200, f"reference {number}, {QUERIES[query]}: {status} {body[:200]}"
                found[number, query] = body
        return found
    finally:
        service.kill()


def workers(service):
    """The service's child processes that are no zombies."""
    found = []
    for task in os.listdir(f"/proc/{service.process.pid}/task"):
        try:
            children = pathlib.Path(f"/proc/{service.process.pid}/task/{task}/children").read_text().split()
            found += [int(child) for child in children
                      if pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"]
        except OSError:
            pass
    return found


class Load:
    """Readers that ask for random thumbnails until they are told to stop."""

    def __init__(self, port, origin, expected, seed):
        self.seconds, self.wrong, self.stopped = [], [], False
        self.threads = [
            threading.Thread(target=self.read, args=(port, origin, expected, random.Random(f"{seed} {number}")))
            for number in range(6)
        ]
        for thread in self.threads:
            thread.start()

    def read(self, port, origin, expected, choice):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        keys = list(expected)
        while not self.stopped:
            key = choice.choice(keys)
            start = time.monotonic()
            try:
                status, body = get(connection, target(origin, *key))
            except (OSError, http.client.HTTPException) as fault:
                self.wrong.append((*key, 0, repr(fault)))
                return
            self.seconds.append(time.monotonic() - start)
            if status != 200 or body != expected[key]:
                self.wrong.append((*key, status, body[:200] if status != 200 else len(body)))

    def join(self):
        self.stopped = True
        for thread in self.threads:
            thread.join()


def metrics(service):
    connection = http.client.HTTPConnection("127.0.0.1", service.admin_port, timeout=30)
    found = {}
    for row in get(connection, "/metrics")[1].decode().splitlines():
        if not row.startswith("#"):
            name, _, value = row.rpartition(" ")
            found[name] = float(value)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--photos", required=True, help="folder of pictures; the smallest ones are used")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    print(f"{options.seconds} s, seed {options.seed}", flush=True)
    choice = random.Random(options.seed)
    load_pictures(options.photos)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    expected = references(options.alula, origin)

    service = Service(options.alula, *SETTINGS)
    struck, victims_struck = {}, set()
    try:
        load = Load(service.port, origin, expected, options.seed)
        end = time.monotonic() + options.seconds
        while time.monotonic() < end and service.process.poll() is None:
            time.sleep(1)
            blow = choice.choice(BLOWS)
            victims = workers(service)
            if victims:
                victim = choice.choice(victims)
                victims_struck.add(victim)
                os.kill(victim, blow)
                struck[blow.name] = struck.get(blow.name, 0) + 1
        load.join()
        found = metrics(service) if service.process.poll() is None else {}
        complaints = service.stop()
    finally:
        service.kill()
    server.shutdown()

    times = sorted(load.seconds)
    ends = {name.split('"')[1]: int(value) for name, value in found.items() if name.startswith("alula_decode_worker_ends")}
    print(f"{len(times)} answers, {len(load.wrong)} wrong; median {times[len(times) // 2] * 1000:.0f} ms, "
          f"slowest {times[-1] * 1000:.0f} ms")
    print(f"struck: {json.dumps(struck)}; ends: {json.dumps(ends)}; "
          f"decoded again: {found.get('alula_decode_retries_total', 0):.0f}, "
          f"in quarantine: {found.get('alula_quarantined_total', 0):.0f}")
    # A worker that ended although nobody struck it, or a refusal without two strikes on one picture, is a fault.
    lines = [json.loads(line) for line in service.lines if line.startswith("{")]
    ended = [line["process"] for line in lines if line["message"] == "decode worker ended"]
    unexplained = [process for process in ended if process not in victims_struck]
    struck_twice = sum(line["message"] == "content in quarantine" for line in lines)
    # A file is refused in whatever form it is asked for, and finished pixels as a file of one form.
    refused = [fault for fault in load.wrong if fault[2] == 422 or fault[2] == 500 and "format" in QUERIES[fault[1]]]
    contents = {(fault[0], fault[1] if fault[2] == 500 else None) for fault in refused}
    if refused and len(contents) <= struck_twice and not unexplained:
        print(f"{struck_twice} pictures were struck twice within one request, and refused {len(refused)} times")
        load.wrong = [fault for fault in load.wrong if fault not in refused]
    complaints += [f"worker {process} ended although nobody struck it" for process in unexplained]
    for fault in load.wrong[:10]:
        print(f"  wrong: source {fault[0]}, {QUERIES[fault[1]]}: status {fault[2]}, {fault[3]}")
    for complaint in complaints:
        print(f"  {complaint}")
    if load.wrong or complaints or not (ends.get("crash") and ends.get("killed")) or len(times) < options.seconds:
        raise SystemExit("FAILED")
    print("ok")


if __name__ == "__main__":
    main()
