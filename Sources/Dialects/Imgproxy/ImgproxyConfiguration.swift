package import Imaging
package import Text

/// An operator's settings for the dialect of imgproxy, in imgproxy's own terms.
package struct ImgproxyConfiguration: Sendable {
    /// Where the dialect lies; nil if it is off.
    package var place: DialectPlace?
    /// The keys of signatures, and their salts in the same order; of any length.
    package var keys: [[UInt8]] = []
    package var salts: [[UInt8]] = []
    /// Bytes of a signature, 1…32.
    package var signatureSize = 32
    /// Texts that count as signatures of anything.
    package var trustedSignatures: [ExactText] = []
    /// The text that is put before sources that do not begin with it.
    package var baseURL: SourceBase = ""
    /// The replacements of sources' beginnings, in this order.
    package var replacements: [ImgproxyReplacement] = []
    /// The name of the origin for `local://` sources; nil if there are none.
    package var localOrigin: String?
    /// The text between the arguments of an option.
    package var argumentsSeparator = ":"
    /// Whether the last part of a source in base64 is only a file name.
    package var ignoresNameAfterBase64 = false
    /// Options that a target may have, as they are written; empty for all.
    package var allowedOptions: Set<ExactText> = []
    /// Whether a target may change limits.
    package var allowsSecurityOptions = false
    /// Whether targets name presets and nothing else.
    package var allowsOnlyPresets = false
    /// Presets by name, in imgproxy's grammar.
    package var presets: [ExactText: String] = [:]
    /// The source of the watermark; nil for none.
    package var watermark: ExactText?
    /// Seconds for which clients may use answers, whatever their source says; nil for the source's own lifetime.
    package var maximumAge: Int?
    /// The URL that clients are sent to after a failure; nil for none.
    package var fallback: ExactText?
    /// Whether browsers save answers if the target does not say.
    package var savesAnswers = false
    /// The defaults of options.
    package var defaults = ImgproxyDefaults()

    /// imgproxy's own defaults.
    package init() {}
}

/// The values of options that a target does not give.
package struct ImgproxyDefaults: Hashable, Sendable {
    /// Formats of answers to targets that name none, best first.
    var preferredFormats: [ImageFormat] = [.jpeg, .png, .gif]
    /// Formats that a client's `Accept` chooses.
    var negotiation = ImgproxyNegotiation()
    var skippedFormats: Set<ImgproxyFormat> = []
    /// The quality of formats without one of their own, 1…100.
    package var quality = 80
    var formatQualities: [ImgproxyFormat: Int] = [.webp: 79, .avif: 63, .jxl: 77]
    /// Whether images are turned as Exif's orientation says.
    package var turnsUpright = true
    /// Whether answers hold no metadata.
    package var stripsMetadata = true
    /// Whether the copyright stays when the other metadata go.
    package var keepsCopyright = true
    /// Whether colors become those of sRGB, and not those that the source has.
    package var stripsColorProfile = true
    /// The factor of watermarks' opacities, above 0 and at most 1.
    package var watermarkOpacity = 1.0
    package var maximumFrames = 1
    /// Most pixels of a frame of an animation; 0 for the bound of a source.
    package var maximumFramePixels = 0
    /// Longest side of a result; 0 for no bound.
    package var maximumSide = 0
    /// The meaning of samples while resampling averages them.
    package var light = ResamplingLight.gamma

    /// imgproxy's own defaults.
    package init() {}
}

extension ImgproxyDefaults {
    /// Lets `Accept` choose a format, by its name.
    package mutating func negotiate(_ format: String, isEnforced: Bool) {
        let use: ImgproxyNegotiation.Use = isEnforced ? .enforced : .preferred
        switch format {
        case "jxl": negotiation.jxl = max(negotiation.jxl, use)
        case "avif": negotiation.avif = max(negotiation.avif, use)
        case "webp": negotiation.webp = max(negotiation.webp, use)
        default: break
        }
    }

    /// Sets the formats of answers to targets that name none, best first; those that are not written here are left out.
    ///
    /// - Returns: Whether all names are formats, and at least one of them is written.
    package mutating func prefer(_ names: [String]) -> Bool {
        let formats = names.compactMap { ImgproxyFormat(name: $0) }
        preferredFormats = formats.compactMap(\.written)
        return formats.count == names.count && !preferredFormats.isEmpty
    }

    /// Sets the formats whose images keep their size and format.
    ///
    /// - Returns: Whether all names are formats.
    package mutating func skip(_ names: [String]) -> Bool {
        let formats = names.compactMap { ImgproxyFormat(name: $0) }
        skippedFormats = Set(formats)
        return formats.count == names.count
    }

    /// Sets the quality of a format, 1…100.
    ///
    /// - Returns: Whether the name is a format.
    package mutating func set(quality: Int, of name: String) -> Bool {
        guard let format = ImgproxyFormat(name: name) else { return false }
        formatQualities[format] = quality
        return true
    }
}
