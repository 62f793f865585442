package import Memory

// The only access to the format table for other code.

extension ImageFormat {
    var reading: FormatTraits.Reading { traits.reading }

    /// The writer of this format; nil if there is none.
    var writing: FormatTraits.Writing? {
        if case .written(let writing) = traits.output { writing } else { nil }
    }
}

extension ImageFormat {
    /// Creates the format with this media type, which must be lowercase.
    package init?(mediaType: String) {
        guard let format = ImageFormat.allCases.first(where: { $0.mediaType == mediaType }) else { return nil }
        self = format
    }

    /// The format's media type, such as `image/jpeg`.
    package var mediaType: String { traits.mediaType }

    /// The usual file name extension, without the dot.
    package var fileExtension: String { traits.fileExtension }

    package var supportsAlpha: Bool { traits.supportsAlpha }

    /// Whether animations are written with all their frames.
    package var supportsAnimation: Bool { traits.supportsAnimation }

    /// Whether other services also keep animation frames in this format.
    package var isUsualAnimation: Bool { traits.isUsualAnimation }

    /// Whether several frames of a source are an animation rather than pages.
    package var hasMovingFrames: Bool { supportsAnimation }

    /// Whether images are vector drawings, rendered at the required size.
    package var holdsShapes: Bool { reading.holdsShapes }

    /// Whether each page of a document has its own header.
    package var holdsPages: Bool { reading.holdsPages }

    /// Maximum side length that the format supports, in pixels.
    package var maximumSide: Int { traits.maximumSide }
}

extension ImageFormat {
    /// The formats that are decoded by default even without confined worker processes.
    package static let trusted = allCases.filter { !$0.reading.needsConfinement }

    /// The formats that only worker processes decode by default.
    package static let distrusted = allCases.filter { $0.reading.needsConfinement }

    /// A small file that a worker process decodes before it is confined; nil if there is none.
    ///
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    package func warmUpFile() throws -> SharedBytes? {
        switch reading.warmUp {
        case .written(let bands):
            let size = PixelSize(width: 32, height: 32)
            let pixels = (0..<size.area * bands).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            return try ImageEncoder.encode(pixels: pixels, size: size, bands: bands, format: self, quality: nil).bytes
        case .file(let bytes): return SharedBytes(bytes)
        case nil: return nil
        }
    }
}

extension ImageFormat {
    package static let written = allCases.filter(\.isWritten)

    package var isWritten: Bool { writing != nil }

    /// Returns the output format for a source in this format whose format is kept.
    ///
    /// - Parameter hasAlpha: Whether the source has transparency.
    package func answer(hasAlpha: Bool) -> ImageFormat {
        switch traits.output {
        case .written: self
        case .replaced(let opaque, let transparent): hasAlpha ? transparent : opaque
        }
    }

    package var hasQuality: Bool { writing?.quality != nil }

    /// Whether the format has no quality setting, but a given quality limits the palette's error.
    package var hasPaletteQuality: Bool { writing?.hasPaletteQuality ?? false }

    /// The visual quality of results whose request names none.
    package static let usualVisualQuality = 80

    /// Returns the encoder's quality for a visual quality and a number of pixels; 100 if the format has no quality.
    ///
    /// Visual quality is on JPEG's scale.
    package func encoderQuality(for visual: Int = usualVisualQuality, pixels: Int) -> Int {
        writing?.quality?.encoderQuality(for: visual, pixels: pixels) ?? 100
    }

    /// Returns the lowest visual quality that needs at least this encoder quality.
    package func visualQuality(of encoderQuality: Int, pixels: Int) -> Int {
        writing?.quality?.visualQuality(of: encoderQuality, pixels: pixels) ?? encoderQuality
    }

    /// Returns the size of a photograph in percent of a JPEG file of equal visual quality; nil if unknown, as for
    /// lossless formats.
    package func photographBytes(ofPixels count: Int) -> Int? {
        writing?.photographBytes.last { $0.pixels <= count }?.hundredths
    }

    /// Returns the pixels per chroma sample on each side, 1 or 2, by libvips' rule.
    func chromaStep(at quality: Int) -> Int { quality >= writing?.fullChromaFrom ?? .max ? 1 : 2 }

    /// Maximum number of pixels of a result for which chroma is computed from full-color pixels although planes are
    /// available.
    var maximumSharpPixels: Int { writing?.maximumSharpPixels ?? 0 }

    /// The encoder's default effort, on its own scale.
    ///
    /// Chosen by time and size of photographs at 300 and 900 pixels: each further step costs at least a fifth more time
    /// and saves less than a twentieth of the bytes.
    package var effort: Int { writing?.effort ?? 0 }

    /// Whether files can declare Display P3 colors.
    var holdsWideColors: Bool { writing?.holdsWideColors ?? false }

    /// Supported bits per component, the default first.
    package var bitDepths: [Int] { writing?.bitDepths ?? [8] }

    package var bitDepth: Int { bitDepths[0] }

    /// Whether the encoder is so slow that results have a lower pixel limit.
    package var isSlow: Bool { writing?.isSlow ?? false }

    /// Whether a worker process encodes stills, because most of the work is one step that cannot be interrupted.
    ///
    /// AV1 encoding is such a step, and so is computing a GIF's palette.
    package var isEncodedInOneStep: Bool { writing?.isInOneStep ?? false }

    /// Whether a worker process encodes animations, for the same reason.
    package var isAnimatedInOneStep: Bool { writing?.animatesInOneStep ?? false }

    /// Returns whether a worker process encodes an image with this number of frames.
    func isEncodedInOneStep(frames: Int) -> Bool { frames == 1 ? isEncodedInOneStep : isAnimatedInOneStep }
}

/// Small files in formats without a writer, which worker processes decode before they are confined.
enum SampleFiles {
    /// One gray pixel, little-endian.
    static let tiff: [UInt8] = {
        let entries: [(tag: UInt8, type: UInt8, value: UInt8)] = [
            (0, 3, 1), (1, 3, 1), (2, 3, 8), (3, 3, 1), (6, 3, 1), (17, 4, 8), (21, 3, 1), (22, 3, 1), (23, 4, 1),
        ]
        let directory = entries.flatMap { [$0.tag, 1, $0.type, 0, 1, 0, 0, 0, $0.value, 0, 0, 0] as [UInt8] }
        return [0x49, 0x49, 42, 0, 10, 0, 0, 0, 128, 0, UInt8(entries.count), 0] + directory + [0, 0, 0, 0]
    }()

    /// A bitmap of one pixel with its mask.
    static let ico: [UInt8] =
        [0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 24, 0, 48, 0, 0, 0, 22, 0, 0, 0]
        + [40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0] + [UInt8](repeating: 0, count: 24) + [
            1, 2, 3, 0, 0, 0, 0, 0,
        ]

    /// Text, a gradient, a filter, and a nested image.
    static let svg = Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="48">
        <defs><linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient>
        <filter id="f"><feGaussianBlur stdDeviation="2"/><feTurbulence baseFrequency="0.1"/></filter></defs>
        <rect width="64" height="48" fill="url(#g)"/><circle cx="32" cy="24" r="9" filter="url(#f)"/>
        <text x="4" y="20">Ag</text><image width="1" height="1" xlink:href="data:image/png;base64,\(pixel)"/></svg>
        """.utf8)

    private static let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
}
