import Downloading
import Glibc
import Imaging
import Memory
import Program
import Recipes
import Text
import ThumbnailAPI

enum CommandSource: Sendable, Equatable {
    case standardInput
    case file(String)
    /// A URL, or `NAME:PATH` of a named origin.
    case remote(String)

    init(_ text: String, origins: Origins) {
        let scheme = text.prefix(before: UInt8(ascii: ":"))
        if text == "-" {
            self = .standardInput
        } else if text.utf8.dropFirst(scheme.utf8.count).starts(with: "://".utf8)
            || (scheme.utf8.count < text.utf8.count && origins[String(scheme)] != nil)
        {
            self = .remote(text)
        } else {
            self = .file(text)
        }
    }

    var text: String {
        switch self {
        case .standardInput: Program.standardInput
        case .file(let path): path == Program.standardInput ? "./-" : path
        case .remote(let url): url
        }
    }

    var stem: String {
        switch self {
        case .standardInput: return "image"
        case .remote(let url): return FileName(source: url).stem
        case .file(let path):
            let name = FilePath.name(of: path)
            guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
                return name.isEmpty ? "image" : String(name)
            }
            return String(name[..<dot])
        }
    }
}

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

/// A source, and its folder relative to the operand in which it was found; empty for an operand.
struct FoundSource: Sendable, Equatable {
    let source: CommandSource
    var folder = ""
}

enum SourceList {
    /// Returns the sources, and folders that cannot be read.
    ///
    /// Names in a folder are sorted by their bytes. A file is an image according to its extension or its first bytes.
    /// Subfolders come after the files; links to folders are not followed.
    static func expanded(
        _ sources: [CommandSource], isRecursive: Bool
    ) -> (sources: [FoundSource], failures: [(path: String, failure: CommandFailure)]) {
        var expanded: [FoundSource] = []
        var failures: [(path: String, failure: CommandFailure)] = []
        func add(_ folder: String, _ below: String, depth: Int) {
            guard let entries = Program.names(in: folder) else {
                failures.append((folder, CommandFailure(system: errno)))
                return
            }
            var folders: [(path: String, below: String)] = []
            for name in entries.sorted(by: { ExactText($0) < ExactText($1) }) {
                let path = FilePath.joined(folder, with: name)
                switch FilePath.kind(of: path) {
                case S_IFREG? where isImage(path): expanded.append(FoundSource(source: .file(path), folder: below))
                case S_IFDIR? where isRecursive && !isLink(path):
                    folders.append((path, below.isEmpty ? name : "\(below)/\(name)"))
                default: continue
                }
            }
            guard depth < maximumDepth else { return }
            for (path, below) in folders { add(path, below, depth: depth + 1) }
        }
        for source in sources {
            if case .file(let path) = source, FilePath.isFolder(path) {
                add(path, "", depth: 0)
            } else {
                expanded.append(FoundSource(source: source))
            }
        }
        return (expanded, failures)
    }

    private static let maximumDepth = 64

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private static func isImage(_ path: String) -> Bool {
        ImageFileExtension.format(FilePath.ending(of: path)) != nil || format(of: path) != nil
    }

    /// Returns the format according to a file's first bytes; nil for other files, or if it cannot be read.
    static func format(of path: String) -> ImageFormat? {
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe start.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        return SharedBytes(start.prefix(count)).withBytes { ImageHeader.sniff($0) }
    }
}
