"""The caches' policies, as MemoryCache, the disk cache and Redis have them."""
import collections
import math
import random


class PurgingCache:
    """Least recently used out first: when usage exceeds the capacity, until it is at most the preferred one.

    An entry above the capacity is not admitted; the entry just added is not evicted. With both bounds equal it is the
    disk cache.
    """

    def __init__(self, capacity, preferred=None):
        self.capacity, self.preferred = capacity, capacity if preferred is None else preferred
        self.entries, self.usage = collections.OrderedDict(), 0

    def find(self, key):
        if key not in self.entries:
            return False
        self.entries.move_to_end(key)
        return True

    def add(self, key, cost):
        self.usage -= self.entries.pop(key, 0)
        if cost > self.capacity:
            return
        self.entries[key] = cost
        self.usage += cost
        if self.usage > self.capacity:
            while self.usage > self.preferred and len(self.entries) > 1:
                self.usage -= self.entries.popitem(last=False)[1]

    def clear(self):
        self.entries.clear()
        self.usage = 0


class CostCache(PurgingCache):
    """`decodedCachePolicy=cost`: GreedyDual-Size with times per byte as powers of two."""

    def __init__(self, capacity, preferred=None):
        super().__init__(capacity, preferred)
        self.worth, self.priority, self.age = {}, {}, 0.0

    def find(self, key):
        if not super().find(key):
            return False
        self.priority[key] = self.age + self.worth[key]
        return True

    def add(self, key, cost, time):
        self.usage -= self.entries.pop(key, 0)
        if cost > self.capacity:
            return
        self.worth[key] = 2.0 ** math.floor(math.log2(time / cost))
        self.entries[key], self.priority[key] = cost, self.age + self.worth[key]
        self.usage += cost
        if self.usage > self.capacity:
            for victim in sorted(list(self.entries)[:-1], key=self.priority.get):
                if self.usage <= self.preferred:
                    break
                self.age = max(self.age, self.priority.pop(victim))
                self.usage -= self.entries.pop(victim)


class SampledCache:
    """`allkeys-lru` of Redis: of five random keys and a pool of sixteen from earlier samples, the one idle longest goes."""
    samples, pool_size = 5, 16

    def __init__(self, capacity, seed=1):
        self.capacity, self.random = capacity, random.Random(seed)
        self.clear()

    def clear(self):
        self.costs, self.used, self.places, self.keys, self.pool = {}, {}, {}, [], {}
        self.usage = self.clock = 0

    def find(self, key):
        self.clock += 1
        if key not in self.used:
            return False
        self.used[key] = self.clock
        return True

    def add(self, key, cost):
        self.clock += 1
        if key in self.costs:
            self.usage -= self.costs[key]
        else:
            self.places[key] = len(self.keys)
            self.keys.append(key)
        self.costs[key], self.used[key] = cost, self.clock
        self.usage += cost
        while self.usage > self.capacity and len(self.keys) > 1:
            self._evict()

    def _evict(self):
        for _ in range(self.samples):
            key = self.keys[int(self.random.random() * len(self.keys))]
            self.pool[key] = self.used[key]
        if len(self.pool) > self.pool_size:
            for key in sorted(self.pool, key=self.pool.get)[self.pool_size:]:
                del self.pool[key]
        while self.pool:
            victim = min(self.pool, key=self.pool.get)
            was_used = self.pool.pop(victim)
            # A key that was used since then is no candidate any more.
            if self.used.get(victim) == was_used:
                self._remove(victim)
                return

    def _remove(self, key):
        place, last = self.places.pop(key), self.keys.pop()
        if last != key:
            self.keys[place], self.places[last] = last, place
        self.usage -= self.costs.pop(key)
        del self.used[key]
