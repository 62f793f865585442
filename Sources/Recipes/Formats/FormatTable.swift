// The table of formats; other code uses it only by these members.

extension ImageFormat {
    private var traits: FormatTraits {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        case .avif: .avif
        case .heic: .heic
        case .jxl: .jxl
        case .tiff: .tiff
        case .bmp: .bmp
        case .ico: .ico
        case .raw: .raw
        case .svg: .svg
        }
    }

    package var reading: FormatTraits.Reading { traits.reading }

    var writing: FormatTraits.Writing? { if case .written(let writing) = traits.output { writing } else { nil } }
}

extension ImageFormat {
    package init?(mediaType: String) {
        guard let format = ImageFormat.allCases.first(where: { $0.mediaType == mediaType }) else { return nil }
        self = format
    }

    package var mediaType: String { traits.mediaType }

    package var fileExtension: String { traits.fileExtension }

    package var supportsAlpha: Bool { traits.supportsAlpha }

    package var supportsAnimation: Bool { traits.supportsAnimation }

    package var isCommonAnimation: Bool { traits.isCommonAnimation }

    /// Whether the frames of a source are an animation and not pages.
    package var hasMovingFrames: Bool { supportsAnimation }

    package var isVector: Bool { reading.isVector }

    package var hasPageHeaders: Bool { reading.hasPageHeaders }

    package var hasPreview: Bool { reading.hasPreview }

    package var maximumSide: Int { traits.maximumSide }
}

extension ImageFormat {
    package static let trusted = allCases.filter { !$0.reading.needsConfinement }

    package static let distrusted = allCases.filter { $0.reading.needsConfinement }
}

extension ImageFormat {
    package static let written = allCases.filter(\.isWritten)

    package var isWritten: Bool { writing != nil }

    /// Returns the output format of a request that keeps the source's format.
    package func outputFormat(hasAlpha: Bool) -> ImageFormat {
        switch traits.output {
        case .written: self
        case .replaced(let opaque, let transparent): hasAlpha ? transparent : opaque
        }
    }

    package var hasQuality: Bool { writing?.quality != nil }

    /// True if the format has no quality setting, but a quality limits the palette's error.
    package var hasPaletteQuality: Bool { writing?.hasPaletteQuality ?? false }

    package static let defaultVisualQuality = 80

    /// Returns the quality of the encoder; 100 if the format has none.
    ///
    /// Visual quality is on JPEG's scale.
    package func encoderQuality(for visual: Int = defaultVisualQuality, pixels: Int) -> Int {
        writing?.quality?.encoderQuality(for: visual, pixels: pixels) ?? 100
    }

    package func visualQuality(of encoderQuality: Int, pixels: Int) -> Int {
        writing?.quality?.visualQuality(of: encoderQuality, pixels: pixels) ?? encoderQuality
    }

    package func photographBytes(ofPixels count: Int) -> Int? {
        writing?.photographBytes.last { $0.pixels <= count }?.hundredths
    }

    /// Chroma subsampling factor per axis (1 or 2), as libvips chooses it.
    package func chromaStep(at quality: Int) -> Int { quality >= writing?.fullChromaFrom ?? .max ? 1 : 2 }

    package var maximumSharpPixels: Int { writing?.maximumSharpPixels ?? 0 }

    /// The effort on the encoder's scale.
    ///
    /// Chosen by time and size of photographs at 300 and 900 pixels: each further step costs at least a fifth more time
    /// and saves less than a twentieth of the bytes.
    package var effort: Int { writing?.effort ?? 0 }

    /// True if the format has both a lossy and a lossless mode.
    var isLosslessByChoice: Bool { writing?.losslessTime != nil }

    /// True if a result can be lossless.
    package var canBeLossless: Bool { isLosslessByChoice || self == .png }

    static let lossy = Set(written.filter { !$0.canBeLossless })

    package var holdsRightsAsEXIF: Bool { writing?.holdsRightsAsEXIF ?? false }

    var holdsWideColors: Bool { writing?.holdsWideColors ?? false }

    package var bitDepths: [Int] { writing?.bitDepths ?? [8] }

    package var bitDepth: Int { bitDepths[0] }

    package var isSlow: Bool { writing?.isSlow ?? false }

    /// Whether a worker process encodes stills: AV1 encoders and GIF palette computations cannot be interrupted.
    package var isEncodedByWorker: Bool { writing?.isUninterruptible ?? false }

    package var isAnimationEncodedByWorker: Bool { writing?.isUninterruptibleAnimation ?? false }

    package func isEncodedByWorker(frames: Int) -> Bool { frames == 1 ? isEncodedByWorker : isAnimationEncodedByWorker }
}
