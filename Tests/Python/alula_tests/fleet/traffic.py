"""Zipf traffic: distinct small sources, clients that compare each answer with a reference, and what they counted."""
import collections
import concurrent.futures
import hashlib
import re
import socket
import threading
import time

from alula_tests.clients import connect, get, thumbnail
from alula_tests.fleet.simulation import Rendition, Workload
from alula_tests.images import png
from alula_tests.origins import ImageHandler

WIDTH, HEIGHT = 64, 48
# Width of a rendition: the share of its requests, and the level at which a source of 64×48 is decoded for it.
RENDITIONS = {8: (0.4, 4), 16: (0.3, 2), 30: (0.2, 1), 48: (0.1, 1)}
WIDTHS = list(RENDITIONS)


def workload(sources, results=(200, 600, 2_000, 5_200), source=9_300):
    renditions = tuple(Rendition(*RENDITIONS[width], bytes) for width, bytes in zip(WIDTHS, results))
    return Workload(sources, renditions=renditions, source=source, pixels=WIDTH * HEIGHT * 3)


class DistinctOrigin(ImageHandler):
    """Another image at every path that ends in a number, and how often each was fetched."""
    fetches = collections.Counter()
    lock = threading.Lock()
    disable_nagle_algorithm = True

    def find(self, path):
        number = re.search(r"(\d+)\.png$", path)
        with self.lock:
            self.fetches[path] += 1
        return ("image/png", self.image(int(number[1]))) if number else None

    @staticmethod
    def image(number):
        # Rows of bytes that no other number has, quicker made than random ones.
        noise = hashlib.shake_128(f"source {number}".encode()).digest(WIDTH * HEIGHT * 3)
        row = WIDTH * 3
        return png(WIDTH, HEIGHT, b"".join(b"\0" + noise[y * row:(y + 1) * row] for y in range(HEIGHT)))


def target(origin, part, source, rendition):
    return thumbnail(f"{origin}/{part}/{source}.png", w=WIDTHS[rendition])


class Reference:
    """What the right answers are: those of an instance of its own, which stands behind no proxy and has no shared cache."""

    def __init__(self, service):
        self.service, self.expected, self.lengths = service, {}, collections.defaultdict(list)
        self.local = threading.local()

    def _learn(self, item):
        place, name = item
        if not hasattr(self.local, "connection"):
            self.local.connection = connect(self.service.port)
        answer, body = get(self.local.connection, name)
        assert answer.status == 200, f"reference {name}: {answer.status} {body[:200]}"
        self.expected[place] = hashlib.sha256(body).digest()
        self.lengths[place[1]].append(len(body))

    def learn(self, origin, places):
        # All parts of the origin have the same images.
        missing = [(place, target(origin, "reference", *place)) for place in set(places) - self.expected.keys()]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self._learn, missing))

    def mean_lengths(self):
        return [sum(self.lengths[index]) // max(1, len(self.lengths[index])) for index in range(len(WIDTHS))]


class Counts:
    """What clients saw: answers, those that failed or were wrong, by which cache they were found, and seconds."""

    def __init__(self):
        self.requests, self.found = 0, collections.Counter()
        self.failures, self.wrong = [], []
        self.seconds = collections.defaultdict(list)


class PlainConnection:
    """GET over one connection, with as little work as possible; reconnects after a failure."""

    def __init__(self, port):
        self.port, self.socket = port, None

    def get(self, name):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), 60)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.socket.sendall(f"GET {name} HTTP/1.1\r\nHost: fleet\r\n\r\n".encode())
            data = b""
            while (end := data.find(b"\r\n\r\n")) < 0:
                data += self._read()
            header, body = data[:end].decode("latin-1"), data[end + 4:]
            length = int(re.search(r"(?i)\ncontent-length: *(\d+)", header)[1])
            while len(body) < length:
                body += self._read()
            if re.search(r"(?i)\nconnection: *close", header):
                self.close()
            return int(header[9:12]), header, body
        except Exception:
            self.close()
            raise

    def _read(self):
        chunk = self.socket.recv(65_536)
        if not chunk:
            raise ConnectionError("closed")
        return chunk

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None


class Run:
    """Clients that ask for a sequence of (source, rendition) at these ports until it ends; `Counts` are in `counts`."""

    def __init__(self, ports, origin, part, sequence, reference, clients=6):
        self.ports, self.origin, self.part, self.reference = ports, origin, part, reference
        self.sequence, self.counts, self.lock = iter(sequence), Counts(), threading.Lock()
        self.answered = 0
        self.threads = [threading.Thread(target=self._ask, args=[index]) for index in range(clients)]
        for thread in self.threads:
            thread.start()

    def _ask(self, index):
        connection = PlainConnection(self.ports[index % len(self.ports)])
        while True:
            with self.lock:
                place = next(self.sequence, None)
            if place is None:
                connection.close()
                return
            name, start = target(self.origin, self.part, *place), time.monotonic()
            try:
                status, header, body = connection.get(name)
                fault = None if status == 200 else f"{name}: {status} {body[:120]}"
            except (OSError, TypeError, ValueError) as error:
                fault, header, body = f"{name}: {error!r}", "", b""
            seconds = time.monotonic() - start
            with self.lock:
                self.answered += 1
                self._count(place, name, fault, header, body, seconds)

    def _count(self, place, name, fault, header, body, seconds):
        counts = self.counts
        counts.requests += 1
        if fault:
            counts.failures.append(fault)
            return
        if hashlib.sha256(body).digest() != self.reference.expected[place]:
            counts.wrong.append(f"{name}: {len(body)} bytes")
        found = re.search(r"(?i)\ncache-status:.*", header)
        line = found[0] if found else ""
        layer = "shared_cache" if re.search(r"alula-shared; *hit", line) else "memory" if re.search(r"alula-result; *hit", line) else "made"
        counts.found[layer] += 1
        counts.seconds[layer].append(seconds)

    def answer(self, count):
        """Waits until this many requests of the run were answered."""
        end = time.monotonic() + 600
        while self.answered < count and any(thread.is_alive() for thread in self.threads):
            if time.monotonic() > end:
                raise TimeoutError(f"{self.answered} of {count} answers")
            time.sleep(0.005)

    def finish(self):
        for thread in self.threads:
            thread.join()
        return self.counts
