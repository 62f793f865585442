import Foundation
import TestSupport
import Testing

@testable import AlulaClient

/// The caches in memory and on disk.
struct CachingTests {
    private let folder = TemporaryFolder()

    private var directory: URL { URL(filePath: folder.path).appending(path: "cache") }

    private func url(_ name: String) -> URL {
        URL(filePath: "/").appending(path: name).appending(queryItems: [URLQueryItem(name: "x", value: " ")])
    }

    private func cached(_ text: String, tag: String? = nil, expires: Double = 1_000.25) -> CachedValue<Thumbnail> {
        CachedValue(
            Thumbnail(data: Data(text.utf8), mediaType: "image/webp", entityTag: tag),
            expires: Date(timeIntervalSince1970: expires))
    }

    @Test func `the cache never exceeds its capacity, and a purge keeps the most recently used entries`() {
        var cache = PurgingCache<Int, Int>(capacity: 10, preferred: 6)
        for key in 1...10 {
            #expect(cache.insert(key, for: key, bytes: 1) == [])
            #expect(cache.bytes == key)
        }
        #expect(cache.value(for: 1) == 1)
        #expect(cache.insert(11, for: 11, bytes: 1) == [2, 3, 4, 5, 6])
        #expect(cache.bytes == 6)
        #expect((1...11).filter { cache.value(for: $0) != nil } == [1, 7, 8, 9, 10, 11])
        #expect(cache.insert(12, for: 12, bytes: 11) == [])
        #expect(cache.value(for: 12) == nil && cache.bytes == 6)
        #expect(cache.insert(13, for: 13, bytes: 10).count == 6)
        #expect(cache.bytes == 10 && cache.value(for: 13) == 13 && cache.value(for: 1) == nil)
    }

    @Test func `a cache takes any numbers for its bounds`() {
        for (capacity, preferred, usage) in [(-1, 5, 0), (4, 9, 4), (4, -9, 4)] {
            var cache = PurgingCache<Int, Int>(capacity: capacity, preferred: preferred)
            for key in 0..<9 { _ = cache.insert(key, for: key, bytes: 4) }
            #expect(cache.bytes == usage)
        }
    }

    @Test func `random uses keep the cache's sum and bound`() {
        var generator = SystemRandomNumberGenerator()
        var cache = PurgingCache<Int, Int>(capacity: 1_000, preferred: 500)
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<100, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: cache.remove(key)
            case 1: _ = cache.value(for: key)
            default:
                let size = Int.random(in: 0...200, using: &generator)
                for evicted in cache.insert(size, for: key, bytes: size) { #expect(cache.value(for: evicted) == nil) }
                #expect(cache.value(for: key) == size)
            }
            #expect(cache.bytes <= 1_000)
        }
        #expect((0..<100).reduce(0) { $0 + (cache.value(for: $1) ?? 0) } == cache.bytes)
    }

    @Test func `a memory cache counts the bytes of its values`() throws {
        let cache = ThumbnailMemoryCache<Thumbnail>(capacity: 10)
        cache.store(cached("aaaa"), for: url("a"))
        cache.store(cached("bbbb"), for: url("b"))
        #expect(cache.usage == 8)
        cache.store(cached("cccc"), for: url("c"))
        #expect(cache.usage == 4 && cache.value(for: url("a")) == nil)
        cache.removeValue(for: url("c"))
        #expect(cache.usage == 0)
    }

    @Test func `a file on disk has its URL's data, tag and time, also after a restart`() throws {
        let first = ThumbnailDiskCache(directory: directory)
        #expect(first.value(for: url("a")) == nil && first.usage == 0)
        first.store(cached("a\nb\0", tag: #""x""#), for: url("a"))
        first.store(cached("b"), for: url("b"))
        for cache in [first, ThumbnailDiskCache(directory: directory)] {
            let found = try #require(cache.value(for: url("a")))
            #expect(found.value == cached("a\nb\0", tag: #""x""#).value)
            #expect(found.expires == Date(timeIntervalSince1970: 1_000.25))
            #expect(cache.value(for: url("b"))?.value.entityTag == nil && cache.value(for: url("c")) == nil)
        }
        let second = ThumbnailDiskCache(directory: directory)
        #expect(second.usage == first.usage)
        second.removeValue(for: url("a"))
        #expect(second.value(for: url("a")) == nil && second.value(for: url("b")) != nil)
        second.removeAll()
        #expect(second.usage == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `a disk cache stays within its byte limit, and evicts the least recently used files`() throws {
        let text = String(repeating: "a", count: 1_000)
        let sizes = ThumbnailDiskCache(directory: directory)
        sizes.store(cached(text), for: url("0"))
        let capacity = sizes.usage * 7 / 2
        var cache = ThumbnailDiskCache(directory: directory, capacity: capacity)
        for name in ["0", "1", "2"] {
            cache.store(cached(text), for: url(name))
            try age(name)
        }
        // Files of other programs are ignored.
        try Data("x".utf8).write(to: directory.appending(path: "readme"))
        cache = ThumbnailDiskCache(directory: directory, capacity: capacity)
        #expect(cache.value(for: url("0")) != nil)
        cache.store(cached(text), for: url("3"))
        #expect(cache.usage <= capacity)
        #expect(["0", "1", "2", "3"].filter { cache.value(for: url($0)) != nil } == ["0", "2", "3"])
        cache = ThumbnailDiskCache(directory: directory, capacity: 10)
        #expect(cache.usage == 0)
        cache.store(cached(text), for: url("9"))
        #expect(cache.usage == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["readme"])
    }

    /// Moves the last use of a file into the past; files with lower numbers are older.
    private func age(_ name: String) throws {
        let file = directory.appending(
            path: SHA256.hash(Data(url(name).absoluteString.utf8)).hexadecimal + ".thumbnail")
        let date = Date(timeIntervalSince1970: 1_000 + (Double(name) ?? 0))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    @Test(arguments: ["", "{}\n", "short", "other"])
    func `a damaged file, and one of another URL, is a miss and is removed`(damage: String) throws {
        let cache = ThumbnailDiskCache(directory: directory)
        cache.store(cached("image"), for: url("a"))
        cache.store(cached("image"), for: url("b"))
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        let files = names.map { directory.appending(path: $0) }
        let contents = try files.map { try Data(contentsOf: $0) }
        for (index, file) in files.enumerated() {
            switch damage {
            case "short": try contents[index].dropLast().write(to: file)
            case "other": try contents[1 - index].write(to: file)
            default: try Data(damage.utf8).write(to: file)
            }
        }
        #expect(cache.value(for: url("a")) == nil && cache.value(for: url("b")) == nil)
        #expect(cache.usage == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `an unwritable folder causes only misses`() throws {
        folder.write("cache", [])
        let cache = ThumbnailDiskCache(directory: directory)
        cache.store(cached("image"), for: url("a"))
        #expect(cache.value(for: url("a")) == nil && cache.usage == 0)
        cache.removeAll()
    }
}
