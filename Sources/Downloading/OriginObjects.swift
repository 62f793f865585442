import Coordination
package import Memory

extension DownloadError {
    /// The error of a full disk; buckets respond with the same status (507 Insufficient Storage).
    static let lackOfRoom = DownloadError.status(507)

    /// Whether a write failed because there was no room.
    package var isForLackOfSpace: Bool { self == .lackOfRoom }
}

/// Objects below a writable named origin: files in a folder, or objects in a store that accepts signed requests.
///
/// Files are read and written on separate threads, because a disk may be slow.
package final class OriginObjects: Sendable {
    private enum Place {
        case folder(path: String, writing: Locked<ConfinedWriting?>)
        case web(any DataLoading)
    }

    private static let pieceSize = 256 << 10
    private static let temporary = [Destination.ownFolder, "tmp"]

    private let origin: Origin
    private let place: Place
    private let reads: WorkerPool?
    private let writes: WorkerPool?

    /// Creates access to the objects below `origin`; nil if it is not writable.
    ///
    /// - Parameters:
    ///   - web: Sends signed requests.
    ///   - maximumReads: The maximum number of concurrent lookups.
    package init?(_ origin: Origin, web: any DataLoading, maximumReads: Int) {
        guard origin.isWritable else { return nil }
        self.origin = origin
        switch origin.place {
        case .folder(let path):
            place = .folder(path: path, writing: Locked(nil))
            // A lookup reads several files, and must not wait for slow writes.
            reads = WorkerPool(count: 4, maximumQueued: maximumReads * 8, name: "store reads")
            writes = WorkerPool(count: 2, maximumQueued: 8_192, name: "store writes")
        case .web:
            place = .web(web)
            (reads, writes) = (nil, nil)
        case .memory: return nil
        }
    }

    /// Prepares a folder for writes, and removes leftovers of dead processes.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func prepare() async throws {
        guard case .folder(let path, let writing) = place else { return }
        _ = try await writes?.run { _ in try Self.blockingPrepare(writing, path) }
    }

    private static func blockingPrepare(
        _ writing: Locked<ConfinedWriting?>, _ path: String
    ) throws -> ConfinedWriting {
        if let known = writing.withLock({ $0 }), known.isProtected { return known }
        let new = try ConfinedWriting(root: path, temporary: temporary)
        guard new.isProtected else { throw DownloadError.unreachable("lock: it is gone") }
        writing.withLock { $0 = new }
        return new
    }

    /// Returns the bytes of an object; nil if there is none.
    ///
    /// - Parameters:
    ///   - name: Its path below the origin, without dot segments.
    ///   - maximumBytes: The maximum size; a longer object is an error.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func object(named name: String, atMost maximumBytes: Int) async throws -> SharedBytes? {
        do {
            switch place {
            case .folder(let path, _):
                return try await reads?.run { token in
                    try Self.blockingRead(name, root: path, atMost: maximumBytes, token)
                }
            case .web(let loader):
                let request = TransferRequest(object: try origin.identity(of: name[...]), atMost: maximumBytes)
                guard case .source(let source) = try await load(request, loader) else { return nil }
                return source.bytes
            }
        } catch DownloadError.notFound {
            return nil
        }
    }

    /// Returns the last path segments of the objects directly below a folder.
    ///
    /// - Parameters:
    ///   - folder: Its path below the origin, without dot segments.
    ///   - most: The maximum number of names to return.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func names(in folder: String, atMost most: Int) async throws -> [String] {
        switch place {
        case .folder(let path, _):
            return try await reads?.run { _ in
                let names = try ConfinedWriting.blockingNames(
                    in: folder.split(separator: "/").map(String.init), root: path)
                return Array(names.prefix(most))
            } ?? []
        case .web(let loader):
            var names: [String] = []
            while true {
                let page = try await self.page(of: folder, after: names.last, loader)
                names += page.names
                // After a page without names there is no next page.
                if !page.areMore || page.names.isEmpty || names.count > most { return Array(names.prefix(most)) }
            }
        }
    }

    private func page(
        of folder: String, after last: String?, _ loader: any DataLoading
    ) async throws -> (names: [String], areMore: Bool) {
        var failure: any Error = DownloadError.notFound(404)
        // It is unknown whether the bucket is the first segment of a path, or the host.
        for listing in try ObjectListing.listings(of: folder, below: origin) {
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

    /// Stores an object, replacing any existing one; files are readable for this user only.
    ///
    /// - Parameters:
    ///   - bytes: The whole object, at least one byte.
    ///   - name: Its path below the origin, without dot segments.
    ///   - isLasting: Whether it must survive a crash of the machine.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func keep(_ bytes: SharedBytes, named name: String, isLasting: Bool) async throws {
        try await put(
            bytes, at: try origin.identity(of: name[...]), ObjectDescription(),
            ConfinedWriting.Manner(isLasting: isLasting, isPrivate: true))
    }

    /// Stores a result at a destination named by its caller, where other programs may read it.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func put(_ bytes: SharedBytes, at destination: Destination, _ description: ObjectDescription) async throws {
        try await put(
            bytes, at: destination.identity, description,
            ConfinedWriting.Manner(isLasting: true, isPrivate: false))
    }

    private func put(
        _ bytes: SharedBytes, at identity: SourceIdentity, _ description: ObjectDescription,
        _ manner: ConfinedWriting.Manner
    ) async throws {
        switch place {
        case .folder(let path, let writing):
            try await writes?.run { _ in
                try Self.blockingPrepare(writing, path).blockingPut(
                    bytes, at: identity.url.fileSegments, manner)
            }
        case .web(let loader):
            _ = try await load(TransferRequest(object: identity, upload: TransferUpload(bytes, description)), loader)
        }
    }

    /// Returns whether an object exists at a destination.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    func holds(_ destination: Destination) async throws -> Bool {
        do {
            switch place {
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

    package func shutDown() {
        reads?.shutDown()
        writes?.shutDown()
    }

    /// Sends a request without following redirects.
    private func load(_ request: TransferRequest, _ loader: any DataLoading) async throws -> TransferResult {
        try await loader.load(request, progress: TransferProgress()) {
            [target = request.identity.target] (url) throws(DownloadError) in
            guard url == target else { throw DownloadError.sourceNotAllowed("redirects: none in a store of objects") }
        }
    }

    private static func blockingRead(
        _ name: String, root: String, atMost maximumBytes: Int, _ token: WorkToken
    ) throws -> SharedBytes {
        let file = try ConfinedFile(root: root, segments: name.split(separator: "/").map(String.init))
        guard file.size <= maximumBytes else { throw DownloadError.tooLarge }
        var bytes = ByteAccumulator(reservingCapacity: file.size)
        var piece = [UInt8](repeating: 0, count: min(pieceSize, file.size + 1))
        while true {
            try token.check()
            let count = try unsafe piece.withUnsafeMutableBytes { unsafe try file.blockingRead(into: $0) }
            if count == 0 { return bytes.finish() }
            guard bytes.count + count <= maximumBytes else { throw DownloadError.tooLarge }
            unsafe piece.withUnsafeBytes { unsafe bytes.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
