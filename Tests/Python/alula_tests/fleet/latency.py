"""What a shared cache in trouble costs the hits in memory of an instance: p99 by wrk, beside an instance without a shared cache."""
import re
import statistics
import subprocess
import threading

from alula_tests.clients import connect, get, thumbnail
from alula_tests.fleet.traffic import PlainConnection


def p99(port, name, seconds):
    """Milliseconds of one hot URL over sixteen connections."""
    text = subprocess.run(
        ["wrk", "-t", "1", "-c", "16", "-d", f"{seconds}s", "--latency", f"http://127.0.0.1:{port}{name}"],
        capture_output=True, text=True, check=True).stdout
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]


class Misses:
    """One client that asks an instance for sources that nobody asked for before: the shared cache is asked each time."""

    def __init__(self, port, origin, part):
        self.is_stopped = False
        self.thread = threading.Thread(target=self._ask, args=[port, origin, part])
        self.thread.start()

    def _ask(self, port, origin, part):
        connection, number = PlainConnection(port), 0
        while not self.is_stopped:
            try:
                connection.get(thumbnail(f"{origin}/{part}/{number}.png", w=8))
            except OSError:
                pass
            number += 1
        connection.close()

    def stop(self):
        self.is_stopped = True
        self.thread.join()


def hits_beside_misses(trial, plain, wire, redis, rounds=15, seconds=2):
    """Rounds in turns: an instance without a shared cache, then one whose shared cache is in trouble, each with one client of misses."""
    name = thumbnail(f"{trial.origin}/hot/0.png", w=48)
    found = {}
    for trouble in ("pass", "slow", "silent", "lying", "cut"):
        ratios = []
        wire.set(trouble)
        for turn in range(rounds):
            figures = []
            for service, what in ((plain, "plain"), (trial.instances.instances[3], trouble)):
                get(connect(service.port), name)
                misses = Misses(service.port, trial.origin, f"{what}{trouble}{turn}")
                try:
                    figures.append(p99(service.port, name, seconds))
                finally:
                    misses.stop()
            ratios.append(figures[1] / figures[0])
        wire.set("pass")
        found[trouble] = statistics.median(ratios)
        trial.report.line(f"      shared cache {trouble}: p99 of hits {found[trouble]:.2f} of an instance without one "
                          f"({', '.join(f'{ratio:.2f}' for ratio in ratios)})")
    return found
