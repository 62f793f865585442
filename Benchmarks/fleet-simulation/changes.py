"""What happens when an instance or the tier is lost, an instance is added, or a release begins with nothing."""
import dataclasses

import numpy

from approximation import Approximation
from configuration import MIB, Configuration
from exact import Fleet
from workload import Workload

MOMENTS = {0: "at once", 10: "10 s", 60: "1 min", 600: "10 min", 3_600: "1 h", 6 * 3_600: "6 h", 86_400: "1 day"}


def renders(workload, configuration, rate, cold=0.0, is_tier_empty=False):
    """Renders a second at each of the moments after a part of the instances, by their share of the requests, and perhaps the tier, lost
    what they held.

    A cold cache finds what was asked for since then, until it is full.
    """
    approximation = Approximation(workload, configuration)
    steady = approximation.solve()
    numbers, popularity = workload.classes()
    asked = popularity[:, None] * workload.shares * rate
    own = asked if configuration.is_routed else asked / configuration.instances
    full, tier_full = steady.times["result"] / rate, steady.times.get("tier", 0) / rate
    found = []
    for moment in MOMENTS:
        of_warm, of_cold = numpy.exp(-own * full), numpy.exp(-own * min(moment, full))
        below = (1 - cold) * of_warm + cold * of_cold
        if not configuration.tier:
            in_tier = 0
        elif is_tier_empty:
            # What all instances forgot, or asked for first, since then.
            in_tier = -numpy.expm1(-asked * (of_warm * (1 - cold) + cold) * min(moment, tier_full))
            in_tier = numpy.minimum(in_tier, approximation.held_by_tier)
        else:
            in_tier = approximation.held_by_tier
        found.append((numbers[:, None] * asked * below * (1 - in_tier)).sum())
    return found


def exact_rows():
    """A small fleet, request by request: what each change adds to renders and fetches in the next 50,000 requests."""
    workload = Workload(20_000, source=30_000, pixels=400 * 300 * 3)
    print(f"\n{'20,000 sources, exact: of 50,000 requests':<44}{'memory':>9}{'tier':>9}{'renders':>9}{'fetches':>9}")
    for tier in (0, 2048 * MIB):
        for is_routed in (True, False):
            configuration = Configuration(
                result=256 * MIB, decoded=256 * MIB, source=256 * MIB, tier=tier, is_routed=is_routed, points=1_024)
            name = ("routed" if is_routed else "spread") + (", tier" if tier else "")
            for change in ("steady", "one of four lost", "one added", "tier lost"):
                if change == "tier lost" and not tier:
                    continue
                fleet = Fleet(workload, configuration)
                fleet.run(*workload.requests(400_000, 1))
                {"steady": lambda: None, "one of four lost": lambda: fleet.lose(1), "one added": fleet.grow,
                 "tier lost": fleet.lose_tier}[change]()
                counts = fleet.run(*workload.requests(50_000, 2))
                print(f"{name + ': ' + change:<44}{counts['memory']:>9}{counts['tier']:>9}{counts['renders']:>9}"
                      f"{counts['fetches']:>9}", flush=True)


def changes(_):
    """Renders a second after an instance is lost or added, the tier is empty, or a release begins."""
    exact_rows()
    print("\n| images, requests/s, instances | renders/s | " + " | ".join(MOMENTS.values()) + " |\n|" + "---|" * (2 + len(MOMENTS)))
    for images, rate, count, result, tier in (
            (10**6, 1_000, 4, 512 * MIB, 0), (10**6, 1_000, 4, 512 * MIB, 65_536 * MIB),
            (10**8, 20_000, 40, 1024 * MIB, 0), (10**8, 20_000, 40, 1024 * MIB, 262_144 * MIB)):
        workload = Workload(images)
        fleet = Configuration(instances=count, result=result, tier=tier)
        fewer, more = (dataclasses.replace(fleet, instances=count + change) for change in (-1, 1))
        events = {
            "steady": (fleet, 0, False), "one lost": (fewer, 1 / count, False), "one added": (more, 1 / (count + 1), False),
            "a third lost": (dataclasses.replace(fleet, instances=count - round(count / 3)), 1 / 3, False),
            "all started again": (fleet, 1, False)}
        if tier:
            events |= {"tier emptied": (fleet, 0, True), "a new release": (fleet, 1, True)}
        name = f"{images:,}, {rate:,}, {count}, {f'tier of {tier >> 30} GiB' if tier else 'no tier'}"
        for event, (after, cold, is_tier_empty) in events.items():
            found = renders(workload, after, rate, cold, is_tier_empty)
            print(f"| {name} | {event} | " + " | ".join(f"{value:,.0f}" for value in found) + " |", flush=True)
            name = ""
    return True
