import Coordination
package import Memory
import Text

extension DownloadError {
    /// The error for a full disk; buckets respond with the same status (507 Insufficient Storage).
    static let fullStorage = DownloadError.status(507)

    package var isFull: Bool { self == .fullStorage }
}

/// Objects below a writable named origin: files in a folder, or objects in a store that accepts signed requests.
package final class OriginObjects: Sendable {
    private enum Store {
        case folder(path: String, writer: Locked<ConfinedWriter?>)
        case web(any DataLoading)
    }

    private static let temporary = [Destination.ownFolder, "tmp"]

    let rules: OriginRules
    private let store: Store
    private let reads: WorkerPool?
    private let writes: WorkerPool?

    package init?(_ rules: OriginRules, web: any DataLoading, maximumReads: Int) {
        guard let origin = rules.origin, origin.isWritable else { return nil }
        self.rules = rules
        switch origin.location {
        case .folder(let path):
            store = .folder(path: path, writer: Locked(nil))
            // Separate from writes, because lookups must not wait for slow ones.
            reads = WorkerPool(count: 4, maximumQueued: maximumReads * 8, name: "store reads")
            writes = WorkerPool(count: 2, maximumQueued: 8_192, name: "store writes")
        case .web:
            store = .web(web)
            reads = nil
            writes = nil
        case .memory: return nil
        }
    }

    package func prepare() async throws {
        guard case .folder(let path, let writer) = store else { return }
        _ = try await writes?.run { _ in try Self.blockingPrepare(writer, path: path) }
    }

    private static func blockingPrepare(_ writer: Locked<ConfinedWriter?>, path: String) throws -> ConfinedWriter {
        if let current = writer.withLock({ $0 }), current.isProtected { return current }
        let new = try ConfinedWriter(root: path, temporary: temporary)
        guard new.isProtected else { throw DownloadError.unreachable("lock: the file was deleted") }
        writer.withLock { $0 = new }
        return new
    }

    /// Returns the object; nil if it does not exist.
    ///
    /// - Parameter name: The path below the origin, without dot segments.
    package func object(named name: String, atMost maximumBytes: Int) async throws -> SharedBytes? {
        do {
            switch store {
            case .folder(let path, _):
                return try await reads?.run { token in
                    try ConfinedFile(root: path, segments: name.split(separator: "/").map(String.init))
                        .blockingRead(atMost: maximumBytes, token: token)
                }
            case .web(let loader):
                let request = TransferRequest(object: try rules.identity(of: name[...]), atMost: maximumBytes)
                guard case .source(let source) = try await load(request, with: loader) else { return nil }
                return source.bytes
            }
        } catch DownloadError.notFound {
            return nil
        }
    }

    /// Returns the last path segments of the objects directly below `folder`, which has no dot segments.
    package func names(in folder: String, atMost maximum: Int) async throws -> [String] {
        switch store {
        case .folder(let path, _):
            return try await reads?.run { _ in
                let names = try ConfinedWriter.blockingNames(
                    in: folder.split(separator: "/").map(String.init), root: path)
                return Array(names.prefix(maximum))
            } ?? []
        case .web(let loader):
            var names: [String] = []
            while true {
                let page = try await self.page(of: folder, after: names.last, from: loader)
                names += page.names
                // After a page without names there is no next page.
                if !page.hasMore || page.names.isEmpty || names.count > maximum { return Array(names.prefix(maximum)) }
            }
        }
    }

    private func page(
        of folder: String, after last: String?, from loader: any DataLoading
    ) async throws -> (names: [String], hasMore: Bool) {
        var failure: any Error = DownloadError.notFound(404)
        // The bucket may be the first path segment or the host: try both.
        for listing in try ObjectListing.listings(of: folder, below: rules) {
            do {
                let request = TransferRequest(object: try listing.page(after: last), atMost: ObjectListing.maximumBytes)
                guard case .source(let source) = try await load(request, with: loader) else { continue }
                if let names = listing.names(in: source.bytes) { return names }
            } catch let error as DownloadError {
                failure = error
            }
        }
        throw failure
    }

    /// Stores or replaces an object; files are readable only for this user.
    ///
    /// - Parameter isDurable: Whether the object must survive a crash of the machine.
    package func store(_ bytes: SharedBytes, named name: String, isDurable: Bool) async throws {
        try await put(
            bytes, at: try rules.identity(of: name[...]), description: ObjectDescription(),
            options: ConfinedWriter.Options(isDurable: isDurable, isPrivate: true))
    }

    /// Stores a result, readable for other programs.
    func put(_ bytes: SharedBytes, at destination: Destination, description: ObjectDescription) async throws {
        try await put(
            bytes, at: destination.identity, description: description,
            options: ConfinedWriter.Options(isDurable: true, isPrivate: false))
    }

    private func put(
        _ bytes: SharedBytes, at identity: SourceIdentity, description: ObjectDescription,
        options: ConfinedWriter.Options
    ) async throws {
        switch store {
        case .folder(let path, let writer):
            try await writes?.run { _ in
                try Self.blockingPrepare(writer, path: path).blockingWrite(
                    bytes, at: identity.url.fileSegments, options: options)
            }
        case .web(let loader):
            _ = try await load(
                TransferRequest(object: identity, upload: TransferUpload(bytes, description: description)), with: loader
            )
        }
    }

    func holds(_ destination: Destination) async throws -> Bool {
        do {
            switch store {
            case .folder(let path, _):
                try await reads?.run { _ in
                    _ = try ConfinedFile(root: path, segments: destination.identity.url.fileSegments)
                }
            case .web(let loader):
                _ = try await load(TransferRequest(identity: destination.identity, needsBody: false), with: loader)
            }
            return true
        } catch DownloadError.notFound {
            return false
        }
    }

    func serves(_ rules: OriginRules) -> Bool {
        self.rules.key == rules.key && rules.origin?.isWritable == true
    }

    package func shutDown() {
        reads?.shutDown()
        writes?.shutDown()
    }

    private func load(_ request: TransferRequest, with loader: any DataLoading) async throws -> TransferResult {
        try await loader.load(request, progress: TransferProgress()) {
            [target = request.identity.target] (url) throws(DownloadError) in
            guard url == target else {
                throw DownloadError.sourceNotAllowed("redirects: not followed in object stores")
            }
        }
    }
}
