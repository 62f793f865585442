package import Recipes
import Text

extension Vocabulary {
    package func fault(in preset: Preset) -> APIError? {
        var known = Vocabulary()
        known.watermarks = watermarks
        var reader = ThumbnailParameterReader(known)
        for (name, value) in preset {
            do throws(APIError) {
                if let row = ThumbnailParameter.named(name), !row.uses.contains(.presets) {
                    throw .badParameter(name, "Not allowed in a preset.")
                }
                try reader.read(name: name, value: value, isLast: false)
            } catch {
                return error
            }
        }
        return nil
    }

    /// Reads one member of a watermark in the settings file: `opacity` is the parameter `watermarkOpacity`.
    package static func options(
        _ options: WatermarkOptions, with name: String, value: String
    ) throws(APIError) -> WatermarkOptions {
        let parameter = "watermark" + name.prefix(1).uppercased() + name.dropFirst()
        guard !name.isEmpty, let known = ThumbnailParameter.named(parameter) else { throw .unknown(name, among: []) }
        var values = ThumbnailParameterValues()
        try known.read(value, parameter, &values)
        return values.watermark.options(over: options)
    }

    func presetNames(_ value: String, parameter: String) throws(APIError) -> [ExactText] {
        var names: [ExactText] = []
        for name in value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let name = ExactText(String(Substring(name)))
            guard presets[name] != nil else { throw .badParameter(parameter, "Unknown preset.") }
            names.append(name)
        }
        return names
    }

    /// Rejects parameters other than `preset` if only presets are allowed.
    func admit(_ name: String) throws(APIError) {
        guard allowsOnlyPresets, let row = ThumbnailParameter.named(name), !row.uses.contains(.besidePresets)
        else { return }
        throw .badParameter(name, "Only presets may set this parameter.")
    }

    /// Returns the presets in ascending precedence, ignoring unknown names.
    func levels(below presets: [ExactText]) -> [Preset] {
        ([Self.standardPreset] + presets).compactMap { self.presets[$0] }
    }

    var keepsWrittenTargets: Bool { !allowsOnlyPresets && presets[Self.standardPreset] == nil }
}
