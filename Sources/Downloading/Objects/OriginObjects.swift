import Coordination
package import Memory
import Text

extension DownloadError {
    /// The error for a full disk; buckets respond with the same status (507 Insufficient Storage).
    static let lackOfRoom = DownloadError.status(507)

    package var isFull: Bool { self == .lackOfRoom }
}

/// Objects below a writable named origin: files in a folder, or objects in a store that accepts signed requests.
package final class OriginObjects: Sendable {
    private enum Store {
        case folder(path: String, writing: Locked<ConfinedWriter?>)
        case web(any DataLoading)
    }

    private static let temporary = [Destination.ownFolder, "tmp"]

    fileprivate let rules: OriginRules
    private let store: Store
    private let reads: WorkerPool?
    private let writes: WorkerPool?

    package init?(_ rules: OriginRules, web: any DataLoading, maximumReads: Int) {
        guard let origin = rules.origin, origin.isWritable else { return nil }
        self.rules = rules
        switch origin.location {
        case .folder(let path):
            store = .folder(path: path, writing: Locked(nil))
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
        guard case .folder(let path, let writing) = store else { return }
        _ = try await writes?.run { _ in try Self.blockingPrepare(writing, path) }
    }

    private static func blockingPrepare(_ writing: Locked<ConfinedWriter?>, _ path: String) throws -> ConfinedWriter {
        if let storedCopy = writing.withLock({ $0 }), storedCopy.isProtected { return storedCopy }
        let new = try ConfinedWriter(root: path, temporary: temporary)
        guard new.isProtected else { throw DownloadError.unreachable("lock: it is gone") }
        writing.withLock { $0 = new }
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
                        .blockingRead(atMost: maximumBytes, token)
                }
            case .web(let loader):
                let request = TransferRequest(object: try rules.identity(of: name[...]), atMost: maximumBytes)
                guard case .source(let source) = try await load(request, loader) else { return nil }
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
                let page = try await self.page(of: folder, after: names.last, loader)
                names += page.names
                // After a page without names there is no next page.
                if !page.hasMore || page.names.isEmpty || names.count > maximum { return Array(names.prefix(maximum)) }
            }
        }
    }

    private func page(
        of folder: String, after last: String?, _ loader: any DataLoading
    ) async throws -> (names: [String], hasMore: Bool) {
        var failure: any Error = DownloadError.notFound(404)
        // The bucket may be the first path segment or the host: try both.
        for listing in try ObjectListing.listings(of: folder, below: rules) {
            do {
                let request = TransferRequest(object: try listing.page(after: last), atMost: ObjectListing.maximumBytes)
                guard case .source(let source) = try await load(request, loader) else { continue }
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
    func put(_ bytes: SharedBytes, at destination: Destination, _ description: ObjectDescription) async throws {
        try await put(
            bytes, at: destination.identity, description: description,
            options: ConfinedWriter.Options(isDurable: true, isPrivate: false))
    }

    private func put(
        _ bytes: SharedBytes, at identity: SourceIdentity, description: ObjectDescription,
        options manner: ConfinedWriter.Options
    ) async throws {
        switch store {
        case .folder(let path, let writing):
            try await writes?.run { _ in
                try Self.blockingPrepare(writing, path).blockingWrite(bytes, at: identity.url.fileSegments, manner)
            }
        case .web(let loader):
            _ = try await load(TransferRequest(object: identity, upload: TransferUpload(bytes, description)), loader)
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
                _ = try await load(TransferRequest(identity: destination.identity, needsBody: false), loader)
            }
            return true
        } catch DownloadError.notFound {
            return false
        }
    }

    fileprivate func serves(_ rules: OriginRules) -> Bool {
        self.rules.key == rules.key && rules.origin?.isWritable == true
    }

    package func shutDown() {
        reads?.shutDown()
        writes?.shutDown()
    }

    private func load(_ request: TransferRequest, _ loader: any DataLoading) async throws -> TransferResult {
        try await loader.load(request, progress: TransferProgress()) {
            [target = request.identity.target] (url) throws(DownloadError) in
            guard url == target else { throw DownloadError.sourceNotAllowed("redirects: none in a store of objects") }
        }
    }
}

package struct WritableOrigins: Sendable {
    package let rules: DownloadRules
    private let objects: [ExactText: OriginObjects]

    /// - Parameter earlier: The origins before a reload; unchanged ones are reused.
    package init(
        _ rules: DownloadRules, web: any DataLoading, maximumReads: Int, after earlier: WritableOrigins? = nil
    ) {
        self.rules = rules
        objects = Dictionary(
            rules.all.compactMap { rules in
                guard let name = rules.origin?.name else { return nil }
                let unchanged = earlier?[name].flatMap { $0.serves(rules) ? $0 : nil }
                return (unchanged ?? OriginObjects(rules, web: web, maximumReads: maximumReads)).map {
                    (ExactText(name), $0)
                }
            }, uniquingKeysWith: { $1 })
    }

    /// Returns the origins that `new` does not reuse.
    package func replaced(by new: WritableOrigins) -> [OriginObjects] {
        objects.filter { $0.value !== new.objects[$0.key] }.map(\.value)
    }

    package subscript(name: String?) -> OriginObjects? { name.flatMap { objects[ExactText($0)] } }

    /// Stores a result atomically: readers see the old or the new object.
    package func put(_ bytes: SharedBytes, at destination: Destination, _ description: ObjectDescription) async throws {
        guard let objects = self[destination.origin.name] else { throw DownloadError.sourceNotAllowed("write: off") }
        try await objects.put(bytes, at: destination, description)
    }

    package func holds(_ destination: Destination) async throws -> Bool {
        try await self[destination.origin.name]?.holds(destination) ?? false
    }

    package func shutDown() { for objects in objects.values { objects.shutDown() } }
}
