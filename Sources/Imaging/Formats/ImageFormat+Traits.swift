package import Memory

// The properties through which all other code asks the table of formats.

extension ImageFormat {
    /// How files of this format are read.
    var reading: FormatTraits.Reading { traits.reading }

    /// How files of this format are written; nil if none are.
    var writing: FormatTraits.Writing? {
        if case .written(let writing) = traits.output { writing } else { nil }
    }
}

extension ImageFormat {
    /// The format of this media type, which is in lower case; nil for every other type.
    package init?(mediaType: String) {
        guard let format = ImageFormat.allCases.first(where: { $0.mediaType == mediaType }) else { return nil }
        self = format
    }

    /// The format's media type: `image/jpeg`.
    package var mediaType: String { traits.mediaType }

    /// The usual file name extension, without the dot.
    package var fileExtension: String { traits.fileExtension }

    /// Whether an image in this format can have transparent parts.
    package var supportsAlpha: Bool { traits.supportsAlpha }

    /// Whether animations are written with all their frames.
    package var supportsAnimation: Bool { traits.supportsAnimation }

    /// Whether other services keep frames in this format, too.
    package var isUsualAnimation: Bool { traits.isUsualAnimation }

    /// Whether several frames of a source are an animation, and not pages.
    package var hasMovingFrames: Bool { supportsAnimation }

    /// Whether images are made of shapes, which are drawn in the size that is needed.
    package var holdsShapes: Bool { reading.holdsShapes }

    /// Whether each page of a document has a header of its own.
    package var holdsPages: Bool { reading.holdsPages }

    /// Longest side that the format can hold, in pixels.
    package var maximumSide: Int { traits.maximumSide }
}

extension ImageFormat {
    /// The formats that are decoded by default even without confined worker processes.
    package static let trusted = allCases.filter { !$0.reading.needsConfinement }

    /// The formats that are decoded by default only by worker processes.
    package static let distrusted = allCases.filter { $0.reading.needsConfinement }

    /// A small file that a worker process decodes before it is confined; nil if it does not.
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
    /// The formats that results can be made in.
    package static let written = allCases.filter(\.isWritten)

    /// Whether results can be made in this format.
    package var isWritten: Bool { writing != nil }

    /// The format of a result that is to be in the source's own format, which this is.
    ///
    /// - Parameter hasAlpha: Whether the source has transparency.
    package func answer(hasAlpha: Bool) -> ImageFormat {
        switch traits.output {
        case .written: self
        case .replaced(let opaque, let transparent): hasAlpha ? transparent : opaque
        }
    }

    /// Whether the format has a quality.
    package var hasQuality: Bool { writing?.quality != nil }

    /// Whether the format has no quality, but a quality that is given with it says how exactly its palette fits.
    package var hasPaletteQuality: Bool { writing?.hasPaletteQuality ?? false }

    /// The look of results whose request names no quality.
    package static let usualLook = 80

    /// The encoder's quality by which a result of so many pixels looks as JPEG of quality `look` does; 100 if the
    /// format has no quality.
    package func encoderQuality(for look: Int = usualLook, pixels: Int) -> Int {
        writing?.quality?.encoderQuality(for: look, pixels: pixels) ?? 100
    }

    /// The lowest look for which the encoder's quality is at least this one.
    package func look(of encoderQuality: Int, pixels: Int) -> Int {
        writing?.quality?.look(of: encoderQuality, pixels: pixels) ?? encoderQuality
    }

    /// Bytes of a photograph of so many pixels in hundredths of those of a JPEG file of the same look; nil if that
    /// cannot be said, as without loss.
    package func photographBytes(ofPixels count: Int) -> Int? {
        writing?.photographBytes.last { $0.pixels <= count }?.hundredths
    }

    /// Pixels for one chroma sample on each side, 1 or 2, by libvips' rule.
    func chromaStep(at quality: Int) -> Int { quality >= writing?.fullChromaFrom ?? .max ? 1 : 2 }

    /// Most pixels of a result for which the encoder makes sharp chroma of pixels, if it could have planes.
    var mostSharpPixels: Int { writing?.mostSharpPixels ?? 0 }

    /// The encoder's usual effort to make the file small, in its own scale.
    ///
    /// Chosen by time and size of photographs at 300 and 900 pixels: each further step costs at least a fifth more time
    /// and saves less than a twentieth of the bytes.
    package var effort: Int { writing?.effort ?? 0 }

    /// Whether files can say that their colors are Display P3's.
    var holdsWideColors: Bool { writing?.holdsWideColors ?? false }

    /// The bits of a component that answers may have, the usual ones first.
    package var bitDepths: [Int] { writing?.bitDepths ?? [8] }

    /// The usual bits of a component.
    package var bitDepth: Int { bitDepths[0] }

    /// Whether the encoder is so slow that results have a lower limit of pixels.
    package var isSlow: Bool { writing?.isSlow ?? false }

    /// Whether a still is encoded by a worker process, because most of the work is one step that cannot be stopped.
    ///
    /// AV1's encoder is such a step; so is the choice of a GIF's palette.
    package var isEncodedInOneStep: Bool { writing?.isInOneStep ?? false }

    /// Whether an animation is, too.
    package var isAnimatedInOneStep: Bool { writing?.animatesInOneStep ?? false }

    /// Whether an image of this many frames is encoded by a worker process.
    func isEncodedInOneStep(frames: Int) -> Bool { frames == 1 ? isEncodedInOneStep : isAnimatedInOneStep }
}

/// Small files of formats that are read and not written: a worker process decodes them before it is confined.
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

    /// Text, a gradient, a filter, and an image within the image.
    static let svg = Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="48">
        <defs><linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient>
        <filter id="f"><feGaussianBlur stdDeviation="2"/><feTurbulence baseFrequency="0.1"/></filter></defs>
        <rect width="64" height="48" fill="url(#g)"/><circle cx="32" cy="24" r="9" filter="url(#f)"/>
        <text x="4" y="20">Ag</text><image width="1" height="1" xlink:href="data:image/png;base64,\(pixel)"/></svg>
        """.utf8)

    /// A PNG file of one pixel.
    private static let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
}
