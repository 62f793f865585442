import Crypto
import Dialects
import Downloading
import Glibc
import Memory
import Settings
import Text
import ThumbnailAPI

/// A watermark in a local file, such as `--watermark logo.png`, which the service could not read.
enum WatermarkFile {
    /// Replaces a path, also in the queries of renditions, with a source that the engine can fetch.
    ///
    /// Does not change the name of a watermark in the settings, a URL, or a path without a file.
    static func open(
        _ parameters: [(name: String, value: String)], queries: [String] = [], for settings: inout Settings
    ) throws(UsageError) -> (parameters: [(name: String, value: String)], queries: [String]) {
        let name = "watermark"
        var parameters = parameters
        var opened = [String]()
        for index in parameters.indices where parameters[index].name == name {
            parameters[index].value = try source(parameters[index].value, for: &settings)
        }
        for query in queries {
            var pairs = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            for (index, pair) in pairs.enumerated() where pair.prefix(before: UInt8(ascii: "=")) == name {
                guard let value = pair.suffix(after: UInt8(ascii: "=")).flatMap({ URLEscape.decodeText($0.utf8) })
                else { continue }
                pairs[index] = "\(name)=\(URLEscape.encode(try source(value, for: &settings).utf8))"
            }
            opened.append(pairs.joined(separator: "&"))
        }
        return (parameters, opened)
    }

    private static func source(_ value: String, for settings: inout Settings) throws(UsageError) -> String {
        let origins = settings.downloads.origins
        guard settings.api.vocabulary.watermarks[ExactText(value)] == nil,
            case .file(let path) = CommandSource(value, origins: origins), FilePath.kind(of: path) == S_IFREG
        else { return value }
        let bytes: SharedBytes
        do {
            bytes = try InputFile.blockingRead(path, atMost: settings.downloads.maximumBytes)
        } catch {
            throw UsageError("--watermark: \(CommandFailure(error).line(about: path) ?? path)")
        }
        // Different bytes are a different source.
        let digest = bytes.withBytes { SHA256.hash($0) }.hexadecimal
        let origin = "watermark-\(digest.prefix(16))"
        if origins[origin] == nil {
            settings.downloads.origins = Origins(origins.all + [Origin(name: origin, location: .memory(bytes.array))])
        }
        return "\(origin):\(digest)"
    }
}
