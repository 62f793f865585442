"""Sends damaged images through the running service, which has to answer each in time and never to end.

An image must not make a worker process do anything forbidden. Workers that end for other reasons are reported.
A client that is refused for load waits as long as the answer says."""
import argparse
import collections
import http.client
import json
import multiprocessing
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from alula_tests.clients import connect, ends_of_workers, get, metrics, thumbnail
from alula_tests.mutation import mutate
from alula_tests.origins import ImageHandler, ImageServer
from alula_tests.service import Service

# Seconds that a request may take by the settings, and seconds for its answer to arrive.
DEADLINE, PATIENCE = 15, 1
# How often one image is sent again after 503 `overloaded`, when the answer's Retry-After has passed.
REPEATS = 20
QUERIES = [{"w": 40}, {"w": 300}, {}, {"w": 64, "h": 64, "fit": "cover", "format": "webp"}, {"w": 20, "format": "png"},
           {"w": 50, "animated": 1, "format": "webp"}, {"h": 30, "animated": 1, "format": "gif"}, {"page": 1, "w": 30},
           {"w": 100, "h": 100, "fit": "cover", "gravity": "attention"}, {"w": 50, "format": "avif"}, {"w": 50, "format": "jxl"},
           {"w": 50, "hdr": "keep", "format": "jpeg"}, {"w": 20, "hdr": "keep", "format": "jpeg", "gamut": "p3"},
           {"w": 40, "gamut": "p3"}, {"w": 40, "gamut": "auto", "format": "webp"},
           {"w": 40, "animated": 1, "format": "avif"}, {"w": 40, "animated": 1, "format": "png"}]
# Those that cost little besides the decode.
CHEAP_QUERIES = [{"w": 40, "format": "jpeg"}, {"format": "jpeg"}, {"page": 1, "w": 30, "format": "jpeg"},
                 {"w": 40, "animated": 1, "format": "png"}, {"w": 50, "hdr": "keep", "format": "jpeg"},
                 {"w": 50, "gamut": "auto", "format": "jpeg"}]


def kind_of(body):
    for start, name in [(b"\xff\xd8", "jpeg"), (b"\x89PNG", "png"), (b"GIF8", "gif"), (b"RIFF", "webp"),
                        (b"BM", "bmp"), (b"\0\0\1\0", "ico"), (b"II", "tiff"), (b"MM", "tiff"), (b"\xff\x0a", "jxl"), (b"\0\0\0\x0cJXL", "jxl"),
                        (b"<", "svg")]:
        if body.startswith(start):
            marks = {"png": [(b"acTL", "apng")], "jpeg": [(b"hdrgm", "jpeg-hdr"), (b":21496:", "jpeg-hdr"), (b"ICC_PROFILE", "jpeg-icc")]}
            return next((kind for mark, kind in marks.get(name, []) if mark in body[:4096]), name)
    if body[4:8] != b"ftyp":
        return "other"
    return "heic" if b"hvc1" in body[:65536] else "avis" if body[8:12] == b"avis" else "avif"


def file_of(good, corpus, seed, number):
    """Files of the corpus first, as they are; then damaged ones."""
    if number < len(corpus):
        body = pathlib.Path(corpus[number]).read_bytes()
        return kind_of(body), body
    kind = sorted(good)[number % len(good)]
    return kind, mutate.mutated(good[kind], random.Random(f"{seed} {number}"))


def serve(good, corpus, seed, port):
    """The origin, in a process of its own: damaged file 17 is at `/17`."""
    class Handler(ImageHandler):
        wbufsize = -1
        disable_nagle_algorithm = True
        cache_control = None

        def find(self, path):
            return "application/octet-stream", file_of(good, corpus, seed, int(path.strip("/")))[1]

    server = ImageServer(("127.0.0.1", 0), Handler)
    port.send(server.server_port)
    server.serve_forever()


class Clients:
    """Threads that ask for one damaged file after the other."""

    def __init__(self, service, origin, good, corpus, seed, count, queries):
        self.queries = queries
        self.service, self.origin, self.seed, self.count = service, origin, seed, count
        self.good, self.corpus = good, corpus
        self.next, self.lock = 0, threading.Lock()
        self.outcomes = collections.Counter()
        self.repeats = 0
        self.slowest = []
        self.strange = []

    def run(self, parallel, seconds):
        self.end = time.monotonic() + seconds
        threads = [threading.Thread(target=self.ask) for _ in range(parallel)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def ask(self):
        connection = connect(self.service.port, DEADLINE + 30)
        while self.service.process.poll() is None:
            with self.lock:
                number, self.next = self.next, self.next + 1
            if number >= self.count or time.monotonic() > self.end:
                return
            query = random.Random(f"{self.seed} query {number}").choice(self.queries)
            target = thumbnail(f"{self.origin}/{number}", **query)
            for attempt in range(REPEATS + 1):
                start = time.monotonic()
                try:
                    answer, body = get(connection, target)
                    status = answer.status
                except (OSError, http.client.HTTPException) as failure:
                    connection.close()
                    status, body = 0, repr(failure).encode()
                seconds = time.monotonic() - start
                if status != 503 or b'"overloaded"' not in body or "Retry-After" not in answer.headers or attempt == REPEATS:
                    break
                with self.lock:
                    self.repeats += 1
                time.sleep(int(answer.headers["Retry-After"]))
            self.note(number, status, body, seconds, query)

    def note(self, number, status, body, seconds, query):
        outcome = str(status)
        if status >= 400:
            try:
                outcome += " " + json.loads(body)["code"]
            except (ValueError, KeyError):
                outcome += " without a code"
        kind = "intact" if number < len(self.corpus) else sorted(self.good)[number % len(self.good)]
        with self.lock:
            self.outcomes[kind, outcome] += 1
            self.slowest = sorted([(seconds, number, kind, outcome), *self.slowest], reverse=True)[:5]
            # A damaged image is never a fault of the service.
            if status not in (200, 413, 415, 422) or seconds > DEADLINE + PATIENCE or "without" in outcome:
                self.strange.append((number, outcome, round(seconds, 3), query))


# Ends that a damaged image must not cause: a forbidden system call, or a false answer.
FORBIDDEN_ENDS = ["violation", "breach"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--origin", required=True, help="the scripted origin's executable, which makes the undamaged images")
    parser.add_argument("--count", type=int, default=20_000, help="damaged images, in equal parts of each kind")
    parser.add_argument("--corpus", default="", help="a folder whose files are sent as they are, and damaged too")
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--only", default="", help="damage images of these kinds only, for example avif,jpeg-hdr")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="ask for no more images after this time")
    parser.add_argument("--cheap", action="store_true", help="ask for results that cost little besides the decode")
    parser.add_argument("--formats", default="jpeg,png,webp,gif,avif,heic,jxl,tiff,bmp,ico,raw,svg", help="what the service may decode")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--keep", type=int, help="write damaged file number KEEP to standard output instead")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="alula-mutation-") as folder:
        subprocess.run([options.origin, "--write", folder], check=True)
        good = [(kind_of(file.read_bytes()), file.read_bytes()) for file in sorted(pathlib.Path(folder).iterdir())]
    corpus = sorted(str(file) for file in pathlib.Path(options.corpus).rglob("*") if file.is_file()) if options.corpus else []
    small = [pathlib.Path(file).read_bytes() for file in corpus if 16 < pathlib.Path(file).stat().st_size < 1 << 20]
    good += [(kind_of(body), body) for body in small]
    good = {kind: [body for name, body in good if name == kind] for kind, _ in good if not options.only or kind in options.only.split(",")}
    if options.keep is not None:
        sys.stdout.buffer.write(file_of(good, corpus, options.seed, options.keep)[1])
        return
    count = options.count + len(corpus)
    kinds = ", ".join(f"{len(files)} {kind}" for kind, files in sorted(good.items()))
    print(f"{count} images, {len(corpus)} of them files of the corpus, the rest damaged, seed {options.seed}; made of {kinds}",
          flush=True)

    receiving, sending = multiprocessing.Pipe(False)
    origin = multiprocessing.Process(target=serve, args=(good, corpus, options.seed, sending), daemon=True)
    origin.start()
    service = Service(options.alula, "--access-log", "off", "--source-formats", options.formats,
                      "--max-active-downloads-per-host", "32")
    try:
        clients = Clients(service, f"http://127.0.0.1:{receiving.recv()}", good, corpus, options.seed, count,
                          CHEAP_QUERIES if options.cheap else QUERIES)
        start = time.monotonic()
        clients.run(options.parallel, options.seconds)
        seconds = time.monotonic() - start
        peak = next(line.split()[1] for line in pathlib.Path(f"/proc/{service.process.pid}/status").read_text().splitlines()
                    if line.startswith("VmHWM")) if service.process.poll() is None else "0"
        found = metrics(service) if service.process.poll() is None else {}
        complaints = service.stop()
    finally:
        service.kill()
        origin.kill()

    answered = sum(clients.outcomes.values())
    print(f"{answered} answers in {seconds:.0f} s, {answered / seconds:.0f}/s; peak of the service {int(peak) / 1024:.0f} MiB")
    for (kind, outcome), number in sorted(clients.outcomes.items()):
        print(f"  {kind:8} {outcome:28} {number:>7}")
    print(f"sent again after 503 overloaded: {clients.repeats}")
    print("slowest: " + ", ".join(f"{slow:.2f} s ({kind} {number}: {outcome})" for slow, number, kind, outcome in clients.slowest))
    ends = ends_of_workers(found)
    told = ", ".join(f"{number} {cause}" for cause, number in sorted(ends.items())) or "none"
    print(f"workers that ended: {told}; images done again: {found.get('alula_decode_retries_total', 0):.0f}")
    complaints += [f"{ends[cause]} workers ended by {cause}" for cause in FORBIDDEN_ENDS if ends.get(cause)]
    for number, outcome, slow, query in clients.strange[:20]:
        print(f"  strange: image {number}: {outcome} after {slow} s, {query}")
    for complaint in complaints[:20]:
        print(f"  {complaint}")
    if clients.strange or complaints or (answered < count and seconds < options.seconds):
        raise SystemExit("FAILED")
    print("ok")


if __name__ == "__main__":
    main()
