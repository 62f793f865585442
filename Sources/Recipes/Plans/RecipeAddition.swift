package struct RecipeAddition: Sendable {
    private(set) var level = 1
    private(set) var drawnSize: PixelSize?
    private(set) var drawnRegion: DrawnRegion?
    package let decoded: FrameShape

    /// - Parameter isSizeFinal: False in both drafts of a trimmed image: its size is unknown when the decode is
    ///   planned.
    package init(_ header: ImageHeader, scaledTo size: PixelSize, isSizeFinal: Bool = true) {
        level = isSizeFinal && header.vectorSize == nil ? Self.level(of: header.size, for: size) : 1
        decoded = header.shape.reduced(by: level)
    }

    init(_ header: ImageHeader, drawnIn size: PixelSize, region: DrawnRegion?) {
        drawnSize = size
        drawnRegion = region
        decoded = FrameShape(size: size, hasAlpha: header.hasAlpha)
    }

    /// Returns the largest level that leaves at least twice the length of `scaled` on each side.
    private static func level(of source: PixelSize, for scaled: PixelSize) -> Int {
        [8, 4, 2].first { level in
            source.width >= 2 * level * scaled.width && source.height >= 2 * level * scaled.height
        } ?? 1
    }
}
