import Coordination
import Glibc
import Memory
import TestSupport
import Testing

@testable import Downloading

/// Objects in a folder, and in a store that accepts signed requests.
@Suite(.timeLimit(.minutes(1)))
struct OriginObjectsTests {
    private let folder = TemporaryFolder()

    private func objects() throws -> OriginObjects {
        var origin = Origin(name: "store", location: .folder(path: folder.path))
        origin.isWritable = true
        return try #require(OriginObjects(.of(origin), web: StubLoader(), maximumReads: 8))
    }

    private func names(in path: String) -> [String] {
        guard let stream = unsafe opendir(folder.path + "/" + path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    @Test(arguments: [1, 300, 700_000])
    func `a file is read as written, also after a replacement`(count: Int) async throws {
        let objects = try objects()
        #expect(try await objects.object(named: "v/ab/c", atMost: 1 << 20) == nil)
        try await objects.store(SharedBytes([1, 2]), named: "v/ab/c", isDurable: true)
        try await objects.store(SharedBytes(bytes(count)), named: "v/ab/c", isDurable: false)
        #expect(try await objects.object(named: "v/ab/c", atMost: 1 << 20)?.array == bytes(count))
        await #expect(throws: DownloadError.tooLarge) { try await objects.object(named: "v/ab/c", atMost: count - 1) }
        #expect(names(in: "v/ab") == ["c"])
        #expect(names(in: "alula-1/tmp").allSatisfy { $0.hasSuffix(".lock") })
        objects.shutDown()
    }

    @Test func `files of dead processes are removed at the start, and those of living ones are not`() async throws {
        folder.write("alula-1/tmp/dead.lock", [])
        folder.write("alula-1/tmp/dead.1", [1])
        folder.write("alula-1/tmp/dead.2", [1])
        folder.write("alula-1/tmp/alive.lock", [])
        folder.write("alula-1/tmp/alive.1", [1])
        let lock = unsafe open(folder.path + "/alula-1/tmp/alive.lock", O_RDWR | O_CLOEXEC)
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let objects = try objects()
        try await objects.prepare()
        let left = names(in: "alula-1/tmp").filter { !$0.hasPrefix("alive") }
        #expect(left.count == 1 && left[0].hasSuffix(".lock"), "\(left)")
        #expect(names(in: "alula-1/tmp").count == 3)
        // If the lock file is removed, the files can be written anyway.
        let other = try self.objects()
        try await other.prepare()
        #expect(names(in: "alula-1/tmp").count == 4)
        objects.shutDown()
        other.shutDown()
        close(lock)
    }

    @Test func `a lost lock is recreated`() async throws {
        let objects = try objects()
        try await objects.prepare()
        let lock = try #require(names(in: "alula-1/tmp").first)
        unsafe unlink(folder.path + "/alula-1/tmp/" + lock)
        try await objects.store(SharedBytes([1]), named: "a", isDurable: false)
        #expect(names(in: "alula-1/tmp").count == 1 && names(in: "alula-1/tmp") != [lock])
        objects.shutDown()
    }

    @Test func `no link is followed, for reading or for writing`() async throws {
        let other = TemporaryFolder()
        other.write("secret", [7])
        folder.link("v", to: other.path)
        let objects = try objects()
        #expect(try await objects.object(named: "v/secret", atMost: 10) == nil)
        await #expect(throws: DownloadError.self) {
            try await objects.store(SharedBytes([1]), named: "v/new", isDurable: false)
        }
        folder.link("x", to: other.path + "/secret")
        try await objects.store(SharedBytes([1]), named: "x", isDurable: false)
        #expect(try await objects.object(named: "x", atMost: 10)?.array == [1])
        let secret = unsafe open(other.path + "/secret", O_RDONLY | O_CLOEXEC)
        var byte: UInt8 = 0
        #expect(unsafe read(secret, &byte, 1) == 1 && byte == 7)
        close(secret)
        objects.shutDown()
    }

    @Test func `a page of a bucket's listing may be short, and says whether more follow`() throws {
        let place = Origin.Location.web(base: try SourceURL(parsing: "https://s3.example/bucket/results"))
        let listing = try #require(
            try ObjectListing.listings(of: "t/x", below: .of(Origin(name: "s", location: place))).first)
        func found(_ end: String, _ names: [String] = ["a", "b"]) -> (names: [String], hasMore: Bool)? {
            let keys = names.map { "<Contents><Key>results/t/x/\($0)</Key></Contents>" }.joined()
            return listing.names(in: SharedBytes(Array("<ListBucketResult>\(keys)\(end)</ListBucketResult>".utf8)))
        }
        #expect(found("")?.names == ["a", "b"] && found("")?.hasMore == false)
        #expect(found("<IsTruncated>false</IsTruncated>")?.hasMore == false)
        #expect(found("<IsTruncated>true</IsTruncated>")?.hasMore == true)
        #expect(listing.names(in: SharedBytes(Array("<Error/>".utf8))) == nil)
        let full = (0..<ObjectListing.length).map(String.init)
        #expect(found("", full)?.hasMore == true && found("", full.dropLast())?.hasMore == false)
        #expect(found("<IsTruncated>false</IsTruncated>", full)?.hasMore == false)
    }

    @Test func `a missing folder is an error, and not a miss`() async throws {
        var origin = Origin(name: "store", location: .folder(path: folder.path + "/none"))
        #expect(OriginObjects(.of(origin), web: StubLoader(), maximumReads: 8) == nil, "it takes no writes")
        origin.isWritable = true
        let objects = try #require(OriginObjects(.of(origin), web: StubLoader(), maximumReads: 8))
        await #expect(throws: DownloadError.self) { try await objects.object(named: "a", atMost: 10) }
        await #expect(throws: DownloadError.self) {
            try await objects.store(SharedBytes([1]), named: "a", isDurable: true)
        }
        objects.shutDown()
    }
}
