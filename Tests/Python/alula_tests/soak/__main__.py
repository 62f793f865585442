"""Uses the service for minutes as its users do, in rounds, and judges that a later round leaves no more behind than an early one:
memory, descriptors, threads, worker processes, and errors in the log."""
import argparse
import asyncio
import collections
import itertools
import pathlib
import socket
import urllib.parse

from alula_tests.clients import connect, ends_of_workers, metrics, thumbnail
from alula_tests.images import gradient_png, noisy_png
from alula_tests.load.arrivals import Client
from alula_tests.origins import ImageHandler, serving
from alula_tests.report import Report
from alula_tests.service import Service

ROUNDS = 6
FORMATS = ("jpeg", "webp", "png", "avif", "auto", "gif")
OPERATIONS = ({}, {"fit": "cover", "h": 150}, {"rotate": 90}, {"blur": 3}, {"fit": "cover", "gravity": "attention", "h": 120})


class Images(ImageHandler):
    """Twelve images, the first half of one below /half, text below /text, and nothing below /gone."""
    bodies = [gradient_png(600 + 40 * number, 400) for number in range(6)] + [noisy_png(300, 200, n) for n in range(6)]

    def find(self, path):
        kind, _, number = path.removeprefix("/").partition("/")
        if kind == "gone":
            return None
        body = self.bodies[int(number) % len(self.bodies)] if kind != "text" else b"no image"
        return "image/png", body[:len(body) // 2] if kind == "half" else body


def requests(origin):
    """Targets of every kind in turns, with the statuses that they should have; most differ from all before them."""
    for number in itertools.count():
        format, operation = FORMATS[number % len(FORMATS)], OPERATIONS[number % len(OPERATIONS)]
        image = f"{origin}/image/{number}"
        yield thumbnail(image, w=120 + number % 97, format=format, **operation), 200
        yield thumbnail(f"{origin}/image/{number % 4}", w=200), 200
        yield thumbnail(image, w=100, placeholder="red"), 200
        yield "/info?" + urllib.parse.urlencode({"url": image}), 200
        yield thumbnail(f"{origin}/gone/{number}", w=100), 404
        yield thumbnail(f"{origin}/half/{number}", w=100), 422
        yield thumbnail(f"{origin}/text/{number}", w=100), 415
        yield thumbnail(image, w=0), 400


def leave(port, target):
    """A client that hangs up as soon as it has asked."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: soak\r\n\r\n".encode())


async def use(service, asked, seconds, rate, report):
    """One round of use, which ends with every answer read and every connection closed; returns how often each status came."""
    client = Client(service.port)
    for number in range(int(seconds * rate)):
        target, status = next(asked)
        # Seven and eight kinds in turns: each kind is left sometimes.
        if number % 7 == 6:
            leave(service.port, target)
        else:
            client.send(status, target)
        await asyncio.sleep(1 / rate)
    await client.settle()
    client.close()
    answers = client.take()
    wrong = [(answer.status, answer.fault, answer.kind) for answer in answers if answer.status != answer.kind]
    report.check(answers and not wrong, f"{len(answers)} answers had the status that was due; not these: {wrong[:5]}")
    return collections.Counter(answer.status for answer in answers)


def left(service):
    """What the service holds: MiB of memory of its own with its worker processes, descriptors, threads and worker processes."""
    workers, memory = service.workers(), 0
    for process in (service.process.pid, *workers):
        for row in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if row.startswith(("Private_Dirty:", "Swap:")):
                memory += int(row.split()[1])
    descriptors = list(pathlib.Path(f"/proc/{service.process.pid}/fd").iterdir())
    return {"MiB": memory // 1024, "descriptors": len(descriptors), "threads": len(service.threads()), "workers": len(workers)}


async def run(options, origin, report):
    with Service(options.alula, "--access-log", "off") as service:
        asked, found = requests(origin), []
        for number in range(ROUNDS):
            counts = await use(service, asked, options.seconds / ROUNDS, options.rate, report)
            connection = connect(service.admin_port)
            connection.request("DELETE", "/cache")
            purged = connection.getresponse()
            report.check(purged.status == 200, f"the caches were purged: {purged.status}")
            connection.close()
            await asyncio.sleep(3)
            found.append(left(service))
            report.line(f"      round {number + 1}: {dict(counts)}; then {found[-1]}")
        early, late = found[1], found[-1]
        report.check(late["MiB"] <= early["MiB"] * 1.2 + 16, f"memory: {early['MiB']} MiB, then {late['MiB']}")
        for name in ("descriptors", "threads", "workers"):
            report.check(late[name] <= early[name] + 4, f"{name}: {early[name]}, then {late[name]}")
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
        asyncio.run(run(options, f"http://127.0.0.1:{port}", report))
    if report.faults:
        raise SystemExit("FAILED")


if __name__ == "__main__":
    main()
