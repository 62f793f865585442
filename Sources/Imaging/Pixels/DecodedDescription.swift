package import Memory
package import Recipes

package struct DecodedDescription: Hashable, Sendable {
    package struct PlaneShape: Hashable, Sendable {
        package var size: PixelSize
        package var region: Plane.Region

        package init(size: PixelSize, region: Plane.Region) {
            self.size = size
            self.region = region
        }
    }

    /// The size of one upright frame after the reduction by the decoder.
    package var size: PixelSize
    package var bands: Int
    package var planes: [PlaneShape]
    package var range: PlaneRange
    package var delays: [Int]
    package var loop: Int
    /// Whether pixels are missing; they are gray, or coarse if the file had coarse data for them.
    package var isIncomplete: Bool
    /// Whether the decoder failed until the file was repaired; all pixels are present.
    package var isRepaired = false
    /// The profile of planes or color pixels, to apply after the image is reduced; nil for sRGB.
    package var profile: ColorProfile?
    package var jpegDecoding: JPEGDecoding?
    /// Whether the planes have color detail; false for interleaved pixels.
    package var hasColorDetail: Bool

    package init(
        size: PixelSize, bands: Int, planes: [PlaneShape] = [], range: PlaneRange = .full, delays: [Int] = [],
        loop: Int = 0, isIncomplete: Bool = false, profile: ColorProfile? = nil, jpegDecoding: JPEGDecoding? = nil,
        hasColorDetail: Bool = false
    ) {
        self.size = size
        self.bands = bands
        self.planes = planes
        self.range = range
        self.delays = delays
        self.loop = loop
        self.isIncomplete = isIncomplete
        self.profile = profile
        self.jpegDecoding = jpegDecoding
        self.hasColorDetail = hasColorDetail
    }
}

extension DecodedImage {
    package convenience init(
        _ description: DecodedDescription, pixels: SharedBytes, of header: ImageHeader, by plan: DecodePlan
    ) throws(ImagingError) {
        guard description.hasSize(of: header, by: plan) else {
            throw .cannotDecode(detail: "the decoder says \(description.size), the header says \(header.size)")
        }
        try plan.checkCompleteness(isIncomplete: description.isIncomplete)
        try self.init(description, pixels: pixels, frames: plan.frames(of: header))
    }

    package convenience init(
        _ description: DecodedDescription, pixels: SharedBytes, frames: Int = 1
    ) throws(ImagingError) {
        if description.planes.isEmpty {
            guard let count = description.pixelCount(frames: frames), pixels.count == count else {
                throw .cannotDecode(detail: "the pixels do not fill the image")
            }
            self.init(
                pixels: pixels, size: description.size, bands: description.bands, frames: frames,
                delays: description.delays, loop: description.loop, isIncomplete: description.isIncomplete,
                isRepaired: description.isRepaired, profile: description.profile)
        } else {
            guard let planes = description.checkedPlanes, pixels.count == planes.byteCount else {
                throw .cannotDecode(detail: "the planes do not make an image")
            }
            self.init(
                pixels: pixels, planes: planes, range: description.range, profile: description.profile,
                isIncomplete: description.isIncomplete, jpegDecoding: description.jpegDecoding,
                hasColorDetail: description.hasColorDetail)
        }
    }
}

extension DecodedDescription {
    package func pixelByteCount(of header: ImageHeader, by plan: DecodePlan) throws(ImagingError) -> Int {
        var still = self
        still.delays = []
        still.profile = nil
        let frames = plan.frames(of: header)
        let count = planes.isEmpty ? still.pixelCount(frames: frames, delays: 0) : still.checkedPlanes?.byteCount
        guard hasSize(of: header, by: plan), let count else {
            throw .cannotDecode(detail: "the decoder says \(size), the header says \(header.size)")
        }
        return count
    }

    /// Returns whether the size is the header's divided by the plan's level, rounded up or down.
    fileprivate func hasSize(of header: ImageHeader, by plan: DecodePlan) -> Bool {
        let level = plan.level
        let whole = header.decoded(by: plan).size
        func isReduced(_ side: Int, of whole: Int) -> Bool {
            max(1, whole / level)...(whole + level - 1) / level ~= side
        }
        return isReduced(size.width, of: whole.width) && isReduced(size.height, of: whole.height)
    }

    /// Returns the number of pixels; nil if the description is contradictory.
    fileprivate func pixelCount(frames: Int, delays delayCount: Int? = nil) -> Int? {
        guard 1...4 ~= bands, profile.map({ bands >= 3 && $0.describes(bands: 3) }) ?? true,
            delays.count == delayCount ?? (frames > 1 ? frames : 0), loop >= 0, delays.allSatisfy({ $0 >= 0 })
        else { return nil }
        return size.area.saturatingProduct(bands * frames)
    }

    fileprivate var checkedPlanes: [Plane]? {
        guard [1, 3].contains(planes.count), bands == planes.count, planes[0].size == size, delays.isEmpty, loop == 0,
            planes.allSatisfy({ $0.isSound(within: size) }), profile.map({ $0.describes(bands: bands) }) ?? true
        else { return nil }
        return .stacked(planes.map { ($0.size, $0.region) })
    }
}

extension DecodedDescription.PlaneShape {
    /// Returns whether the plane is at most as large as luma, and the image fills most of it.
    ///
    /// Subsampled chroma of a region that begins within a sample has one more sample.
    fileprivate func isSound(within luma: PixelSize) -> Bool {
        func isFilled(_ start: Double, _ length: Double, of count: Int) -> Bool {
            // All comparisons are false for NaN. The edges of a turned plane are rounded.
            start >= 0 && length >= Double(count) / 2 && start + length <= Double(count) + 1e-9
        }
        return 1...luma.width + 1 ~= size.width && 1...luma.height + 1 ~= size.height
            && isFilled(region.left, region.width, of: size.width)
            && isFilled(region.top, region.height, of: size.height)
    }
}

extension ImageHeader {
    package func maximumPixelBytes(of plan: DecodePlan) -> Int {
        func reduced(_ side: Int) -> Int { (min(side, 1 << 32) + plan.level - 1) / plan.level }
        let size = decoded(by: plan).size
        let width = reduced(size.width)
        let height = reduced(size.height)
        let row = max(4 * width, 3 * ((width + Plane.alignment - 1) / Plane.alignment * Plane.alignment))
        let pixelBytes = row.saturatingProduct(height).saturatingProduct(plan.frames(of: self))
        // 2⁴⁶: more memory than any machine has.
        return plan.coarserLevels.reduce(min(pixelBytes, 1 << 46)) { $0 + maximumPixelBytes(of: plan.with(level: $1)) }
    }
}
