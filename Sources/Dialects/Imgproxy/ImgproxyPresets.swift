import Text
import ThumbnailTypes

struct ImgproxyPresets: Sendable {
    /// The preset that is applied before the options of every target.
    static let defaultName: ExactText = "default"

    private var options: [ExactText: [ImgproxyOption]] = [:]

    init(_ texts: [ExactText: String], separator: String) {
        for (name, text) in texts { options[name] = Self.options(text, separator: separator) }
    }

    subscript(name: ExactText) -> [ImgproxyOption]? { options[name] }

    private static func options(_ text: String, separator: String) -> [ImgproxyOption]? {
        let segments = Array(text.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let options = segments.compactMap { ImgproxyOption($0, separator: Array(separator.utf8)) }
        return options.count == segments.count ? options : nil
    }
}

extension ImgproxyConfiguration {
    package func presetFaults(_ vocabulary: Vocabulary) -> [String] {
        let texts = allPresets(vocabulary)
        let presets = ImgproxyPresets(texts, separator: argumentsSeparator)
        return texts.keys.sorted().compactMap { name -> String? in
            guard presets[name] != nil else { return "preset \(name): expected imgproxy's options, such as w:300/q:80" }
            var reader = ImgproxyOptionReader(self, presets: presets)
            do throws(APIError) {
                try reader.apply(presets: [name])
                return nil
            } catch {
                return "preset \(name): \(error.parameter.map { $0 + ": " } ?? "")\(error.publicMessage)"
            }
        }
    }

    func allPresets(_ vocabulary: Vocabulary) -> [ExactText: String] {
        presets.merging(vocabulary.dialectPresets) { $1 }
    }
}
