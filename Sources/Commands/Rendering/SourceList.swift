import Glibc
import Imaging
import Memory
import Program
import Recipes
import Text

/// A source, and its folder relative to the operand in which it was found; empty for an operand.
struct FoundSource: Sendable, Equatable {
    let source: CommandSource
    var folder = ""
}

enum SourceList {
    /// Expands folders, with their subfolders for `--recursive`, and reports folders that cannot be read.
    static func expanded(
        _ sources: [CommandSource], for arguments: CommandArguments
    ) -> (sources: [FoundSource], isComplete: Bool) {
        let (expanded, failures) = expanded(sources, isRecursive: arguments.has(.recursive))
        for (path, failure) in failures { Program.printError("\(path): \(failure.reason)") }
        return (expanded, failures.isEmpty)
    }

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
