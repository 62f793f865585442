extension ImageHeader {
    private static let longestSide = Int(UInt32.max)
    /// Ten million CSS pixels, in thousandths.
    private static let longestDrawing = 10_000_000_000
    private static let mostFrames = Int(Int32.max)

    /// Whether the header of a file could say all this.
    ///
    /// A header that was not read from a file here is asked so before it is used, because prices, plans and answers
    /// count on it.
    package var isPossible: Bool {
        storedSize.isPossible(upTo: Self.longestSide) && 1...8 ~= orientation && 1...4 ~= bands && 1...64 ~= bitDepth
            && 1...Self.mostFrames ~= frames && 0...Int(UInt32.max) ~= profileByteCount
            && drawing?.isPossible(upTo: Self.longestDrawing) ?? (format != .svg)
            && (pages.isEmpty || pages.count == frames)
            && pages.allSatisfy { $0.format == format && $0.pages.isEmpty && $0.isPossible }
            && exif?.isPossible ?? true
    }
}

extension PixelSize {
    /// Whether no side is empty, and none longer than `longest`.
    package func isPossible(upTo longest: Int = maximumSide) -> Bool { 1...longest ~= width && 1...longest ~= height }
}

extension EXIFTexts {
    /// Whether no text is longer than those that are read from files.
    fileprivate var isPossible: Bool {
        [make, model, dateTime].allSatisfy { $0.count <= Self.longest }
            && [attribution?.artist, attribution?.copyright].allSatisfy { $0?.count ?? 0 <= Attribution.longest }
    }
}
