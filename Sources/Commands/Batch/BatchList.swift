import Memory

/// The list of sources of `alula batch`: one a line, or one before each NUL.
enum BatchList {
    /// Most bytes of a list.
    static let longest = 256 << 20

    /// The sources in a list whose names end in NUL, each as it stands.
    static func sourcesBeforeNull(in bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The sources in a list: lines without the space at their ends, but for empty ones and those that begin with `#`.
    ///
    /// - Throws: ``WrongUse`` for a list with a NUL, which no name holds.
    static func sources(in bytes: [UInt8]) throws(WrongUse) -> [String] {
        guard !bytes.contains(0) else { throw WrongUse("LIST holds NUL bytes; -0 reads names that end in them") }
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        return bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0)
            .split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
            .compactMap { line in
                var line = line
                while let first = line.first, isSpace(first) { line.removeFirst() }
                while let last = line.last, isSpace(last) { line.removeLast() }
                guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
                return String(decoding: line, as: UTF8.self)
            }
    }

    /// The bytes of a list: a file, or standard input for a hyphen.
    ///
    /// - Throws: ``CommandFailure`` whose reason names the list.
    static func blockingRead(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            return try InputFile.blockingRead(path, atMost: longest).array
        } catch let failure as CommandFailure {
            throw CommandFailure(code: failure.code, "\(path): \(failure.reason)")
        } catch {
            throw CommandFailure(code: "list_too_long", "\(path): a list has at most \(longest) bytes")
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
