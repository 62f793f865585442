/// What of a source is decoded, and how finely: with the source's identity the key of the decoded cache.
package struct DecodePlan: Hashable, Sendable {
    /// The page or frame, from 0; 0 for animations.
    package let page: Int
    /// By how much each side is reduced while decoding: 1, 2, 4 or 8.
    package let level: Int
    /// Whether more than one frame is decoded.
    package let isAnimated: Bool
    /// Of an animation the first so many frames are decoded; 1 for stills.
    package let mostFrames: Int
    /// What becomes of a picture that lacks pixels.
    package let incompleteImages: IncompleteImages

    /// A plan for one page, or for the first frames.
    package init(
        page: Int = 0, level: Int = 1, isAnimated: Bool = false, mostFrames: Int = .max,
        incompleteImages: IncompleteImages = .refuse
    ) {
        self.page = page
        self.level = level
        self.isAnimated = isAnimated
        self.mostFrames = isAnimated ? mostFrames : 1
        self.incompleteImages = incompleteImages
    }

    /// How many frames of a file are decoded.
    package func frames(of header: ImageHeader) -> Int { isAnimated ? min(header.frames, mostFrames) : 1 }

    /// Refuses a picture that lacks pixels, unless those are to be served.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``.
    func admit(isIncomplete: Bool) throws(ImagingError) {
        guard !isIncomplete || incompleteImages == .serve else {
            throw .cannotDecode(detail: "the file ends before its pixels do")
        }
    }
}

/// What becomes of pictures that lack pixels; those that lack only their end are decoded like whole ones.
package enum IncompleteImages: String, Sendable, Hashable, CaseIterable {
    /// They cannot be decoded.
    case refuse
    /// What is missing is grey, or as coarse as what came of it.
    case serve
}
