"""What a fleet needs and costs: instances, memory, the shared cache's size and traffic, by images and requests a second."""
import dataclasses
import itertools
import math

from approximation import Approximation
from configuration import MIB, SHARED_CACHE_COST, Configuration
from workload import Workload

GIB = 1024 * MIB


@dataclasses.dataclass(frozen=True)
class Prices:
    """Seconds of processor time that work takes (docs/measurements/performance.md), and prices: round figures of 2026, a month of 730 hours."""
    hit: float = 1 / 17_000
    disk_hit: float = 2 / 6_800
    shared_cache_hit: float = 2 / 15_000
    render: float = 0.004
    decode: float = 0.007
    fetch: float = 0.001
    busy: float = 0.5
    core_month: float = 30
    gibibyte_month: float = 4
    disk_gibibyte_month: float = 0.1
    origin_gigabyte: float = 0.02
    # What one Redis server answers: look-ups and bytes a second.
    shared_cache_lookups: float = 50_000
    shared_cache_bytes: float = 10e9 / 8


@dataclasses.dataclass(frozen=True)
class Size:
    configuration: Configuration
    shares: dict
    cost: float


RESULTS = (64 * MIB, 256 * MIB, GIB)
SHARED_CACHES = (0, GIB, 4 * GIB, 16 * GIB, 64 * GIB, 256 * GIB)
DISKS = (0, 32 * GIB, 256 * GIB)


def size(workload, requests, prices=Prices(), is_routed=True, shared_caches=SHARED_CACHES, disks=DISKS):
    """The cheapest fleet of instances with two processors of which half may be busy, one of which may be lost."""
    # What holds all results of the catalogue twice over is more than is needed.
    everything = workload.sources * sum(rendition.result + SHARED_CACHE_COST for rendition in workload.renditions)
    found = [
        _fleet(workload, requests, prices, Configuration(
            is_routed=is_routed, result=result, shared_cache=shared_cache, result_disk=disk, source_disk=disk))
        for result, shared_cache, disk in itertools.product(RESULTS, shared_caches, disks)
        if shared_cache in (0, GIB) or shared_cache < 4 * everything]
    return min(filter(None, found), key=lambda one: one.cost)


def _fleet(workload, requests, prices, configuration):
    """The fewest instances that do the work, of which there is less the more of them there are, and one besides; None if the
    shared cache would have too much to do."""
    def trial(count):
        tried = dataclasses.replace(configuration, instances=count)
        shares = Approximation(workload, tried, classes=600).solve().shares
        cores = requests * (
            shares["memory"] * prices.hit + shares["disk"] * prices.disk_hit + shares["shared_cache"] * prices.shared_cache_hit
            + shares["renders"] * prices.render + shares["decodes"] * prices.decode + shares["fetches"] * prices.fetch)
        return tried, shares, max(2, math.ceil(cores / prices.busy / 2) + 1) <= count

    low, high = 1, 2
    while not trial(high)[2]:
        low, high = high, 2 * high
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if trial(middle)[2] else (middle, high)
    configuration, shares, _ = trial(high)
    mean = sum(rendition.share * rendition.result for rendition in workload.renditions)
    if configuration.shared_cache and (
            (1 - shares["memory"] - shares["disk"]) * requests > prices.shared_cache_lookups
            or (shares["shared_cache"] + shares["renders"]) * requests * mean > prices.shared_cache_bytes):
        return None
    cost = configuration.instances * (
        2 * prices.core_month + configuration.memory / GIB * prices.gibibyte_month
        + (configuration.result_disk + configuration.source_disk) / GIB * prices.disk_gibibyte_month)
    if configuration.shared_cache:
        cost += 2 * prices.core_month + 1.5 * configuration.shared_cache / GIB * prices.gibibyte_month
    cost += shares["fetches"] * requests * workload.source * 730 * 3_600 / 1e9 * prices.origin_gigabyte
    return Size(configuration, shares, cost)


def hottest(workload, instances):
    """How many times the mean requests of an instance the source that is asked for most has."""
    return workload.classes()[1].max() * instances


def gibibytes(bytes):
    return f"{bytes / GIB:.0f} GiB" if bytes else "none"


def table(_):
    """The cheapest fleets for catalogues and loads: free to choose, without disks, and without disks and shared cache."""
    print("| images, requests/s | with | instances | memory of each | disk of each | shared cache | from memory, disk, shared cache "
          "| renders/s | fetches/s | Mbit/s from origins | cost a month |\n|" + "---|" * 11)
    for images, requests in ((10**5, 1_000), (10**6, 1_000), (10**7, 5_000), (10**8, 20_000), (10**9, 50_000)):
        workload = Workload(images)
        for name, bounds in {
                "all": {}, "no disk": {"disks": (0,)}, "neither disk nor shared cache": {"disks": (0,), "shared_caches": (0,)}}.items():
            found = size(workload, requests, **bounds)
            shares, configuration = found.shares, found.configuration
            fetches = shares["fetches"] * requests
            print(f"| {images:,}, {requests:,} | {name} | {configuration.instances} | {configuration.memory / GIB:.1f} GiB "
                  f"| {gibibytes(configuration.result_disk + configuration.source_disk)} | {gibibytes(configuration.shared_cache)} | "
                  + ", ".join(f"{100 * shares[layer]:.0f}" for layer in ("memory", "disk", "shared_cache"))
                  + f" % | {shares['renders'] * requests:,.0f} | {fetches:,.0f} | {fetches * workload.source * 8e-6:,.0f} "
                  f"| {found.cost:,.0f} |", flush=True)
    return True


def one(options):
    """The fleet for one catalogue and load."""
    workload = Workload(options.images, options.exponent)
    found = size(workload, options.requests, is_routed=not options.spread)
    configuration, shares = found.configuration, found.shares
    print(f"instances            {configuration.instances} of 2 processors, {configuration.memory / GIB:.1f} GiB each")
    print(f"resultCacheCapacity  {configuration.result // MIB}MiB")
    print(f"resultCacheDisk      {gibibytes(configuration.result_disk)}, sourceCacheDisk the same")
    print(f"shared cache                 {gibibytes(configuration.shared_cache)}")
    for name, share in shares.items():
        print(f"{name:<20} {100 * share:6.2f} %  {share * options.requests:12,.1f} a second")
    print(f"hottest source       {hottest(workload, configuration.instances):.1f} times the mean requests of an instance")
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
