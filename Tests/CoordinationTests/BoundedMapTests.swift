import Coordination
import Testing

struct BoundedMapTests {
    @Test func `a full map evicts the least recently used entry, by number`() {
        var map = BoundedMap<Int, String>(maximumCount: 2)
        map.insert("one", for: 1)
        map.insert("two", for: 2)
        #expect(map.value(for: 1) == "one")
        let evicted = map.insert("three", for: 3)
        #expect(evicted.map(\.key) == [2] && map.entries.map(\.key) == [1, 3])
        #expect(map.peek(1) == "one")
        map.insert("four", for: 4)
        #expect(map.peek(1) == nil, "a peek is no use")
    }

    @Test func `a full map evicts the least recently used entries, by weight`() {
        var map = BoundedMap<Int, String>(maximumWeight: 10)
        for key in 1...3 { map.insert("value", for: key, weight: 3) }
        #expect(map.count == 3 && map.weight == 9)
        let evicted = map.insert("heavy", for: 4, weight: 5)
        #expect(evicted.map(\.key) == [1, 2] && map.weight == 8)
        map.insert("light", for: 4, weight: 1)
        #expect(map.weight == 4 && map.value(for: 4) == "light")
        map.insert("too heavy", for: 4, weight: 11)
        #expect(map.peek(4) == nil && map.weight == 3 && map.peek(3) == "value")
    }

    @Test func `an expired value is not found`() {
        var map = BoundedMap<Int, String>()
        map.insert("short", for: 1, until: .seconds(5))
        map.insert("long", for: 2, until: .seconds(9))
        map.modify(1) { $0 += "er" }
        #expect(map.value(for: 1, at: .seconds(4)) == "shorter")
        #expect(map.value(for: 1, at: .seconds(5)) == nil && map.peek(1, at: .seconds(5)) == nil)
        #expect(map.count == 2)
        map.removeExpired(at: .seconds(5))
        #expect(map.count == 1 && map.peek(2, at: .seconds(8)) == "long")
    }

    @Test func `an eviction ends at its bound, or with the newest value if that is spared`() {
        var map = BoundedMap<Int, Int>()
        for key in 1...4 { map.insert(key, for: key, weight: key) }
        #expect(map.evict(downTo: 7).map(\.key) == [1, 2])
        #expect(map.evict(downTo: 0, sparesNewest: true).map(\.key) == [3])
        #expect(map.entries.map(\.value) == [4] && map.weight == 4)
        #expect(map.evict(downTo: 0).map(\.key) == [4] && map.count == 0 && map.weight == 0)
    }

    @Test func `slots are reused, and matching entries are removed`() {
        var map = BoundedMap<Int, Int>(maximumCount: 100)
        for key in 0..<1_000 { map.insert(key, for: key, weight: 1) }
        #expect(map.count == 100 && map.weight == 100 && map.entries.map(\.key) == Array(900..<1_000))
        map.removeAll { $0.key % 2 == 0 }
        #expect(map.count == 50 && map.weight == 50)
        #expect(map.remove(901)?.value == 901 && map.remove(901) == nil)
        map.removeAll()
        #expect(map.count == 0 && map.weight == 0 && map.value(for: 903) == nil)
    }
}
