package import Recipes
package import Text

/// Names and limits in the settings that targets may use.
package struct Vocabulary: Sendable {
    package struct Watermark: Hashable, Sendable {
        /// An absolute URL, or `NAME:PATH` of a named origin.
        package var source: ExactText
        package var options: WatermarkOptions

        package init(source: ExactText, options: WatermarkOptions = WatermarkOptions()) {
            self.source = source
            self.options = options
        }
    }

    package typealias Preset = [(name: String, value: String)]

    /// The preset that is applied before all others; requests cannot name it.
    package static let standardPreset: ExactText = "default"

    package var watermarks: [ExactText: Watermark] = [:]
    /// The presets, checked by ``fault(in:)``.
    package var presets: [ExactText: Preset] = [:]
    package var dialectPresets: [ExactText: String] = [:]
    /// The sizes that unsigned requests may have, and sizes for `w=auto` and `dpr=auto`.
    package var sizes = SizePolicy()
    /// Whether requests may only have `url`, `preset`, `dpr`, `format`, `expires` and `sig`.
    package var allowsOnlyPresets = false

    package var baseOrigin: SourceBase?
    package var findsFaces = true

    package init() {}

    func source(_ text: String) -> String {
        guard let baseOrigin, text.hasPrefix("/"), !text.hasPrefix("//") else { return text }
        return baseOrigin.source(path: text)
    }

    /// Returns whether the name has 1 to 64 letters, digits, points, underscores and hyphens.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                byte.isASCIIAlphanumeric || "._-".utf8.contains(byte)
            }
    }
}
