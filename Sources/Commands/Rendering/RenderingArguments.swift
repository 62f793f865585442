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
    let request: Request
    let place: ResultPlace

    init(
        _ parameters: [(name: String, value: String)], output: String, hasSeveralResults: Bool,
        isFromList: Bool = false,
        settings: Settings
    ) throws(WrongUse) {
        let name = output.prefix(before: UInt8(ascii: ":"))
        if isFromList, name.utf8.count < output.utf8.count, let origin = settings.downloads.origins[String(name)] {
            place = try Self.place(below: origin, output)
        } else {
            place = try Self.place(output, hasSeveralResults: hasSeveralResults, isFromList: isFromList)
        }
        var parameters = parameters
        if case .file(let path) = place, !parameters.contains(where: { $0.name == "format" }),
            FilePath.kind(of: path).map({ $0 == S_IFREG }) ?? true
        {
            guard let format = ImageEnding.writtenFormat(FilePath.ending(of: path)) else {
                let fileExtensions = ImageFormat.written.map(\.fileExtension).joined(separator: ", ")
                throw WrongUse(
                    "\(path) has none of the endings \(fileExtensions); give --format, or write \(path)/ for a folder")
            }
            parameters.append(("format", format.rawValue))
        }
        do {
            request = try settings.api.nativeDialect.request(options: parameters)
        } catch {
            throw error.wrongUse
        }
    }

    private static func place(below origin: Origin, _ output: String) throws(WrongUse) -> ResultPlace {
        guard origin.isWritable else {
            throw WrongUse("the origin \(origin.name) is not writable; set write: true in the settings file")
        }
        guard output.utf8.last == UInt8(ascii: "/") || output.utf8.count == origin.name.utf8.count + 1 else {
            throw WrongUse("a folder is needed: \(output)/")
        }
        return .origin(output)
    }

    private static func place(
        _ output: String, hasSeveralResults: Bool, isFromList: Bool
    ) throws(WrongUse) -> ResultPlace {
        if output == "-" {
            if hasSeveralResults { throw WrongUse("-o - takes one source, not a folder") }
            if isatty(STDOUT_FILENO) == 1 {
                throw WrongUse("refusing to write an image to a terminal; redirect it, or use -o FILE")
            }
            return .standardOutput
        }
        if output.utf8.last == UInt8(ascii: "/") || FilePath.isFolder(output) { return .folder(output) }
        if FilePath.kind(of: output) != nil {
            if hasSeveralResults { throw WrongUse("several results need a folder; \(output) is not one") }
            return .file(output)
        }
        // Only the name counts, so that a shell pattern means the same whether it matches one file or several.
        guard !FilePath.ending(of: output).isEmpty else { return .folder(output) }
        if hasSeveralResults, !isFromList {
            throw WrongUse("several results need a folder; write \(output)/ if \(output) is one")
        }
        return isFromList ? .folder(output) : .file(output)
    }

    func makeFolder() throws(CommandFailure) {
        guard case .folder(let folder) = place else { return }
        var end = folder.startIndex
        while end < folder.endIndex {
            end = folder[folder.utf8.index(after: end)...].utf8.firstIndex(of: UInt8(ascii: "/")) ?? folder.endIndex
            unsafe mkdir(String(folder[..<end]), 0o777)
        }
        guard FilePath.isFolder(folder) else {
            let failure = CommandFailure(system: errno == EEXIST ? ENOTDIR : errno)
            throw CommandFailure(code: failure.code, "\(folder): \(failure.reason)")
        }
    }
}
