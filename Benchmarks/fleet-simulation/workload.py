"""What clients ask for: sources by popularity, and the renditions of each."""
import dataclasses

import numpy


@dataclasses.dataclass(frozen=True)
class Rendition:
    """One size that clients ask for: its share of the requests for a source, the level that it is decoded at, and bytes."""
    share: float
    level: int
    result: int


# Widths of a page: a thumbnail, a card, a tile and a large one, from sources of 1600×1200.
RENDITIONS = (
    Rendition(0.45, 8, 6_000), Rendition(0.3, 4, 13_000), Rendition(0.15, 4, 20_000), Rendition(0.1, 1, 60_000))


@dataclasses.dataclass(frozen=True)
class Workload:
    """Requests by Zipf's law: the source of rank k is asked for in proportion to k to the power of -exponent.

    `source` is the bytes of a source, `pixels` of its decoded form at level 1; `spread` is by how much the popularity of
    renditions differs between sources.
    """
    sources: int
    exponent: float = 0.9
    renditions: tuple = RENDITIONS
    source: int = 250_000
    pixels: int = 1600 * 1200 * 3

    @property
    def shares(self):
        return numpy.array([rendition.share for rendition in self.renditions])

    def decoded(self, level):
        return self.pixels // level**2

    def classes(self, count=3_000):
        """Sources that are asked for about equally often: how many there are in each class, and the share of the requests
        that goes to each of them. The first thousand ranks are classes of their own."""
        head = min(self.sources, 1_000)
        edges = numpy.arange(1, head + 1, dtype=float)
        if self.sources > head:
            tail = numpy.unique(numpy.round(numpy.geomspace(head + 1, self.sources + 1, count)))
            edges = numpy.concatenate([edges, tail])
        else:
            edges = numpy.append(edges, head + 1.0)
        numbers = numpy.diff(edges)
        # The mean of a class, by the integral of the law over its ranks.
        power = 1 - self.exponent
        low, high = edges[:-1] - 0.5, edges[1:] - 0.5
        mass = numpy.log(high / low) if power == 0 else (high**power - low**power) / power
        single = numbers == 1
        mass[single] = edges[:-1][single] ** -self.exponent
        return numbers, mass / mass.sum() / numbers

    def requests(self, count, seed):
        """A random sequence of requests: ranks of sources from 0, and numbers of renditions."""
        random = numpy.random.default_rng(seed)
        weights = numpy.arange(1, self.sources + 1, dtype=float) ** -self.exponent
        sums = numpy.cumsum(weights / weights.sum())
        ranks = numpy.minimum(numpy.searchsorted(sums, random.random(count)), self.sources - 1)
        numbers = numpy.minimum(
            numpy.searchsorted(numpy.cumsum(self.shares), random.random(count)), len(self.renditions) - 1)
        return ranks, numbers


# Published traces of image services, in millions of requests and of objects, and their mean bytes; from the table of
# datasets in github.com/cacheMon/cache_dataset (requests, terabytes of requests and of objects).
TRACES = {
    "Tencent Photo": {"requests": 5_650e6, "objects": 1_038e6, "days": 8, "result": 24e12 / 1_038e6},
    "Wikimedia CDN": {"requests": 2_863e6, "objects": 56e6, "days": 7, "result": 13e12 / 56e6},
}


def fitted(trace, exponent=0.9):
    """The number of objects from which a trace's requests would meet as many different ones as the trace has."""
    low, high = trace["objects"], trace["objects"] * 1e4
    for _ in range(60):
        middle = (low * high) ** 0.5
        numbers, shares = Workload(int(middle), exponent).classes()
        met = (numbers * -numpy.expm1(-shares * trace["requests"])).sum()
        low, high = (middle, high) if met < trace["objects"] else (low, middle)
    return int(low)
