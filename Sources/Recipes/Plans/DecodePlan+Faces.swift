extension DecodePlan {
    /// The plan for face detection: the first page, at a level that depends only on the header.
    package init(forFacesIn header: ImageHeader, limits: ImagingLimits) throws(ImagingError) {
        let page = header.page(0)
        self.init(
            level: page.vectorSize == nil ? page.faceLevel : 1, incompleteImages: limits.incompleteImages,
            drawnSize: page.vectorSize == nil ? nil : page.faceSize, gamut: DecodedGamut(of: header.colors, for: .srgb))
        try check(header, limits: limits)
    }
}

extension ImageHeader {
    /// The number of pixels that suffices for face detection.
    package static let facePixels = 150_000

    /// The coarsest level with enough pixels.
    ///
    /// If a coarser level saves no decoder time, a finer one is used, because most results need it, too.
    var faceLevel: Int {
        let isFaster = format.reading.reduction == .transform && !isProgressive
        let least = Self.facePixels * (isFaster ? 1 : 4)
        return [8, 4, 2].first { storedSize.reduced(by: $0).area >= least } ?? 1
    }

    /// The size at which a vector image is drawn for face detection.
    fileprivate var faceSize: PixelSize {
        var width = Double(size.width)
        var height = Double(size.height)
        let scale = (Double(Self.facePixels) / (width * height)).squareRoot()
        let longest = Double(Self.facePixels)
        width = min(max(1, width * scale), longest)
        height = min(max(1, height * scale), longest)
        return PixelSize(width: Int(width), height: Int(height))
    }
}
