import Recipes

/// Options as written, so that the first one counts even if it is out of range.
///
/// Missing values are nil, invalid ones -1.
struct WsrvOptions: Hashable, Sendable {
    var width: WsrvLength?
    var height: WsrvLength?
    var ratio: Float?
    var fit: Fit?
    /// Whether JPEG images are reduced less while decoding (`fsol=0`), which affects the rounding of sizes.
    var isReducedLess: Bool?
    var isNeverEnlarged: Bool?
    var cropX: WsrvLength?
    var cropY: WsrvLength?
    var cropWidth: WsrvLength?
    var cropHeight: WsrvLength?
    var isCroppedFirst: Bool?
    var position: Position?
    var focalX: Float?
    var focalY: Float?
    var mask: ImageOperations.Mask??
    var isMaskTrimmed: Bool?
    var maskColor: Color?
    var rotation: Int?
    /// Whether to swap top and bottom.
    var flip: Bool?
    /// Whether to swap left and right.
    var flop: Bool?
    var brightness: Int?
    var lightness: Float?
    var chroma: Float?
    var hue: Int?
    var contrast: Int?
    var gamma: Float?
    var sharpness: Float?
    var flatSharpness: Float?
    var jaggedSharpness: Float?
    var trim: Int?
    var blur: Float?
    var filter: Filter?
    var gradientStart: Color?
    var gradientEnd: Color?
    var tint: Color?
    var background: Color?
    var barColor: Color?
    var cornerColor: Color?
    var quality: Int?
    var output: Output?
    var isLossless: Bool?
    /// The page; -1 selects the largest one, -2 the smallest.
    var page: Int?
    var pages: Int?
    var loops: Int?
    var delays: [Int]?
    var isInBase64 = false

    enum Position: String, Hashable, Sendable {
        case center, top, right, bottom, left
        case topLeft = "top-left"
        case topRight = "top-right"
        case bottomLeft = "bottom-left"
        case bottomRight = "bottom-right"
        case entropy, attention, focal

        var gravity: Gravity { ParameterGrammar.gravity(rawValue) ?? .center }
    }

    enum Filter: String, Hashable, Sendable {
        case none, greyscale, sepia, duotone, negate
    }

    enum Output: Hashable, Sendable {
        case source
        case format(ImageFormat)
        case facts
    }
}

extension WsrvOptions {
    /// Returns the box for the stored size with all frames stacked; 0 for a missing side.
    func box(for stored: PixelSize) -> PixelSize {
        func side(_ length: WsrvLength?, of whole: Int) -> Int {
            var pixels = length?.pixels(of: whole) ?? WsrvNumbers.unreadable
            if let ratio, (0...8).contains(ratio) {
                pixels = Int((Float(pixels) * ratio).rounded(.toNearestOrAwayFromZero))
            }
            return min(max(pixels, 0), 10_000_000)
        }
        return PixelSize(width: side(width, of: stored.width), height: side(height, of: stored.height))
    }

    var trimTolerance: Int? { trim.flatMap { (1...254).contains($0) ? $0 : nil } }

    var focalPoint: (x: Float, y: Float) {
        func share(_ value: Float?) -> Float { value.flatMap { (0...1).contains($0) ? $0 : nil } ?? 0.5 }
        return (share(focalX), share(focalY))
    }

    var quarterTurns: Int {
        let degrees = rotation ?? 0
        return degrees.isMultiple(of: 90) ? (degrees / 90 % 4 + 4) % 4 : 0
    }

    var freeRotation: Int? {
        guard let rotation, !rotation.isMultiple(of: 90) else { return nil }
        return (rotation % 360 + 360) % 360
    }
    var effectiveQuality: Int { namedQuality ?? 80 }
    var namedQuality: Int? { quality.flatMap { (1...100).contains($0) ? $0 : nil } }
}
