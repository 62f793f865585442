package import Coordination
package import Memory

/// Turns the bytes of an image file into pixels; runs on a worker thread, for as long as it takes.
package enum ImageDecoder {
    /// Decodes what `plan` says of a file whose head is known.
    ///
    /// - Parameters:
    ///   - lane: Which lane decodes what both could; only measurements and comparisons choose.
    ///   - room: Makes the room for the pixels.
    /// - Throws: ``ImagingError`` for the picture's faults, `CancellationError` or `DeadlineExceeded` when `token` says stop.
    package static func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken,
        lane: Lane = .usual, room: PlaneMemory.Maker = { PlaneMemory(count: $0) }
    ) throws -> DecodedImage {
        try token.check()
        try check(header, plan: plan, limits: limits)
        defer { extendLifetime(token) }
        do {
            let file = try trimmed(bytes, header, plan)
            if lane == .planar, PlanarLane.mayDecode(header, plan: plan),
                let image = try planes(of: file, header: header, plan: plan, token: token, room: room)
            {
                return image
            }
            if header.format == .avif || header.format == .heic {
                return try pixels(ofItem: file, header: header, plan: plan, token: token, room: room)
            }
            return try unsafe file.withUnsafeBytes { file throws in
                try unsafe pixels(of: file, header: header, plan: plan, token: token, room: room)
            }
        } catch let error as VipsError {
            try token.check()
            throw ImagingError.cannotDecode(detail: error.text)
        }
    }

    /// Who works on what both libvips and ``PlanarLane`` could do.
    package enum Lane: String, Sendable, CaseIterable {
        case planar, vips

        #if VIPS_LANE
        /// That of the service; here of one that the benchmark measures the real one beside.
        package static let usual = Lane.vips
        #else
        /// That of the service.
        package static let usual = Lane.planar
        #endif
    }

    /// The file without what only costs its decoder time and memory.
    private static func trimmed(
        _ bytes: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan
    ) throws(ImagingError) -> SharedBytes {
        switch header.format {
        case .jpeg: JPEGTrimming.trim(bytes, header: header)
        case .png: PNGTrimming.trim(bytes)
        case .webp: try WebPTrimming.trim(bytes, frames: plan.isAnimated ? header.frames : plan.page + 1)
        case .gif, .avif, .heic: bytes
        }
    }

    /// The planes that a file holds; nil where libvips is to decode it.
    private static func planes(
        of file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken, room: PlaneMemory.Maker
    ) throws -> DecodedImage? {
        header.format == .webp
            ? try WebPPlanes.decode(file, header: header, plan: plan, token: token, room: room)
            : try JPEGPlanes.decode(file, header: header, plan: plan, token: token, room: room)
    }

    /// Refuses what the head says is not to be decoded at all.
    package static func check(_ header: ImageHeader, plan: DecodePlan, limits: ImagingLimits) throws(ImagingError) {
        guard limits.sourceFormats.contains(header.format) else { throw .formatNotAccepted(header.format) }
        let frames = plan.isAnimated ? header.frames : 1
        guard frames <= limits.maximumFrames else { throw .tooManyFrames(frames) }
        guard plan.page < header.frames else { throw .noSuchPage(plan.page, pages: header.frames) }
        guard header.decodedArea <= limits.maximumSourcePixels / frames else {
            throw .tooManyPixels(header.storedSize, frames: frames)
        }
    }

    /// The pixels of what libvips opens.
    @unsafe
    private static func pixels(
        of file: UnsafeRawBufferPointer, header: ImageHeader, plan: DecodePlan, token: WorkToken,
        room: PlaneMemory.Maker
    ) throws -> DecodedImage {
        let frames = plan.isAnimated ? header.frames : 1
        let loadedLevel = header.loadedLevel(for: plan.level)
        let loaded = try unsafe VipsImage.file(
            file, format: header.format,
            options: VipsLoadOptions(level: loadedLevel, page: plan.page, pages: frames))
        let loadedSize = header.loadedSize(level: loadedLevel)
        guard loaded.width == loadedSize.width, loaded.height == loadedSize.height * frames else {
            throw ImagingError.cannotDecode(
                detail: "head says \(loadedSize) × \(frames), loader \(loaded.width)×\(loaded.height)")
        }
        return try reduced(
            loaded, by: plan.level / loadedLevel, frames: frames, orientation: header.orientation, token: token,
            room: room)
    }

    /// The pixels of an AVIF or HEIC file, which libheif makes upright.
    private static func pixels(
        ofItem file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken, room: PlaneMemory.Maker
    ) throws -> DecodedImage {
        let item = try HEIFPixels(file, header: header, token: token)
        return try unsafe item.pixels.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.pixels(
                bytes, width: header.size.width, height: header.size.height, bands: item.bands)
            let loaded = try item.profile.map { profile throws(VipsError) in try image.profiled(profile) } ?? image
            return try reduced(loaded, by: plan.level, frames: 1, orientation: 1, token: token, room: room)
        }
    }

    /// Reduces what was loaded, then converts and turns the little that is left.
    private static func reduced(
        _ loaded: VipsImage, by reduction: Int, frames: Int, orientation: Int, token: WorkToken,
        room: PlaneMemory.Maker
    ) throws -> DecodedImage {
        var strip = try FrameStrip(image: loaded.inEightBits(), frames: frames)
        if reduction > 1 {
            strip = try strip.map { frame throws(VipsError) in
                try frame.boxAveraged(by: reduction, token: token)
            }
        }
        strip.image = try strip.image.inStandardColor(profileOf: loaded)
        if VipsImage.needsRandomAccess(forOrientation: orientation) {
            strip.image.watch(token)
            strip.image = try strip.image.computed()
            try token.check()
        }
        strip = try strip.map { frame throws(VipsError) in try frame.upright(from: orientation) }

        let image = strip.image
        guard image.hasEightBits, 1...4 ~= image.bands else {
            throw ImagingError.cannotDecode(
                detail: "\(image.bands) bands\(image.hasEightBits ? "" : ", not of 8 bits")")
        }
        let pixels = try image.pixels(in: room, token: token)
        return DecodedImage(
            pixels: pixels, size: PixelSize(width: image.width, height: image.height / frames), bands: image.bands,
            frames: frames, delays: frames > 1 ? loaded.delays(frames) : [],
            loop: frames > 1 ? loaded.integer("loop") ?? 0 : 0)
    }
}

extension ImageHeader {
    /// How much of a level the format's own decoder does, which makes a smaller picture for less work.
    ///
    /// Frames of an animation lie anywhere on their canvas and would move when each is scaled alone.
    fileprivate func loadedLevel(for level: Int) -> Int {
        guard format == .jpeg || format == .webp && frames == 1 else { return 1 }
        // A side that is shorter than the level would become nothing.
        return min(storedSize.width, storedSize.height) < level ? 1 : level
    }

    /// What the loader must say.
    fileprivate func loadedSize(level: Int) -> PixelSize {
        func reduced(_ side: Int) -> Int {
            // libvips drops the rest of a JPEG's side and rounds a WebP's half to even.
            format == .webp ? Int((Double(side) / Double(level)).rounded(.toNearestOrEven)) : side / level
        }
        return PixelSize(width: reduced(storedSize.width), height: reduced(storedSize.height))
    }
}

extension VipsImage {
    /// How long each of the first `frames` frames is shown, in milliseconds.
    fileprivate func delays(_ frames: Int) -> [Int] {
        let delays = integers("delay")
        return (0..<frames).map { $0 < delays.count ? delays[$0] : 100 }
    }
}
