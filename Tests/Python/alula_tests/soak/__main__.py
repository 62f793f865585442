"""Uses the service for minutes as its users do, in rounds, and judges that a later round leaves no more behind than an early one:
memory, descriptors, threads, worker processes, and errors in the log."""
import argparse
import collections
import concurrent.futures
import contextlib
import http.client
import itertools
import pathlib
import socket
import tempfile
import threading
import time

from alula_tests.clients import connect, ends_of_workers, get, metrics, thumbnail
from alula_tests.origins import serving
from alula_tests.report import Report
from alula_tests.service import Service
from alula_tests.soak.requests import DIALECTS, Images, PNGS, Request, in_turns

ROUNDS = 6
SENDERS = 8
# Ends of worker processes that are no faults: one that has worked long enough, and one whose last reader has left.
CALM_ENDS = ("recycled", "cancelled")


class Senders:
    """Threads that send requests to one service, each over its own two connections, until the end of `with`. `bodies` has the hash of
    each thumbnail that came before, by target."""

    def __init__(self, service, bodies):
        self.service, self.bodies = service, bodies
        self.own, self.connections, self.is_lost = threading.local(), [], False
        self.threads = concurrent.futures.ThreadPoolExecutor(SENDERS, initializer=self._connect)

    def _connect(self):
        self.own.connections = connect(self.service.port), connect(self.service.admin_port)
        self.connections += self.own.connections

    def send(self, request):
        return self.threads.submit(self._ask, request)

    def _ask(self, request):
        """The status of the answer, and whether all in it is as it should be."""
        if self.is_lost:
            return "not asked", False
        connection = self.own.connections[request.is_of_operators]
        try:
            connection.request(request.method, request.target, request.body or None, request.fields)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as failure:
            # One that waits in vain is enough: the others need not wait as well.
            self.is_lost = True
            return repr(failure), False
        # A part that was not made is a problem document.
        is_right = answer.status == request.status and b"application/problem+json" not in body
        if is_right and answer.status == 200 and request.method == "GET" and not request.is_of_operators:
            is_right = self.bodies.setdefault(request.target, hash(body)) == hash(body)
        return answer.status, is_right

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.threads.shutdown()
        for connection in self.connections:
            connection.close()


def leave(service, request):
    """A client that hangs up as soon as it has asked, or in the middle of its body."""
    port = service.admin_port if request.is_of_operators else service.port
    fields = {"Host": "localhost", **request.fields, **({"Content-Length": len(request.body)} if request.body else {})}
    head = [f"{request.method} {request.target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall("\r\n".join(head).encode() + request.body[:len(request.body) // 2])


def use(service, asked, bodies, seconds, rate, report):
    """One round of use, which ends with every answer read and every connection closed; returns how often each status came."""
    sent, begun = [], time.monotonic()
    with Senders(service, bodies) as senders:
        for number in range(int(seconds * rate)):
            time.sleep(max(begun + number / rate - time.monotonic(), 0))
            # Seven and the number of kinds have no common divisor: each kind is left sometimes.
            if number % 7 == 6:
                leave(service, next(asked))
                leave(service, Request("/events", is_of_operators=True))
            else:
                request = next(asked)
                sent.append((request, senders.send(request)))
        answers = [(request, *answer.result()) for request, answer in sent]
    wrong = [(request.method, request.target, status) for request, status, is_right in answers if not is_right]
    report.check(answers and not wrong, f"{len(answers)} answers were as they should be; not these: {wrong[:5]}")
    return collections.Counter(status for _, status, _ in answers)


def memory(process):
    """The kilobytes of memory that a process alone uses; 0 if it has ended."""
    with contextlib.suppress(OSError):
        rows = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return sum(int(row.split()[1]) for row in rows if row.startswith(("Private_Dirty:", "Swap:")))
    return 0


def held(service):
    """What the service holds: memory of its own and of its worker processes in MiB, descriptors, threads and child processes."""
    children = service.children()
    return {
        "MiB": memory(service.process.pid) // 1024,
        "MiB of workers": sum(memory(child) for child in children) // 1024,
        "descriptors": len(list(pathlib.Path(f"/proc/{service.process.pid}/fd").iterdir())),
        "threads": len(service.threads()),
        "workers": sum(state != "Z" for state in children.values()),
        "zombies": sum(state == "Z" for state in children.values()),
    }


def allowed(name, early):
    """The most that a late round may hold where an early one held so much: an allocator keeps some of what was freed."""
    return {"MiB": early * 1.2 + 8, "MiB of workers": early * 1.2 + 16, "descriptors": early + 2, "threads": early + 3}.get(name, early)


def make_files(service, origin):
    """Serves what the service makes of the PNGs from now on, too."""
    connection = connect(service.port)
    for number, format in itertools.product(range(len(PNGS)), ("jpeg", "webp", "gif", "avif")):
        answer, body = get(connection, thumbnail(f"{origin}/image/{number}", w=600, format=format))
        if answer.status != 200:
            raise SystemExit(f"FAILED: {format} was not made: {answer.status} {body[:200]}")
        Images.files = [*Images.files, (answer.headers["Content-Type"], body)]
    connection.close()


def purge(service, report):
    connection = connect(service.admin_port)
    connection.request("DELETE", "/cache")
    answer = connection.getresponse()
    report.check(answer.status == 200, f"the caches were purged: {answer.status}")
    connection.close()


def run_rounds(options, service, origin, report):
    make_files(service, origin)
    asked, bodies, found = in_turns(origin), {}, []
    for number in range(ROUNDS):
        counts = use(service, asked, bodies, options.seconds / ROUNDS, options.rate, report)
        purge(service, report)
        # Worker processes that rest for ten seconds give memory back.
        time.sleep(12)
        found.append(held(service))
        report.line(f"      round {number + 1}: {dict(counts)}; then {found[-1]}")
    for name, early in found[1].items():
        report.check(found[-1][name] <= allowed(name, early), f"{name}: {early} after round 2, {found[-1][name]} after the last")
    ends = ends_of_workers(metrics(service))
    report.check(not any(number for cause, number in ends.items() if cause not in CALM_ENDS), f"worker processes ended: {ends}")


def run(options, origin, report):
    with (tempfile.TemporaryDirectory() as folder,
          Service(options.alula, "--access-log", "off", "--uploads", "on", "--source-cache-path", folder, "--source-cache-disk", "4MiB",
                  "--result-cache-disk", "4MiB", "--keep-alive-timeout", "10m", *DIALECTS) as service):
        try:
            run_rounds(options, service, origin, report)
        except OSError as failure:
            report.check(False, f"the service is not reached: {failure!r}")
        for complaint in service.stop():
            report.check(False, complaint)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable, built for production")
    parser.add_argument("--seconds", type=float, default=600, help="how long it is used")
    parser.add_argument("--rate", type=float, default=20, help="requests a second")
    options = parser.parse_args()
    report = Report()
    with serving(Images) as port:
        run(options, f"http://127.0.0.1:{port}", report)
    if report.faults:
        raise SystemExit("FAILED")


if __name__ == "__main__":
    main()
