extension ImageHeader {
    /// Bytes of memory that a decode by `plan` takes at its peak, with the decoded pixels; known before it starts.
    ///
    /// The factors were measured (`make bench-prices`). Saturates instead of overflowing: the header may claim any
    /// size.
    ///
    /// - Parameters:
    ///   - plan: The decode.
    ///   - fileByteCount: Bytes of the file, which is copied if parts of it are removed or repaired before the decode.
    package func price(of plan: DecodePlan, fileByteCount: Int = 0) -> Int {
        let header = decoded(by: plan)
        let storedSize = header.storedSize
        let bands = header.bands
        let isWhole = plan.level == 1
        let area = Price(header.decodedArea)
        let frameCount = Price(plan.frames(of: self))
        let reduced = Price.quotient(storedSize.width, plan.level) * Price.quotient(storedSize.height, plan.level)
        // CMYK becomes sRGB; the planes of a JPEG image are never larger than its components.
        let result = reduced * Price(bands) * frameCount
        // Rows that libvips keeps while it reads the file, as wide as its loader makes them.
        let rowWidth = Price.quotient(storedSize.width, format.reading.reduction == .transform ? plan.level : 1)
        let rows =
            Price(min(storedSize.height, Self.keptRows)) * rowWidth * Price(bands * max(1, (header.bitDepth + 7) / 8))
        let memory = format.reading.memory
        let working =
            area * Price(memory.workingBytes(header, isWhole)) * (memory.isForEachFrame ? frameCount : Price(1))
        // Other frames that a decoder keeps, because later ones may refer to them.
        let hidden = Price(header.hiddenArea) + area * Price(format.hasMovingFrames ? plan.page : 0)
        let kept = hidden.limited(to: area * Price(Self.keptFrames)) * Price(memory.frameBytes(header))
        // Planes are turned into other memory. With chroma of luma's size they are as large as pixels.
        let isTurned = header.orientation != .none && format.reading.planes?.mayHold(header) == true
        let turning = isTurned ? result : Price(0)
        // Pixels of 16 bits, and those of 8 bits that are made of them.
        let toning = header.colors.encoding?.isBright == true ? area * Price(3 * bands) : Price(0)
        let tables = Price(header.isCMYK ? Self.cmykTables : 0)
        // The image is decoded before the map, which is copied out of the file.
        let map = plan.gainMap(of: self).map { Price($0.map.header.price(of: $0.plan, fileByteCount: fileByteCount)) }
        return (result + turning + toning + rows + working + kept + tables + Price(fileByteCount) + (map ?? Price(0)))
            .bytes
    }

    /// Most bytes of the pixels of a decode by `plan`, in any layout and number of bands; known before it starts.
    package func mostPixelBytes(of plan: DecodePlan) -> Int {
        func reduced(_ side: Int) -> Int { (min(side, 1 << 32) + plan.level - 1) / plan.level }
        let size = decoded(by: plan).size
        let (width, height) = (reduced(size.width), reduced(size.height))
        let row = max(4 * width, 3 * ((width + Plane.alignment - 1) / Plane.alignment * Plane.alignment))
        let (frame, isLong) = row.multipliedReportingOverflow(by: height)
        let (all, isLonger) = frame.multipliedReportingOverflow(by: plan.frames(of: self))
        // More than any machine has.
        return isLong || isLonger ? 1 << 46 : min(all, 1 << 46)
    }

    private static let keptRows = 900
    /// AV1 and HEVC (up to level 5) have so many references.
    private static let keptFrames = 8
    /// Bytes that the color engine takes to convert CMYK.
    private static let cmykTables = 4 << 20
}

extension RenderPlan {
    private static let searching = 12
    /// The text of a file of at most four bytes a pixel.
    private static let dataURL = 6
    /// Pixels that are counted before they are encoded.
    private static let counting = 4

    /// Bytes of memory that the render and its encoder take at their peak: with the result, without the decoded pixels.
    package var price: Int {
        // A format that is not written is refused, which takes no memory.
        guard let memory = format.writing?.memory else { return 0 }
        // While a quality is looked for, the unencoded and the decoded image are in memory.
        let perPixel =
            memory.pixel + (chromaStep == 1 ? memory.fullChroma : 0) + (quality.isSearched ? Self.searching : 0)
            + (steps.shape(after: source).hasAlpha ? memory.alpha : 0) + (isDataURL ? Self.dataURL : 0)
            + (gamut == .auto ? Self.counting : 0)
        let largest = steps.work(on: source).map(\.output.size.area).max() ?? source.size.area
        // An animation is composed and encoded frame by frame; some encoders get all frames at once.
        let framing =
            frames > 1
            ? Price(frames) * Price(outputSize.area * memory.animation.frame)
                + Price(largest * memory.animation.pixel + memory.animation.once)
            : Price(0)
        let trimming = border?.bytes(for: source.size) ?? 0
        let choosing = choosesPalette ? memory.palette : 0
        // The map is rendered after the image, and has no more pixels; a trim may make a result so small that it has
        // full chroma.
        let mapping = decode.keepsGainMap ? (memory.pixel + memory.fullChroma) * outputSize.area : 0
        return mapping + framing.bytes + trimming + choosing + memory.least + largest * perPixel
            + steps.costs(on: source).reduce(0) { $0 + $1.bytes }
    }
}

/// An amount that saturates.
private struct Price: Equatable {
    let bytes: Int

    init(_ bytes: Int) { self.bytes = bytes }

    /// One side divided by a level, rounded up.
    static func quotient(_ side: Int, _ level: Int) -> Price { Price(side / level + (side % level > 0 ? 1 : 0)) }

    func limited(to other: Price) -> Price { Price(min(bytes, other.bytes)) }

    static func * (one: Price, other: Price) -> Price {
        let (product, overflow) = one.bytes.multipliedReportingOverflow(by: other.bytes)
        return Price(overflow ? .max : product)
    }

    static func + (one: Price, other: Price) -> Price {
        let (sum, overflow) = one.bytes.addingReportingOverflow(other.bytes)
        return Price(overflow ? .max : sum)
    }
}
