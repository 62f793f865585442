import Coordination
import Crypto
import Downloading
import Glibc
import HTTPTypes
import Memory
import TestSupport
import Testing
import Text

/// Files of a configured folder; nothing outside of it is read.
@Suite(.timeLimit(.minutes(1)))
struct FolderLoaderTests {
    private let folder = TemporaryFolder()

    @Test func `a file is a source with its date and hash`() async throws {
        let content = bytes(600_000)
        folder.write("a/b c.png", content)
        let progress = TransferProgress()
        let source = try await load("a/b c.png", progress: progress)
        #expect(source.bytes.array == content)
        #expect(source.validator == .digest(digest(of: content)))
        #expect(source.head.lastModified != nil)
        #expect(progress.receivedBytes == content.count)
        #expect(progress.expectedBytes == content.count)
    }

    @Test func `a missing or irregular file is not found`() async throws {
        folder.write("a/b.png", [1])
        unsafe mkfifo(folder.path + "/pipe", 0o600)
        for path in ["none.png", "a", "a/none.png", "a/b.png/c", "pipe", String(repeating: "x", count: 300)] {
            await #expect(throws: DownloadError.notFound(404)) { try await load(path) }
        }
    }

    @Test func `links are never followed`() async throws {
        let outside = TemporaryFolder()
        outside.write("secret.png", [1])
        folder.write("a/b.png", [1])
        folder.link("file.png", to: outside.path + "/secret.png")
        folder.link("folder", to: outside.path)
        folder.link("inside.png", to: "a/b.png")
        folder.link("up", to: "..")
        for path in ["file.png", "folder/secret.png", "inside.png", "up/secret.png"] {
            await #expect(throws: DownloadError.notFound(404)) { try await load(path) }
        }
        #expect(try await load("a/b.png").bytes.array == [1])
    }

    @Test func `a folder's path may contain links`() async throws {
        folder.write("real/a.png", [7])
        folder.link("linked", to: "real")
        #expect(try await load("a.png", root: folder.path + "/linked").bytes.array == [7])
    }

    @Test func `a file over the limit or without bytes is rejected`() async throws {
        folder.write("large.png", bytes(1_001))
        folder.write("fits.png", bytes(1_000))
        folder.write("empty.png", [])
        await #expect(throws: DownloadError.tooLarge) { try await load("large.png") { $0.maximumBytes = 1_000 } }
        #expect(try await load("fits.png") { $0.maximumBytes = 1_000 }.bytes.count == 1_000)
        await #expect(throws: DownloadError.emptyBody) { try await load("empty.png") }
    }

    @Test func `a missing folder is unreachable`() async throws {
        await #expect { try await load("a.png", root: folder.path + "/gone") } throws: { isUnreachable($0) }
    }

    @Test func `other origins' sources are rejected, and all are after the shutdown`() async throws {
        let loader = FolderLoader(timekeeper: ManualTimekeeper())
        await #expect {
            try await loader.load(TransferRequest(identity: .path("/a")), progress: TransferProgress())
        } throws: {
            isDenied($0, by: "origins")
        }
        loader.shutDown()
        let configuration = configuration(folder.path) { _ in }
        let ended = FolderLoader(timekeeper: ManualTimekeeper())
        ended.shutDown()
        let identity = try DownloadRules(configuration).identity(of: "local:a")
        await #expect(throws: DownloadError.shuttingDown) {
            try await ended.load(TransferRequest(identity: identity), progress: TransferProgress())
        }
    }

    @Test func `each location has its loader`() async throws {
        let web = StubLoader(isHolding: false)
        let files = StubLoader(isHolding: false)
        let loader = RoutingLoader(web: web, folders: files)
        let inFolder = try DownloadRules(configuration(folder.path) { _ in }).identity(of: "local:b")
        _ = try await loader.load(TransferRequest(identity: .path("/a")), progress: TransferProgress())
        files.fail(with: .notFound(404))
        await #expect(throws: DownloadError.notFound(404)) {
            try await loader.load(TransferRequest(identity: inFolder), progress: TransferProgress())
        }
        #expect(web.started == ["/a"])
        #expect(files.started == ["/b"])
    }

    private func configuration(_ root: String, _ change: (inout OriginLimits) -> Void) -> DownloadConfiguration {
        var origin = Origin(name: "local", location: .folder(path: root))
        change(&origin.limits)
        var configuration = DownloadConfiguration()
        configuration.origins = Origins([origin])
        return configuration
    }

    private func load(
        _ path: String, root: String? = nil, progress: TransferProgress = TransferProgress(),
        _ change: (inout OriginLimits) -> Void = { _ in }
    ) async throws -> ReceivedSource {
        let configuration = configuration(root ?? folder.path, change)
        let loader = FolderLoader(timekeeper: ManualTimekeeper())
        defer { loader.shutDown() }
        let identity = try DownloadRules(configuration).identity(of: "local:\(path)")
        guard case .source(let source) = try await loader.load(TransferRequest(identity: identity), progress: progress)
        else { throw UnexpectedConfirmation() }
        return source
    }
}

private func digest(of bytes: [UInt8]) -> String {
    SharedBytes(bytes).withBytes { SHA256.hash($0) }.hexadecimal
}
