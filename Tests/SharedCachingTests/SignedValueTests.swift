import Memory
import Testing

@testable import SharedCaching

struct SignedValueTests {
    private let key = SharedKey(of: Array("a result".utf8))
    private let generations = [Generation(), Generation()]
    private let value = CacheValue(head: Array("head".utf8), body: SharedBytes(Array(repeating: 7, count: 300)))

    @Test func `a value reads back as written`() throws {
        let written = value.encoded(under: key, generations: generations)
        #expect(written.count == value.length(generations: 2))
        guard case .value(let read) = CacheValue.read(written, under: key, generations: generations) else {
            Issue.record("not read")
            return
        }
        #expect(read.head == value.head && read.body.array == value.body.array)
    }

    @Test func `no changed byte of a value goes undetected`() {
        let written = value.encoded(under: key, generations: generations).array
        for place in written.indices {
            var damaged = written
            damaged[place] ^= 1 << (place % 8)
            guard case .damaged = CacheValue.read(SharedBytes(damaged), under: key, generations: generations) else {
                Issue.record("byte \(place) was not checked")
                continue
            }
        }
        for count in [0, 1, 40, written.count - 1] {
            guard
                case .damaged = CacheValue.read(
                    SharedBytes(written.prefix(count)), under: key, generations: generations)
            else {
                Issue.record("\(count) bytes were taken for a value")
                continue
            }
        }
    }

    @Test func `a value is read with its key only`() {
        let signers = [SharedSigner(), SharedSigner(key: [1, 2, 3]), SharedSigner(key: [1, 2, 4])]
        for (place, writer) in signers.enumerated() {
            let written = value.encoded(under: key, generations: generations, signer: writer)
            for (other, reader) in signers.enumerated() {
                let finding = CacheValue.read(written, under: key, generations: generations, signer: reader)
                let isRead = if case .value = finding { true } else { false }
                #expect(isRead == (place == other))
            }
        }
    }

    @Test func `a purge is trusted with its key only`() throws {
        let notice = try #require(PurgeNotice(.test, name: "http://example.com/ä"))
        let (signer, other) = (SharedSigner(key: [1]), SharedSigner(key: [2]))
        let written = notice.encoded(signer: signer)
        #expect(PurgeNotice(written, signer: signer) == notice && PurgeNotice(written, signer: other) == nil)
        #expect(
            PurgeNotice(notice.encoded(), signer: signer) == nil && PurgeNotice([], signer: signer) == nil)
        for place in written.indices {
            var forged = written
            forged[place] ^= 1
            #expect(PurgeNotice(forged, signer: signer) == nil, "byte \(place)")
            #expect(PurgeNotice(Array(written[..<place]), signer: signer) == nil)
        }
    }

    @Test func `a value with another key is damaged, and one of another generation is outdated`() {
        let written = value.encoded(under: key, generations: generations)
        guard case .damaged = CacheValue.read(written, under: SharedKey(of: [1]), generations: generations),
            case .damaged = CacheValue.read(written, under: key, generations: [generations[0]])
        else {
            Issue.record("another key's value was taken")
            return
        }
        for place in 0..<2 {
            var later = generations
            later[place] = Generation()
            guard case .outdated = CacheValue.read(written, under: key, generations: later) else {
                Issue.record("an outdated value was taken")
                continue
            }
        }
    }
}

struct SharedCacheAddressTests {
    @Test(arguments: [
        ("redis://cache", "cache", 6379, 0, false),
        ("rediss://cache.example.com:6380/3", "cache.example.com", 6380, 3, true),
        ("redis://127.0.0.1:1/", "127.0.0.1", 1, 0, false), ("redis://[::1]:7/15", "::1", 7, 15, false),
        ("redis://[fd00::1]", "fd00::1", 6379, 0, false),
    ])
    func `an address has host, port, database and TLS`(
        text: String, host: String, port: Int, database: Int, isTLS: Bool
    ) throws {
        let address = try #require(SharedCacheAddress(text))
        #expect(address.host == host && Int(address.port) == port)
        #expect(address.database == database && address.isTLS == isTLS)
    }

    @Test(arguments: [
        "", "cache", "redis:cache", "http://cache", "redis://", "redis://:6379", "redis://user:secret@cache",
        "redis://secret@cache", "redis://cache:0", "redis://cache:65536", "redis://cache:x", "redis://cache/x",
        "redis://cache/-1", "redis://cache/0/1", "redis://cache:1:2", "redis://[::1", "redis://[]", "redis://[::1]x",
        "redis://ca che", "redis://cache/65536", "redis://cache?db=1", "redis://\u{131}",
    ])
    func `other texts are not addresses, above all with a password`(text: String) {
        #expect(SharedCacheAddress(text) == nil)
    }
}
