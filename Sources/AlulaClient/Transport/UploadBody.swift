import Foundation

/// The body of a request: bytes in memory and files, which are read while they are sent.
struct UploadBody: Sendable {
    /// A part of a body.
    enum Piece: Sendable {
        case bytes(Data)
        case file(URL)
    }

    private static let hashing = WorkQueue(width: 2)

    private let pieces: [Piece]
    /// The size in bytes when the body was created.
    let count: Int

    /// Creates a body.
    ///
    /// - Throws: ``ClientError/unreadableFile(_:)``.
    init(_ pieces: [Piece]) throws(ClientError) {
        self.pieces = pieces
        var count = 0
        for piece in pieces {
            switch piece {
            case .bytes(let bytes): count += bytes.count
            case .file(let url): count += try Self.size(of: url)
            }
        }
        self.count = count
    }

    /// The whole body, if no part of it is a file.
    var bytes: Data? {
        var all = Data()
        for piece in pieces {
            guard case .bytes(let bytes) = piece else { return nil }
            if all.isEmpty { all = bytes } else { all += bytes }
        }
        return all
    }

    /// Reads the body once and returns its SHA-256.
    func digest() async throws(ClientError) -> [UInt8] {
        let result = await Self.hashing.run { Result { () throws(ClientError) in try hash() } }
        return try result.get()
    }

    private func hash() throws(ClientError) -> [UInt8] {
        var hash = SHA256()
        var reader = Reader(self)
        while let bytes = try reader.read(upTo: 1 << 16) { hash.update(bytes) }
        return hash.finish()
    }

    private static func size(of file: URL) throws(ClientError) -> Int {
        let values = try? file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
        guard file.isFileURL, values?.isRegularFile ?? false, let size = values?.fileSize else {
            throw .unreadableFile(file)
        }
        return size
    }

    /// Reads a body from its first byte.
    struct Reader {
        private var pieces: ArraySlice<Piece>
        private var bytes = Data()
        private var file: (handle: FileHandle, url: URL)?

        init(_ body: UploadBody) { pieces = body.pieces[...] }

        /// Returns the next bytes, at least one; nil at the end.
        ///
        /// - Throws: ``ClientError/unreadableFile(_:)``.
        mutating func read(upTo limit: Int) throws(ClientError) -> Data? {
            while true {
                if !bytes.isEmpty {
                    defer { bytes = bytes.dropFirst(limit) }
                    return bytes.prefix(limit)
                }
                if let file {
                    guard let bytes = try? file.handle.read(upToCount: limit) ?? Data() else {
                        throw .unreadableFile(file.url)
                    }
                    if !bytes.isEmpty { return bytes }
                    self.file = nil
                }
                switch pieces.popFirst() {
                case .bytes(let next): bytes = next
                case .file(let url):
                    guard let handle = try? FileHandle(forReadingFrom: url) else { throw .unreadableFile(url) }
                    file = (handle, url)
                case nil: return nil
                }
            }
        }
    }
}
