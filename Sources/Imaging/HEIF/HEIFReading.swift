import CCodedImages
import CPixels
import CPlanarShim
import Coordination
import Memory

/// Reads AVIF and HEIC: items and boxes by our own walk, coded images by dav1d and libde265, and the rest by libheif.
enum HEIFReading {
    /// The file's planes, upright; or the judgement of a file whose image must be made of pixels.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``, or the error of `token`.
    static func planes(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken, room: PlaneMemory.Maker
    ) throws -> PlanarReading {
        guard header.colors.encoding?.isBright != true, let image = try image(of: file, header), image.alpha == nil
        else {
            return .judged(lacksPixels: false)
        }
        let profile = image.profile(in: file)
        if let profile, profile.space == .color || profile.space == .grey, profile.colors == nil {
            return .judged(lacksPixels: false)
        }
        let orientation = image.transform.orientation
        let decoded = try CodedPlanes.decode(
            image.canvas, of: image, in: file, level: plan.level, token: token,
            room: { orientation == 1 ? try room($0) : PlaneMemory(count: $0) })
        guard let colors = decoded.meaning(image.colors) else {
            throw ImagingError.cannotDecode(detail: "the image has unknown colours")
        }
        try colors.makeStandard(decoded)
        let isOfProfile = profile?.space == (decoded.planes.count == 1 ? .grey : .color)
        let stated = decoded.planes.count == 3 ? header.colors.encoding?.profile : nil
        let numbers = isOfProfile ? profile?.colors.flatMap { $0.isStandard ? nil : $0 } : stated
        let hasColorDetail = unsafe ColorDetail.isFound(
            in: CPlanarShimPlanes(decoded.planes, in: UnsafeRawBufferPointer(decoded.memory.bytes)))
        return .decoded(
            try DecodedImage(
                decoded.planes, in: decoded.takeMemory(), range: colors.range, profile: numbers,
                turnedFrom: orientation, into: room, isIncomplete: false, hasColorDetail: hasColorDetail))
    }

    /// The file's pixels, upright and in full size; for a sequence those of the plan's frames.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``, or the error of `token`.
    static func pixels(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken
    ) throws -> LoadedPixels {
        if let sequence = try file.withBytes({ bytes throws(ImagingError) in try HEIFSequence(bytes) }) {
            return try HEIFFrames(sequence).pixels(file, header: header, plan: plan, token: token)
        }
        let isBright = header.colors.encoding?.isBright == true
        // libheif keeps all bits, and gets no grids.
        guard let image = try image(of: file, header), !(isBright && !image.items.holdsGrids) else {
            return try HEIFPixels.decode(HEIFRepair.repair(file).bytes, header: header, token: token)
        }
        func decode(_ canvas: HEIFCanvas, mostPlanes: Int) throws -> CodedPlanes {
            try CodedPlanes.decode(
                canvas, of: image, in: file, level: 1, mostPlanes: mostPlanes, token: token,
                room: { PlaneMemory(count: $0) })
        }
        let decoded = try decode(image.canvas, mostPlanes: 3)
        let alpha = try image.alpha.map { try decode($0, mostPlanes: 1) }
        guard let colors = decoded.meaning(image.colors) else {
            throw ImagingError.cannotDecode(detail: "the image has unknown colours")
        }
        let bands = decoded.planes.count + (alpha == nil ? 0 : 1)
        let size = image.transform.part.size
        let memory = PlaneMemory(count: size.area * bands)
        // Streams of HEVC without a word on their range say that it is limited, and programs ignore it.
        let isAlphaFull = alpha.map { image.alpha?.coding == .hevc || $0.colors.isFullRange } ?? true
        try colors.interleave(decoded, alpha: alpha, isAlphaFull: isAlphaFull, into: memory)
        if alpha != nil, image.isPremultiplied {
            unsafe CCodedImages_divide_by_alpha(
                memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bands), size.area)
        }
        let profile = image.profile.flatMap { 1...ICCProfile.longest ~= $0.count ? SharedBytes($0, of: file) : nil }
        let pixels = image.transform.orientation == 1 ? memory.finish() : try turned(memory, image, bands: bands, token)
        return LoadedPixels(pixels: pixels, size: image.transform.shownSize, bands: bands, profile: profile)
    }

    /// The pixels of the part, upright.
    private static func turned(
        _ part: consuming PlaneMemory, _ image: HEIFImage, bands: Int, _ token: WorkToken
    ) throws -> SharedBytes {
        let result = PlaneMemory(count: part.count)
        var from = unsafe CPixelsFrame(part, image.transform.part.size, bands)
        var to = unsafe CPixelsFrame(result, image.transform.shownSize, bands)
        var turn = CPixelsTurn(orientation: Int32(image.transform.orientation))
        let watch = unsafe CPixelsWatch(should_stop: shouldStop, context: Unmanaged.passUnretained(token).toOpaque())
        guard unsafe CPixels_turn(&turn, &from, &to, watch) == 0 else {
            try token.check()
            throw ImagingError.cannotDecode(detail: "the image cannot be turned")
        }
        return result.finish()
    }

    /// How the image is put together; nil if only libheif knows.
    ///
    /// A grid never goes to libheif: before 1.22.0, its grids write beyond their memory (CVE-2026-32740).
    private static func image(of file: SharedBytes, _ header: ImageHeader) throws -> HEIFImage? {
        let image = try file.withBytes { bytes throws(ImagingError) in
            let image = try HEIFImage(bytes)
            if image == nil, try HEIFItems.all(bytes)?.holdsGrids == true {
                throw .cannotDecode(detail: "a grid of other tiles than equal ones of AV1 or HEVC")
            }
            return image
        }
        if let image, image.transform.shownSize != header.storedSize {
            throw ImagingError.cannotDecode(detail: "the header says \(header.storedSize), the items say otherwise")
        }
        return image
    }
}

extension CPixelsFrame {
    /// Rows without gaps, in memory that must outlive the frame.
    @unsafe
    fileprivate init(_ memory: borrowing PlaneMemory, _ size: PixelSize, _ bands: Int) {
        unsafe self.init(
            pixels: memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress, stride: size.width * bands,
            width: Int32(size.width), height: Int32(size.height), bands: Int32(bands))
    }
}

extension HEIFImage {
    /// The ICC profile; nil without one, or if it is too long.
    fileprivate func profile(in file: SharedBytes) -> ICCProfile? {
        guard let profile, 1...ICCProfile.longest ~= profile.count else { return nil }
        return file.withBytes { ICCProfile($0.extracting(profile)) }
    }
}

extension CodedPlanes {
    /// The meaning of the samples: by the file, else by the coded data.
    func meaning(_ stated: HEIFColors?) -> CodedColors? {
        CodedColors(
            stated ?? colors, isFullyDetailed: planes.count == 1 || planes[0].size == planes[1].size)
    }
}
