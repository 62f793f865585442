"""What a fleet needs and costs: instances, memory, the tier's size and traffic, by images and requests a second."""
import dataclasses
import itertools
import math

from approximation import Approximation
from configuration import MIB, Configuration
from workload import Workload

GIB = 1024 * MIB


@dataclasses.dataclass(frozen=True)
class Prices:
    """Seconds of processor time that work takes (docs/performance.md), and prices: round figures, a month of 730 hours."""
    hit: float = 1 / 17_000
    tier_hit: float = 2 / 15_000
    render: float = 0.004
    decode: float = 0.007
    fetch: float = 0.001
    busy: float = 0.5
    core_hour: float = 0.04
    gibibyte_hour: float = 0.005
    origin_gigabyte: float = 0.02


@dataclasses.dataclass(frozen=True)
class Size:
    configuration: Configuration
    shares: dict
    cores: float
    cost: float
    hottest: float


def size(workload, requests, prices=Prices(), is_routed=True, result_sizes=(64 * MIB, 256 * MIB, 1024 * MIB), tiers=None):
    """The cheapest fleet of instances with two processors of which half may be busy, one of which may be lost."""
    # All results of the catalogue, with what they cost there.
    everything = workload.sources * sum(rendition.result + 250 for rendition in workload.renditions)
    if tiers is None:
        tiers = [0] + [GIB << power for power in range(0, 13) if GIB << power < 2 * everything]
    best = None
    for result, tier in itertools.product(result_sizes, tiers):
        count = 2
        for _ in range(12):
            configuration = Configuration(instances=count, is_routed=is_routed, result=result, tier=tier)
            shares = Approximation(workload, configuration).solve().shares
            cores = requests * (shares["memory"] * prices.hit + (shares["tier"] + shares["disk"]) * prices.tier_hit
                                + shares["renders"] * prices.render + shares["decodes"] * prices.decode
                                + shares["fetches"] * prices.fetch)
            needed = max(2, math.ceil(cores / prices.busy / 2) + 1)
            if needed == count:
                break
            count = needed
        cost = 730 * (count * (2 * prices.core_hour + configuration.memory / GIB * prices.gibibyte_hour)
                      + 1.5 * tier / GIB * prices.gibibyte_hour + (prices.core_hour * math.ceil(tier / (32 * GIB))))
        cost += shares["fetches"] * requests * workload.source * 730 * 3_600 / 1e9 * prices.origin_gigabyte
        found = Size(configuration, shares, cores, cost, _hottest(workload) * count)
        if best is None or cost < best.cost:
            best = found
    return best


def _hottest(workload):
    """The share of the requests that one source has, at most."""
    return workload.classes()[1].max()


def table(_):
    """The cheapest fleets for catalogues and loads, with a tier and without."""
    print("| images | requests/s | instances of 2 processors | memory of each | tier | memory hits | tier hits | renders/s "
          "| fetches/s | Mbit/s from origins | cost a month |\n|" + "---|" * 11)
    for images, loads in {10**4: (100,), 10**5: (100, 1_000), 10**6: (500, 5_000), 10**7: (1_000, 10_000),
                          10**8: (5_000, 50_000), 10**9: (10_000, 100_000, 1_000_000)}.items():
        for requests in loads:
            workload = Workload(images)
            for tiers in (None, [0]):
                found = size(workload, requests, tiers=tiers)
                shares, configuration = found.shares, found.configuration
                print(f"| {images:,} | {requests:,} | {configuration.instances} | {configuration.memory / GIB:.1f} GiB "
                      f"| {f'{configuration.tier >> 30} GiB' if configuration.tier else 'none'} "
                      f"| {100 * shares['memory']:.0f} % | {100 * shares['tier']:.0f} % | {shares['renders'] * requests:,.0f} "
                      f"| {shares['fetches'] * requests:,.0f} | {shares['fetches'] * requests * workload.source * 8 / 1e6:,.0f} "
                      f"| {found.cost:,.0f} |", flush=True)
    return True


def one(options):
    """The fleet for one catalogue and load."""
    workload = Workload(options.images, options.exponent)
    found = size(workload, options.requests, is_routed=not options.spread)
    configuration, shares = found.configuration, found.shares
    print(f"instances            {configuration.instances} of 2 processors, {configuration.memory / GIB:.1f} GiB each")
    print(f"resultCacheCapacity  {configuration.result // MIB}MiB")
    print(f"tier                 {configuration.tier >> 30} GiB")
    for name, share in shares.items():
        print(f"{name:<20} {100 * share:6.2f} %  {share * options.requests:12,.1f} a second")
    print(f"hottest source       {found.hottest:.1f} times the mean requests of an instance")
    print(f"cost                 {found.cost:,.0f} a month")
    return True


def add_commands(commands):
    commands.add_parser("table", help=table.__doc__).set_defaults(run=table)
    command = commands.add_parser("size", help=one.__doc__)
    command.add_argument("--images", type=lambda text: int(float(text)), required=True)
    command.add_argument("--requests", type=float, required=True, help="a second")
    command.add_argument("--exponent", type=float, default=0.9, help="of Zipf's law")
    command.add_argument("--spread", action="store_true", help="without routing by source")
    command.set_defaults(run=one)
