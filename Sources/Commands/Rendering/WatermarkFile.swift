import Crypto
import Dialects
import Downloading
import Glibc
import Memory
import Settings
import Text
import ThumbnailAPI

/// A local file: `--watermark logo.png`, which the service could not read.
enum WatermarkFile {
    private static let origin = "watermark-file"

    /// Replaces a path by a source that the engine can fetch.
    ///
    /// The name of a watermark in the settings, a URL, and a path without a file do not change.
    static func open(
        _ parameters: [(name: String, value: String)], for settings: inout Settings
    ) throws(WrongUse) -> [(name: String, value: String)] {
        let origins = settings.downloads.origins
        guard let index = parameters.lastIndex(where: { $0.name == "watermark" }),
            case let value = parameters[index].value, settings.api.vocabulary.watermarks[ExactText(value)] == nil,
            case .file(let path) = CommandSource(value, origins), FilePath.kind(of: path) == S_IFREG
        else { return parameters }
        let bytes: SharedBytes
        do {
            bytes = try InputFile.blockingRead(path, atMost: settings.downloads.maximumBytes)
        } catch {
            throw WrongUse("--watermark: \(CommandFailure(error).line(about: path) ?? path)")
        }
        settings.downloads.origins = Origins(origins.all + [Origin(name: origin, location: .memory(bytes.array))])
        var opened = parameters
        // Different bytes are a different source.
        opened[index].value = "\(origin):\(bytes.withBytes { SHA256.hash($0) }.hexadecimal)"
        return opened
    }
}
