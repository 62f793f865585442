import Foundation
import Testing

@testable import AlulaClient

/// The values under the client: multipart bodies, the order of loads, the cache.
struct PartsAndBoundsTests {
    @Test(arguments: [1, 2, 3, 7, 64, 1_000])
    func `a multipart body is cut alike in whatever pieces it arrives`(size: Int) throws {
        var reader = try #require(MultipartReader(mediaType: "multipart/mixed; boundary=\"b\""))
        let content = "\r\n--a\r\n--\0\r\n\r\n"
        let body = Data(
            "--b\r\nContent-ID: <x>\r\nContent-Type: image/png\r\n\r\n\(content)\r\n--b\r\n\r\n\r\n--b--\r\nend".utf8)
        var parts: [MultipartReader.Part] = []
        for start in stride(from: 0, to: body.count, by: size) {
            parts += try reader.read(body[start..<min(start + size, body.count)])
        }
        #expect(
            parts == [
                MultipartReader.Part(
                    lines: ["Content-ID: <x>", "Content-Type: image/png"], content: Data(content.utf8)),
                MultipartReader.Part(lines: [], content: Data()),
            ])
        #expect(parts.first?.field("content-type") == "image/png" && parts.first?.field("Content") == nil)
        #expect(reader.isComplete)
        #expect(MultipartReader(mediaType: "image/png; boundary=b") == nil)
        #expect(MultipartReader(mediaType: "multipart/mixed") == nil)
    }

    @Test(arguments: ["--b\r\n\r\n", ""])
    func `a part without an end is refused when it is too long, and so is a preamble`(start: String) throws {
        var reader = try #require(MultipartReader(mediaType: "multipart/mixed; boundary=b", longestPart: 1_000))
        #expect(try reader.read(Data(start.utf8)).isEmpty)
        for _ in 0..<9 { #expect(try reader.read(Data(count: 100)).isEmpty) }
        #expect(throws: ClientError.self) { for _ in 0..<2 { _ = try reader.read(Data(count: 100)) } }
    }

    @Test func `a part that is too long is refused although it arrives at once`() throws {
        var reader = try #require(MultipartReader(mediaType: "multipart/mixed; boundary=b", longestPart: 10))
        #expect(throws: ClientError.self) { try reader.read(Data("--b\r\n\r\n0123456789\r\n--b--".utf8)) }
    }

    @Test(
        arguments: [
            (["Cache-Control": "public, max-age=60"], 60), (["Cache-Control": "max-age=60", "Age": "20"], 40),
            (["Cache-Control": "max-age=60", "Age": "-9223372036854775808"], 60),
            (["Cache-Control": "max-age=-9223372036854775808", "Age": "1"], 0),
            (["Cache-Control": "max-age=60, no-cache"], 0), ([:], 0),
            // An answer of 50 seconds ago, which a cache of the session has kept.
            (["Cache-Control": "max-age=60", "Date": "Thu, 01 Jan 1970 00:16:40 GMT"], 10),
            (["Cache-Control": "max-age=60", "Date": "Thu, 01 Jan 1970 01:00:00 GMT"], 60),
            (["Cache-Control": "max-age=60", "Date": "yesterday"], 60),
        ] as [([String: String], Int)])
    func `an image is fresh for what the service allows, less its age`(fields: [String: String], seconds: Int) {
        let thumbnail = Thumbnail(data: Data(), now: Date(timeIntervalSince1970: 1_050)) { fields[$0] }
        #expect(thumbnail.lifetime == .seconds(seconds))
    }

    @Test func `a canceled load that only waited frees no place, and one that ran frees its place at its end`() {
        var queue = LoadQueue<String>(limit: 1, order: .fifo)
        for (caller, key) in ["a", "b", "c"].enumerated() { queue.join(key, caller: UInt64(caller)) }
        let first = queue.next()
        #expect(first?.key == "a" && queue.next() == nil)
        #expect(queue.leave("b", caller: 1) == nil && queue.next() == nil)
        #expect(queue.leave("a", caller: 7) == nil)
        #expect(queue.leave("a", caller: 0) == first)
        // Another load of the same URL waits; the end of the first one is not its end.
        queue.join("a", caller: 3)
        #expect(queue.next() == nil && queue.activeCount == 1)
        #expect(first.map { queue.end($0) } == [])
        #expect(queue.next()?.key == "c" && queue.queuedCount == 1)
    }

    @Test(arguments: [
        (ThumbnailLoader.Order.fifo, ["a", "b", "c"]), (.lifo, ["c", "b", "a"]),
    ])
    func `waiting loads start in their order`(order: ThumbnailLoader.Order, expected: [String]) {
        var queue = LoadQueue<String>(limit: 1, order: order)
        for key in ["a", "b", "c", "a"] { queue.join(key, caller: 0) }
        var started: [String] = []
        while let load = queue.next() {
            started.append(load.key)
            _ = queue.end(load)
        }
        #expect(started == expected)
    }

    @Test func `the cache is never above its capacity, and a purge leaves what was used last`() {
        var cache = PurgingCache<Int, Int>(capacity: 10, preferred: 6)
        for key in 1...10 {
            cache.insert(key, key, bytes: 1)
            #expect(cache.bytes == key)
        }
        #expect(cache.value(1) == 1)
        cache.insert(11, 11, bytes: 1)
        #expect(cache.bytes == 6)
        #expect((1...11).filter { cache.value($0) != nil } == [1, 7, 8, 9, 10, 11])
        cache.insert(12, 12, bytes: 11)
        #expect(cache.value(12) == nil && cache.bytes == 6)
        cache.insert(13, 13, bytes: 10)
        #expect(cache.bytes == 10 && cache.value(13) == 13 && cache.value(1) == nil)
    }

    @Test func `random uses keep the cache's sum and bound`() {
        var generator = SystemRandomNumberGenerator()
        var cache = PurgingCache<Int, Int>(capacity: 1_000, preferred: 500)
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<100, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: cache.remove(key)
            case 1: _ = cache.value(key)
            default:
                let size = Int.random(in: 0...200, using: &generator)
                cache.insert(size, key, bytes: size)
                #expect(cache.value(key) == size)
            }
            #expect(cache.bytes <= 1_000)
        }
        #expect((0..<100).reduce(0) { $0 + (cache.value($1) ?? 0) } == cache.bytes)
    }
}
