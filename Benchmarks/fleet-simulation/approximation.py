"""A fleet of any size by characteristic times (Che's approximation), for what is too large to be simulated request by request.

A cache that evicts the least recently used holds what was used within its characteristic time T: the one for which that
fills it. A source that is asked for at rate r is found with probability 1 - exp(-r T). What one layer lacks is asked of
the next; whoever comes back to it has been away for longer than the layer above remembers, so that only the rest of its
own time counts, while others that share the layer bring the value at any time. Rates are per request of the whole fleet,
times in requests of the whole fleet.
"""
import dataclasses

import numpy

from configuration import DISK_COST, RECORD, RESULT_COST, SHARED_CACHE_COST, SHARED_CACHE_RECORD

FOREVER = 1e18


def characteristic_time(capacity, *parts):
    """The time T for which the sum of numbers × cost × (1 - exp(-rate T)) over all parts is the capacity."""
    if capacity <= 0:
        return 0.0

    def usage(time):
        return sum((numbers * cost * -numpy.expm1(-rates * time)).sum() for numbers, cost, rates in parts)

    if usage(FOREVER) <= capacity:
        return FOREVER
    low, high = 1e-6, FOREVER
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if usage(middle) < capacity else (low, middle)
    return low


@dataclasses.dataclass
class Answer:
    """Shares of the requests as in `exact.shares`, characteristic times, and bytes of the shared cache that are in use."""
    shares: dict
    times: dict
    shared_cache_usage: float


class Approximation:
    def __init__(self, workload, configuration, classes=3_000):
        self.workload, self.configuration = workload, configuration
        count = configuration.instances
        self.numbers, popularity = workload.classes(classes)
        # With routing an instance gets all requests for a part of the sources, without it a part of those for all.
        self.held = self.numbers / count if configuration.is_routed else self.numbers
        self.sharers = 1 if configuration.is_routed else count
        self.rate = popularity if configuration.is_routed else popularity / count
        self.popularity = popularity

    def solve(self):
        configuration, renditions = self.configuration, self.workload.renditions
        asked = self.rate[:, None] * self.workload.shares
        costs = numpy.array([rendition.result for rendition in renditions], dtype=float)
        held = self.held[:, None]
        times = {}
        mean = (1 + configuration.result_preferred) / 2
        times["record"] = characteristic_time(configuration.record * 0.95, (self.held, RECORD, self.rate))
        times["result"] = characteristic_time(configuration.result * mean, (held, costs + RESULT_COST, asked))
        is_absent = numpy.exp(-asked * times["result"])
        found = 1 - is_absent
        forgotten = self._forgotten(asked, times)
        missing = asked * is_absent
        away = times["result"]

        disk_found = numpy.zeros_like(asked)
        if configuration.result_disk:
            times["disk"] = characteristic_time(configuration.result_disk, (held, costs + DISK_COST, missing))
            disk_found = -numpy.expm1(-missing * max(0, times["disk"] - away))
            away = max(away, times["disk"])
        below = missing * (1 - disk_found)

        shared_cache_found, usage = numpy.zeros_like(asked), 0.0
        if configuration.shared_cache:
            all_below = below * self.sharers
            lost_records = self.rate * numpy.exp(-self.rate * times["record"]) * self.sharers
            parts = [(self.numbers[:, None], costs + SHARED_CACHE_COST, all_below),
                     (self.numbers, SHARED_CACHE_RECORD, lost_records)]
            times["shared_cache"] = characteristic_time(configuration.shared_cache, *parts)
            shared_cache_found = -numpy.expm1(-(all_below - below) * times["shared_cache"] - below * max(0, times["shared_cache"] - away))
            usage = sum((numbers * cost * -numpy.expm1(-rates * times["shared_cache"])).sum() for numbers, cost, rates in parts)
            away = max(away, times["shared_cache"]) if self.sharers == 1 else away
        self.held_by_shared_cache = shared_cache_found
        rendered = below * (1 - shared_cache_found)

        decodes = self._decodes(rendered, away, times)
        fetched = self._fetches(decodes, away, times)
        is_restored = bool(configuration.shared_cache or configuration.result_disk)
        found_share = found if is_restored else found - forgotten
        if not is_restored:
            # A record that was forgotten is fetched with its source, although the result is still there.
            fetched = fetched + asked * forgotten
        if configuration.shared_cache:
            # A record is used in the shared cache only by instances that have forgotten it, and written with each fetch.
            used = self.rate * numpy.exp(-self.rate * times["record"]) + fetched.sum(axis=1)
            self.records_in_shared_cache = -numpy.expm1(-used * self.sharers * times["shared_cache"])
        total = held * self.configuration.instances
        shares = {
            "memory": (total * asked * found_share).sum(),
            "disk": (total * missing * disk_found).sum(),
            "shared_cache": (total * below * shared_cache_found).sum(),
            "renders": (total * rendered).sum(),
            "decodes": (total * decodes).sum(),
            "fetches": (total * fetched).sum()}
        return Answer({name: float(share) for name, share in shares.items()}, times, float(usage))

    def _forgotten(self, asked, times):
        """The probability that a result is in memory, but not the record of its source."""
        record, result = times["record"], times["result"]
        if record >= result:
            return numpy.zeros_like(asked)
        others = self.rate[:, None] - asked
        return numpy.exp(-(others + asked) * record) * -numpy.expm1(-asked * (result - record))

    def _decodes(self, rendered, away, times):
        """Renders of each rendition that do not find the pixels of their level."""
        workload, configuration = self.workload, self.configuration
        of_level = {}
        for level in sorted({rendition.level for rendition in workload.renditions}):
            members = numpy.array([rendition.level == level for rendition in workload.renditions])
            of_level[level] = members, rendered[:, members].sum(axis=1)
        mean = (1 + configuration.decoded_preferred) / 2
        times["decoded"] = characteristic_time(
            configuration.decoded * mean,
            *((self.held, workload.decoded(level), rates) for level, (_, rates) in of_level.items()))
        decodes = numpy.zeros_like(rendered)
        for members, rates in of_level.values():
            decodes[:, members] = self._lacking(rendered[:, members], rates, times["decoded"], away)
        return decodes

    def _fetches(self, decodes, away, times):
        """Decodes that do not find the bytes of their source, in memory or on the disk."""
        configuration = self.configuration
        total = decodes.sum(axis=1)
        times["source"] = characteristic_time(configuration.source * 0.95, (self.held, self.workload.source, total))
        away = max(away, times["decoded"])
        lacking = self._lacking(decodes, total, times["source"], away)
        if configuration.source_disk:
            total = lacking.sum(axis=1)
            times["source disk"] = characteristic_time(
                configuration.source_disk, (self.held, self.workload.source, total))
            lacking = self._lacking(lacking, total, times["source disk"], max(away, times["source"]))
        return lacking

    @staticmethod
    def _lacking(own, total, time, away):
        """What a layer does not have: brought by others within its time, or by itself after it was away."""
        return own * numpy.exp(-(total[:, None] - own) * time - own * max(0, time - away))
