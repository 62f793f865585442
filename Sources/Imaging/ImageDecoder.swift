package import Coordination
package import Memory
package import Recipes

package enum ImageDecoder {
    /// - Parameters:
    ///   - lane: The lane for files that both support; set only in measurements and comparisons.
    ///   - jpeg: The JPEG decoder; set only in measurements and comparisons.
    /// - Throws: ``ImagingError`` for faults of the image.
    package static func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken,
        lane: Lane = .usual, jpeg: JPEGDecoder? = nil, room: PlaneMemory.Allocator = { try PlaneMemory(count: $0) }
    ) throws -> DecodedImage {
        try token.check()
        try plan.check(header, limits: limits)
        if header.preview != nil {
            let (file, header) = try header.decodedFile(in: bytes)
            return try decode(
                file, header: header, plan: plan, limits: .none, token: token, lane: lane, jpeg: jpeg, room: room)
        }
        let header = header.decoded(by: plan)
        defer { extendLifetime(token) }
        VipsError.forget()
        do {
            let decoding = header.format.decoding
            let trimmed = try decoding.trim(bytes, header, plan)
            var file =
                try decoding.damage.repair?(trimmed, header, plan) ?? RepairedFile(bytes: trimmed, isIncomplete: false)
            if lane == .planar, let planes = decoding.planes, PlanarLane.mayDecode(header, plan: plan) {
                switch try planes(file.bytes, header, plan, token, room, jpeg) {
                case .decoded(let image): return image
                case .unsupported(let lacksPixels): file.isIncomplete = file.isIncomplete || lacksPixels
                }
            } else if let lacksPixels = decoding.damage.lacksPixels {
                file.isIncomplete = try lacksPixels(file.bytes, header, token)
            }
            try plan.admit(isIncomplete: file.isIncomplete)
            if lane == .planar, let loaded = try decoding.quickLoader?(file.bytes, header, plan, token, room) {
                return try finished(loaded, header: header, plan: plan, token: token, room: room)
            }
            if let load = decoding.pixelLoader(for: plan, header) {
                return try finished(
                    load(file.bytes, header, plan, token), header: header, plan: plan, token: token, room: room)
            }
            return try decodeByVips(file, header: header, plan: plan, token: token, room: room)
        } catch let error as VipsError {
            try token.check()
            throw ImagingError.cannotDecode(detail: error.text)
        }
    }

    private static func decodeByVips(
        _ file: RepairedFile, header: ImageHeader, plan: DecodePlan, token: WorkToken, room: PlaneMemory.Allocator
    ) throws -> DecodedImage {
        let damage = header.format.decoding.damage
        let whole = RepairedFile(
            bytes: try damage.withoutSurplus?(file.bytes, token) ?? file.bytes, isIncomplete: file.isIncomplete)
        do {
            return try decode(whole, header: header, plan: plan, token: token, room: room)
        } catch let error as VipsError {
            try token.check()
            guard let repaired = try damage.repairAfterFailure?(file.bytes, header, plan, token) else { throw error }
            let image = try decode(repaired, header: header, plan: plan, token: token, room: room)
            return image.isIncomplete ? image : image.with { $0.isRepaired = true }
        }
    }

    /// Whether a library now fails on valid images, so that the worker process must be replaced.
    package static var isUnreliable: Bool { ImageFormat.allCases.contains { $0.decoding.isUnreliable() } }

    /// The two implementations of image work.
    package enum Lane: String, Sendable, CaseIterable {
        case planar, vips

        #if VIPS_LANE
        package static let usual = Lane.vips
        #else
        package static let usual = Lane.planar
        #endif
    }

    private static func decode(
        _ file: RepairedFile, header: ImageHeader, plan: DecodePlan, token: WorkToken, room: PlaneMemory.Allocator
    ) throws -> DecodedImage {
        let frames = plan.frames(of: header)
        let level = header.loadedLevel(for: plan.level)
        return try unsafe file.bytes.withUnsafeBytes { bytes throws in
            let loaded = try unsafe VipsImage.file(
                bytes, format: header.format,
                options: VipsLoadOptions(
                    level: level, page: try header.format.decoding.storedPage(bytes.bytes, plan.page), pages: frames)
            ).convertedFromLab()
            let size = header.loadedSize(level: level)
            guard loaded.width == size.width, loaded.height == size.height * frames else {
                throw ImagingError.cannotDecode(
                    detail: "the header says \(size) × \(frames), libvips says \(loaded.width)×\(loaded.height)")
            }
            return try reduced(
                loaded, by: plan.level / level, frames: frames, header: header,
                timing: frames > 1
                    ? (loaded.delays(plan.page..<plan.page + frames), loaded.integer("loop") ?? 0) : ([], 0),
                gamut: plan.gamut, token: token, room: room, isIncomplete: file.isIncomplete)
        }
    }

    private static func finished(
        _ loaded: DecodedPixels, header: ImageHeader, plan: DecodePlan, token: WorkToken, room: PlaneMemory.Allocator
    ) throws -> DecodedImage {
        guard loaded.size == header.storedSize.reduced(by: loaded.level) else {
            throw ImagingError.cannotDecode(detail: "the header says \(header.storedSize), the file has \(loaded.size)")
        }
        try plan.admit(isIncomplete: loaded.isIncomplete)
        if loaded.isFinished { return DecodedImage(pixels: loaded.pixels, size: loaded.size, bands: loaded.bands) }
        let frames = max(1, loaded.delays.count)
        return try unsafe loaded.pixels.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.pixels(
                bytes, width: loaded.size.width, height: loaded.size.height * frames, bands: loaded.bands,
                isWide: loaded.isWide)
            let profiled = try loaded.profile.map { profile throws(VipsError) in try image.profiled(profile) } ?? image
            return try reduced(
                profiled, by: plan.level / loaded.level, frames: frames, header: header,
                timing: (loaded.delays, loaded.loop), gamut: plan.gamut, token: token, room: room,
                isIncomplete: loaded.isIncomplete)
        }
    }

    /// The maximum delay in milliseconds, GIF's limit.
    ///
    /// PNG and AVIF allow longer delays than WebP can store.
    private static let longestDelay = 655_350

    private static func reduced(
        _ loaded: VipsImage, by reduction: Int, frames: Int, header: ImageHeader, timing: (delays: [Int], loop: Int),
        gamut: DecodedGamut, token: WorkToken, room: PlaneMemory.Allocator, isIncomplete: Bool = false
    ) throws -> DecodedImage {
        let orientation = header.orientation
        // Colors declared in the header take precedence over a profile.
        let encoding = header.colors.encoding
        let isBright = encoding?.isBright == true
        let declared = encoding?.profile(ofBands: loaded.bands)
        let profiled = try declared.map { profile throws(VipsError) in try loaded.profiled(profile.file) } ?? loaded
        // Tone mapping comes before averaging: otherwise a sample of the sun would dominate the mean.
        let isWide = gamut == .wide
        let toned = try isBright ? encoding.map { try loaded.toneMapped($0, isWide: isWide, token: token) } : nil
        var strip = try FrameStrip(image: toned ?? profiled.inEightBits(), frames: frames)
        if reduction > 1 {
            strip = try strip.map { frame throws(VipsError) in
                try frame.boxAveraged(by: reduction, token: token)
            }
        }
        var profile = isBright && isWide ? ColorProfile.displayP3 : nil
        if !isBright {
            (strip.image, profile) = try strip.image.convertedIfNeeded(
                profileOf: profiled, isWide: isWide, token: token)
        }
        if orientation.quarters != 0 {
            strip.image.watch(token)
            strip.image = try strip.image.computed()
            try token.check()
        }
        if orientation != .none {
            strip = try strip.map { frame throws(VipsError) in try frame.turned(orientation) }
        }

        let image = strip.image
        guard image.hasEightBits, 1...4 ~= image.bands else {
            throw ImagingError.cannotDecode(
                detail: "\(image.bands) bands\(image.hasEightBits ? "" : ", not of 8 bits")")
        }
        let pixels = try image.pixels(in: room, token: token)
        return DecodedImage(
            pixels: pixels, size: PixelSize(width: image.width, height: image.height / frames), bands: image.bands,
            frames: frames, delays: timing.delays.map { min($0, longestDelay) }, loop: timing.loop,
            isIncomplete: isIncomplete, profile: profile)
    }
}

extension ImageDecoder {
    /// Converts an image embedded in SVG to PNG in sRGB, and returns its pixel count.
    ///
    /// Nil for SVG, an unreadable header, or more pixels than `maximum`. The file is nil if decoding failed.
    static func embeddedPNG(
        of file: SharedBytes, maximum: Int, token: WorkToken
    ) throws -> (file: SharedBytes?, pixels: Int)? {
        guard let header = try? ImageHeader.inspect(file), header.drawing == nil, header.work.area <= maximum else {
            return nil
        }
        do {
            let image = try ImageDecoder.decode(
                file, header: header, plan: DecodePlan(), limits: .none, token: token
            ).interleaved(token: token).convertedToSRGB(token: token)
            let settings = EncoderSettings(quality: 100, effort: 1)
            return (try ImageEncoder.encode(image, as: .png, settings: settings), header.work.area)
        } catch ImagingError.cannotDecode {
            return (nil, header.work.area)
        }
    }
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
    fileprivate func delays(_ frames: Range<Int>) -> [Int] {
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
            let part = try image.extracted(left: 0, top: frame * height, width: image.width, height: height)
            results.append(try body(part))
        }
        return FrameStrip(image: try VipsImage.stacked(results), frames: frames)
    }
}
