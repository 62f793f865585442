import Glibc
import Recipes
import Text

enum FilePath {
    static func name(of path: String) -> Substring {
        var rest = path[...]
        while rest.utf8.last == UInt8(ascii: "/") { rest.removeLast() }
        return rest.utf8.lastIndex(of: UInt8(ascii: "/")).map { rest[rest.utf8.index(after: $0)...] } ?? rest
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the folder in the path of a URL or of `NAME:PATH`; empty at the top.
    static func remoteFolder(of source: String) -> String {
        let path = source.prefix(before: UInt8(ascii: "?"))
        var start = path.prefix(before: UInt8(ascii: ":")).endIndex
        if path[start...].hasPrefix("://") {
            let host = path.utf8.index(start, offsetBy: 3)
            start = path[host...].utf8.firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
        }
        return path[start...].split(separator: "/").map { $0.drop { $0 == ":" } }.dropLast().joined(separator: "/")
    }

    static func ending(of path: String) -> String {
        let name = name(of: path)
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return "" }
        return String(name[name.utf8.index(after: dot)...]).asciiLowercased
    }

    static func joined(_ folder: String, with name: String) -> String {
        folder.utf8.last == UInt8(ascii: "/") ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the kind of a file, following links; nil if it does not exist or is inaccessible.
    static func kind(of path: String) -> mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    static func isFolder(_ path: String) -> Bool { kind(of: path) == S_IFDIR }

    /// Creates a folder and its parents, unless it exists.
    static func makeFolder(_ folder: String) throws(CommandFailure) {
        var end = folder.startIndex
        while end < folder.endIndex {
            end = folder[folder.utf8.index(after: end)...].utf8.firstIndex(of: UInt8(ascii: "/")) ?? folder.endIndex
            unsafe mkdir(String(folder[..<end]), 0o777)
        }
        guard isFolder(folder) else {
            let failure = CommandFailure(system: errno == EEXIST ? ENOTDIR : errno)
            throw CommandFailure(code: failure.code, reason: "\(folder): \(failure.reason)")
        }
    }
}

enum ImageFileExtension {
    static func writtenFormat(_ ending: String) -> ImageFormat? {
        guard let format = format(ending), format.isWritten else { return nil }
        return format
    }

    static func format(_ ending: String) -> ImageFormat? {
        switch ending {
        case "jpe", "jfif": .jpeg
        case "tif": .tiff
        case "heif": .heic
        case _ where ImageFormat.rawFileExtensions.contains(ending): .raw
        default: ImageFormat.allCases.first { $0.fileExtension == ending || $0.rawValue == ending }
        }
    }
}
