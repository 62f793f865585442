import CJPEG
import CPlanar
import Coordination
import Memory
import Recipes

struct JPEGPlanesHeader {
    let size: PixelSize
    /// 1 for gray, 3 for Y′CbCr, 0 for other colors.
    let planes: Int
    let across: Int
    let down: Int
    let profile: ColorProfile?
    /// Whether the profile requires Little CMS.
    let hasOtherProfile: Bool

    /// Whether the planes can be resampled and their colors are supported.
    var isPlanar: Bool { planes != 0 && [1, 2, 4].contains(across) && [1, 2, 4].contains(down) && !hasOtherProfile }
}

/// Decodes JPEG files to their planes, and checks files that libvips must decode.
///
/// Both lanes detect damage in the same way at every level: by libjpeg's errors, and by scan data that end before the
/// last block. A scan of AC coefficients, which coarse levels skip, is checked only if it is the last one; see
/// docs/reliability.md.
enum JPEGPlanes {
    /// Decodes planes; planes with ``ColorDetail`` are decoded again by libjpeg, with full-size chroma if available.
    ///
    /// - Parameter decoder: The decoder to use, without a second decode; nil uses the default.
    static func decode(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken,
        allocate: PlaneMemory.Allocator, decoder: JPEGDecoder?
    ) throws -> PlaneDecodeResult {
        try unsafe file.withUnsafeBytes { bytes throws in
            try unsafe decode(bytes, header: header, plan: plan, token: token, allocate: allocate, decoder: decoder)
        }
    }

    static func lacksPixels(_ file: SharedBytes, header: ImageHeader, token: WorkToken) throws -> Bool {
        try unsafe file.withUnsafeBytes { bytes throws in
            let reader = try unsafe JPEGReader(bytes, header: header, token: token)
            return unsafe try reader.lacksPixels(JPEGScans(of: bytes.bytes, header: header, level: 8), token: token)
        }
    }

    private static func decode(
        _ file: UnsafeRawBufferPointer, header: ImageHeader, plan: DecodePlan, token: WorkToken,
        allocate: PlaneMemory.Allocator, decoder: JPEGDecoder?
    ) throws -> PlaneDecodeResult {
        let reader = try unsafe JPEGReader(file, header: header, token: token)
        let stored = reader.header
        let scans = unsafe JPEGScans(of: file.bytes, header: header, level: plan.level)
        guard stored.isPlanar, header.colors.encoding?.isHDR != true else {
            return .unsupported(lacksPixels: try reader.lacksPixels(scans, token: token))
        }

        let levels = [plan.level] + (header.isProgressive ? [] : plan.coarserLevels)
        let planes = [Plane].stacked(levels.flatMap { stored.storedPlanes(level: $0) })
        let memory = try PlaneMemory.stored(planes, turned: header.orientation, allocate: allocate)
        let levelPlanes = Array(planes.prefix(stored.planes))
        var target = unsafe CPlanarPlanes(levelPlanes, in: UnsafeRawBufferPointer(memory.bytes))
        var coarser = unsafe reader.addReductions(levels.dropFirst(), planes: planes, in: memory)
        var decoding: JPEGDecoding?
        if plan.level > 1, decoder ?? .preferred == .fast {
            decoding = unsafe try reader.decodeFast(level: plan.level, scans: scans, into: &target, token: token)
        }
        let isIncomplete =
            decoding == .fast
            ? false : unsafe try reader.decode(level: plan.level, scans: scans, into: &target, token: token)
        try plan.checkCompleteness(isIncomplete: isIncomplete)
        if decoding != .fast, isIncomplete || plan.level > 1 || reader.hasWarned { coarser = [] }
        func result(
            _ upright: (pixels: SharedBytes, planes: [Plane]), hasColorDetail: Bool, coarser: [Bool]
        ) -> PlaneDecodeResult {
            let results = JPEGResults(
                pixels: upright.pixels, planes: upright.planes, planesPerImage: stored.planes,
                profile: stored.profile(stating: header.colors), isIncomplete: isIncomplete, decoding: decoding)
            return .decoded(results.image(hasColorDetail: hasColorDetail, coarser: coarser))
        }
        let hasColorDetail = unsafe ColorDetail.isFound(in: target)
        if hasColorDetail, stored.refinement(level: plan.level) > 1, decoder == nil {
            // The coefficients of a progressive image would otherwise be in memory twice.
            _ = consume reader
            // `allocate` may return the same memory again.
            _ = consume memory
            let finer = unsafe try decodeFinerChroma(
                file, header: header, stored: stored, level: plan.level, token: token, allocate: allocate)
            return result(finer, hasColorDetail: true, coarser: [])
        }
        // A level with color detail is decoded again separately.
        let usable = zip(levels.dropFirst(), coarser.map { unsafe ColorDetail.isFound(in: $0) })
            .prefix { decoder != nil || stored.refinement(level: $0) == 1 || !$1 }
        let upright = try memory.upright(planes, turned: header.orientation, allocate: allocate)
        return result(upright, hasColorDetail: hasColorDetail, coarser: usable.map(\.1))
    }

    /// Decodes one level by libjpeg, with chroma as fine as the file allows, up to luma's size.
    @unsafe
    private static func decodeFinerChroma(
        _ file: UnsafeRawBufferPointer, header: ImageHeader, stored: JPEGPlanesHeader, level: Int, token: WorkToken,
        allocate: PlaneMemory.Allocator
    ) throws -> (pixels: SharedBytes, planes: [Plane]) {
        let refinement = stored.refinement(level: level)
        let scans = unsafe JPEGScans(of: file.bytes, header: header, level: level / refinement)
        let planes = [Plane].stacked(stored.storedPlanes(level: level, refinement: refinement))
        let memory = try PlaneMemory.stored(planes, turned: header.orientation, allocate: allocate)
        var target = unsafe CPlanarPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes))
        _ = unsafe try JPEGReader(file, header: header, token: token)
            .decode(level: level, refinement: refinement, scans: scans, into: &target, token: token)
        return try memory.upright(planes, turned: header.orientation, allocate: allocate)
    }
}

/// The upright planes of all levels of one decode.
private struct JPEGResults {
    let pixels: SharedBytes
    let planes: [Plane]
    let planesPerImage: Int
    let profile: ColorProfile?
    let isIncomplete: Bool
    let decoding: JPEGDecoding?

    /// - Parameter coarserDetails: Whether each usable coarser level has color detail.
    func image(hasColorDetail: Bool, coarser coarserDetails: [Bool]) -> DecodedImage {
        let first = image(0, hasColorDetail: hasColorDetail)
        guard !coarserDetails.isEmpty else { return first }
        return first.with(coarser: coarserDetails.enumerated().map { image($0 + 1, hasColorDetail: $1) })
    }

    private func image(_ index: Int, hasColorDetail: Bool) -> DecodedImage {
        let levelPlanes = planes[index * planesPerImage..<(index + 1) * planesPerImage]
        let planes = [Plane].stacked(levelPlanes.map { ($0.size, $0.region) })
        let start = levelPlanes[levelPlanes.startIndex].offset
        let count = planes.byteCount
        return DecodedImage(
            pixels: count == pixels.count ? pixels : SharedBytes(start..<start + count, of: pixels), planes: planes,
            range: .full, profile: profile, isIncomplete: isIncomplete, jpegDecoding: decoding,
            hasColorDetail: hasColorDetail)
    }
}

/// A JPEG reader; the file and the token must outlive it.
@safe
private struct JPEGReader: ~Copyable {
    let header: JPEGPlanesHeader
    private let raw: OpaquePointer

    @unsafe
    init(_ file: UnsafeRawBufferPointer, header: ImageHeader, token: WorkToken) throws {
        let watch = unsafe CPixelsWatch(token)
        guard let raw = unsafe CPlanar_jpeg_open(file.baseAddress, file.count, watch) else {
            throw ImagingError.cannotDecode(detail: "libjpeg cannot be started")
        }
        var rawHeader = unsafe CPlanarJPEGHeader()
        do {
            try unsafe Self.check(CPlanar_jpeg_read_header(raw, &rawHeader), of: raw, token: token)
            let stored = unsafe JPEGPlanesHeader(rawHeader)
            guard stored.size == header.storedSize else {
                throw ImagingError.cannotDecode(
                    detail: "the header says \(header.storedSize), libjpeg says \(stored.size)")
            }
            self.header = stored
        } catch {
            unsafe CPlanar_jpeg_close(raw)
            throw error
        }
        unsafe self.raw = raw
    }

    deinit { unsafe CPlanar_jpeg_close(raw) }

    @unsafe
    func decode(
        level: Int, refinement: Int = 1, scans: JPEGScans, into planes: inout CPlanarPlanes, token: WorkToken
    ) throws -> Bool {
        try unsafe Self.check(
            CPlanar_jpeg_decode(raw, Int32(level), Int32(refinement), scans.detail, &planes), of: raw, token: token)
        return unsafe CPlanar_jpeg_lacks_pixels(raw) != 0
    }

    @unsafe
    func decodeFast(
        level: Int, scans: JPEGScans, into planes: inout CPlanarPlanes, token: WorkToken
    ) throws -> JPEGDecoding {
        // If more scans are read than the level needs, the file must be checked to its end.
        guard scans == .all || scans == JPEGScans(shownAt: level) else { return .fallback(.scans) }
        let outcome = unsafe CPlanar_jpeg_decode_fast(raw, Int32(level), scans.detail, &planes)
        if outcome == CFastJPEGStopped { try token.check() }
        if outcome == CFastJPEGMemory { throw ImagingError.outOfMemory(detail: "no memory for the JPEG decoder") }
        return JPEGDecoding(outcome)
    }

    /// Whether libjpeg has found damage so far.
    var hasWarned: Bool { unsafe CPlanar_jpeg_has_warned(raw) != 0 }

    /// Decodes coarser levels together with the next one; returns the planes of the levels that the file allows.
    @unsafe
    func addReductions(
        _ levels: ArraySlice<Int>, planes: [Plane], in memory: borrowing PlaneMemory
    ) -> [CPlanarPlanes] {
        var added: [CPlanarPlanes] = []
        for (index, level) in levels.enumerated() {
            let levelPlanes = Array(planes.dropFirst((index + 1) * header.planes).prefix(header.planes))
            var target = unsafe CPlanarPlanes(levelPlanes, in: UnsafeRawBufferPointer(memory.bytes))
            guard unsafe CPlanar_jpeg_add_reduction(raw, Int32(level), &target) != 0 else { break }
            added.append(target)
        }
        return added
    }

    func lacksPixels(_ scans: JPEGScans, token: WorkToken) throws -> Bool {
        try unsafe Self.check(CPlanar_jpeg_check(raw, scans.detail), of: raw, token: token)
        return unsafe CPlanar_jpeg_lacks_pixels(raw) != 0
    }

    private static func check(_ status: CPlanarStatus, of raw: OpaquePointer, token: WorkToken) throws {
        if status == CPlanarDone { return }
        try token.check()
        throw ImagingError.cannotDecode(detail: unsafe String(cString: CPlanar_jpeg_text(raw)))
    }
}

extension JPEGScans {
    fileprivate var detail: CPlanarJPEGDetail {
        CPlanarJPEGDetail(
            highest_start: Int32(highestStart), min_bits_before: Int32(minimumBitsBefore),
            is_smoothed: isSmoothed ? 1 : 0)
    }
}

extension JPEGPlanesHeader {
    fileprivate init(_ raw: CPlanarJPEGHeader) {
        size = unsafe PixelSize(width: Int(raw.width), height: Int(raw.height))
        planes = unsafe Int(raw.planes)
        across = unsafe Int(raw.across)
        down = unsafe Int(raw.down)
        let profile = unsafe UnsafeRawBufferPointer(start: raw.profile, count: raw.profile_size)
        guard 1...ICCProfile.maximumLength ~= profile.count else {
            self.profile = nil
            hasOtherProfile = false
            return
        }
        let file = unsafe ICCProfile(profile.bytes)
        // A profile for another color space is ignored.
        guard file.space == (planes == 1 ? .gray : .color) else {
            self.profile = nil
            hasOtherProfile = false
            return
        }
        hasOtherProfile = file.colors == nil
        self.profile = file.colors.flatMap { $0.isSRGB ? nil : $0 }
    }

    fileprivate func profile(stating colors: SourceColors) -> ColorProfile? {
        planes == 3 ? profile ?? colors.encoding?.profile : profile
    }

    /// Returns the factor by which chroma can be decoded finer than the level: up to luma's size, equally on both axes.
    fileprivate func refinement(level: Int) -> Int { planes == 3 ? min(level, across, down) : 1 }

    /// Returns the planes before the turn; chroma is `refinement` times finer than the level.
    fileprivate func storedPlanes(level: Int, refinement: Int = 1) -> [(size: PixelSize, region: Plane.Region)] {
        (0..<planes).map { index in
            let (across, down) = index == 0 ? (level, level) : (level * across / refinement, level * down / refinement)
            let samples = PixelSize(width: (size.width + across - 1) / across, height: (size.height + down - 1) / down)
            // JFIF centers chroma samples within their luma samples; scaled decodes do so, too.
            let region = Plane.Region(
                width: Double(size.width) / Double(across), height: Double(size.height) / Double(down))
            return (samples, region)
        }
    }
}

extension JPEGDecoding {
    fileprivate init(_ outcome: CFastJPEGOutcome) {
        self =
            switch outcome {
            case CFastJPEGDone: .fast
            case CFastJPEGProcess: .fallback(.process)
            case CFastJPEGTables: .fallback(.tables)
            case CFastJPEGCode: .fallback(.code)
            case CFastJPEGRestart: .fallback(.restart)
            case CFastJPEGEnd: .fallback(.end)
            case CFastJPEGMarkers: .fallback(.markers)
            default: .fallback(.scans)
            }
    }
}
