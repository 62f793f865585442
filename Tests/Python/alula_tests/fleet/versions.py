"""Purges of sources that change, while all instances write into one store: nobody is answered an earlier version afterwards."""
import random
import struct
import threading
import time
import urllib.parse
import zlib

from alula_tests.clients import connect, get, thumbnail
from alula_tests.deploy.fleet import until
from alula_tests.images import png
from alula_tests.origins import ImageHandler

SOURCES, WIDTHS = 8, range(8, 40)
# The wait after a purge before every answer must be of the new version.
LIMIT = 1


class ChangingOrigin(ImageHandler):
    """Images of one color each, which says the version of the source."""
    versions = [1] * SOURCES
    disable_nagle_algorithm = True

    def find(self, path):
        version = self.versions[int(path.strip("/").removesuffix(".png"))]
        return "image/png", png(40, 40, (b"\0" + bytes([version, 0, 0]) * 40) * 40)


def version_of(file):
    """The red of the first pixel of a PNG of 8 bits."""
    place, chunks = 8, {}
    while place < len(file):
        length, kind = struct.unpack(">I4s", file[place:place + 8])
        chunks[kind] = chunks.get(kind, b"") + file[place + 8:place + 8 + length]
        place += length + 12
    # Whatever the first row's filter is, its first pixel has nothing before it.
    first = zlib.decompress(chunks[b"IDAT"])[1]
    return chunks[b"PLTE"][0] if b"PLTE" in chunks else first


class Askers:
    """A client of each instance that asks for all sources again and again, in all sizes; what is answered when."""

    def __init__(self, instances, origin):
        self.origin, self.answers, self.is_stopped = origin, [], False
        self.threads = [threading.Thread(target=self.ask, args=[number, instance.port]) for number, instance in enumerate(instances)]
        for thread in self.threads:
            thread.start()

    def ask(self, number, port):
        connection, choice = connect(port), random.Random(number)
        while not self.is_stopped:
            source, width = choice.randrange(SOURCES), choice.choice(WIDTHS)
            begun = time.monotonic()
            answer, body = get(connection, target(self.origin, source, width))
            assert answer.status == 200, (answer.status, body)
            self.answers.append((begun, source, version_of(body)))

    def answer(self, count):
        """Waits until this many more requests were answered."""
        goal = len(self.answers) + count
        until(lambda: len(self.answers) >= goal, f"{count} answers")

    def stop(self):
        self.is_stopped = True
        for thread in self.threads:
            thread.join()


def target(origin, source, width):
    return thumbnail(f"{origin}/{source}.png", w=width, format="png", tag=f"product-{source}")


def check(instances, origin, report, fresh, rounds=20):
    """Sources change, and are purged by URL and by tag in turns at any instance; `fresh` gives an instance that has the store alone."""
    askers, choice, purges = Askers(instances, origin), random.Random(32), []
    for number in range(rounds):
        askers.answer(choice.randrange(20, 100))
        source, kind = choice.randrange(SOURCES), ("url", "tag")[number % 2]
        ChangingOrigin.versions[source] += 1
        value = {"url": f"{origin}/{source}.png", "tag": f"product-{source}"}[kind]
        connection, begun = connect(choice.choice(instances).admin_port), time.monotonic()
        connection.request("DELETE", "/cache?" + urllib.parse.urlencode({kind: value}))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        purges.append((kind, begun, source, ChangingOrigin.versions[source]))
    time.sleep(2 * LIMIT)
    askers.stop()
    for kind in ("url", "tag"):
        late = [[asked - begun for asked, named, version in askers.answers if named == source and asked > begun and version < new]
                for found, begun, source, new in purges if found == kind]
        last = max((max(seconds, default=0) for seconds in late), default=0)
        report.check(last < LIMIT, f"purges by {kind} beside {len(askers.answers)} answers: an earlier version was asked for "
                                   f"{last:.2f} s after a purge at the latest, of at most {LIMIT}")
    hits, wrong = 0, []
    with fresh() as instance:
        connection = connect(instance.port)
        for source in range(SOURCES):
            for width in WIDTHS:
                answer, body = get(connection, target(origin, source, width))
                hits += "alula-store;hit" in answer.getheader("Cache-Status")
                if version_of(body) != ChangingOrigin.versions[source]:
                    wrong.append((source, width, version_of(body), ChangingOrigin.versions[source]))
    report.check(hits > 0 and not wrong, f"the store beats no purge: {hits} hits of {SOURCES * len(WIDTHS)}, {len(wrong)} of an earlier version {wrong[:3]}")
