package import Recipes
package import Text

package struct ImgproxyConfiguration: Sendable {
    package var prefix: PathPrefix?
    /// The keys of signatures, and their salts in the same order; of any length.
    package var keys: [[UInt8]] = []
    package var salts: [[UInt8]] = []
    /// Bytes of a signature, 1…32.
    package var signatureSize = 32
    package var trustedSignatures: [ExactText] = []
    package var baseURL: SourceBase = ""
    /// Replacements of sources' prefixes, in this order.
    package var replacements: [ImgproxyReplacement] = []
    package var localOrigin: String?
    package var argumentsSeparator = ":"
    /// Whether the last part of a base64 source is only a file name.
    package var ignoresNameAfterBase64 = false
    /// Options that a target may have, as written; empty for all.
    package var allowedOptions: Set<ExactText> = []
    package var allowsSecurityOptions = false
    package var allowsOnlyPresets = false
    package var presets: [ExactText: String] = [:]
    package var watermark: ExactText?
    /// Freshness in seconds for clients, regardless of the source; nil for the source's own lifetime.
    package var maximumAge: Int?
    /// The URL to redirect to after a failure; nil for none.
    package var fallback: ExactText?
    /// Whether browsers save responses by default.
    package var savesAnswers = false
    package var defaults = ImgproxyDefaults()

    package init() {}
}

package struct ImgproxyDefaults: Hashable, Sendable {
    /// Default output formats, best first.
    var preferredFormats: [ImageFormat] = [.jpeg, .png, .gif]
    /// Formats that `Accept` may select.
    var negotiation = ImgproxyNegotiation()
    var skippedFormats: Set<ImgproxyFormat> = []
    package var quality = 80
    var formatQualities: [ImgproxyFormat: Int] = [.webp: 79, .avif: 63, .jxl: 77]
    package var turnsUpright = true
    package var stripsMetadata = true
    /// Whether the copyright is kept when other metadata are removed.
    package var keepsCopyright = true
    package var stripsColorProfile = true
    /// The factor of watermarks' opacities, above 0 and at most 1.
    package var watermarkOpacity = 1.0
    package var maximumFrames = 1
    /// Maximum number of pixels of an animation frame; 0 for the limit of a source.
    package var maximumFramePixels = 0
    /// Maximum side length of a result; 0 for no limit.
    package var maximumSide = 0
    package var light = ResamplingLight.gamma

    package init() {}
}

extension ImgproxyDefaults {
    /// Allows `Accept` to select a format, by its name.
    package mutating func negotiate(_ format: String, isEnforced: Bool) {
        let use: ImgproxyNegotiation.Use = isEnforced ? .enforced : .preferred
        switch format {
        case "jxl": negotiation.jxl = max(negotiation.jxl, use)
        case "avif": negotiation.avif = max(negotiation.avif, use)
        case "webp": negotiation.webp = max(negotiation.webp, use)
        default: break
        }
    }

    /// Sets the default output formats, best first, leaving out formats without a writer.
    ///
    /// - Returns: Whether all names are formats, and at least one of them has a writer.
    package mutating func prefer(_ names: [String]) -> Bool {
        let formats = names.compactMap { ImgproxyFormat(name: $0) }
        preferredFormats = formats.compactMap(\.written)
        return formats.count == names.count && !preferredFormats.isEmpty
    }

    /// Sets the formats whose images keep their size and format.
    package mutating func skip(_ names: [String]) -> Bool {
        let formats = names.compactMap { ImgproxyFormat(name: $0) }
        skippedFormats = Set(formats)
        return formats.count == names.count
    }

    /// Sets the quality of a format, 1…100.
    package mutating func set(quality: Int, of name: String) -> Bool {
        guard let format = ImgproxyFormat(name: name) else { return false }
        formatQualities[format] = quality
        return true
    }
}
