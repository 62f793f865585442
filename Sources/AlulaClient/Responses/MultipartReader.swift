import Foundation

/// Splits a multipart body (RFC 2046 section 5.1.1) into its parts while it arrives.
struct MultipartReader {
    /// The header lines and the content of a part.
    struct Part: Equatable {
        let lines: [Substring]
        let content: Data

        /// Returns the value of the first field of a name.
        func field(_ name: String) -> String? {
            lines.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }?.dropFirst(name.count + 1)
                .trimmingCharacters(in: .whitespaces)
        }
    }

    private let delimiter: Data
    /// The maximum size of a part with its fields, and of the preamble, in bytes.
    private let longestPart: Int
    private var rest = Data("\r\n".utf8)
    /// The number of bytes already searched.
    private var searched = 0
    private var hasBegun = false
    /// Whether the last delimiter was read.
    private(set) var isComplete = false

    /// Creates a reader for the boundary of a media type; nil if it has none.
    init?(mediaType: String, longestPart: Int = .max) {
        let parts = mediaType.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.first?.lowercased() == "multipart/mixed",
            let boundary = parts.first(where: { $0.lowercased().hasPrefix("boundary=") })?.dropFirst(9)
        else { return nil }
        self.longestPart = longestPart
        delimiter = Data("\r\n--\(boundary.trimmingCharacters(in: ["\""]))".utf8)
    }

    /// Returns the parts completed by these bytes.
    ///
    /// - Throws: ``ClientError/tooLarge`` if a part is too long.
    mutating func read(_ bytes: Data) throws(ClientError) -> [Part] {
        guard !isComplete else { return [] }
        rest += bytes
        var parts: [Part] = []
        while !isComplete, let found = rest.range(of: delimiter, in: searched..<rest.count) {
            // The two bytes after a delimiter show whether it is the last one.
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

    /// Parses the bytes between two delimiters: the end of the first delimiter's line, fields, an empty line, and
    /// content.
    private static func part(_ bytes: Data) -> Part {
        let head = bytes.range(of: Data("\r\n\r\n".utf8)) ?? bytes.endIndex..<bytes.endIndex
        let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
        return Part(lines: lines, content: Data(bytes[head.upperBound...]))
    }
}
