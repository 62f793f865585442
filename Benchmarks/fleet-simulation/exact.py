"""A fleet request by request, with the real policies. Work takes no time, so that nothing is shared by requests at once."""
import bisect
import collections
import random

from configuration import DISK_COST, RECORD, RECORD_CAPACITY, RESULT_COST, SHARED_CACHE_COST, SHARED_CACHE_RECORD
from policies import PurgingCache, SampledCache


class Instance:
    def __init__(self, configuration):
        self.records = PurgingCache(configuration.record, configuration.record // 10 * 9)
        self.results = PurgingCache(configuration.result, int(configuration.result * configuration.result_preferred))
        self.decoded = PurgingCache(configuration.decoded, int(configuration.decoded * configuration.decoded_preferred))
        self.sources = PurgingCache(configuration.source, configuration.source // 10 * 9)
        self.result_disk = PurgingCache(configuration.result_disk) if configuration.result_disk else None
        self.source_disk = PurgingCache(configuration.source_disk) if configuration.source_disk else None
        # Records have a share of the disk of their own.
        self.record_disk = PurgingCache(RECORD_CAPACITY) if configuration.result_disk else None


class Ring:
    """Consistent hashing: a source belongs to the instance whose point comes next."""

    def __init__(self, instances, points, seed=1):
        self.points = sorted(
            (random.Random(f"{seed} {instance} {point}").random(), instance)
            for instance in instances for point in range(points))
        self.seed, self.owners = seed, {}

    def owner(self, source):
        owner = self.owners.get(source)
        if owner is None:
            place = bisect.bisect(self.points, (random.Random(f"{self.seed} source {source}").random(),))
            owner = self.owners[source] = self.points[place % len(self.points)][1]
        return owner


class Fleet:
    """Counts what each request needs: memory, disk, shared cache, render, decode and fetch."""

    def __init__(self, workload, configuration, seed=1):
        self.workload, self.configuration = workload, configuration
        self.numbers = list(range(configuration.instances))
        self.next_number = configuration.instances
        self.instances = {number: Instance(configuration) for number in self.numbers}
        self.shared_cache = SampledCache(configuration.shared_cache) if configuration.shared_cache else None
        self.random = random.Random(seed)
        self.counts = collections.Counter()
        self.by_instance = collections.Counter()
        self._route()

    def _route(self):
        self.ring = Ring(self.numbers, self.configuration.points)

    def lose(self, number):
        self.numbers.remove(number)
        del self.instances[number]
        self._route()

    def grow(self):
        self.instances[self.next_number] = Instance(self.configuration)
        self.numbers.append(self.next_number)
        self.next_number += 1
        self._route()

    def lose_shared_cache(self):
        self.shared_cache.clear()

    def run(self, ranks, numbers):
        """Asks in this order; the counts of these requests alone."""
        before = self.counts.copy()
        for source, number in zip(ranks.tolist(), numbers.tolist()):
            self.ask(source, number)
        return self.counts - before

    def ask(self, source, number):
        counts, shared_cache = self.counts, self.shared_cache
        counts["requests"] += 1
        owner = self.ring.owner(source) if self.configuration.is_routed else self.random.choice(self.numbers)
        self.by_instance[owner] += 1
        instance = self.instances[owner]
        rendition = self.workload.renditions[number]
        key = (source, number)
        is_known = instance.records.find(source)
        if is_known and instance.results.find(key):
            counts["memory"] += 1
            return
        # Records are restored from the disk, then from the shared cache.
        if not is_known and instance.record_disk and instance.record_disk.find(source):
            is_known = True
            instance.records.add(source, RECORD)
        if not is_known and shared_cache and shared_cache.find(source):
            is_known = True
            instance.records.add(source, RECORD)
        if is_known and instance.results.find(key):
            counts["memory"] += 1
            return
        cost = rendition.result + RESULT_COST
        if is_known and instance.result_disk and instance.result_disk.find(key):
            counts["disk"] += 1
            instance.results.add(key, cost)
            return
        if is_known and shared_cache and shared_cache.find(key):
            counts["shared_cache"] += 1
            self._keep(instance, key, rendition, cost, is_written=False)
            return
        level = (source, rendition.level)
        if not (is_known and instance.decoded.find(level)):
            self._source(instance, source, is_known)
            # A result or pixels may have outlived the record.
            if not is_known and instance.results.find(key):
                return
            if is_known or not instance.decoded.find(level):
                counts["decodes"] += 1
                instance.decoded.add(level, self.workload.decoded(rendition.level))
        counts["renders"] += 1
        self._keep(instance, key, rendition, cost, is_written=True)

    def _source(self, instance, source, is_known):
        if is_known and instance.sources.find(source):
            return
        if is_known and instance.source_disk and instance.source_disk.find(source):
            instance.sources.add(source, self.workload.source)
            return
        self.counts["fetches"] += 1
        instance.records.add(source, RECORD)
        instance.sources.add(source, self.workload.source)
        if instance.source_disk:
            instance.source_disk.add(source, self.workload.source)
        if instance.record_disk:
            instance.record_disk.add(source, RECORD)
        if self.shared_cache:
            self.shared_cache.add(source, SHARED_CACHE_RECORD)

    def _keep(self, instance, key, rendition, cost, is_written):
        instance.results.add(key, cost)
        if instance.result_disk:
            instance.result_disk.add(key, rendition.result + DISK_COST)
        if self.shared_cache and is_written:
            self.shared_cache.add(key, rendition.result + SHARED_CACHE_COST)


def shares(counts):
    """Of the requests: what memory, disk and shared cache answered, and what had to be rendered, decoded and fetched."""
    return {name: counts[name] / counts["requests"]
            for name in ("memory", "disk", "shared_cache", "renders", "decodes", "fetches")}
