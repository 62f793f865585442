package import Imaging
package import Text

/// The names of the settings file that targets of Alula's own dialect may use, and the rules for their use.
package struct Vocabulary: Sendable {
    /// A watermark with a name.
    package struct Watermark: Hashable, Sendable {
        /// Its source: an absolute URL, or `NAME:PATH` of a named origin.
        package var source: ExactText
        /// How it is laid on results unless parameters say otherwise.
        package var options: WatermarkOptions

        /// A watermark of these values.
        package init(source: ExactText, options: WatermarkOptions = WatermarkOptions()) {
            self.source = source
            self.options = options
        }
    }

    /// A preset: parameters by name with their values as in a query, percent-decoded.
    package typealias Preset = [(name: String, value: String)]

    /// The preset that goes before all others and that no request names.
    package static let standardPreset: ExactText = "default"

    /// The watermarks by name.
    package var watermarks: [ExactText: Watermark] = [:]
    /// The presets by name, each checked by ``fault(in:)``.
    package var presets: [ExactText: Preset] = [:]
    /// Presets in imgproxy's own grammar, for that dialect alone.
    package var imgproxyPresets: [ExactText: String] = [:]
    /// Whether requests may have no other parameters than `url`, `preset`, `dpr`, `format`, `expires` and `sig`.
    package var allowsOnlyPresets = false

    package init() {}

    /// Whether `name` can be a watermark's or a preset's: 1 to 64 letters, digits, points, underscores and hyphens.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The fault in a preset; nil if a request can use it.
    ///
    /// The watermarks that it names must be known already.
    package func fault(in preset: Preset) -> APIError? {
        var reader = ThumbnailQueryReader(Vocabulary(watermarks))
        for (name, value) in preset {
            do throws(APIError) {
                if let parameter = ThumbnailParameter(name: name), !parameter.isAllowedInPresets {
                    throw .badParameter(name, "A preset has no such parameter.")
                }
                try reader.read(name: name, value: value, isLast: false)
            } catch {
                return error
            }
        }
        return nil
    }

    /// The options with one member of a watermark in the settings file: `opacity` is the parameter `watermarkOpacity`.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)`` for the parameter.
    package static func options(
        _ options: WatermarkOptions, with name: String, _ value: String
    ) throws(APIError) -> WatermarkOptions {
        let parameter = "watermark" + name.prefix(1).uppercased() + name.dropFirst()
        guard let known = ThumbnailParameter(rawValue: parameter), known != .watermark else {
            throw .unknown(name, among: [])
        }
        var reader = WatermarkReader()
        try reader.read(known, value, parameter, Vocabulary())
        return reader.options(over: options)
    }

    private init(_ watermarks: [ExactText: Watermark]) {
        self.watermarks = watermarks
    }

    /// The names in the value of `preset`, which commas separate.
    func presetNames(_ value: String, _ parameter: String) throws(APIError) -> [ExactText] {
        var names: [ExactText] = []
        for name in value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let name = ExactText(String(Substring(name)))
            guard presets[name] != nil else { throw .badParameter(parameter, "There is no preset of this name.") }
            names.append(name)
        }
        return names
    }

    /// Refuses a parameter that a request may not have, if only presets are allowed.
    func admit(_ name: String) throws(APIError) {
        guard allowsOnlyPresets, let parameter = ThumbnailParameter(name: name), !parameter.isAllowedBesidePresets
        else { return }
        throw .badParameter(name, "Only presets may say this.")
    }

    /// The parameters that lie below a request's own, those that win last; unknown names are left out.
    func levels(below presets: [ExactText]) -> [Preset] {
        ([Self.standardPreset] + presets).compactMap { self.presets[$0] }
    }

    /// Whether a target that was written anew reads back as the same query.
    var keepsWrittenTargets: Bool { !allowsOnlyPresets && presets[Self.standardPreset] == nil }
}

extension ThumbnailParameter {
    /// Whether a preset may hold the parameter.
    var isAllowedInPresets: Bool {
        switch self {
        case .url, .preset, .expires, .signature: false
        default: true
        }
    }

    /// Whether a request may give the parameter if only presets are allowed.
    var isAllowedBesidePresets: Bool {
        switch self {
        case .url, .preset, .devicePixelRatio, .format, .expires, .signature: true
        default: false
        }
    }
}
