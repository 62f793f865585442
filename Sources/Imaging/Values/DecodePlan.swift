/// Which frames of a source are decoded, and at which level.
///
/// With the source's identity it is the key of the decoded cache.
package struct DecodePlan: Hashable, Sendable {
    /// The page or frame, from 0; 0 for animations.
    package let page: Int
    /// The divisor by which each side is reduced while decoding: 1, 2, 4 or 8.
    package let level: Int
    /// Whether more than one frame is decoded.
    package let isAnimated: Bool
    /// The largest number of frames that is decoded, from the first; 1 for stills.
    package let mostFrames: Int
    /// Whether an image that lacks pixels is refused or served.
    package let incompleteImages: IncompleteImages
    /// The size in which an image of shapes is drawn, in pixels; nil for its natural size, and for images of pixels.
    package let drawnSize: PixelSize?

    /// A plan for one page, or for the first frames.
    package init(
        page: Int = 0, level: Int = 1, isAnimated: Bool = false, mostFrames: Int = .max,
        incompleteImages: IncompleteImages = .refuse, drawnSize: PixelSize? = nil
    ) {
        self.page = page
        self.level = level
        self.isAnimated = isAnimated
        self.mostFrames = isAnimated ? mostFrames : 1
        self.incompleteImages = incompleteImages
        self.drawnSize = drawnSize
    }

    /// A plan for the first page of a source that a step uses besides the image, in full size unless a level is given.
    ///
    /// - Throws: ``ImagingError`` for a source that the limits exclude.
    package init(ofAddition header: ImageHeader, level: Int = 1, limits: ImagingLimits) throws(ImagingError) {
        self.init(level: level, incompleteImages: limits.incompleteImages)
        try header.storedSize.check(frames: 1, maximumPixels: limits.maximumPixels(of: header))
        try check(header, limits: limits)
    }

    /// Refuses files whose header shows that this plan must not be carried out.
    ///
    /// - Throws: ``ImagingError`` for a format, a page or a number of pixels that the limits or the file exclude.
    package func check(_ header: ImageHeader, limits: ImagingLimits) throws(ImagingError) {
        guard limits.sourceFormats.contains(header.format) else { throw .formatNotAccepted(header.format) }
        let frames = frames(of: header)
        guard page < header.frames else { throw .noSuchPage(page, pages: header.frames) }
        let part = header.decoded(by: self)
        guard part.decodedArea <= limits.maximumPixels(of: header) / frames else {
            throw .tooManyPixels(part.storedSize, frames: frames)
        }
    }

    /// How many frames of a file are decoded.
    package func frames(of header: ImageHeader) -> Int { isAnimated ? min(header.frames, mostFrames) : 1 }

    /// Refuses an image that lacks pixels, unless such images are to be served.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``.
    func admit(isIncomplete: Bool) throws(ImagingError) {
        guard !isIncomplete || incompleteImages == .serve else {
            throw .cannotDecode(detail: "the file ends before its pixels do")
        }
    }
}

/// Whether images that lack pixels are refused or served; files that lack only their end are decoded like complete ones.
package enum IncompleteImages: String, Sendable, Hashable, CaseIterable {
    /// The decode fails.
    case refuse
    /// Missing pixels are grey, or coarse if the file has coarse data for them.
    case serve
}
