package import Coordination
package import Memory
package import Recipes

package enum ImageDecoder {
    /// The two implementations of image work.
    package enum Lane: String, Sendable, CaseIterable {
        case planar, vips
        #if VIPS_LANE
        package static let preferred = Lane.vips
        #else
        package static let preferred = Lane.planar
        #endif
    }

    /// Whether a library now fails on valid images, so that the worker process must be replaced.
    package static var isUnreliable: Bool { ImageFormat.allCases.contains { $0.decoding.isUnreliable() } }

    /// - Parameters:
    ///   - lane: The lane for files that both support; set only in measurements and comparisons.
    ///   - jpeg: The JPEG decoder; set only in measurements and comparisons.
    /// - Throws: ``ImagingError`` for faults of the image.
    package static func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken,
        lane: Lane = .preferred, jpeg: JPEGDecoder? = nil,
        allocate: PlaneMemory.Allocator = { try PlaneMemory(count: $0) }
    ) throws -> DecodedImage {
        try token.check()
        try plan.check(header, limits: limits)
        if header.preview != nil {
            let (file, header) = try header.decodedFile(in: bytes)
            return try decode(
                file, header: header, plan: plan, limits: .none, token: token, lane: lane, jpeg: jpeg,
                allocate: allocate)
        }
        let decode = ImageDecode(header: header.decoded(by: plan), plan: plan, token: token)
        defer { extendLifetime(token) }
        VipsError.forget()
        do {
            return try decode.run(on: bytes, lane: lane, jpeg: jpeg, allocate: allocate)
        } catch let error as VipsError {
            try token.check()
            throw ImagingError.cannotDecode(detail: error.text)
        }
    }
}

/// The decode of one image.
private struct ImageDecode {
    let header: ImageHeader
    let plan: DecodePlan
    let token: WorkToken

    /// The maximum delay in milliseconds, GIF's limit.
    ///
    /// PNG and AVIF allow longer delays than WebP can store.
    private static let longestDelay = 655_350

    /// Decodes to planes, by our own decoder of the format, or by libvips.
    func run(
        on bytes: SharedBytes, lane: ImageDecoder.Lane, jpeg: JPEGDecoder?, allocate: PlaneMemory.Allocator
    ) throws -> DecodedImage {
        let decoding = header.format.decoding
        let trimmed = try decoding.trim(bytes, header, plan)
        var file =
            try decoding.damage.repair?(trimmed, header, plan) ?? RepairedFile(bytes: trimmed, isIncomplete: false)
        if lane == .planar, let decodePlanes = decoding.planes, PlanarLane.mayDecode(header, plan: plan) {
            switch try decodePlanes(file.bytes, header, plan, token, allocate, jpeg) {
            case .decoded(let image): return image
            case .unsupported(let lacksPixels): file.isIncomplete = file.isIncomplete || lacksPixels
            }
        } else if let lacksPixels = decoding.damage.lacksPixels {
            file.isIncomplete = try lacksPixels(file.bytes, header, token)
        }
        try plan.checkCompleteness(isIncomplete: file.isIncomplete)
        if lane == .planar, let pixels = try decoding.quickLoader?(file.bytes, header, plan, token, allocate) {
            return try convert(pixels, allocate: allocate)
        }
        if let load = decoding.pixelLoader(for: plan, header: header) {
            return try convert(load(file.bytes, header, plan, token), allocate: allocate)
        }
        return try decodeByVips(file, allocate: allocate)
    }

    /// Decodes by libvips; if that fails, repairs the file and tries again.
    private func decodeByVips(_ file: RepairedFile, allocate: PlaneMemory.Allocator) throws -> DecodedImage {
        let damage = header.format.decoding.damage
        let bytes = try damage.withoutTrailingData?(file.bytes, token) ?? file.bytes
        do {
            return try loadByVips(RepairedFile(bytes: bytes, isIncomplete: file.isIncomplete), allocate: allocate)
        } catch let error as VipsError {
            try token.check()
            guard let repaired = try damage.repairAfterFailure?(file.bytes, header, plan, token) else { throw error }
            let image = try loadByVips(repaired, allocate: allocate)
            return image.isIncomplete ? image : image.with { $0.isRepaired = true }
        }
    }

    private func loadByVips(_ file: RepairedFile, allocate: PlaneMemory.Allocator) throws -> DecodedImage {
        let frames = plan.frames(of: header)
        let level = header.loadedLevel(for: plan.level)
        return try unsafe file.bytes.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.loading(
                bytes, format: header.format,
                options: VipsLoadOptions(
                    level: level, page: try header.format.decoding.storedPage(bytes.bytes, plan.page), pages: frames)
            ).convertedFromLab()
            let size = header.loadedSize(level: level)
            guard image.width == size.width, image.height == size.height * frames else {
                throw ImagingError.cannotDecode(
                    detail: "the header says \(size) × \(frames), libvips says \(image.width)×\(image.height)")
            }
            var loaded = LoadedImage(image: image, level: level, frames: frames, isIncomplete: file.isIncomplete)
            if frames > 1 {
                loaded.delays = image.delays(ofFrames: plan.page..<plan.page + frames)
                loaded.loop = image.integer("loop") ?? 0
            }
            return try finish(loaded, allocate: allocate)
        }
    }

    private func convert(_ pixels: DecodedPixels, allocate: PlaneMemory.Allocator) throws -> DecodedImage {
        guard pixels.size == header.storedSize.reduced(by: pixels.level) else {
            throw ImagingError.cannotDecode(detail: "the header says \(header.storedSize), the file has \(pixels.size)")
        }
        try plan.checkCompleteness(isIncomplete: pixels.isIncomplete)
        if pixels.isFinished { return DecodedImage(pixels: pixels.pixels, size: pixels.size, bands: pixels.bands) }
        let frames = max(1, pixels.delays.count)
        return try unsafe pixels.pixels.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.wrapping(
                bytes, width: pixels.size.width, height: pixels.size.height * frames, bands: pixels.bands,
                has16Bits: pixels.has16Bits)
            let profiled = try pixels.profile.map { profile throws(VipsError) in try image.profiled(profile) } ?? image
            let loaded = LoadedImage(
                image: profiled, level: pixels.level, frames: frames, delays: pixels.delays, loop: pixels.loop,
                isIncomplete: pixels.isIncomplete)
            return try finish(loaded, allocate: allocate)
        }
    }

    /// Reduces to the plan's level, converts the colors, and turns upright.
    private func finish(_ loaded: LoadedImage, allocate: PlaneMemory.Allocator) throws -> DecodedImage {
        var (strip, profile) = try reduceAndConvertColors(loaded)
        let orientation = header.orientation
        if orientation.quarters != 0 {
            strip.image.watch(token)
            strip.image = try strip.image.computed()
            try token.check()
        }
        if orientation != .none {
            strip = try strip.map { frame throws(VipsError) in try frame.turnedByVips(orientation) }
        }
        let image = strip.image
        guard image.has8Bits, 1...4 ~= image.bands else {
            throw ImagingError.cannotDecode(detail: "\(image.bands) bands\(image.has8Bits ? "" : ", not of 8 bits")")
        }
        return DecodedImage(
            pixels: try image.pixels(allocate: allocate, token: token),
            size: PixelSize(width: image.width, height: image.height / loaded.frames), bands: image.bands,
            frames: loaded.frames, delays: loaded.delays.map { min($0, Self.longestDelay) }, loop: loaded.loop,
            isIncomplete: loaded.isIncomplete, profile: profile)
    }

    private func reduceAndConvertColors(_ loaded: LoadedImage) throws -> (FrameStrip, ColorProfile?) {
        let encoding = header.colors.encoding
        let isHDR = encoding?.isHDR == true
        let toDisplayP3 = plan.gamut == .displayP3
        // Colors declared in the header take precedence over a profile.
        let declared = encoding?.profile(ofBands: loaded.image.bands)
        let profiled =
            try declared.map { profile throws(VipsError) in try loaded.image.profiled(profile.file) } ?? loaded.image
        // Tone mapping comes before averaging: otherwise a sample of the sun would dominate the mean.
        let toned =
            try isHDR ? encoding.map { try loaded.image.toneMapped($0, toDisplayP3: toDisplayP3, token: token) } : nil
        var strip = try FrameStrip(image: toned ?? profiled.in8Bits(), frames: loaded.frames)
        let reduction = plan.level / loaded.level
        if reduction > 1 {
            strip = try strip.map { frame throws(VipsError) in
                try frame.boxAveraged(by: reduction, token: token)
            }
        }
        guard !isHDR else { return (strip, toDisplayP3 ? .displayP3 : nil) }
        let (converted, profile) = try strip.image.convertedIfNeeded(
            profileOf: profiled, toDisplayP3: toDisplayP3, token: token)
        strip.image = converted
        return (strip, profile)
    }
}

/// An image as it was loaded, with its frames stacked.
private struct LoadedImage {
    let image: VipsImage
    let level: Int
    let frames: Int
    var delays: [Int] = []
    var loop = 0
    let isIncomplete: Bool
}

extension ImageHeader {
    fileprivate func loadedLevel(for level: Int) -> Int {
        switch format.reading.reduction {
        case .transform: break
        case .scaler where frames == 1: break
        case .none, .scaler: return 1
        }
        // A side shorter than the level would become 0.
        return min(storedSize.width, storedSize.height) < level ? 1 : level
    }

    fileprivate func loadedSize(level: Int) -> PixelSize {
        let isRounded = format.reading.reduction == .scaler
        func reduced(_ side: Int) -> Int {
            isRounded ? Int((Double(side) / Double(level)).rounded(.toNearestOrEven)) : side / level
        }
        return PixelSize(width: reduced(storedSize.width), height: reduced(storedSize.height))
    }
}

extension VipsImage {
    fileprivate func delays(ofFrames frames: Range<Int>) -> [Int] {
        let delays = integers("delay")
        return frames.map { $0 < delays.count ? delays[$0] : 100 }
    }
}

/// Frames stacked in one tall image, as libvips loads and saves animations.
private struct FrameStrip {
    var image: VipsImage
    let frames: Int

    /// Transforms each frame separately; frames are read in order, so that the file can be read sequentially.
    func map(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> FrameStrip {
        if frames == 1 { return FrameStrip(image: try body(image), frames: 1) }
        let height = image.height / frames
        var results: [VipsImage] = []
        for frame in 0..<frames {
            let extracted = try image.extracted(left: 0, top: frame * height, width: image.width, height: height)
            results.append(try body(extracted))
        }
        return FrameStrip(image: try VipsImage.stacked(results), frames: frames)
    }
}
