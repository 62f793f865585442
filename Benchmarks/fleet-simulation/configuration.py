"""The bounds of one instance's caches and of the shared cache, in bytes; and what entries cost beside their contents."""
import dataclasses

MIB = 1 << 20
# As in MemoryLayer and RenderedImage: a record of a source in memory, and what a result costs besides its bytes.
RECORD, RESULT_COST = 1_400, 3_072
RECORD_CAPACITY = 32 * MIB
# In Redis, measured: what a result costs beside its bytes, and a record with the generation of its source.
SHARED_CACHE_COST, SHARED_CACHE_RECORD = 600, 750
DISK_COST = 200


@dataclasses.dataclass(frozen=True)
class Configuration:
    """A fleet. The preferred usage of a cache in memory is the given share of its capacity; 0 bytes is no such cache."""
    instances: int = 4
    is_routed: bool = True
    result: int = 64 * MIB
    result_preferred: float = 0.75
    decoded: int = 100 * MIB
    decoded_preferred: float = 0.6
    source: int = 20 * MIB
    result_disk: int = 0
    source_disk: int = 0
    shared_cache: int = 0
    record: int = RECORD_CAPACITY
    # Points of an instance on the ring of the proxy: sixteen for each unit of weight in HAProxy.
    points: int = 16

    @property
    def memory(self):
        """Bytes of an instance: caches, code and what is in work."""
        return self.result + self.decoded + self.source + self.record + 110 * MIB + 256 * MIB
