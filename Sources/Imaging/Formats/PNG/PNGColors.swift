import Recipes

/// The colors that a PNG declares (third edition, sections 4.3 and 11.3.2).
struct PNGColors {
    private var codePoints: (primaries: Int, transfer: Int)?
    private var profile: SourceColors?
    private var hasReadProfile = false
    private var isSRGB = false
    private var gamma: Int?
    private var chromaticities: Chromaticities?
    private var peak: (content: Int, display: Int) = (0, 0)

    mutating func read(_ bytes: RawSpan, chunk: PNGChunks.Chunk) throws(ImagingError) {
        let data = chunk.data.lowerBound
        let length = chunk.data.count
        if bytes.hasText("cICP", at: chunk.type), length == 4 {
            codePoints = try (bytes.byte(at: data), bytes.byte(at: data + 1))
        } else if bytes.hasText("sRGB", at: chunk.type) {
            isSRGB = true
        } else if bytes.hasText("gAMA", at: chunk.type), length == 4 {
            gamma = try bytes.bigEndian32(at: data)
        } else if bytes.hasText("cHRM", at: chunk.type), length == 32 {
            var numbers: [Int] = []
            for index in 0..<8 { numbers.append(try bytes.bigEndian32(at: data + 4 * index)) }
            chromaticities = Chromaticities(Array(numbers[2...] + numbers[..<2]))
        } else if bytes.hasText("cLLI", at: chunk.type), length == 8 {
            peak.content = try bytes.bigEndian32(at: data) / Self.lightUnit
        } else if bytes.hasText("mDCV", at: chunk.type), length == 24 {
            peak.display = try bytes.bigEndian32(at: data + 16) / Self.lightUnit
        }
    }

    /// Reads `iCCP`: a name and a compressed profile.
    mutating func readProfile(_ bytes: RawSpan, at range: Range<Int>) {
        guard !hasReadProfile, let end = bytes.firstIndex(of: 0, from: range.lowerBound),
            end < min(range.upperBound - 2, range.lowerBound + 80)
        else { return }
        hasReadProfile = true
        let file = Inflation.prefix(of: bytes.extracting(end + 2..<range.upperBound), maximum: Self.maximumProfileSize)
        profile = unsafe file.withUnsafeBytes { unsafe SourceColors(profile: $0.bytes) }
    }

    /// The colors by the first of these that is present: code points, a profile, sRGB, gamma.
    ///
    /// Gamma without primaries uses sRGB's, as in browsers. An exponent near 2.2 with sRGB primaries means sRGB.
    var declared: SourceColors? {
        if let codePoints, var encoding = ColorEncoding(primaries: codePoints.primaries, transfer: codePoints.transfer)
        {
            encoding.peak = min(peak.content > 0 ? peak.content : peak.display, 10_000)
            return SourceColors(encoding)
        }
        if profile != nil || isSRGB { return profile }
        guard let gamma, gamma > 0 else { return nil }
        let chromaticities = chromaticities ?? .srgb
        let power = 10_000_000_000 / gamma
        guard ColorEncoding.Transfer.powers ~= power else { return nil }
        let isUsual = abs(gamma - 45_455) <= 500
        let colors = SourceColors(ColorEncoding(chromaticities, transfer: isUsual ? .srgb : .power(power)))
        if colors.space == .srgb { return nil }
        return isUsual ? SourceColors(ColorEncoding(chromaticities, transfer: .power(220_000))) : colors
    }

    /// Luminance is in 10,000ths of cd/m².
    private static let lightUnit = 10_000
    /// Larger than any profile with only curves and primaries.
    private static let maximumProfileSize = 1 << 16
}
