import Dialects
import Downloading
import Glibc
import Recipes
import Settings
import Text
import ThumbnailAPI
import ThumbnailPipeline
import ThumbnailTypes

struct RenderingArguments: Sendable {
    /// The renditions, at least one.
    let renditions: [Rendition]
    let output: OutputLocation
    /// The names of results in a folder or below an origin.
    let pattern: ResultPattern

    /// Parses the renditions and the location of the results.
    ///
    /// - Parameters:
    ///   - queries: The values of `--rendition`.
    ///   - hasSeveralSources: Whether there may be more than one, so that results need a folder.
    init(
        _ parameters: [(name: String, value: String)], queries: [String] = [], output: String,
        hasSeveralSources: Bool, isFromList: Bool = false, settings: Settings
    ) throws(UsageError) {
        let origin = isFromList ? settings.downloads.origins[String(output.prefix(before: UInt8(ascii: ":")))] : nil
        let brace = output.utf8.firstIndex(of: UInt8(ascii: "{"))
        let hasWidths = Rendition.widths(in: parameters) != nil
        var folder = output
        var format = String?.none
        if let brace {
            let isEnd: (UInt8) -> Bool = { $0 == UInt8(ascii: "/") || origin != nil && $0 == UInt8(ascii: ":") }
            let start = output[..<brace].utf8.lastIndex(where: isEnd).map { output.utf8.index(after: $0) }
            pattern = try ResultPattern(String(output[(start ?? output.startIndex)...]))
            folder = start.map { String(output[..<$0]) } ?? "./"
            format = pattern.has(.format) ? nil : ImageFileExtension.writtenFormat(pattern.ending)?.rawValue
        } else {
            pattern = ResultPattern(distinguishing: hasWidths ? .w : queries.isEmpty ? nil : .rendition)
        }
        if let origin {
            self.output = try Self.location(below: origin, for: folder)
        } else {
            let hasSeveralResults = hasSeveralSources || hasWidths || queries.count > 1
            self.output = try Self.location(folder, hasSeveralResults: hasSeveralResults, isFromList: isFromList)
        }
        if case .file(let path) = self.output, FilePath.kind(of: path).map({ $0 == S_IFREG }) ?? true {
            format = ImageFileExtension.writtenFormat(FilePath.ending(of: path))?.rawValue
        }
        renditions = try Rendition.all(
            of: queries, options: parameters, format: format, dialect: settings.api.nativeDialect)
        if case .file(let path) = self.output, format == nil, renditions.contains(where: { !$0.hasFormat }),
            FilePath.kind(of: path).map({ $0 == S_IFREG }) ?? true
        {
            let fileExtensions = ImageFormat.written.map(\.fileExtension).joined(separator: ", ")
            throw UsageError(
                "\(path) has none of the endings \(fileExtensions); give --format, or write \(path)/ for a folder")
        }
    }

    private static func location(below origin: Origin, for output: String) throws(UsageError) -> OutputLocation {
        guard origin.isWritable else {
            throw UsageError("the origin \(origin.name) is not writable; set write: true in the settings file")
        }
        guard output.utf8.last == UInt8(ascii: "/") || output.utf8.count == origin.name.utf8.count + 1 else {
            throw UsageError("expected a folder: \(output)/")
        }
        return .origin(output)
    }

    private static func location(
        _ output: String, hasSeveralResults: Bool, isFromList: Bool
    ) throws(UsageError) -> OutputLocation {
        if output == "-" {
            if hasSeveralResults { throw UsageError("-o - can hold only one result") }
            if isatty(STDOUT_FILENO) == 1 {
                throw UsageError("refusing to write an image to a terminal; redirect it, or use -o FILE")
            }
            return .standardOutput
        }
        if output.utf8.last == UInt8(ascii: "/") || FilePath.isFolder(output) { return .folder(output) }
        if FilePath.kind(of: output) != nil {
            if hasSeveralResults { throw UsageError("several results need a folder; \(output) is not one") }
            return .file(output)
        }
        // Decide by the name only, so that a shell pattern means the same whether it matches one file or several.
        let ending = FilePath.ending(of: output)
        guard !ending.isEmpty else { return .folder(output) }
        if hasSeveralResults, !isFromList || ImageFileExtension.writtenFormat(ending) != nil {
            throw UsageError("several results need a folder; write \(output)/ if \(output) is one")
        }
        return isFromList ? .folder(output) : .file(output)
    }

    func makeFolder() throws(CommandFailure) {
        if case .folder(let folder) = output { try FilePath.makeFolder(folder) }
    }
}

enum OutputLocation: Sendable, Equatable {
    case standardOutput
    case file(String)
    case folder(String)
    /// A folder below a named origin: `NAME:PATH/`.
    case origin(String)

    var hasSeveralResults: Bool {
        switch self {
        case .standardOutput, .file: false
        case .folder, .origin: true
        }
    }
}
