"""The policies of the cache for decoded pixels, by the decoding time that they save."""
import numpy

from configuration import MIB
from policies import CostCache, PurgingCache
from workload import Workload

# The share of sources, and nanoseconds to decode a pixel of them: JPEG, PNG, WebP, AVIF (docs/costs.md).
FORMATS = ((0.70, 2.0), (0.12, 10.0), (0.12, 14.0), (0.06, 45.0))
# Of the full decode's time: coarser levels of JPEG skip some work.
TIMES = {1: 1.0, 4: 0.8, 8: 0.7}


def missed(workload, requests, share, distance):
    """The requests that miss the cache of results: each is followed, with a chance of `share`, by another rendition of the
    same source, `distance` requests later in the mean."""
    random = numpy.random.default_rng(1)
    ranks, numbers = workload.requests(requests, 1)
    follows, gaps = random.random(requests) < share, random.geometric(1 / distance, requests)
    others = random.integers(0, len(workload.renditions), requests)
    events = [(at, int(ranks[at]), int(numbers[at])) for at in range(requests)]
    events += [(at + int(gaps[at]) + 0.5, int(ranks[at]), int(others[at])) for at in range(requests) if follows[at]]
    results = PurgingCache(64 * MIB, 48 * MIB)
    for _, rank, number in sorted(events):
        if not results.find((rank, number)):
            results.add((rank, number), workload.renditions[number].result)
            yield rank, workload.renditions[number].level


def saved(cache, workload, stream):
    """The shares of decoding time and of decodes that the cache saves, after a fifth of the requests."""
    random = numpy.random.default_rng(5)
    nanoseconds = random.choice([time for _, time in FORMATS], workload.sources, p=[part for part, _ in FORMATS])
    pixels = numpy.exp(random.normal(numpy.log(2.5e6), 0.8, workload.sources)).clip(1e5, 4e7)
    times, hits = [0.0, 0.0], [0, 0]
    for number, (rank, level) in enumerate(stream):
        time = float(pixels[rank] * nanoseconds[rank]) * TIMES[level]
        is_hit = cache.find((rank, level))
        if number >= len(stream) // 5:
            times[is_hit] += time
            hits[is_hit] += 1
        if not is_hit:
            # Luma and chroma of half its sides.
            size = int(pixels[rank] * 1.5 / level**2) + 2_000
            cache.add((rank, level), size, time) if isinstance(cache, CostCache) else cache.add((rank, level), size)
    return times[1] / sum(times), hits[1] / sum(hits)


def policies(options):
    """Decoding time that lru and cost save behind a cache of results, at 100 MiB purged to 60 MiB."""
    print(f"{'exponent, next size requested after':<40}{'lru: time':>11}{'decodes':>9}{'cost: time':>12}{'decodes':>9}")
    for exponent, share, distance in (
            (0.9, 0.5, 10), (0.9, 0.5, 100), (0.9, 0.5, 1_000), (0.9, 0.0, 1), (1.1, 0.5, 100), (1.1, 0.0, 1)):
        workload = Workload(100_000, exponent)
        stream = list(missed(workload, 250_000, share, distance))
        found = [saved(kind(100 * MIB, 60 * MIB), workload, stream) for kind in (PurgingCache, CostCache)]
        name = f"{exponent}, {f'{distance} requests' if share else 'no sooner than others'}"
        print(f"{name:<40}" + "".join(f"{100 * time:>10.1f}%{100 * decodes:>8.1f}%" for time, decodes in found), flush=True)
    return True
