package import Recipes
package import Text

package struct ImgproxyConfiguration: Sendable {
    package var prefix: PathPrefix?
    /// The keys, of any length, with their salts in the same order.
    package var keys: [[UInt8]] = []
    package var salts: [[UInt8]] = []
    /// The length of a signature in bytes, from 1 to 32.
    package var signatureSize = 32
    package var trustedSignatures: [ExactText] = []
    package var baseURL: SourceBase = ""
    package var replacements: [ImgproxyReplacement] = []
    package var localOrigin: String?
    package var argumentsSeparator = ":"
    /// Whether `obj:face` finds faces; otherwise it is rejected like other objects.
    package var findsFaces = true
    /// Whether the last segment of a base64 source is only a file name.
    package var ignoresNameAfterBase64 = false
    /// The allowed options as written; if empty, all are allowed.
    package var allowedOptions: Set<ExactText> = []
    package var allowsSecurityOptions = false
    package var allowsOnlyPresets = false
    package var presets: [ExactText: String] = [:]
    package var watermark: ExactText?
    package var maximumAge: Int?
    package var fallback: ExactText?
    package var returnsAttachments = false
    package var defaults = ImgproxyDefaults()

    package init() {}
}

package struct ImgproxyDefaults: Hashable, Sendable {
    var preferredFormats: [ImageFormat] = [.jpeg, .png, .gif]
    var negotiation = ImgproxyNegotiation()
    var skippedFormats: Set<ImgproxyFormat> = []
    package var quality = 80
    var formatQualities: [ImgproxyFormat: Int] = [.webp: 79, .avif: 63, .jxl: 77]
    package var turnsUpright = true
    package var stripsMetadata = true
    package var keepsCopyright = true
    package var stripsColorProfile = true
    /// The default factor, greater than 0 and at most 1.
    package var watermarkOpacity = 1.0
    package var maximumFrames = 1
    /// The maximum pixels of a frame; 0 uses the limit for sources.
    package var maximumFramePixels = 0
    /// The maximum length of a side; 0 means no limit.
    package var maximumSide = 0
    package var light = ResamplingLight.gamma

    package init() {}
}

extension ImgproxyDefaults {
    package mutating func negotiate(_ format: String, isEnforced: Bool) {
        let use: ImgproxyNegotiation.Use = isEnforced ? .enforced : .preferred
        switch format {
        case "jxl": negotiation.jxl = max(negotiation.jxl, use)
        case "avif": negotiation.avif = max(negotiation.avif, use)
        case "webp": negotiation.webp = max(negotiation.webp, use)
        default: break
        }
    }

    /// Sets the preferred formats, best first, omitting those without a writer.
    ///
    /// Returns whether all names are formats, and at least one has a writer.
    package mutating func prefer(_ names: [String]) -> Bool {
        let formats = names.compactMap { ImgproxyFormat(name: $0) }
        preferredFormats = formats.compactMap(\.written)
        return formats.count == names.count && !preferredFormats.isEmpty
    }

    package mutating func skip(_ names: [String]) -> Bool {
        let formats = names.compactMap { ImgproxyFormat(name: $0) }
        skippedFormats = Set(formats)
        return formats.count == names.count
    }

    package mutating func set(quality: Int, of name: String) -> Bool {
        guard let format = ImgproxyFormat(name: name) else { return false }
        formatQualities[format] = quality
        return true
    }
}
