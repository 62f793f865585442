/// How to decode a source; with the source's identity, the key of the decoded cache.
package struct DecodePlan: Hashable, Sendable {
    /// The page number, or the first frame of an animation; the first is 0.
    package let page: Int
    /// The divisor by which each side is reduced while decoding: 1, 2, 4 or 8.
    package private(set) var level: Int
    /// Coarser levels to decode in the same pass, finest first; a decoder may ignore them.
    package private(set) var coarserLevels: [Int] = []
    package let isAnimated: Bool
    /// The maximum number of frames, starting at ``page``; 1 for stills.
    package let maximumFrames: Int
    package let incompleteImages: IncompleteImages
    /// The size of a drawn vector image in pixels; nil for its natural size, and for raster images.
    package let drawnSize: PixelSize?
    /// The region of a vector image that fills ``drawnSize``; nil for the whole image.
    package let drawnRegion: DrawnRegion?
    package private(set) var keepsGainMap: Bool
    package let gamut: DecodedGamut

    package init(
        page: Int = 0, level: Int = 1, isAnimated: Bool = false, maximumFrames: Int = .max,
        incompleteImages: IncompleteImages = .reject, drawnSize: PixelSize? = nil, drawnRegion: DrawnRegion? = nil,
        keepsGainMap: Bool = false, gamut: DecodedGamut = .withinSRGB
    ) {
        self.page = page
        self.level = level
        self.isAnimated = isAnimated
        self.maximumFrames = isAnimated ? maximumFrames : 1
        self.incompleteImages = incompleteImages
        self.drawnSize = drawnSize
        self.drawnRegion = drawnRegion
        self.keepsGainMap = keepsGainMap
        self.gamut = gamut
    }

    /// Combines the levels of all plans; nil if they cannot be decoded in one pass.
    package init?(combining plans: [DecodePlan], of header: ImageHeader) {
        let levels = Set(plans.map(\.level)).sorted()
        guard header.format.reading.reduction == .transform, !header.isProgressive, levels.count > 1,
            Set(plans.map { $0.with(level: 1) }).count == 1, !plans[0].keepsGainMap
        else { return nil }
        self = plans[0].with(level: levels[0]).with(coarserLevels: Array(levels.dropFirst()))
    }

    package init(
        ofAddition header: ImageHeader, level: Int = 1, drawnSize: PixelSize? = nil, drawnRegion: DrawnRegion? = nil,
        limits: ImagingLimits
    ) throws(ImagingError) {
        self.init(
            level: level, incompleteImages: limits.incompleteImages, drawnSize: drawnSize, drawnRegion: drawnRegion,
            gamut: DecodedGamut(of: header.colors, for: .srgb))
        try check(header, limits: limits)
    }

    package func check(_ header: ImageHeader, limits: ImagingLimits) throws(ImagingError) {
        guard limits.sourceFormats.contains(header.format) else { throw .formatNotAccepted(header.format) }
        let frames = frames(of: header)
        guard page < header.frames else { throw .noSuchPage(page, pages: header.frames) }
        let decoded = header.decoded(by: self)
        try decoded.storedSize.check(frames: frames, maximumPixels: limits.maximumPixels(of: decoded))
        guard decoded.work.area <= limits.maximumPixels(of: decoded) / frames,
            TimeCost.duration(Double(decoded.work.hiddenArea) * TimeCost.hidden) <= limits.longestSteps
        else {
            throw .tooManyPixels(decoded.storedSize, frames: frames)
        }
        guard decoded.vectorSize != nil else { return }
        guard max(decoded.storedSize.width, decoded.storedSize.height) <= decoded.format.maximumSide else {
            throw .tooManyPixels(decoded.storedSize)
        }
        if let whole = drawnRegion?.wholeSize, max(whole.width, whole.height) > Self.longestWhole {
            throw .tooManyPixels(whole)
        }
    }

    /// The maximum side of a vector image that is drawn in part: librsvg's coordinates have 24 bits.
    private static let longestWhole = 1 << 22

    package func frames(of header: ImageHeader) -> Int {
        isAnimated ? max(1, min(header.frames - page, maximumFrames)) : 1
    }

    package func gainMap(of header: ImageHeader) -> (map: GainMap, plan: DecodePlan)? {
        guard keepsGainMap, let map = header.gainMap else { return nil }
        let whole = header.size.width
        let mapWidth = map.header.size.width
        let reduction = [8, 4, 2].first { $0 <= level && $0 * whole <= level * mapWidth } ?? 1
        return (map, DecodePlan(level: reduction))
    }

    /// Returns the plan for only this level.
    package func with(level: Int) -> DecodePlan {
        var plan = self
        plan.level = level
        plan.coarserLevels = []
        return plan
    }

    package func with(coarserLevels: [Int]) -> DecodePlan {
        var plan = self
        plan.coarserLevels = coarserLevels
        return plan
    }

    package var withoutGainMap: DecodePlan? {
        guard keepsGainMap else { return nil }
        var plan = self
        plan.keepsGainMap = false
        return plan
    }

    package func needsFrames(of header: ImageHeader) -> Bool { header.frames > 1 && (isAnimated || page > 0) }

    package func checkCompleteness(isIncomplete: Bool) throws(ImagingError) {
        guard !isIncomplete || incompleteImages == .serve else {
            throw .cannotDecode(detail: "the file ends before its pixels do")
        }
    }
}

/// How to treat truncated files; files that lack only the end marker count as complete.
package enum IncompleteImages: String, Sendable, Hashable, CaseIterable {
    case reject = "refuse"
    /// Missing pixels are gray, or coarse if the file contains coarse data for them.
    case serve
}
