extension ImageHeader {
    /// Returns the peak memory of a decode in bytes, including the decoded pixels.
    ///
    /// The factors are measured (`make bench-costs`). Saturates, because a header may claim any size.
    ///
    /// - Parameter fileByteCount: The size of the file, which is copied for repairs.
    package func cost(of plan: DecodePlan, fileByteCount: Int = 0) -> Int {
        let header = decoded(by: plan)
        // A preview is copied from the file.
        let fileByteCount = preview.map { 2 * $0.range.count } ?? fileByteCount
        let storedSize = header.storedSize
        let bands = header.bands
        let isWhole = plan.level == 1
        let area = Cost(header.work.area)
        let frameCount = Cost(plan.frames(of: self))
        let reduced = plan.coarserLevels.reduce(Cost(storedSize.reduced(by: plan.level).area)) {
            $0 + Cost(storedSize.reduced(by: $1).area)
        }
        // CMYK is converted to sRGB. The planes of a JPEG image are at most as large as its components.
        let result = reduced * Cost(bands) * frameCount
        // Rows that libvips buffers while it reads the file, at the loader's width.
        let rowWidth = Cost(storedSize.reduced(by: format.reading.reduction == .transform ? plan.level : 1).width)
        let rows =
            Cost(min(storedSize.height, Self.keptRows)) * rowWidth * Cost(bands * max(1, (header.bitDepth + 7) / 8))
        let memory = format.reading.memory
        let working = area * Cost(memory.workingBytes(header, isWhole)) * (memory.isForEachFrame ? frameCount : Cost(1))
        // Frames that a decoder keeps because later ones may refer to them.
        let hiddenPixels = Cost(header.work.hiddenArea) + area * Cost(format.hasMovingFrames ? plan.page : 0)
        let hiddenFrames = hiddenPixels.limited(to: area * Cost(Self.keptFrames)) * Cost(memory.frameBytes(header))
        // Turned planes need new memory. With full-size chroma they are as large as pixels.
        let isTurned = header.orientation != .none && format.reading.mayHavePlanes(header)
        let turnedPlanes = isTurned ? result : Cost(0)
        // 16-bit pixels, and the 8-bit pixels to which they are converted.
        let hdrPixels = header.colors.encoding?.isHDR == true ? area * Cost(3 * bands) : Cost(0)
        let colorTables = Cost(header.isCMYK ? Self.cmykTables : 0)
        // The gain map is copied from the file and decoded after the image.
        let gainMap = plan.gainMap(of: self).map { Cost($0.map.header.cost(of: $0.plan, fileByteCount: fileByteCount)) }
        return
            (result + turnedPlanes + hdrPixels + rows + working + hiddenFrames + colorTables + Cost(fileByteCount)
            + (gainMap ?? Cost(0))).bytes
    }

    private static let keptRows = 900
    /// Reference frames of AV1, and of HEVC up to level 5.
    private static let keptFrames = 8
    private static let cmykTables = 4 << 20
}

extension RenderPlan {
    private static let qualitySearch = 12
    /// Bytes per pixel of a `data:` URL for a file with up to four bytes per pixel.
    private static let dataURL = 6
    /// Bytes per pixel to count the colors outside sRGB.
    private static let colorCount = 4

    package var cost: Int {
        // Formats without an encoder are rejected elsewhere.
        guard let memory = format.writing?.memory else { return 0 }
        // A quality search keeps both the image and the decoded result in memory.
        let perPixel =
            memory.pixel + (chromaStep == 1 ? memory.fullChroma : 0) + (quality.isSearched ? Self.qualitySearch : 0)
            + (steps.shape(after: source).hasAlpha ? memory.alpha : 0) + (isDataURL ? Self.dataURL : 0)
            + (gamut == .auto ? Self.colorCount : 0) + (isLossless ? memory.lossless.pixel : 0)
        let largest = steps.work(on: source).map(\.output.size.area).max() ?? source.size.area
        // Animations are composed and encoded frame by frame, but some encoders need all frames at once.
        let animation =
            frames > 1
            ? Cost(frames) * Cost(outputSize.area * memory.animation.frame)
                + Cost(largest * memory.animation.pixel + memory.animation.once)
            : Cost(0)
        let trim = border?.bytes(for: source.size) ?? 0
        let paletteChoice = choosesPalette ? memory.palette : 0
        // The gain map is rendered after the image and has at most as many pixels. After a trim, the result may be
        // small enough for full chroma.
        let gainMap = decode.keepsGainMap ? (memory.pixel + memory.fullChroma) * outputSize.area : 0
        let lossless = isLossless ? memory.lossless.once : 0
        return lossless + gainMap + animation.bytes + trim + paletteChoice + memory.minimum + largest * perPixel
            + steps.costs(on: source).reduce(0) { $0 + $1.bytes }
    }
}

private struct Cost: Equatable {
    let bytes: Int

    init(_ bytes: Int) { self.bytes = bytes }

    func limited(to other: Cost) -> Cost { Cost(min(bytes, other.bytes)) }

    static func * (one: Cost, other: Cost) -> Cost { Cost(one.bytes.saturatingProduct(other.bytes)) }

    static func + (one: Cost, other: Cost) -> Cost { Cost(one.bytes.saturatingSum(other.bytes)) }
}
