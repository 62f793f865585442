"""Uses the service for minutes as its users do, in rounds, and judges that a later round leaves no more behind than an early one:
memory, descriptors, threads, worker processes, and errors in the log."""
import argparse
import collections
import concurrent.futures
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
READERS = 8


class Readers:
    """Threads that send requests to one service, each over its own two connections, until the end of `with`."""

    def __init__(self, service):
        self.service = service
        self.own, self.connections = threading.local(), []
        self.threads = concurrent.futures.ThreadPoolExecutor(READERS, initializer=self._connect)

    def _connect(self):
        self.own.connections = connect(self.service.port), connect(self.service.admin_port)
        self.connections += self.own.connections

    def send(self, request):
        return self.threads.submit(self._read, request)

    def _read(self, request):
        """The status of the answer, and whether all in it is as it should be."""
        connection = self.own.connections[request.is_of_operators]
        try:
            connection.request(request.method, request.target, request.body or None, request.fields)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as failure:
            connection.close()
            return repr(failure), False
        # A part that was not made is a problem document.
        return answer.status, answer.status == request.status and (answer.status >= 400 or b"application/problem+json" not in body)

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
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall("\r\n".join(head).encode() + request.body[:len(request.body) // 2])


def use(service, asked, seconds, rate, report):
    """One round of use, which ends with every answer read and every connection closed; returns how often each status came."""
    sent, begun = [], time.monotonic()
    with Readers(service) as readers:
        for number in range(int(seconds * rate)):
            time.sleep(max(begun + number / rate - time.monotonic(), 0))
            # Seven and the number of kinds have no common divisor: each kind is left sometimes.
            if number % 7 == 6:
                leave(service, next(asked))
                leave(service, Request("/events", is_of_operators=True))
            else:
                request = next(asked)
                sent.append((request, readers.send(request)))
        answers = [(request, *answer.result()) for request, answer in sent]
    wrong = [(request.method, request.target, status) for request, status, is_right in answers if not is_right]
    report.check(answers and not wrong, f"{len(answers)} answers were as they should be; not these: {wrong[:5]}")
    return collections.Counter(status for _, status, _ in answers)


def left(service):
    """What the service holds: MiB of memory of its own with its worker processes, descriptors, threads and worker processes."""
    workers, memory = service.workers(), 0
    for process in (service.process.pid, *workers):
        for row in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if row.startswith(("Private_Dirty:", "Swap:")):
                memory += int(row.split()[1])
    descriptors = list(pathlib.Path(f"/proc/{service.process.pid}/fd").iterdir())
    return {"MiB": memory // 1024, "descriptors": len(descriptors), "threads": len(service.threads()), "workers": len(workers)}


def make_files(service, origin):
    """Serves what the service makes of the PNGs from now on, too."""
    connection = connect(service.port)
    for number, format in itertools.product(range(len(PNGS)), ("jpeg", "webp", "gif", "avif")):
        answer, body = get(connection, thumbnail(f"{origin}/image/{number}", w=600, format=format))
        if answer.status != 200:
            raise SystemExit(f"FAILED: {format} was not made: {answer.status} {body[:200]}")
        Images.files = [*Images.files, (answer.headers["Content-Type"], body)]
    connection.close()


def run(options, origin, report):
    with (tempfile.TemporaryDirectory() as folder,
          Service(options.alula, "--access-log", "off", "--uploads", "on", "--source-cache-path", folder, "--source-cache-disk", "4MiB",
                  "--result-cache-disk", "4MiB", *DIALECTS) as service):
        make_files(service, origin)
        asked, found = in_turns(origin), []
        for number in range(ROUNDS):
            counts = use(service, asked, options.seconds / ROUNDS, options.rate, report)
            connection = connect(service.admin_port)
            connection.request("DELETE", "/cache")
            purged = connection.getresponse()
            report.check(purged.status == 200, f"the caches were purged: {purged.status}")
            connection.close()
            time.sleep(3)
            found.append(left(service))
            report.line(f"      round {number + 1}: {dict(counts)}; then {found[-1]}")
        early, late = found[1], found[-1]
        report.check(late["MiB"] <= early["MiB"] * 1.2 + 16, f"memory: {early['MiB']} MiB, then {late['MiB']}")
        for name, more in (("descriptors", 4), ("threads", 4), ("workers", 0)):
            report.check(late[name] <= early[name] + more, f"{name}: {early[name]}, then {late[name]}")
        ends = ends_of_workers(metrics(service))
        report.check(not any(ends.values()), f"no worker process ended: {ends}")
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
