import Memory

/// Lists of sources, one per line, or separated by NUL.
enum BatchList {
    static let separatedByNull = CommandOption(
        name: "null", short: "0", help: "names in LIST end with NUL, as written by `find -print0`")

    /// Returns the sources of a list in a file, or of standard input for a hyphen.
    static func sources(at path: String, arguments: CommandArguments) throws -> [String] {
        guard !FilePath.isFolder(path) else {
            throw UsageError("LIST is a file that names sources; `alula thumbnail` takes a folder such as \(path)")
        }
        let list = try blockingRead(path)
        return arguments.has(separatedByNull) ? sourcesBeforeNull(in: list) : try sources(in: list)
    }

    /// Parses NUL-terminated sources, each taken literally.
    static func sourcesBeforeNull(in bytes: [UInt8]) -> [String] {
        bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the sources without surrounding spaces, skipping empty lines and lines that begin with `#`.
    static func sources(in bytes: [UInt8]) throws(UsageError) -> [String] {
        guard !bytes.contains(0) else { throw UsageError("LIST has NUL bytes; use -0") }
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

    /// Reads a file, or standard input for a hyphen.
    static func blockingRead(_ path: String) throws(CommandFailure) -> [UInt8] {
        do {
            return try InputFile.blockingRead(path, atMost: InputFile.longestList).array
        } catch let failure as CommandFailure {
            throw CommandFailure(code: failure.code, reason: "\(path): \(failure.reason)")
        } catch {
            throw CommandFailure(code: "list_too_long", reason: "\(path): longer than \(InputFile.longestList) bytes")
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
