import Foundation

/// Cuts a multipart body (RFC 2046 section 5.1.1) into its parts, in whatever pieces it arrives.
struct MultipartReader {
    /// A part: the lines of its header, and its content.
    struct Part: Equatable {
        let lines: [Substring]
        let content: Data

        /// The value of the first field of a name.
        func field(_ name: String) -> String? {
            lines.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }?.dropFirst(name.count + 1)
                .trimmingCharacters(in: .whitespaces)
        }
    }

    private let delimiter: Data
    /// Most bytes of a part with its fields; also of what stands before the first one.
    private let longestPart: Int
    private var rest = Data("\r\n".utf8)
    /// Everything before has been searched.
    private var searched = 0
    private var hasBegun = false
    /// Whether the last delimiter was read.
    private(set) var isComplete = false

    /// A reader for the boundary that a media type names; nil if it names none.
    init?(mediaType: String, longestPart: Int = .max) {
        let parts = mediaType.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.first?.lowercased() == "multipart/mixed",
            let boundary = parts.first(where: { $0.lowercased().hasPrefix("boundary=") })?.dropFirst(9)
        else { return nil }
        self.longestPart = longestPart
        delimiter = Data("\r\n--\(boundary.trimmingCharacters(in: ["\""]))".utf8)
    }

    /// The parts that these bytes complete.
    ///
    /// - Throws: ``ClientError/tooLarge`` for a part that is too long.
    mutating func read(_ bytes: Data) throws(ClientError) -> [Part] {
        guard !isComplete else { return [] }
        rest += bytes
        var parts: [Part] = []
        while !isComplete, let found = rest.range(of: delimiter, in: searched..<rest.count) {
            // The two bytes after a delimiter tell whether it is the last one.
            guard found.upperBound + 2 <= rest.count else { break }
            guard found.lowerBound <= longestPart else { throw .tooLarge }
            if hasBegun { parts.append(Self.part(rest[..<found.lowerBound])) }
            hasBegun = true
            isComplete = rest[found.upperBound] == UInt8(ascii: "-")
            rest = Data(rest[found.upperBound...])
            searched = 0
        }
        searched = max(searched, rest.count - delimiter.count - 2, 0)
        guard searched <= longestPart else { throw .tooLarge }
        return parts
    }

    /// Reads what stands between two delimiters: the end of the first one's line, fields, an empty line, content.
    private static func part(_ bytes: Data) -> Part {
        let head = bytes.range(of: Data("\r\n\r\n".utf8)) ?? bytes.endIndex..<bytes.endIndex
        let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
        return Part(lines: lines, content: Data(bytes[head.upperBound...]))
    }
}
