import Crypto
import Dialects
import Downloading
import Glibc
import Memory
import Settings
import Text
import ThumbnailAPI

/// A watermark that is a file: `--watermark logo.png`, which the service could not read.
enum WatermarkFile {
    /// The named origin that holds the file.
    private static let origin = "watermark-file"

    /// The parameters with a watermark's path replaced by a source that the engine can fetch, which is put into the
    /// settings.
    ///
    /// The name of a watermark of the settings file, a URL and what is no file stay as they are.
    ///
    /// - Throws: ``WrongUse`` for a file that cannot be read.
    static func opened(
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
        settings.downloads.origins = Origins(origins.all + [Origin(name: origin, place: .memory(bytes.array))])
        var opened = parameters
        // Other bytes are another source.
        opened[index].value = "\(origin):\(bytes.withBytes { SHA256.hash($0) }.hexadecimal)"
        return opened
    }
}
