import Crypto
import Dialects
import HTTPTypes
import Imaging
import JSON
import Memory
import ThumbnailPipeline

/// The parts of an answer as one JSON object, for clients that cannot cut a multipart body: each with its bytes as a
/// `data:` URI (RFC 2397), or with the place where they were put.
struct RenditionJSON: Sendable {
    /// Most bytes of the answer.
    static let mostBytes = 16 << 20

    private struct Entry {
        /// The object up to the base64 text, or up to its end.
        let head: String
        /// The bytes of the text; nil if there is none.
        let bytes: SharedBytes?

        /// Bytes of the entry's text, with its end and a comma.
        var count: Int { head.utf8.count + ((bytes?.count ?? 0) + 2) / 3 * 4 + end.utf8.count + 1 }

        var end: String { bytes == nil ? "}" : "\"}" }
    }

    private static let opening = #"{"renditions":["#
    private static let closing = "]}\n"

    private var entries: [Int: Entry] = [:]
    /// Bytes of the text.
    private(set) var count = opening.utf8.count + closing.utf8.count

    /// Adds the part of the rendition with this index, in any order.
    ///
    /// - Throws: ``APIError/answerTooLarge``.
    mutating func add(_ part: RenditionArchive.Part, at index: Int, named name: String) throws(APIError) {
        var members: [(String, JSONValue)] = [("name", .string(name))]
        if case .placed(let placed) = part {
            let text = JSONValue.object(members + JSONValue.placed(placed)).text
            return try add(Entry(head: String(text.dropLast()), bytes: nil), at: index)
        }
        let content = RenditionArchive.content(of: part)
        let type = content.fields.first { $0.0 == "Content-Type" }?.1 ?? ""
        members += [("type", .string(type)), ("bytes", .int(content.bytes.count))]
        if case .image(let made) = part {
            members.append(("etag", .string(made.eTag)))
            if let gainMap = made.gainMap { members.append(("hdr", .string(gainMap.done))) }
            if let quality = made.image.quality { members.append(("quality", .int(quality))) }
        }
        let head = "\(JSONValue.object(members).text.dropLast()),\"data\":\"data:\(type);base64,"
        try add(Entry(head: head, bytes: content.bytes), at: index)
    }

    private mutating func add(_ entry: Entry, at index: Int) throws(APIError) {
        count += entry.count
        guard count <= Self.mostBytes else { throw .answerTooLarge }
        entries[index] = entry
    }

    /// The whole text, with the entries in the order of the list.
    var bytes: SharedBytes {
        var text = ByteAccumulator(reservingCapacity: count)
        text.append(Self.opening)
        for (place, index) in entries.keys.sorted().enumerated() {
            guard let entry = entries[index] else { continue }
            text.append((place > 0 ? "," : "") + entry.head)
            // Pieces of a multiple of three bytes, so that their texts follow one another.
            if let bytes = entry.bytes {
                for start in stride(from: 0, to: bytes.count, by: 48 << 10) {
                    let piece = SharedBytes(start..<min(start + 48 << 10, bytes.count), of: bytes)
                    text.append(Base64.encode(piece.array))
                }
            }
            text.append(entry.end)
        }
        text.append(Self.closing)
        return text.finish()
    }
}

extension ByteAccumulator {
    fileprivate mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append(UnsafeRawBufferPointer($0)) }
    }
}
