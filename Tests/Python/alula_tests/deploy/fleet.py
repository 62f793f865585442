"""Four instances behind a proxy: which instance gets which source, and what clients see while instances come and go."""
import collections
import concurrent.futures
import http.client
import itertools
import json
import signal
import threading
import time

from alula_tests.clients import connect, get, metrics, thumbnail
from alula_tests.deploy import spellings
from alula_tests.images import gradient_png
from alula_tests.origins import ImageHandler
from alula_tests.service import Service

SIZE = 4
PATIENCE = 30


class CountingOrigin(ImageHandler):
    """An image at every path, and how often each was fetched; those below /held/ are answered when `gate` is open."""
    image = gradient_png(96, 72)
    fetches = collections.Counter()
    gate = threading.Event()

    def find(self, path):
        self.fetches[path] += 1
        if path.startswith("/held/"):
            self.gate.wait(PATIENCE)
        return "image/png", self.image


class Fleet:
    """Instances that can be ended and started again on their ports."""

    def __init__(self, executable, *settings):
        places = [f"--{name}-path={place}" for name, place in (spellings.PREFIXES | spellings.ENDPOINTS).items()]
        self.command = [executable, *itertools.chain(*(place.split("=") for place in places)),
                        "--drain-delay", "3s", "--access-log", "off",
                        # A busy machine makes requests slow here; refusing them is another test's matter.
                        "--max-queue-delay", "18s", "--request-timeout", "19s", "--shutdown-timeout", "20s",
                        *settings]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            self.instances = list(pool.map(lambda _: Service(*self.command), range(SIZE)))
        self.ports = [instance.port for instance in self.instances]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for instance in self.instances:
            instance.kill()

    def start_again(self, index):
        self.instances[index] = Service(*self.command, port=self.ports[index])

    def downloads(self):
        """Ended transfers of each instance that runs."""
        return [sum(value for name, value in metrics(instance).items() if name.startswith("alula_downloads_total"))
                if instance.process.poll() is None else 0 for instance in self.instances]

    def waiting(self):
        """How many requests of each instance wait for a download."""
        flights = [json.loads(get(connect(instance.admin_port), "/downloads")[1]) for instance in self.instances]
        return [sum(len(flight["receipts"]) for flight in flights) for flights in flights]

    def forget(self):
        for instance in self.instances:
            connection = connect(instance.admin_port)
            connection.request("DELETE", "/cache")
            connection.getresponse().read()


def until(holds, what):
    """Waits for something that another process does."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


class Clients:
    """Threads that ask for thumbnails of many sources, most of them new, until they are stopped; and what did not succeed."""

    def __init__(self, proxy, origin, sources=60, count=12):
        self.port, self.origin, self.sources = proxy.port, origin, sources
        self.answers, self.faults, self.is_stopped = 0, [], False
        self.lock = threading.Lock()
        self.numbers = itertools.count()
        self.threads = [threading.Thread(target=self._ask) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        connection = connect(self.port)
        while not self.is_stopped:
            number = next(self.numbers)
            target = thumbnail(f"{self.origin}/load/{number % self.sources}.png", w=1 + number // self.sources % 96)
            try:
                answer, body = get(connection, target)
                fault = None if answer.status == 200 and body else f"{target}: {answer.status} {body[:100]}"
            except (OSError, http.client.HTTPException) as error:
                fault, connection = f"{target}: {error!r}", connect(self.port)
            with self.lock:
                self.answers += 1
                if fault:
                    self.faults.append(fault)

    def answer(self, count):
        """Waits until this many more requests were answered, or failed."""
        goal = self.answers + count
        until(lambda: self.answers >= goal, f"{count} answers")

    def stop(self):
        self.is_stopped = True
        for thread in self.threads:
            thread.join()


def one_place_for_each_source(fleet, proxy, origin, report, is_haproxy):
    """However a source is written, one instance gets it: it is fetched once by the whole fleet."""
    fleet.forget()
    CountingOrigin.fetches.clear()
    before, statuses = fleet.downloads(), collections.Counter()
    connection, sources = connect(proxy.port), [f"{origin}/images/{number}.png?v=1&size=2" for number in range(24)]
    for source in sources:
        # What is behind `?` is no part of a source that is not escaped.
        bare = source.partition("?")[0] + ".bare"
        targets = {**spellings.plain(bare), "with parameters": f"/thumbnail?w=50&url={spellings.quoted(source)}",
                   "imgproxy, with parameters": f"/imgproxy/insecure/w:51/plain/{spellings.quoted(source)}"}
        if is_haproxy:
            targets |= spellings.in_base64(bare) | spellings.other_writings(bare)
        for name, target in targets.items():
            answer, body = get(connection, target)
            statuses[answer.status] += 1
            if answer.status != 200:
                report.line(f"      {name}: {target}: {answer.status} {body[:200]}")
        if is_haproxy:
            # nginx does not look into bodies.
            body = json.dumps({"url": bare, "renditions": ["w=20"]})
            connection.request("POST", "/thumbnails", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
    fetches, share = dict(CountingOrigin.fetches), [after - start for after, start in zip(fleet.downloads(), before)]
    torn = {path: count for path, count in fetches.items() if count > 1}
    report.check(set(statuses) == {200}, f"{statuses[200]} requests in all dialects were answered: {dict(statuses)}")
    report.check(len(fetches) == 2 * len(sources) and not torn,
                 f"each of {len(fetches)} sources reached one instance: {torn or 'no second fetch'}")
    report.check(all(share), f"all instances have a share: {[int(part) for part in share]}")


def a_burst(fleet, proxy, origin, report, relief):
    """Forty requests at once for one source: at least thirty wait at one instance."""
    fleet.forget()
    CountingOrigin.fetches.clear()
    CountingOrigin.gate.clear()
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        targets = [thumbnail(f"{origin}/held/{proxy.name}.png", w=10 + number) for number in range(40)]
        answers = [pool.submit(lambda target=target: get(connect(proxy.port), target)[0].status) for target in targets]
        try:
            until(lambda: sum(fleet.waiting()) == 40, f"40 waiting requests: {fleet.waiting()}")
            waiting = sorted(fleet.waiting(), reverse=True)
        finally:
            CountingOrigin.gate.set()
        statuses = collections.Counter(answer.result() for answer in answers)
    report.check(waiting[0] >= 30, f"of 40 requests at once {waiting[0]} reached one instance: {waiting}")
    if relief:
        report.check(waiting[0] < 40, "the others relieved it")
    report.check(statuses == {200: 40}, f"all were answered: {dict(statuses)}")


def a_loss(fleet, proxy, origin, report):
    """Under load one instance is killed, and comes back: no request fails, and only its sources are fetched anew."""
    fleet.forget()
    before, connection = fleet.downloads(), connect(proxy.port)
    targets = [thumbnail(f"{origin}/share/{number}.png", w=30) for number in range(80)]

    def ask():
        return collections.Counter(get(connection, target)[0].status for target in targets)

    ask()
    shares = [int(after - start) for after, start in zip(fleet.downloads(), before)]
    clients = Clients(proxy, origin)
    clients.answer(60)
    fleet.instances[1].kill()
    clients.answer(120)
    clients.stop()
    report.check(not clients.faults, f"an instance was killed: {len(clients.faults)} of {clients.answers} requests failed"
                 + "".join(f"\n        {fault}" for fault in clients.faults[:3]))
    CountingOrigin.fetches.clear()
    statuses = ask()
    moved = sum(count for path, count in CountingOrigin.fetches.items() if path.startswith("/share/"))
    report.check(statuses == {200: 80} and moved == shares[1],
                 f"only its share moved: {moved} of {shares}, answers {dict(statuses)}")
    fleet.start_again(1)

    def is_back():
        get(connection, targets[0])
        for target in targets:
            get(connection, target)
        return fleet.downloads()[1] == shares[1]

    until(is_back, f"its share came back: {fleet.downloads()[1]} of {shares[1]}")
    report.check(True, "its share came back to it")


def a_double_loss(fleet, proxy, origin, report):
    """Under load two instances are killed at once, as if a zone were lost: no request fails."""
    fleet.forget()
    clients = Clients(proxy, origin, sources=200, count=40)
    clients.answer(60)
    lost = 0, 3
    for index in lost:
        fleet.instances[index].kill()
    clients.answer(300)
    clients.stop()
    report.check(not clients.faults, f"two instances were killed: {len(clients.faults)} of {clients.answers} requests failed"
                 + "".join(f"\n        {fault}" for fault in clients.faults[:3]))
    for index in lost:
        fleet.start_again(index)


def a_drain(fleet, proxy, origin, report):
    """Under load one instance is asked to end, as an update does: no request fails."""
    clients = Clients(proxy, origin)
    clients.answer(60)
    instance = fleet.instances[2]
    instance.process.send_signal(signal.SIGTERM)
    status = instance.process.wait(PATIENCE)
    clients.answer(60)
    clients.stop()
    report.check(status == 0, f"an instance ended with status {status}")
    report.check(not clients.faults, f"meanwhile {len(clients.faults)} of {clients.answers} requests failed"
                 + "".join(f"\n        {fault}" for fault in clients.faults[:3]))
    fleet.start_again(2)
