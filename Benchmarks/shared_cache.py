"""Results from the shared cache: how many a second, how soon, and what each costs the service, Redis and the load generator.

An instance fills a Redis server with results; then instances that keep nothing of results in memory answer all of them, one after the other.
Several programs take turns, so that their figures can be compared.
"""
import argparse
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from processes import Server, free_port

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Tests/Python"))
from alula_tests.images import noisy_png  # noqa: E402
from alula_tests.origins import ImageHandler, serving  # noqa: E402
from alula_tests.service import Service  # noqa: E402

SCRIPT = """
local paths = {{}}
local place = {first}
function init()
  for line in io.lines("{list}") do paths[#paths + 1] = wrk.format("GET", line) end
end
function request()
  place = place + 1
  return paths[place % #paths + 1]
end
"""


class Images(ImageHandler):
    side = 64

    def find(self, path):
        return "image/png", noisy_png(self.side, self.side, sum(path.encode()) + hash(path))


class Instance(Service):
    """An instance over a Redis server; its CPU time is that of all its processes."""

    def __init__(self, executable, redis, *settings):
        super().__init__(
            executable, "--shared-cache", f"redis://127.0.0.1:{redis.port}/0", "--shared-cache-timeout", "1s",
            "--access-log", "off", *settings)
        while not self.metric("alula_shared_cache_up"):
            time.sleep(0.05)

    tree, cpu = Server.tree, Server.cpu

    def metric(self, name):
        text = urllib.request.urlopen(f"{self.admin_url}/metrics").read().decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))

    @property
    def hits(self):
        return self.metric('alula_shared_cache_requests_total{result="hit"}')


def load(folder, instance, paths, connections, seconds, first):
    """Runs wrk over the paths from `first` on."""
    listing, script = f"{folder}/paths.txt", f"{folder}/paths-{first % len(paths)}.lua"
    pathlib.Path(listing).write_text("\n".join(paths) + "\n")
    pathlib.Path(script).write_text(SCRIPT.format(list=listing, first=first))
    text = subprocess.run(
        ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--latency", "-s", script, instance.url],
        capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(text)
    number, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", text).groups()
    far, far_unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    scale = {"us": 0.001, "ms": 1, "s": 1000}
    return (int(re.search(r"(\d+) requests in", text)[1]), float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
            float(number) * scale[unit], float(far) * scale[far_unit])


def measure(folder, instance, redis, paths, connections, seconds, first):
    """One round: its figures."""
    before = instance.cpu(), redis.cpu(), resource.getrusage(resource.RUSAGE_CHILDREN), instance.hits
    count, rate, middle, far = load(folder, instance, paths, connections, seconds, first)
    after = instance.cpu(), redis.cpu(), resource.getrusage(resource.RUSAGE_CHILDREN), instance.hits
    client = after[2].ru_utime + after[2].ru_stime - before[2].ru_utime - before[2].ru_stime
    return {
        "rate": rate, "p50": middle, "p99": far, "service": (after[0] - before[0]) / count * 1e6,
        "redis": (after[1] - before[1]) / count * 1e6, "client": client / count * 1e6,
        "share": (after[3] - before[3]) / count, "count": count}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alula", action="append", required=True, help="a program; several take turns")
    parser.add_argument("--sources", type=int, default=500)
    parser.add_argument("--widths", type=int, default=100)
    parser.add_argument("--side", type=int, default=64, help="of a source, which decides how large results are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", default="32,1")
    parser.add_argument("--settings", default="", help="further settings of the measured instances")
    options = parser.parse_args()
    Images.side = options.side
    with tempfile.TemporaryDirectory() as folder, serving(Images) as origin:
        port = free_port()
        redis = Server("redis", [
            "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
            folder], port)
        try:
            run(options, folder, redis, origin)
        finally:
            redis.process.kill()
            redis.process.wait()


def run(options, folder, redis, origin):
    paths = [
        f"/thumbnail?w={width}&url=" + urllib.parse.quote(f"http://127.0.0.1:{origin}/{source}.png", safe="")
        for width in range(options.side - options.widths, options.side) for source in range(options.sources)]
    with Instance(options.alula[0], redis) as filler:
        for _ in range(40):
            load(folder, filler, paths, 8, 5, int(filler.metric("alula_renders_total")))
            if filler.metric("alula_renders_total") >= len(paths):
                break
        while filler.metric("alula_shared_cache_queue_bytes"):
            time.sleep(0.05)
        print(f"{len(paths)} results in the shared cache, {filler.metric('alula_shared_cache_dropped_total'):.0f} dropped")
    small = ["--result-cache-capacity", "1MiB", "--result-cache-preferred", "0", *options.settings.split()]
    instances = [Instance(program, redis, *small) for program in options.alula]
    try:
        for connections in map(int, options.connections.split(",")):
            rounds = [[] for _ in instances]
            for number in range(options.rounds + 1):
                for index, instance in enumerate(instances):
                    figures = measure(
                        folder, instance, redis, paths, connections, options.seconds, number * len(paths) // 3)
                    # The first round brings the records of the sources.
                    if number:
                        rounds[index].append(figures)
            for index, found in enumerate(rounds):
                text = ", ".join(
                    f"{name} {statistics.median(entry[name] for entry in found):.{digits}f}"
                    for name, digits in [
                        ("rate", 0), ("p50", 2), ("p99", 2), ("service", 1), ("redis", 1), ("client", 1), ("share", 3)])
                best = max(entry["rate"] for entry in found)
                print(f"{connections} connections, program {index}: {text}, best rate {best:.0f}", flush=True)
    finally:
        for instance in instances:
            instance.kill()


if __name__ == "__main__":
    main()
