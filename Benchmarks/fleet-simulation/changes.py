"""What happens when an instance or the shared cache is lost, an instance is added, or a release begins with nothing."""
import dataclasses

import numpy

from approximation import Approximation
from configuration import MIB, Configuration
from exact import Fleet
from workload import Workload

MOMENTS = {0: "at once", 10: "10 s", 60: "1 min", 600: "10 min", 3_600: "1 h", 6 * 3_600: "6 h", 86_400: "1 day"}


def renders(workload, configuration, rate, cold=0.0, is_shared_cache_empty=False, moments=tuple(MOMENTS)):
    """Renders a second at each of the moments after a part of the instances, by their share of the requests, and perhaps the shared cache, lost
    what they held.

    A cold cache finds what was asked for since then, until it is full.
    """
    approximation = Approximation(workload, configuration)
    steady = approximation.solve()
    numbers, popularity = workload.classes()
    asked = popularity[:, None] * workload.shares * rate
    own = asked if configuration.is_routed else asked / configuration.instances
    full, shared_cache_full = steady.times["result"] / rate, steady.times.get("shared_cache", 0) / rate
    in_shared_cache = approximation.held_by_shared_cache
    unknown = 1 - approximation.records_in_shared_cache[:, None] if configuration.shared_cache else 0
    found = []
    for moment in moments:
        of_warm, of_cold = (1 - cold) * numpy.exp(-own * full), cold * numpy.exp(-own * min(moment, full))
        if is_shared_cache_empty:
            # What all instances forgot, or asked for first, since then.
            refilled = -numpy.expm1(-asked * (of_warm + cold) * min(moment, shared_cache_full))
            missing = (of_warm + of_cold) * (1 - numpy.minimum(refilled, in_shared_cache))
        else:
            # A result is of no use to an instance that finds no record of its source, until a request has fetched it.
            known = 1 - unknown * numpy.exp(-own.sum(axis=1)[:, None] * moment)
            missing = of_warm * (1 - in_shared_cache) + of_cold * (1 - in_shared_cache * known)
        found.append((numbers[:, None] * asked * missing).sum())
    return found


WINDOWS = ((0, 1_000), (1_000, 5_000), (5_000, 20_000))


def validated(points):
    """Shares of renders in three windows of requests after each change, exact and approximated; the largest difference."""
    workload = Workload(20_000, source=30_000, pixels=400 * 300 * 3)
    print("\nper cent of renders after a change: exact, approximated" + "".join(f"{f'{low}-{high}':>16}" for low, high in WINDOWS))
    worst = 0.0
    for is_routed in (True, False):
        before = Configuration(
            result=64 * MIB, decoded=64 * MIB, source=64 * MIB, shared_cache=512 * MIB, is_routed=is_routed, points=points)
        for name, after, cold, is_shared_cache_empty in (
                ("one of four lost", dataclasses.replace(before, instances=3), 0.25 if is_routed else 0.0, False),
                ("one added", dataclasses.replace(before, instances=5), 0.2, False),
                ("shared cache emptied", before, 0.0, True)):
            fleet = Fleet(workload, before)
            fleet.run(*workload.requests(400_000, 1))
            if name == "one of four lost":
                cold = sum(fleet.ring.owner(source) == 1 for source in range(2_000)) / 2_000 if is_routed else 0.0
                fleet.lose(1)
            elif name == "one added":
                fleet.grow()
            else:
                fleet.lose_shared_cache()
            ranks, numbers = workload.requests(WINDOWS[-1][1], 2)
            exact, approximated = [], []
            for low, high in WINDOWS:
                exact.append(fleet.run(ranks[low:high], numbers[low:high])["renders"] / (high - low))
                moments = numpy.linspace(low, high, 9)
                approximated.append(numpy.mean(renders(workload, after, 1, cold, is_shared_cache_empty, moments)))
            worst = max([worst, *(abs(one - other) for one, other in zip(exact, approximated))])
            print(f"{'routed' if is_routed else 'spread'}: {name:<46}"
                  + "".join(f"{100 * one:>8.1f}{100 * other:>8.1f}" for one, other in zip(exact, approximated)), flush=True)
    return worst


def exact_rows():
    """A small fleet, request by request: what each change adds to renders and fetches in the next 50,000 requests."""
    workload = Workload(20_000, source=30_000, pixels=400 * 300 * 3)
    print(f"\n{'20,000 sources, exact: of 50,000 requests':<44}{'memory':>9}{'shared cache':>9}{'renders':>9}{'fetches':>9}")
    for shared_cache in (0, 2048 * MIB):
        for is_routed in (True, False):
            configuration = Configuration(
                result=256 * MIB, decoded=256 * MIB, source=256 * MIB, shared_cache=shared_cache, is_routed=is_routed, points=1_024)
            name = ("routed" if is_routed else "spread") + (", shared cache" if shared_cache else "")
            for change in ("steady", "one of four lost", "one added", "shared cache lost"):
                if change == "shared cache lost" and not shared_cache:
                    continue
                fleet = Fleet(workload, configuration)
                fleet.run(*workload.requests(400_000, 1))
                {"steady": lambda: None, "one of four lost": lambda: fleet.lose(1), "one added": fleet.grow,
                 "shared cache lost": fleet.lose_shared_cache}[change]()
                counts = fleet.run(*workload.requests(50_000, 2))
                print(f"{name + ': ' + change:<44}{counts['memory']:>9}{counts['shared_cache']:>9}{counts['renders']:>9}"
                      f"{counts['fetches']:>9}", flush=True)


def changes(_):
    """Renders a second after an instance is lost or added, the shared cache is empty, or a release begins."""
    exact_rows()
    print("\n| images, requests/s, instances | renders/s | " + " | ".join(MOMENTS.values()) + " |\n|" + "---|" * (2 + len(MOMENTS)))
    for images, rate, count, result, shared_cache in (
            (10**6, 1_000, 4, 512 * MIB, 0), (10**6, 1_000, 4, 512 * MIB, 65_536 * MIB),
            (10**8, 20_000, 40, 1024 * MIB, 0), (10**8, 20_000, 40, 1024 * MIB, 262_144 * MIB)):
        workload = Workload(images)
        fleet = Configuration(instances=count, result=result, shared_cache=shared_cache)
        fewer, more = (dataclasses.replace(fleet, instances=count + change) for change in (-1, 1))
        events = {
            "steady": (fleet, 0, False), "one lost": (fewer, 1 / count, False), "one added": (more, 1 / (count + 1), False),
            "a third lost": (dataclasses.replace(fleet, instances=count - round(count / 3)), 1 / 3, False),
            "all started again": (fleet, 1, False)}
        if shared_cache:
            events |= {"shared cache emptied": (fleet, 0, True), "a new release": (fleet, 1, True)}
        name = f"{images:,}, {rate:,}, {count}, {f'shared cache of {shared_cache >> 30} GiB' if shared_cache else 'no shared cache'}"
        for event, (after, cold, is_shared_cache_empty) in events.items():
            found = renders(workload, after, rate, cold, is_shared_cache_empty)
            print(f"| {name} | {event} | " + " | ".join(f"{value:,.0f}" for value in found) + " |", flush=True)
            name = ""
    return True
