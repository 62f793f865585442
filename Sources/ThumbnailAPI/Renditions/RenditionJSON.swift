import Crypto
import Dialects
import HTTPTypes
import JSON
import Memory
import Recipes
import ThumbnailPipeline
import ThumbnailTypes

/// Renditions as one JSON object, for clients that cannot parse a multipart body.
///
/// Each image is a `data:` URI (RFC 2397), or the location where it was stored; facts and problems are objects.
struct RenditionJSON: Sendable {
    static let maximumBytes = 16 << 20

    private struct Entry {
        let head: String
        let bytes: SharedBytes?

        init(head: String, bytes: SharedBytes?) {
            self.head = head
            self.bytes = bytes
        }

        /// An object whose last member is a JSON object.
        init(_ members: [(String, JSONValue)], name: String, object: SharedBytes) {
            let text = String(decoding: object.array, as: UTF8.self)
            self.init(head: "\(JSONValue.object(members).text.dropLast()),\"\(name)\":\(text)", bytes: nil)
        }

        /// The length, including the end and a comma.
        var count: Int { head.utf8.count + ((bytes?.count ?? 0) + 2) / 3 * 4 + end.utf8.count + 1 }

        var end: String { bytes == nil ? "}" : "\"}" }
    }

    private static let opening = #"{"renditions":["#
    private static let closing = "]}\n"

    private var entries: [Int: Entry] = [:]
    private(set) var count = opening.utf8.count + closing.utf8.count

    /// Adds a part, in any order.
    mutating func add(_ part: RenditionArchive.Part, at index: Int, named name: String) throws(APIError) {
        var members: [(String, JSONValue)] = [("name", .string(name))]
        let content = RenditionArchive.content(of: part)
        switch part {
        case .stored(let stored): members += JSONValue.stored(stored)
        case .facts: return try add(Entry(members, name: "facts", object: content.bytes), at: index)
        case .problem: return try add(Entry(members, name: "problem", object: content.bytes), at: index)
        case .image(let made):
            let image = made.image
            let type = made.image.format.mediaType
            members += [
                ("type", .string(type)), ("bytes", .int(image.bytes.count)), ("width", .int(image.size.width)),
                ("height", .int(image.size.height)), ("etag", .string(made.eTag)),
            ]
            if let gainMap = made.gainMap { members.append(("hdr", .string(gainMap.done))) }
            if let quality = image.quality { members.append(("quality", .int(quality))) }
            let head = "\(JSONValue.object(members).text.dropLast()),\"data\":\"data:\(type);base64,"
            return try add(Entry(head: head, bytes: content.bytes), at: index)
        }
        try add(Entry(head: String(JSONValue.object(members).text.dropLast()), bytes: nil), at: index)
    }

    private mutating func add(_ entry: Entry, at index: Int) throws(APIError) {
        count += entry.count
        guard count <= Self.maximumBytes else { throw .responseTooLarge }
        entries[index] = entry
    }

    /// The number of bytes written at once: a multiple of three, so that base64 texts can be concatenated.
    private static let pieceLength = 48 << 10

    /// Writes the parts in the order of the list, and releases each piece after it is written.
    ///
    /// The images are shared with the cache, so a slow client holds no copy of them.
    mutating func write<Failure: Error>(_ write: (SharedBytes) async throws(Failure) -> Void) async throws(Failure) {
        try await write(SharedBytes(Self.opening.utf8))
        for (position, index) in entries.keys.sorted().enumerated() {
            guard let entry = entries.removeValue(forKey: index) else { continue }
            try await write(SharedBytes(((position > 0 ? "," : "") + entry.head).utf8))
            if let bytes = entry.bytes {
                for start in stride(from: 0, to: bytes.count, by: Self.pieceLength) {
                    let piece = SharedBytes(start..<min(start + Self.pieceLength, bytes.count), of: bytes)
                    try await write(SharedBytes(Base64.encode(piece.array).utf8))
                }
            }
            try await write(SharedBytes(entry.end.utf8))
        }
        try await write(SharedBytes(Self.closing.utf8))
    }
}
