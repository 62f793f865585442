import Coordination
import Testing

@testable import ThumbnailPipeline

@Suite(.timeLimit(.minutes(1)))
struct MemoryCacheTests {
    private static let size = 1_020_000

    private func cache(
        capacity: Int = 104_857_600, preferred: Int = 62_914_560, policy: EvictionPolicy = .lru
    ) -> MemoryCache<VariantKey, StoredImage> {
        MemoryCache(CacheBounds(capacity: capacity, preferred: preferred, policy: policy), cost: \.bytes)
    }

    @Test func `the count of removals changes with every removed entry, and with no other access`() {
        let cache = cache(capacity: 10, preferred: 5)
        var count = cache.removalCount
        func hasChanged() -> Bool {
            defer { count = cache.removalCount }
            return cache.removalCount != count
        }
        cache.add(StoredImage(name: "a", bytes: 4), for: VariantKey("a", 1))
        cache.add(StoredImage(name: "b", bytes: 4), for: VariantKey("b", 1))
        _ = (cache.value(for: VariantKey("a", 1)), cache.value(for: VariantKey("c", 1)), cache.statistics)
        #expect(!hasChanged())
        cache.add(StoredImage(name: "b", bytes: 4), for: VariantKey("b", 1))
        #expect(hasChanged(), "replaced")
        cache.add(StoredImage(name: "c", bytes: 4), for: VariantKey("c", 1))
        #expect(hasChanged(), "evicted")
        cache.remove(VariantKey("c", 1))
        #expect(hasChanged(), "removed")
        cache.remove(VariantKey("c", 1))
        #expect(!hasChanged(), "nothing to remove")
        cache.add(StoredImage(name: "d", bytes: 4), for: VariantKey("d", 1))
        cache.removeAll(from: VariantKey("d", 1).source)
        #expect(hasChanged(), "removed with its source")
        cache.removeAll()
        #expect(hasChanged(), "emptied")
    }

    @Test func `a repeated hit is counted as a hit`() {
        let cache = cache(capacity: 10, preferred: 5)
        cache.add(StoredImage(name: "a", bytes: 1), for: VariantKey("a", 1))
        _ = cache.value(for: VariantKey("a", 1))
        cache.countRepeatedHit()
        #expect(cache.statistics.hits == 2)
    }

    @Test func `an added value is read back, and usage grows by its size`() {
        let cache = cache()
        let image = StoredImage(name: "a", bytes: Self.size)
        #expect(cache.add(image, for: VariantKey("a", 1)))
        #expect(cache.value(for: VariantKey("a", 1)) == image)
        #expect(cache.memoryUsage == Self.size)
    }

    @Test func `variants are separate and keys never collide by concatenation`() {
        let cache = cache()
        cache.add(StoredImage(name: "reduced", bytes: 10), for: VariantKey("a", 2))
        #expect(cache.value(for: VariantKey("a", 1)) == nil)
        cache.add(StoredImage(name: "other", bytes: 10), for: VariantKey("a2", 1))
        #expect(cache.value(for: VariantKey("a", 21)) == nil)
        #expect(cache.value(for: VariantKey("a", 2))?.name == "reduced")
    }

    @Test func `the second image under a key replaces the first, and a larger one can start a purge`() {
        let cache = cache(capacity: 100, preferred: 60)
        cache.add(StoredImage(name: "first", bytes: 40), for: VariantKey("a", 1))
        cache.add(StoredImage(name: "second", bytes: 40), for: VariantKey("a", 1))
        #expect(cache.value(for: VariantKey("a", 1))?.name == "second")
        #expect(cache.statistics.usage.entries == 1)
        #expect(cache.memoryUsage == 40)
        cache.add(StoredImage(name: "b", bytes: 50), for: VariantKey("b", 1))
        cache.add(StoredImage(name: "third", bytes: 45), for: VariantKey("a", 1))
        #expect(cache.memoryUsage == 95)
        cache.add(StoredImage(name: "fourth", bytes: 55), for: VariantKey("a", 1))
        #expect(cache.memoryUsage == 55)
        #expect(!cache.contains(VariantKey("b", 1)))
    }

    @Test func `removing returns whether an entry existed and releases its bytes`() {
        let cache = cache()
        cache.add(StoredImage(name: "a", bytes: Self.size), for: VariantKey("a", 1))
        cache.add(StoredImage(name: "b", bytes: Self.size), for: VariantKey("b", 1))
        #expect(cache.remove(VariantKey("a", 1)))
        #expect(!cache.remove(VariantKey("a", 1)))
        #expect(cache.value(for: VariantKey("a", 1)) == nil)
        #expect(cache.memoryUsage == Self.size)
        #expect(cache.removeAll() == RemovedEntries(entries: 1, bytes: Self.size))
        #expect(cache.removeAll() == RemovedEntries(entries: 0, bytes: 0))
        #expect(cache.memoryUsage == 0)
    }

    @Test func `ten fit, the eleventh purges to six`() {
        let cache = cache(capacity: 10 * Self.size, preferred: 6 * Self.size)
        for index in 0..<10 {
            cache.add(StoredImage(name: "\(index)", bytes: Self.size), for: VariantKey("\(index)", 1))
            #expect(cache.memoryUsage == (index + 1) * Self.size)
        }
        cache.add(StoredImage(name: "10", bytes: Self.size), for: VariantKey("10", 1))
        #expect(cache.memoryUsage == 6 * Self.size)
        #expect(cache.statistics.evictedBytes == 5 * Self.size)
    }

    @Test func `an entry read before the purge survives it`() {
        let cache = cache(capacity: 10 * Self.size, preferred: 6 * Self.size)
        for index in 0..<10 {
            cache.add(StoredImage(name: "\(index)", bytes: Self.size), for: VariantKey("\(index)", 1))
        }
        _ = cache.value(for: VariantKey("0", 1))
        cache.add(StoredImage(name: "10", bytes: Self.size), for: VariantKey("10", 1))
        let survivors = (0...10).filter { cache.contains(VariantKey("\($0)", 1)) }
        #expect(survivors == [0, 6, 7, 8, 9, 10])
    }

    @Test
    func `an image over the capacity is rejected and evicts nothing, one over preferred survives its own purge`() {
        let cache = cache(capacity: 100, preferred: 60)
        cache.add(StoredImage(name: "small", bytes: 30), for: VariantKey("small", 1))
        #expect(!cache.add(StoredImage(name: "huge", bytes: 101), for: VariantKey("huge", 1)))
        #expect(cache.contains(VariantKey("small", 1)))
        #expect(cache.memoryUsage == 30)
        #expect(cache.add(StoredImage(name: "large", bytes: 90), for: VariantKey("large", 1)))
        #expect(cache.contains(VariantKey("large", 1)))
        #expect(!cache.contains(VariantKey("small", 1)))
        #expect(cache.memoryUsage == 90)
    }

    @Test func `a preferred usage above the capacity is a programming error`() async {
        await #expect(processExitsWith: .failure) {
            _ = MemoryCache<VariantKey, StoredImage>(
                CacheBounds(capacity: 10, preferred: 11), cost: \.bytes)
        }
    }

    @Test func `counts are correct under parallel use`() async {
        let cache = cache(capacity: 1_000_000, preferred: 100_000)
        await withTaskGroup(of: Void.self) { group in
            for round in 0..<100 {
                group.addTask {
                    for index in 0..<100 {
                        let key = VariantKey("\(index)", 1)
                        cache.add(StoredImage(name: "\(index)", bytes: 1_000 + round * 7 + index), for: key)
                        _ = cache.value(for: VariantKey("\((index + round) % 100)", 1))
                        if index.isMultiple(of: 3) { cache.remove(VariantKey("\((index * round) % 100)", 1)) }
                    }
                }
            }
        }
        let held = (0..<100).compactMap { cache.value(for: VariantKey("\($0)", 1))?.bytes }
        #expect(cache.memoryUsage == held.reduce(0, +))
        #expect(cache.statistics.usage.entries == held.count)
        #expect(cache.memoryUsage <= 1_000_000)
    }

    @Test func `recency is the order of use`() {
        let cache = cache(capacity: 20, preferred: 10)
        for index in 0..<20 { cache.add(StoredImage(name: "\(index)", bytes: 1), for: VariantKey("\(index)", 1)) }
        cache.add(StoredImage(name: "20", bytes: 1), for: VariantKey("20", 1))
        #expect((0...20).filter { cache.contains(VariantKey("\($0)", 1)) } == Array(11...20))
    }

    @Test func `purging a source removes its entries and no others`() {
        let cache = cache()
        for (source, variant) in [("/img", 1), ("/img", 2), ("/img2", 1), ("/img?x=1", 1)] {
            cache.add(StoredImage(name: source, bytes: 100), for: VariantKey(source, variant))
        }
        #expect(cache.removeAll(from: "/img") == RemovedEntries(entries: 2, bytes: 200))
        #expect(!cache.contains(VariantKey("/img", 1)) && !cache.contains(VariantKey("/img", 2)))
        #expect(cache.contains(VariantKey("/img2", 1)) && cache.contains(VariantKey("/img?x=1", 1)))
        #expect(cache.removeAll(from: "/img") == RemovedEntries(entries: 0, bytes: 0))
    }

    @Test func `lowering the capacity purges at once, and an evicted value stays valid for its holder`() {
        let cache = cache(capacity: 100, preferred: 80)
        for index in 0..<10 { cache.add(StoredImage(name: "\(index)", bytes: 10), for: VariantKey("\(index)", 1)) }
        let held = cache.value(for: VariantKey("0", 1))
        cache.setBounds(CacheBounds(capacity: 50, preferred: 30))
        #expect(cache.memoryUsage == 30)
        cache.setBounds(CacheBounds(capacity: 0, preferred: 0))
        #expect(cache.memoryUsage == 0)
        #expect(held?.name == "0")
    }

    @Test func `low memory purges to preferred, then to zero, counted`() {
        let cache = cache(capacity: 100, preferred: 60)
        for name in ["a", "b", "c", "d"] { cache.add(StoredImage(name: name, bytes: 25), for: VariantKey(name, 1)) }
        #expect(cache.evictToPreferred() == 50)
        #expect(cache.memoryUsage == 50)
        #expect(cache.contains(VariantKey("d", 1)) && !cache.contains(VariantKey("b", 1)))
        #expect(cache.evictToPreferred() == 0)
        #expect(cache.evictAll() == 50)
        #expect(cache.memoryUsage == 0)
        #expect(cache.statistics.evictedBytes == 100)
    }

    @Test func `hits and misses are counted, a check without a read is not`() {
        let cache = cache()
        cache.add(StoredImage(name: "a", bytes: 1), for: VariantKey("a", 1))
        _ = cache.value(for: VariantKey("a", 1))
        _ = cache.value(for: VariantKey("b", 1))
        _ = cache.contains(VariantKey("c", 1))
        #expect(cache.statistics.hits == 1 && cache.statistics.misses == 1)
    }

    @Test func `an unusable entry is a miss and gains no recency`() {
        let cache = cache(capacity: 20, preferred: 10)
        cache.add(StoredImage(name: "a", bytes: 10), for: VariantKey("a", 1))
        cache.add(StoredImage(name: "b", bytes: 10), for: VariantKey("b", 1))
        #expect(cache.value(for: VariantKey("a", 1)) { $0.name == "b" } == nil)
        #expect(cache.statistics.hits == 0 && cache.statistics.misses == 1)
        cache.add(StoredImage(name: "c", bytes: 5), for: VariantKey("c", 1))
        #expect(!cache.contains(VariantKey("a", 1)))
        #expect(cache.value(for: VariantKey("c", 1)) { $0.name == "c" }?.name == "c")
        #expect(cache.statistics.hits == 1)
    }

    @Test func `by cost, expensive entries outlive cheap ones of the same age, but not for good`() {
        let cache = cache(capacity: 5, preferred: 4, policy: .cost)
        cache.add(
            StoredImage(name: "expensive", bytes: 1), for: VariantKey("expensive", 1), timeCost: .milliseconds(40))
        for name in ["a", "b", "c", "d", "e", "f"] {
            cache.add(StoredImage(name: name, bytes: 1), for: VariantKey(name, 1), timeCost: .milliseconds(10))
        }
        #expect(["expensive", "c", "d", "e", "f"].allSatisfy { cache.contains(VariantKey($0, 1)) })
        #expect(cache.memoryUsage == 5)
        // An unused entry is evicted after the others have been replaced several times.
        for name in 0..<40 {
            cache.add(
                StoredImage(name: "\(name)", bytes: 1), for: VariantKey("\(name)", 1), timeCost: .milliseconds(10))
        }
        #expect(!cache.contains(VariantKey("expensive", 1)))
    }

    @Test func `by cost, a used entry is young again`() {
        let cache = cache(capacity: 5, preferred: 4, policy: .cost)
        let key = VariantKey("expensive", 1)
        cache.add(StoredImage(name: "expensive", bytes: 1), for: key, timeCost: .milliseconds(40))
        for name in 0..<40 {
            #expect(cache.value(for: key) != nil)
            cache.add(
                StoredImage(name: "\(name)", bytes: 1), for: VariantKey("\(name)", 1), timeCost: .milliseconds(10))
        }
        #expect(cache.contains(key))
    }

    @Test(arguments: [EvictionPolicy.lru, .cost])
    func `entries of similar costs are evicted in order of use under any policy`(policy: EvictionPolicy) {
        let cache = cache(capacity: 10, preferred: 6, policy: policy)
        for name in 0...9 {
            let time = Duration.microseconds(1_100 + name * 10)
            cache.add(StoredImage(name: "\(name)", bytes: 1), for: VariantKey("\(name)", 1), timeCost: time)
        }
        _ = cache.value(for: VariantKey("0", 1))
        cache.add(StoredImage(name: "10", bytes: 1), for: VariantKey("10", 1), timeCost: .milliseconds(1))
        let left = (0...10).filter { cache.contains(VariantKey("\($0)", 1)) }
        #expect(left == [0, 6, 7, 8, 9, 10])
    }

    @Test func `a change of the policy applies to the next eviction`() {
        let cache = cache(capacity: 3, preferred: 2)
        cache.add(StoredImage(name: "a", bytes: 1), for: VariantKey("a", 1), timeCost: .milliseconds(40))
        cache.setBounds(CacheBounds(capacity: 3, preferred: 2, policy: .cost))
        for name in ["b", "c", "d"] {
            cache.add(StoredImage(name: name, bytes: 1), for: VariantKey(name, 1), timeCost: .milliseconds(10))
        }
        #expect(cache.contains(VariantKey("a", 1)) && cache.contains(VariantKey("d", 1)) && cache.memoryUsage == 2)
    }

    @Test func `an entry of several sources is removed with any of them, and counted once`() {
        for removed in ["a", "b", "c"] {
            let cache = cache()
            let key = VariantKey("a", 1, additionalSources: ["b", "c", "a"])
            cache.add(StoredImage(name: "a", bytes: 10), for: key)
            cache.add(StoredImage(name: "d", bytes: 1), for: VariantKey("d", 1))
            #expect(cache.hasAny(from: removed))
            let gone = cache.removeAll(from: removed)
            #expect(gone.entries == 1 && gone.bytes == 10)
            #expect(!cache.contains(key) && cache.memoryUsage == 1)
            #expect(["a", "b", "c"].allSatisfy { !cache.hasAny(from: $0) })
        }
    }
}

private struct VariantKey: SourceKeyed {
    let source: String
    let variant: Int
    let additionalSources: [String]

    init(_ source: String, _ variant: Int, additionalSources: [String] = []) {
        self.source = source
        self.variant = variant
        self.additionalSources = additionalSources
    }
}

private final class StoredImage: Sendable, Equatable {
    let name: String
    let bytes: Int

    init(name: String, bytes: Int) {
        self.name = name
        self.bytes = bytes
    }

    static func == (left: StoredImage, right: StoredImage) -> Bool { left === right }
}
