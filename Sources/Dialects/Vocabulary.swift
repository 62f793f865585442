package import Recipes
package import Text

/// The names in the settings file that targets of Alula's own dialect may use, and the rules for their use.
package struct Vocabulary: Sendable {
    package struct Watermark: Hashable, Sendable {
        /// Its source: an absolute URL, or `NAME:PATH` of a named origin.
        package var source: ExactText
        package var options: WatermarkOptions

        package init(source: ExactText, options: WatermarkOptions = WatermarkOptions()) {
            self.source = source
            self.options = options
        }
    }

    /// A preset: parameters by name with their values as in a query, percent-decoded.
    package typealias Preset = [(name: String, value: String)]

    /// The preset that is applied before all others and that no request names.
    package static let standardPreset: ExactText = "default"

    package var watermarks: [ExactText: Watermark] = [:]
    /// The presets by name, each checked by ``fault(in:)``.
    package var presets: [ExactText: Preset] = [:]
    package var dialectPresets: [ExactText: String] = [:]
    /// The sizes and qualities of unsigned requests, and of all with `w=auto` and `dpr=auto`.
    package var sizes = SizePolicy()
    /// Whether requests may have no other parameters than `url`, `preset`, `dpr`, `format`, `expires` and `sig`.
    package var allowsOnlyPresets = false

    /// The origin of sources that are absolute paths; nil if there is none.
    package var baseOrigin: SourceBase?

    package init() {}

    /// Returns the source that a text names: a path under ``baseOrigin``, or the text itself.
    func source(_ text: String) -> String {
        guard let baseOrigin, text.hasPrefix("/"), !text.hasPrefix("//") else { return text }
        return baseOrigin.source(path: text)
    }

    /// Returns whether `name` is valid for a watermark or preset: 1 to 64 letters, digits, points, underscores and
    /// hyphens.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                byte.isASCIIAlphanumeric || "._-".utf8.contains(byte)
            }
    }
}
