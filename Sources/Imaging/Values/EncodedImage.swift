package import Memory

/// A finished result: the bytes of an image file that the service made.
package struct EncodedImage: Sendable {
    /// The bytes of the file.
    package let bytes: SharedBytes
    package let format: ImageFormat
    /// Size of one frame in pixels.
    package let size: PixelSize
    /// The quality that a search found; nil if the quality was given.
    package let quality: Int?
    /// Whether the file holds a gain map besides the image.
    package let hasGainMap: Bool

    /// Wraps the output of an encoder.
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

/// How the quality of a result is decided.
package enum EncodingQuality: Hashable, Sendable {
    /// This quality, 1…100; 100 for formats without a quality.
    case fixed(Int)
    /// A quality not above `highest` whose file has at most `bytes` bytes, while that of the next higher quality has
    /// more.
    ///
    /// If no file is that small, quality `lowest`.
    case fitting(bytes: Int, highest: Int, lowest: Int = 1)
    /// The lowest quality at which the file still looks like the image.
    case similar(SimilarityGoal)

    /// The highest quality that may be chosen.
    var highest: Int {
        switch self {
        case .fixed(let quality): quality
        case .fitting(_, let highest, _): highest
        case .similar(let goal): goal.highest
        }
    }

    /// Most encodes that finding the quality takes, the last one included.
    var mostEncodes: Int {
        switch self {
        case .fixed: 1
        case .fitting: 8
        case .similar: SimilarityGoal.mostTries + 1
        }
    }

    /// The quality of the file of a gain map with so many pixels, and those that are tried where a result has most
    /// bytes, of which the map gets a third if it can.
    ///
    /// A small map shows more of its rounding.
    static func ofGainMap(pixels: Int) -> [Int] { [pixels <= 150_000 ? 92 : 85, 70, 45, 25] }

    /// Most encodes of the result's gain map.
    var mostMapEncodes: Int { if case .fitting = self { Self.ofGainMap(pixels: 0).count } else { 1 } }

    /// Whether only encoding tells the quality.
    var isSearched: Bool {
        if case .fixed = self { false } else { true }
    }

    /// The quality in words.
    var words: String {
        switch self {
        case .fixed(let quality): "quality \(quality)"
        case .fitting(let bytes, let highest, _): "the highest quality up to \(highest) that fits into \(bytes) bytes"
        case .similar: "the lowest quality that looks the same"
        }
    }

    /// The quality's text in the key of a result on disk.
    var keyText: String {
        switch self {
        case .fixed(let quality): "\(quality)"
        case .fitting(let bytes, let highest, let lowest):
            "\(highest) most \(bytes)" + (lowest == 1 ? "" : " least \(lowest)")
        case .similar(let goal): "similar.2 \(goal.least) \(goal.lowest) \(goal.highest)"
        }
    }
}

/// How similar a file must be to the unencoded image, and between which qualities the lowest such quality is looked
/// for.
package struct SimilarityGoal: Hashable, Sendable {
    /// The least similarity in ten-thousandths, 0…10000; docs/quality.md defines the scale.
    package var least = 9_800
    /// The lowest quality that may be chosen, 1…100.
    package var lowest = 40
    /// The highest quality that may be chosen, 1…100; chosen without a test if no lower one is similar enough.
    package var highest = 90

    /// Most qualities that are tested.
    static let mostTries = 5

    /// The defaults of the contract.
    package init() {}
}

/// The meaning of a quality.
package enum QualityScale: Sendable, Hashable {
    /// The same look in each format: that of JPEG files of this quality.
    case look
    /// The number that the format's encoder knows.
    case encoder
}
