"""Requests the most expensive thumbnails, floods the service with five times what it can do, ends it under load, opens more connections
than it takes, and fetches from slow hosts."""
import argparse
import asyncio
import gc
import itertools
import os
import pathlib
import random
import resource
import signal
import time
import urllib.parse

from alula_tests.images import gradient_png
from alula_tests.load.arrivals import Client, percentile
from alula_tests.origins import ImageHandler, serving
from alula_tests.report import Report
from alula_tests.service import Service

CONNECTIONS = 8192


class Images(ImageHandler):
    """An image at every path but /gone.png, or one that comes at 6 kB/s below /slow: just quick enough not to be given up."""
    bodies = {"/image.png": gradient_png(1200, 900), "/tiny.png": gradient_png(64, 64)}

    def find(self, path):
        return None if path == "/gone.png" else ("image/png", self.bodies.get(path, self.bodies["/image.png"]))

    def do_GET(self):
        if self.path.startswith("/slow"):
            return self.drip()
        super().do_GET()

    def drip(self):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(self.bodies["/image.png"])))
        self.end_headers()
        try:
            for place in range(0, len(self.bodies["/image.png"]), 1500):
                self.wfile.write(self.bodies["/image.png"][place:place + 1500])
                time.sleep(0.25)
        except OSError:
            pass


def misses(origin):
    """New thumbnails of similar cost, enough for half an hour: each is rendered, from cached pixels."""
    sizes = list(itertools.product(range(600, 700), range(450, 525), range(50, 95)))
    random.Random(2).shuffle(sizes)
    for width, height, quality in sizes:
        yield target(origin, width, f"&h={height}&fit=cover&q={quality}")


def target(origin, width, more=""):
    return f"/thumbnail?url={urllib.parse.quote(origin, safe='')}&w={width}&format=webp{more}"


def expensive(origin):
    """The most expensive that are allowed of a source of 64×64, and of one that is not there: all differ, so that nothing is shared."""
    base = origin.removesuffix("/image.png")
    for number in itertools.count():
        for format, side in (("avif", 2440), ("webp", 4990), ("png", 4990), ("gif", 2440), ("jpeg", 4990)):
            box = f"&w={side - number % 100}&h={side - number // 100}&format={format}"
            yield f"/thumbnail?url={urllib.parse.quote(base + '/tiny.png', safe='')}{box}&enlarge=1&fit=fill"
            if format in ("avif", "gif"):
                yield f"/thumbnail?url={urllib.parse.quote(base + '/gone.png', safe='')}{box}&placeholder=red"


def milliseconds(answers, share):
    return percentile([answer.latency for answer in answers], share) * 1000


async def capacity(client, fresh, seconds):
    """The largest rate: a few requests are always in progress, too few for a refusal."""
    await client.take_turns("miss", fresh, 2, 2)
    client.take()
    start = time.monotonic()
    await client.take_turns("miss", fresh, 6, seconds)
    answers = client.take()
    assert all(answer.status == 200 for answer in answers), "a request was refused below the capacity"
    return len(answers) / (time.monotonic() - start)


async def with_company(service, client, hits, seconds):
    """Hits at fifty a second, health on both listeners twice a second, metrics once."""
    operators = Client(service.admin_port)
    await asyncio.gather(
        client.arrive("hit", itertools.repeat(hits), 50, seconds),
        client.arrive("health", itertools.repeat("/health/live"), 2, seconds),
        operators.arrive("operators' health", itertools.repeat("/health/ready"), 2, seconds),
        operators.arrive("metrics", itertools.repeat("/metrics"), 1, seconds))
    await operators.settle()
    operators.close()
    client.answers += operators.take()


def processor_seconds(service):
    """CPU time that the service has used."""
    fields = pathlib.Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def describe_hits(answers):
    return f"p50 {milliseconds(answers, 0.5):.1f} ms, p99 {milliseconds(answers, 0.99):.1f} ms"


async def flood(service, origin, report, options):
    client, fresh, hot = Client(service.port), misses(origin), target(origin, 300)
    client.send("warm", hot)
    await client.settle()
    assert client.take()[0].status == 200, "the image cannot be fetched"
    peak = await capacity(client, fresh, options.seconds / 6)

    await asyncio.gather(
        with_company(service, client, hot, options.seconds / 6),
        client.arrive("miss", fresh, peak * 0.8, options.seconds / 6))
    await client.settle()
    calm_hits, calm_misses = client.take("hit"), client.take("miss")
    client.take()
    report.line(f"      at 80 %: misses p50 {milliseconds(calm_misses, 0.5):.0f} ms, hits {describe_hits(calm_hits)}")

    rate = peak * options.times
    start, used = time.monotonic(), (processor_seconds(service), time.process_time())
    await asyncio.gather(
        with_company(service, client, hot, options.seconds), client.arrive("miss", fresh, rate, options.seconds))
    end, used = time.monotonic(), (processor_seconds(service) - used[0], time.process_time() - used[1])
    # The load falls to half of the capacity at once.
    await client.arrive("after", fresh, peak / 2, 8)
    await client.settle()
    flooded = client.take()
    # The machine's speed changes, so the largest rate is measured before and after the flood.
    peak = (peak + await capacity(client, fresh, options.seconds / 6)) / 2
    client.answers = flooded
    report.line(f"      capacity: {peak:.1f} misses a second")

    made = [a for a in client.answers if a.kind == "miss" and a.status == 200 and a.due + a.latency <= end]
    refused = [a for a in client.answers if a.kind == "miss" and a.status == 503]
    done = client.take("miss")
    hits, after, others = client.take("hit"), client.take("after"), client.take()
    goodput = len(made) / (end - start)
    report.line(f"      flood: {len(done) / (end - start):.0f} misses a second arrived for {end - start:.0f} s, "
                f"{goodput:.1f} were made (p50 {milliseconds(made, 0.5):.0f} ms, p99 {milliseconds(made, 0.99):.0f} ms), "
                f"{len(refused) / (end - start):.0f} refused (p50 {milliseconds(refused, 0.5):.1f} ms)")
    report.line(f"      processor time: {used[0]:.0f} s by the service, {used[1]:.0f} s by this program")
    report.check(len(done) >= 0.99 * rate * options.seconds, "the flood arrived as it should")
    report.check(all(a.status in (200, 503) for a in done),
                 "every miss was made or refused: " + str(count(done)))
    report.check(goodput >= 0.9 * peak, f"goodput is {100 * goodput / peak:.0f} % of the peak")
    report.check(milliseconds(refused, 0.99) < 20, f"refusals: p99 {milliseconds(refused, 0.99):.1f} ms")
    report.check(all(a.retry_after.isdigit() for a in refused), "every refusal has Retry-After")
    report.check(all(a.status == 200 for a in hits), f"all {len(hits)} hits were answered")
    report.check(milliseconds(hits, 0.99) < max(20, 2 * milliseconds(calm_hits, 0.99)), f"hits: {describe_hits(hits)}")
    report.check(all(a.status == 200 for a in others), f"all {len(others)} looks at health and metrics were answered, "
                 f"p99 {milliseconds(others, 0.99):.1f} ms")
    late = [a.due + a.latency - end for a in after
            if a.status != 200 or a.latency > max(0.1, 3 * percentile([m.latency for m in calm_misses], 0.95))]
    client.close()
    report.check(max(late, default=0) < 2, f"recovered after {max(late, default=0):.2f} s: "
                 f"{sum(a.status != 200 for a in after)} of {len(after)} requests after the flood were refused")
    return peak


async def unharmed(service, origin, report, options):
    """Thumbnails at a rate that is easily borne, first alone, then while strangers ask for the most expensive ones."""
    client, fresh, strangers, harm = Client(service.port), misses(origin), Client(service.port), expensive(origin)
    client.send("warm", target(origin, 300))
    await client.settle()
    seconds = max(10, options.seconds / 3)
    await client.arrive("alone", fresh, 5, seconds / 2)
    await client.settle()
    await asyncio.gather(
        strangers.arrive("expensive", harm, 8, seconds), client.arrive("beside", fresh, 5, seconds))
    # The time includes the longest wait that the service allows.
    await asyncio.gather(client.settle(), strangers.settle(60))
    client.answers.sort(key=lambda answer: answer.due)
    alone, beside, others = client.take("alone"), client.take("beside"), strangers.take()
    for name, answers in (("alone", alone), ("beside expensive ones", beside)):
        answers = [answer for answer in answers if answer.status == 200]
        report.line(f"      {len(answers)} thumbnails made {name}: p50 {milliseconds(answers, 0.5):.0f} ms, "
                    f"p99 {milliseconds(answers, 0.99):.0f} ms, longest {milliseconds(answers, 1):.0f} ms")
    report.line(f"      {len(others)} expensive ones in {seconds:.0f} s: {count(others)}, refused after "
                f"p50 {milliseconds([a for a in others if a.status == 503], 0.5):.0f} ms")
    report.check(all(a.status == 200 for a in alone + beside),
                 f"all {len(alone + beside)} thumbnails were made: {count(alone + beside)}")
    report.check(milliseconds(beside, 0.99) < 1000, f"expensive ones leave thumbnails their workers: "
                 f"p99 {milliseconds(beside, 0.99):.0f} ms")
    report.check(all(a.status in (200, 503, 404) for a in others), f"expensive ones are made or refused: {count(others)}")
    client.close()
    strangers.close()


def count(answers):
    counts = {}
    for answer in answers:
        key = answer.status or answer.fault
        counts[key] = counts.get(key, 0) + 1
    return counts


async def ending(service, origin, peak, report, is_single):
    """SIGTERM in the middle of 80 % load: requests that were sent before are answered."""
    client, fresh, hot = Client(service.port, is_single=is_single), misses(origin), target(origin, 300)
    client.send("warm", hot)
    await client.settle()
    client.take()
    gone = False
    arriving = asyncio.gather(
        client.arrive("miss", fresh, peak * 0.8, 6, until=lambda: gone),
        client.arrive("hit", itertools.repeat(hot), 200, 6, until=lambda: gone))
    await asyncio.sleep(3)
    in_hand, signalled = client.in_hand, time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    status = await asyncio.to_thread(service.process.wait, 20)
    took, gone = time.monotonic() - signalled, True
    await arriving
    await client.settle()
    answers = client.take()
    before, later = [a for a in answers if a.begun <= signalled], [a for a in answers if a.begun > signalled]
    kind = "one request a connection" if is_single else "kept connections"
    report.check(status == 0 and took < 8, f"SIGTERM, {kind}: exit status {status} after {took:.2f} s")
    report.check(all(a.status == 200 for a in before),
                 f"all {in_hand} in hand and {len(before) - in_hand} before them were answered: {count(before)}")
    # A request that crosses the end of its kept connection gets no answer; RFC 9112 has clients repeat it.
    crossed = () if is_single else ("closed in hand: None",)
    report.check(all(a.status in (200, 503) or a.fault in ("not connected", *crossed) for a in later),
                 f"those that came later were answered, refused or not connected: {count(later)}")


async def crowd(service, origin, report):
    """More connections than the service takes: those above are closed at once, the others served."""
    hot = f"GET {target(origin, 300)} HTTP/1.1\r\nHost: load\r\n\r\n".encode()
    outcomes = {"served": 0, "refused": 0}
    faults = []
    loop, arrived, everybody = asyncio.get_running_loop(), 0, asyncio.Event()

    class Guest(asyncio.Protocol):
        received = b""

        def connection_made(self, transport):
            self.transport, self.done = transport, loop.create_future()

        def data_received(self, data):
            self.received += data
            if not self.done.done():
                self.done.set_result(None)

        def connection_lost(self, failure):
            if not self.done.done():
                self.done.set_result(None)

    async def guest():
        nonlocal arrived
        _, protocol = await loop.create_connection(Guest, "127.0.0.1", service.port)
        arrived += 1
        if arrived == CONNECTIONS:
            everybody.set()
        await everybody.wait()
        if not protocol.done.done():
            protocol.transport.write(hot)
        try:
            await asyncio.wait_for(protocol.done, 30)
        except TimeoutError:
            faults.append("left hanging")
        if protocol.received.startswith(b"HTTP/1.1 200"):
            outcomes["served"] += 1
        elif not protocol.received:
            outcomes["refused"] += 1
        else:
            faults.append(protocol.received[:60])
        return protocol

    guests = []
    for _ in range(0, CONNECTIONS, 256):
        guests += [asyncio.ensure_future(guest()) for _ in range(256)]
        await asyncio.sleep(0.02)
    protocols = await asyncio.gather(*guests)
    operators = Client(service.admin_port)
    operators.send("metrics", "/metrics")
    await operators.settle()
    for protocol in protocols:
        protocol.transport.close()
    # A served connection is idle, and may be closed for one that has not been accepted yet.
    report.check(not faults and outcomes["served"] >= 4096 and sum(outcomes.values()) == CONNECTIONS,
                 f"{CONNECTIONS} connections at a limit of 4096: {outcomes}, {len(faults)} faults {faults[:3]}")
    report.check(operators.take()[0].status == 200, "operators were answered meanwhile")
    await asyncio.sleep(0.5)
    client = Client(service.port)
    client.send("hit", target(origin, 300))
    await client.settle()
    report.check(client.take()[0].status == 200, "a place is free again afterwards")


async def neighbors(service, origin, report):
    """Sixty-four clients of eight slow hosts, and misses of a ninth one."""
    port = urllib.parse.urlsplit(origin).port
    fresh = itertools.count()
    client = Client(service.port)
    slow = {f"http://127.0.0.{number}:{port}": Client(service.port) for number in range(2, 10)}

    def images(place):
        return (target(f"{place}/{number}.png", 300) for number in fresh)

    occupants = [asyncio.ensure_future(crowd.take_turns("slow", images(f"{host}/slow"), 8, 22))
                 for host, crowd in slow.items()]
    await asyncio.sleep(1)
    paths = images(f"http://127.0.0.20:{port}")
    # Four at once, so that a host's second transfer counts as well as its first.
    for _ in range(20):
        for _ in range(4):
            client.send("miss", next(paths))
        await asyncio.sleep(1)
    await client.settle()
    await asyncio.gather(*occupants)
    answers, others = client.take("miss"), [answer for crowd in slow.values() for answer in crowd.take()]
    for some in (client, *slow.values()):
        some.close()
    report.line(f"      slow hosts: {count(others)}; a ninth host: p50 {milliseconds(answers, 0.5):.0f} ms, "
                f"p99 {milliseconds(answers, 0.99):.0f} ms, longest {milliseconds(answers, 1):.0f} ms")
    report.check(all(a.status == 200 for a in answers),
                 f"all {len(answers)} misses of a ninth host were answered: {count(answers)}")
    report.check(milliseconds(answers, 1) < 2000, "none of them waited for the slow hosts")


def start(options, *more):
    # No line a request: this program would have to read them, on the same cores.
    return Service(options.alula, "--access-log", "off", *more)


async def with_slow_neighbors(options, origin, report):
    with start(options) as service:
        await neighbors(service, origin, report)


async def run(options, origin, report):
    if options.only_neighbors:
        return await with_slow_neighbors(options, origin, report)
    with start(options) as service:
        await unharmed(service, origin, report, options)
    if options.only_expensive:
        return
    with start(options) as service:
        peak = await flood(service, origin, report, options)
        await crowd(service, origin, report)
        for complaint in service.stop():
            report.check(False, complaint)
    await with_slow_neighbors(options, origin, report)
    for is_single in (True, False):
        with start(options) as service:
            await ending(service, origin, peak, report, is_single)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable, built for production")
    parser.add_argument("--seconds", type=float, default=60, help="how long the flood lasts")
    parser.add_argument("--times", type=float, default=5, help="the flood, as a multiple of the capacity")
    parser.add_argument("--only-expensive", action="store_true", help="only thumbnails beside expensive requests")
    parser.add_argument("--only-neighbors", action="store_true", help="nothing but the slow hosts")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < CONNECTIONS + 200:
        raise SystemExit(f"{CONNECTIONS} connections need more descriptors than the {hard} that this machine grants")

    report = Report()
    gc.disable()
    # On every address of the loopback network: each is a host of its own.
    with serving(Images, "0.0.0.0") as port:
        asyncio.run(run(options, f"http://127.0.0.1:{port}/image.png", report))
    if report.faults:
        raise SystemExit("FAILED")


if __name__ == "__main__":
    main()
