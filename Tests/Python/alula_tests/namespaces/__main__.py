"""Tries the service in a network namespace that has every address and notes each dialled one: no denied address may be dialled.

The service runs in one network namespace, the world in another, with a cable between them. Where the machine grants no namespaces,
nothing is tried, and that is said.
"""
import argparse
import collections
import concurrent.futures
import http.client
import ipaddress
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from alula_tests.namespaces import cases
from alula_tests.namespaces.world import NAME_SERVER, ORIGIN, ip
from alula_tests.service import Service

MODULE = "alula_tests.namespaces"
OWN = ["11.11.11.2", "2a00:1450:1::2"]
# Dialled by this program alone, and last of all: when it has been seen, everything before it has been.
LAST = (ORIGIN, 25)


def wait(what, condition, seconds=60):
    """Waits until a condition holds; ends the program if it does not."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"FAILED: waited {seconds} s for {what}")
        time.sleep(0.02)


def enter():
    """Starts this program again in namespaces of its own, and ends with its status."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        return "unshare or ip is not installed"
    for more in ([], ["--user", "--map-root-user"]):
        command = ["unshare", *more, "--net", "--mount"]
        trial = subprocess.run([*command, "ip", "link", "add", "here", "type", "veth", "peer", "name", "there"],
                               capture_output=True, text=True)
        if trial.returncode == 0:
            raise SystemExit(
                subprocess.run([*command, sys.executable, "-m", MODULE, *sys.argv[1:], "--inside"]).returncode)
    return f"this machine grants no network namespaces: {trial.stderr.strip()}"


class World:
    """The other namespace, and the addresses that were connected to there."""

    def __init__(self):
        real = [f"{a}/32" for a in cases.DENIED_IPV4 if not a.startswith(("0.", "127.", "224.", "240.", "255."))]
        real += [f"{a}/128" for a in cases.DENIED_IPV6 if not a.startswith(("::", "fe80", "ff02"))]
        self.process = subprocess.Popen(
            ["unshare", "--net", sys.executable, "-m", MODULE + ".world", *real],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.accepted, self.ready = [], threading.Event()
        # The child has arrived when its namespace differs from this one.
        mine = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.process.pid}/ns/net") == mine:
            if self.process.poll() is not None:
                raise SystemExit("FAILED: the world has ended before it began")
            time.sleep(0.01)
        ip("link set lo up")
        ip(f"link add cable type veth peer name world netns {self.process.pid}")
        ip(f"addr add {OWN[0]}/30 dev cable")
        ip(f"-6 addr add {OWN[1]}/64 dev cable nodad")
        ip("link set cable up")
        ip("route add default via 11.11.11.1")
        ip("-6 route add default via 2a00:1450:1::1")
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        threading.Thread(target=self._collect, daemon=True).start()
        if not self.ready.wait(120):
            raise SystemExit("FAILED: the world did not become ready")

    def _collect(self):
        for line in self.process.stdout:
            if line == "ready\n":
                self.ready.set()
            else:
                address, port = line.split()
                self.accepted.append((address, int(port)))

    def end(self):
        self.process.kill()
        self.process.wait()


class Watch:
    """Sees every attempt to connect, whether an address has a listener or not."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
        self.attempts = collections.Counter()
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self):
        while True:
            packet, (_, protocol, *_rest) = self.socket.recvfrom(256)
            if protocol == 0x0800 and packet[9] == 6:
                address, segment = socket.inet_ntop(socket.AF_INET, packet[16:20]), packet[(packet[0] & 15) * 4:]
            elif protocol == 0x86dd and packet[6] == 6:
                address, segment = socket.inet_ntop(socket.AF_INET6, packet[24:40]), packet[40:]
            else:
                continue
            # The first segment of a connection: SYN without ACK.
            if segment[13] & 0x12 == 0x02:
                self.attempts[address, struct.unpack(">H", segment[2:4])[0]] += 1


class Traps:
    """Listeners in the service's own namespace, on all of its addresses."""

    def __init__(self, ports):
        self.accepted = []
        for family, anywhere in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            for port in ports:
                trap = socket.socket(family, socket.SOCK_STREAM)
                if family == socket.AF_INET6:
                    trap.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                trap.bind((anywhere, port))
                trap.listen()
                threading.Thread(target=self._collect, args=[trap], daemon=True).start()

    def _collect(self, trap):
        while True:
            connection, _ = trap.accept()
            self.accepted.append(connection.getsockname()[:2])
            connection.close()


class Trial:
    """Requests to the service, and faults of the answers."""

    def __init__(self, port):
        self.port, self.faults, self.checks = port, [], 0
        self.connections = threading.local()

    def ask(self, url):
        """Status and body of a thumbnail of this URL; one connection a thread."""
        target = "/thumbnail?w=8&url=" + urllib.parse.quote(url, safe="")
        connection = getattr(self.connections, "one", None)
        if connection is None:
            connection = self.connections.one = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def expect(self, url, *statuses):
        self.checks += 1
        status, body = self.ask(url)
        if status not in statuses:
            self.faults.append(f"{url!r}: {status} {body[:120]!r}, expected {statuses}")
        return status, body

    def check(self, holds, text):
        self.checks += 1
        if not holds:
            self.faults.append(text)


def redirect(url):
    return f"http://origin.test/redirect/{url.encode('utf-8', 'surrogateescape').hex()}"


def try_cases(trial, rejects, allows):
    """Each as a first URL and as the target of a redirect."""
    denials = set()
    for url in rejects:
        # An unknown name leads nowhere, and neither does a redirect whose header a control character has ended. A URL may be too long
        # for a request target.
        is_long = len(url) > 1024
        status, body = trial.expect(url, 400, 403, 502, *([414] if is_long else []))
        if status == 403:
            denials.add(body.partition(b'"requestId"')[0])
        trial.expect(redirect(url), 403, 502, *([400, 414] if is_long else []))
    trial.check(len(denials) <= 1, f"refusals differ: {denials}")
    for url in allows:
        # No host of this world speaks TLS.
        statuses = (502, 504) if url.startswith("https") else (200,)
        trial.expect(url, *statuses)
        trial.expect(redirect(url), *statuses)


def try_names(trial):
    trial.expect("http://origin.test/a.png", 200)
    for name in ("metadata", "private", "loopback", "private6", "mapped", "mixed", "mixed-reversed", "mixed-families"):
        trial.expect(f"http://{name}.test/a.png", 403)
        trial.expect(redirect(f"http://{name}.test/a.png"), 403)
    trial.expect("http://nobody.test/a.png", 403)
    # The first look-up is good and the next one bad, and the other way round: each counts for itself alone.
    trial.expect("http://rebinding.test/a.png", 200)
    trial.expect("http://rebinding.test/b.png", 403)
    trial.expect("http://rebinding-back.test/a.png", 403)
    trial.expect("http://rebinding-back.test/b.png", 200)
    trial.expect(redirect("http://rebinding.test/c.png"), 403)
    for address in OWN:
        trial.expect(f"http://[{address}]/a.png" if ":" in address else f"http://{address}/a.png", 403)


def try_paths(options):
    """With one folder allowed, no spelling of a path leads out of it; the origin resolves paths as common servers do."""
    service = Service(options.alula, "--bind", "127.0.0.1", "--access-log", "off", "--allowed-sources",
                      "http://origin.test/public/*,http://origin.test/redirect/*", networks=None)
    trial = Trial(service.port)
    try:
        trial.expect("http://origin.test/public/a.png", 200)
        trial.expect(redirect("http://origin.test/public/a.png"), 200)
        trial.expect("http://origin.test/private/secret.png", 403)
        for up in ("..", "%2e%2e", "%2E%2e", ".%2e", "%2e.", "x/../..", "x/%2e%2e/%2e%2e", "..%2fpublic%2f..", "%2e%2e%5c%2e%2e"):
            url = f"http://origin.test/public/{up}/private/secret.png"
            trial.expect(url, 400)
            trial.expect(redirect(url), 403)
        for url in ("http://origin.test/public/..%2fprivate/secret.png", "http://origin.test/public/..%5cprivate/secret.png"):
            trial.expect(url, 400)
            trial.expect(redirect(url), 403)
        return trial.checks, trial.faults + service.stop()
    finally:
        service.kill()


def try_silence(trial):
    """Names without an answer delay their own requests, and no others."""
    with concurrent.futures.ThreadPoolExecutor(120) as pool:
        silent = [pool.submit(trial.ask, f"http://{n}.silent.test/a.png") for n in range(12)]
        time.sleep(0.2)
        start = time.monotonic()
        others = [pool.submit(trial.ask, f"http://{n % 20}.origin.test/{n}.png") for n in range(100)]
        statuses = collections.Counter(other.result()[0] for other in others)
        took = time.monotonic() - start
        trial.check(statuses == {200: 100}, f"a hundred downloads beside a silent name server: {statuses}")
        trial.check(not any(one.done() for one in silent), f"the silence was over before the others, after {took:.1f} s")
        statuses = collections.Counter(one.result()[0] for one in silent)
        trial.check(statuses == {504: 12}, f"names without an answer: {statuses}")
    return took


def place(url):
    """The address and port behind a URL; names are the origin's."""
    parts = urllib.parse.urlsplit(url)
    try:
        address = str(ipaddress.ip_address(parts.hostname))
    except ValueError:
        address = ORIGIN
    return address, parts.port or (443 if parts.scheme == "https" else 80)


def judge(trial, world, watch, traps, service, allows):
    """Compares the dialled addresses with the allowed ones."""
    dialled = {(ORIGIN, 80), *map(place, allows)}
    socket.create_connection(LAST, 60).close()
    wait("the last connection", lambda: LAST in watch.attempts and LAST in world.accepted)
    own = {("127.0.0.1", service.port), ("127.0.0.1", service.admin_port), (NAME_SERVER, 53), LAST}
    for address, port in {*watch.attempts, *world.accepted, *traps.accepted} - own - dialled:
        trial.check(False, f"{address} port {port} was dialled")
    for address, port in dialled - set(world.accepted):
        trial.check(False, f"{address} port {port} was allowed and never reached: these traps catch nothing")


def inside(options):
    world = World()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("resolv.conf", f"nameserver {NAME_SERVER}\n"), ("hosts", "127.0.0.1 localhost\n::1 localhost\n")):
            path = pathlib.Path(folder) / name
            path.write_text(text)
            subprocess.run(["mount", "--bind", path, f"/etc/{name}"], check=True)
        watch, traps = Watch(), Traps([80, 443])
        # A name server is silent for as long as this, and a hundred downloads must take less on any machine.
        service = Service(options.alula, "--bind", "127.0.0.1", "--access-log", "off", "--connect-timeout", "15s", networks=None)
        try:
            trial = Trial(service.port)
            rejects, allows = cases.rejected(), cases.allowed()
            if options.cases:
                rejects, allows = cases.from_file(options.cases)
            try_cases(trial, rejects, allows)
            try_names(trial)
            took = try_silence(trial)
            judge(trial, world, watch, traps, service, allows)
            trial.faults += service.stop()
            checks, faults = try_paths(options)
            trial.checks += checks
            trial.faults += faults
        finally:
            service.kill()
            world.end()
    print(f"{len(rejects)} denied and {len(allows)} allowed URLs, each asked for and redirected to; {trial.checks} checks, "
          f"{sum(watch.attempts.values())} connections seen; a hundred downloads beside a silent name server took {took:.1f} s")
    for fault in trial.faults[:40]:
        print(f"  {fault}")
    if trial.faults:
        raise SystemExit(f"FAILED: {len(trial.faults)} faults")
    print("ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", required=True, help="the service's executable")
    parser.add_argument("--cases", help="try the lines of this file instead: URL, reject or allow, separated by a tab")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    print(f"skipped: {enter()}")


if __name__ == "__main__":
    main()
