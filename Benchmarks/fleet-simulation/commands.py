"""Simulates fleets: exactly at small sizes, by characteristic times at any."""
import argparse
import dataclasses
import sys

import changes
import decoded
import sizing
from approximation import Approximation
from configuration import MIB, Configuration
from exact import Fleet, shares
from workload import TRACES, Rendition, Workload, fitted

LAYERS = ("memory", "disk", "shared_cache", "renders", "decodes", "fetches")


def row(name, found, suffix=""):
    print(f"{name:<44}" + "".join(f"{100 * found[layer]:>9.2f}" for layer in LAYERS) + suffix, flush=True)


def header(title, first):
    print(f"\n{title}\n{first:<44}" + "".join(f"{layer:>9}" for layer in LAYERS))


def small_cases():
    """Fleets small enough to be simulated exactly, in which every layer has something to do."""
    workload = Workload(20_000, source=30_000, pixels=400 * 300 * 3)
    small = Configuration(result=8 * MIB, decoded=12 * MIB, source=6 * MIB)
    for name, changed in {
            "routed": {}, "spread": {"is_routed": False},
            "routed, shared cache of 64 MiB": {"shared_cache": 64 * MIB},
            "spread, shared cache of 64 MiB": {"is_routed": False, "shared_cache": 64 * MIB},
            "spread, shared cache of 1 GiB": {"is_routed": False, "shared_cache": 1024 * MIB},
            "routed, disk of 64 + 64 MiB": {"result_disk": 64 * MIB, "source_disk": 64 * MIB},
            "spread, disk, shared cache of 256 MiB": {"is_routed": False, "result_disk": 64 * MIB, "shared_cache": 256 * MIB},
            "routed, 256 KiB of records": {"record": MIB // 4},
            "routed, 16 instances, shared cache of 64 MiB": {"instances": 16, "shared_cache": 64 * MIB},
    }.items():
        yield name, workload, dataclasses.replace(small, **changed)


def validate(options):
    """Both ways of computing beside each other: the steady state, after caches are full, and what follows a change."""
    worst = 0.0
    header("exact, approximated: per cent of requests", "20,000 sources of 4 renditions, 4 instances")
    for name, workload, configuration in small_cases():
        fleet = Fleet(workload, dataclasses.replace(configuration, points=options.points))
        fleet.run(*workload.requests(options.requests, 1))
        exact = shares(fleet.run(*workload.requests(options.requests, 2)))
        approximated = Approximation(workload, configuration).solve().shares
        difference = max(abs(exact[layer] - approximated[layer]) for layer in LAYERS)
        worst = max(worst, difference)
        row(name, exact)
        row("", approximated, f"   within {100 * difference:.2f}")
    print(f"largest difference {100 * worst:.2f} points")
    after = changes.validated(options.points)
    print(f"largest difference {100 * after:.2f} points")
    return worst < 0.03 and after < 0.04


def fleets(options):
    """Hit ratios by size of the fleet, with and without shared cache and routing."""
    for images, requests in ((10**6, 500), (10**8, 5_000), (10**9, 50_000)):
        workload = Workload(images)
        header(f"{images:.0e} images, {requests} requests/s: per cent of requests", "instances")
        for count in (4, 16, 100, 1_000):
            for is_routed in (True, False):
                for shared_cache in (0, 1024 * MIB * max(4, count)):
                    configuration = Configuration(instances=count, is_routed=is_routed, shared_cache=shared_cache)
                    answer = Approximation(workload, configuration).solve()
                    name = f"{count}, {'routed' if is_routed else 'spread'}" + (f", shared cache of {shared_cache >> 30} GiB" if shared_cache else "")
                    row(name, answer.shares, f"   {answer.shares['fetches'] * requests:10.1f} fetches/s, "
                        f"{answer.shares['fetches'] * requests * workload.source * 8 / 1e6:9.1f} Mbit/s")
    for name, trace in TRACES.items():
        objects = fitted(trace)
        rate = trace["requests"] / trace["days"] / 86_400
        # A trace's objects are results; each is taken as the one rendition of a source of its own.
        workload = Workload(objects, renditions=(Rendition(1.0, 1, int(trace["result"])),))
        header(f"{name}: {trace['objects']:.2e} objects met of {objects:.2e}, {rate:,.0f} requests/s", "instances")
        for count in (16, 100, 1_000):
            for is_routed in (True, False):
                for shared_cache in (0, 10 * 1024 * MIB * count):
                    configuration = Configuration(instances=count, is_routed=is_routed, shared_cache=shared_cache)
                    answer = Approximation(workload, configuration).solve()
                    row(f"{count}, {'routed' if is_routed else 'spread'}" + (f", shared cache of {shared_cache >> 30} GiB" if shared_cache else ""),
                        answer.shares)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("validate", help=validate.__doc__)
    command.add_argument("--requests", type=int, default=400_000)
    command.add_argument("--points", type=int, default=1_024, help="points of an instance on the ring")
    command.set_defaults(run=validate)
    commands.add_parser("fleets", help=fleets.__doc__).set_defaults(run=fleets)
    commands.add_parser("changes", help=changes.changes.__doc__).set_defaults(run=changes.changes)
    commands.add_parser("decoded", help=decoded.policies.__doc__).set_defaults(run=decoded.policies)
    sizing.add_commands(commands)
    options = parser.parse_args()
    sys.exit(not options.run(options))
