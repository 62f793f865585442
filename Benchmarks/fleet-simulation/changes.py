"""What happens when an instance or the tier is lost, or an instance is added."""
import dataclasses

import numpy

from approximation import Approximation
from configuration import MIB, Configuration
from exact import Fleet
from workload import Workload

MOMENTS = (0, 10, 60, 600, 3_600, 6 * 3_600)


def transient(workload, configuration, rate, moved):
    """Renders and fetches a second of the requests that go to an instance which does not know their sources yet.

    `moved` is their share of all requests. A cold cache finds at time t what was asked for since then, until it is full; the
    tier has what it held before. Gives rows of seconds, renders/s and fetches/s above the steady state.
    """
    approximation = Approximation(workload, configuration)
    steady = approximation.solve()
    numbers, popularity = workload.classes()
    spread = 1 if configuration.is_routed else 1 / configuration.instances
    asked = popularity[:, None] * workload.shares * rate * spread
    in_tier = approximation.held_by_tier
    weight = moved / spread * numbers[:, None]
    full = steady.times["result"] / rate
    rows = []
    for moment in MOMENTS:
        new = asked * numpy.exp(-asked * min(moment, full)) * (1 - in_tier)
        renders = (weight * new).sum()
        lacking = (asked * (1 - in_tier)).sum(axis=1)
        fetches = (weight[:, 0] * lacking * numpy.exp(-lacking * min(moment, steady.times["source"] / rate + moment))).sum()
        rows.append((moment, max(0, renders - moved * steady.shares["renders"] * rate),
                     max(0, fetches - moved * steady.shares["fetches"] * rate)))
    return steady, rows


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
    """What is rendered and fetched above the steady state after an instance is lost or added, or the tier is empty."""
    exact_rows()
    for images, rate, count in ((10**6, 500, 4), (10**8, 5_000, 16), (10**9, 50_000, 100)):
        workload = Workload(images)
        for tier in (0, 1024 * MIB * max(4, count)):
            for is_routed in (True, False):
                configuration = Configuration(instances=count, is_routed=is_routed, tier=tier)
                for name, after, moved in (
                        ("lost", dataclasses.replace(configuration, instances=count - 1), 1 / count),
                        ("added", dataclasses.replace(configuration, instances=count + 1), 1 / (count + 1))):
                    if not is_routed and name == "lost":
                        # Its requests go to all others, which know the same sources already.
                        continue
                    steady, rows = transient(workload, after, rate, moved)
                    print(f"\n{images:.0e} images, {rate} requests/s, {count} instances, "
                          f"{'routed' if is_routed else 'spread'}{f', tier of {tier >> 30} GiB' if tier else ''}: one {name}; "
                          f"steady {steady.shares['renders'] * rate:.1f} renders/s, {steady.shares['fetches'] * rate:.1f} fetches/s")
                    print("  after     " + "".join(f"{moment:>9} s" for moment, _, _ in rows))
                    print("  renders/s " + "".join(f"{'+' + format(value, '.1f'):>11}" for _, value, _ in rows))
                    print("  fetches/s " + "".join(f"{'+' + format(value, '.1f'):>11}" for _, _, value in rows))
    return True
