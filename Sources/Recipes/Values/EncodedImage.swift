package import Memory

package struct EncodedImage: Sendable {
    package let bytes: SharedBytes
    package let format: ImageFormat
    package let size: PixelSize
    package let quality: Int?
    package let hasGainMap: Bool

    package init(
        bytes: SharedBytes, format: ImageFormat, size: PixelSize, quality: Int? = nil, hasGainMap: Bool = false
    ) {
        self.bytes = bytes
        self.format = format
        self.size = size
        self.quality = quality
        self.hasGainMap = hasGainMap
    }
}

package enum EncodingQuality: Hashable, Sendable {
    case fixed(Int)
    /// The highest quality with a file of at most `bytes` bytes; `lowest` if there is none.
    case fitting(bytes: Int, highest: Int, lowest: Int = 1)
    /// The lowest quality at which the file is similar enough to the image.
    case similar(SimilarityGoal)

    var highest: Int {
        switch self {
        case .fixed(let quality): quality
        case .fitting(_, let highest, _): highest
        case .similar(let goal): goal.highest
        }
    }

    var maximumEncodes: Int {
        switch self {
        case .fixed: 1
        case .fitting: 8
        case .similar: SimilarityGoal.maximumTries + 1
        }
    }

    /// Returns the qualities to try for a gain map; without a byte limit, only the first is used.
    ///
    /// The map may take a third of a byte limit. Rounding is more visible in small maps.
    package static func ofGainMap(pixels: Int) -> [Int] { [pixels <= 150_000 ? 92 : 85, 70, 45, 25] }

    var maximumMapEncodes: Int { if case .fitting = self { Self.ofGainMap(pixels: 0).count } else { 1 } }

    package var isSearched: Bool { if case .fixed = self { false } else { true } }

    var summary: String {
        switch self {
        case .fixed(let quality): "quality \(quality)"
        case .fitting(let bytes, let highest, _): "the highest quality up to \(highest) that fits into \(bytes) bytes"
        case .similar: "the lowest quality that looks the same"
        }
    }

    var keyText: String {
        switch self {
        case .fixed(let quality): "\(quality)"
        case .fitting(let bytes, let highest, let lowest):
            "\(highest) most \(bytes)" + (lowest == 1 ? "" : " least \(lowest)")
        case .similar(let goal): "similar.2 \(goal.minimum) \(goal.lowest) \(goal.highest)"
        }
    }
}

package struct SimilarityGoal: Hashable, Sendable {
    /// The minimum similarity, 0…10000; docs/quality.md defines the scale.
    package var minimum = 9_800
    package var lowest = 40
    /// The highest quality, 1…100; used without a test if no lower one is similar enough.
    package var highest = 90

    package static let maximumTries = 5

    package init() {}
}

package enum QualityScale: Sendable, Hashable {
    case visual
    case encoder
}

package struct EncoderSettings: Hashable, Sendable {
    /// The encoder quality, 1…100; ignored if the format has none.
    package var quality: Int
    package var effort: Int
    package var bitDepth: Int
    package var isDisplayP3: Bool
    package var hasFullChroma = false
    package var isLossless: Bool
    /// The quality on JPEG's scale, if the plan chose it: JPEG XL can be made from a JPEG of this quality.
    package var visualQuality: Int?

    package init(quality: Int, effort: Int, bitDepth: Int = 8, isDisplayP3: Bool = false, isLossless: Bool = false) {
        self.quality = quality
        self.effort = effort
        self.bitDepth = bitDepth
        self.isDisplayP3 = isDisplayP3
        self.isLossless = isLossless
    }
}
