package import Coordination
import Crypto
import HTTPTypes
import Memory

/// Loads sources from the folders of named origins on separate threads, because a disk may be slow.
package final class FolderLoader: DataLoading {
    private let workers: WorkerPool
    private let timekeeper: any Timekeeper

    package init(timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        // At least `maximumTransfers`, so that the queue never rejects.
        workers = WorkerPool(count: 4, maximumQueued: 10_000, name: "files")
    }

    package func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult {
        let identity = request.identity
        let configuration = identity.rules.configuration
        try admitHop(identity.url)
        let root: String
        switch identity.rules.origin?.location {
        case .web, nil: throw DownloadError.sourceNotAllowed("origins: \(identity.name) is not in a folder")
        case .folder(let path): root = path
        case .memory(let bytes):
            return request.needsBody ? .source(try source(identity, bytes: bytes, progress: progress)) : .head
        }
        return try await DownloadError.replacingPoolErrors {
            try await workers.run(timeLimit: configuration.downloadTimeout) { [timekeeper] token in
                guard request.needsBody else {
                    _ = try ConfinedFile(root: root, segments: identity.url.fileSegments)
                    return .head
                }
                return .source(
                    try Self.blockingLoad(
                        identity, root: root, maximumBytes: configuration.maximumBytes, progress: progress,
                        token: token, now: HTTPDate(secondsSince1970: timekeeper.secondsSince1970)))
            }
        }
    }

    package func shutDown() { workers.shutDown() }

    private func source(_ identity: SourceIdentity, bytes: [UInt8], progress: TransferProgress) throws -> ReceivedSource
    {
        guard bytes.count > 0 else { throw DownloadError.emptyBody }
        guard bytes.count <= identity.rules.configuration.maximumBytes else { throw DownloadError.tooLarge }
        progress.begin(expecting: bytes.count)
        try progress.receive(bytes.count)
        let shared = SharedBytes(bytes)
        return ReceivedSource(
            identity, bytes: shared, digest: shared.withBytes { SHA256.hash($0) },
            now: HTTPDate(secondsSince1970: timekeeper.secondsSince1970))
    }

    private static func blockingLoad(
        _ identity: SourceIdentity, root: String, maximumBytes: Int, progress: TransferProgress, token: WorkToken,
        now: HTTPDate
    ) throws -> ReceivedSource {
        let file = try ConfinedFile(root: root, segments: identity.url.fileSegments)
        progress.begin(expecting: file.size)
        var hash = SHA256()
        let bytes = try file.blockingRead(atMost: maximumBytes, token: token) { piece in
            try progress.receive(piece.byteCount)
            hash.update(piece)
        }
        guard bytes.count > 0 else { throw DownloadError.emptyBody }
        var fields: HTTPFields = [:]
        fields.append(.lastModified, HTTPDate(secondsSince1970: file.modifiedAt).imfFixdate)
        return ReceivedSource(identity, bytes: bytes, digest: hash.finalize(), fields: fields, now: now)
    }
}

extension ReceivedSource {
    fileprivate init(
        _ identity: SourceIdentity, bytes: SharedBytes, digest: SHA256Digest, fields: HTTPFields = [:], now: HTTPDate
    ) {
        let head = SourceHead(
            identity: identity, validator: SourceValidator(digest), headerFields: fields, requestedAt: now,
            receivedAt: now)
        self.init(head: head, bytes: bytes)
    }
}
