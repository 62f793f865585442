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
        VipsError.forget()
        do {
            let reading = header.format.reading
            let trimmed = try reading.trim(bytes, header, plan)
            let file =
                try reading.damage.end?(trimmed, header, plan) ?? EndedFile(bytes: trimmed, isIncomplete: false)
            var isIncomplete = file.isIncomplete
            if lane == .planar, let planes = reading.planes, PlanarLane.mayDecode(header, plan: plan) {
                switch try planes.decode(file.bytes, header, plan, token, room) {
                case .decoded(let image): return image
                case .judged(let lacksPixels): isIncomplete = isIncomplete || lacksPixels
                }
            } else if let lacksPixels = reading.damage.lacksPixels {
                isIncomplete = try lacksPixels(file.bytes, header, token)
            }
            try plan.admit(isIncomplete: isIncomplete)
            if reading.loader == .heif {
                return try pixels(ofItem: file.bytes, header: header, plan: plan, token: token, room: room)
            }
            let whole = EndedFile(bytes: file.bytes, isIncomplete: isIncomplete)
            do {
                return try decode(whole, header: header, plan: plan, token: token, room: room)
            } catch let error as VipsError {
                try token.check()
                guard let ended = try reading.damage.endAfterFailure?(file.bytes, header, plan, token) else {
                    throw error
                }
                return try decode(ended, header: header, plan: plan, token: token, room: room)
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

    /// Refuses what the head says is not to be decoded at all.
    package static func check(_ header: ImageHeader, plan: DecodePlan, limits: ImagingLimits) throws(ImagingError) {
        guard limits.sourceFormats.contains(header.format) else { throw .formatNotAccepted(header.format) }
        let frames = plan.frames(of: header)
        guard plan.page < header.frames else { throw .noSuchPage(plan.page, pages: header.frames) }
        guard header.decodedArea <= limits.maximumSourcePixels / frames else {
            throw .tooManyPixels(header.storedSize, frames: frames)
        }
    }

    /// Has libvips decode a file of which is known what it lacks.
    private static func decode(
        _ file: EndedFile, header: ImageHeader, plan: DecodePlan, token: WorkToken, room: PlaneMemory.Maker
    ) throws -> DecodedImage {
        try unsafe file.bytes.withUnsafeBytes { bytes throws in
            try unsafe decode(
                bytes, header: header, plan: plan, token: token, room: room, isIncomplete: file.isIncomplete)
        }
    }

    /// The pixels of what libvips opens.
    @unsafe
    private static func decode(
        _ file: UnsafeRawBufferPointer, header: ImageHeader, plan: DecodePlan, token: WorkToken,
        room: PlaneMemory.Maker, isIncomplete: Bool
    ) throws -> DecodedImage {
        let frames = plan.frames(of: header)
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
            room: room, isIncomplete: isIncomplete)
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
        room: PlaneMemory.Maker, isIncomplete: Bool = false
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
            loop: frames > 1 ? loaded.integer("loop") ?? 0 : 0, isIncomplete: isIncomplete)
    }
}

extension ImageHeader {
    /// How much of a level the format's own decoder does, which makes a smaller picture for less work.
    fileprivate func loadedLevel(for level: Int) -> Int {
        switch format.reading.reduction {
        case .transform: break
        case .scaler where frames == 1: break
        case .none, .scaler: return 1
        }
        // A side that is shorter than the level would become nothing.
        return min(storedSize.width, storedSize.height) < level ? 1 : level
    }

    /// What the loader must say.
    fileprivate func loadedSize(level: Int) -> PixelSize {
        let isRounded = format.reading.reduction == .scaler
        func reduced(_ side: Int) -> Int {
            isRounded ? Int((Double(side) / Double(level)).rounded(.toNearestOrEven)) : side / level
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
