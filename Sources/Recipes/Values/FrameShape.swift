package struct FrameShape: Hashable, Sendable {
    package var size: PixelSize
    package var hasAlpha: Bool

    package init(size: PixelSize, hasAlpha: Bool) {
        self.size = size
        self.hasAlpha = hasAlpha
    }

    func reduced(by level: Int) -> FrameShape { FrameShape(size: size.reduced(by: level), hasAlpha: hasAlpha) }
}
