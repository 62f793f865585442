import Downloading
import Program
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
