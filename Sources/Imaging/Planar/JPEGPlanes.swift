import CPlanarShim
import Coordination
import Memory

/// What libjpeg says of a file before it decodes it.
struct JPEGHead {
    /// Size as stored.
    let size: PixelSize
    /// 1 for grey, 3 for Y′CbCr, 0 for other colours.
    let planes: Int
    /// Luma samples for one of chroma across; 0 where that is no whole number.
    let across: Int
    /// Luma samples for one of chroma down; 0 where that is no whole number.
    let down: Int
    /// What the colours mean where that is not sRGB.
    let profile: ColorProfile?
    /// Whether the file has a profile that only the colour engine understands.
    let hasOtherProfile: Bool
}

/// Decodes JPEG files to the planes that they hold.
enum JPEGPlanes {
    /// The file's planes, upright; nil for a file that the other lane is for.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``, or what `token` says.
    static func decode(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken,
        room: PlaneMemory.Maker
    ) throws -> DecodedImage? {
        // What the file itself lacks is guessed; what is left out because it does not show is not.
        let isWhole = !header.isProgressive || JPEGScans.haveAllDetails(file)
        let needed = header.isProgressive && isWhole ? JPEGScans.trim(file, level: plan.level) : file
        return try unsafe needed.withUnsafeBytes { bytes throws in
            try unsafe decode(bytes, header: header, plan: plan, isSmoothed: !isWhole, token: token, room: room)
        }
    }

    private static func decode(
        _ file: UnsafeRawBufferPointer, header: ImageHeader, plan: DecodePlan, isSmoothed: Bool, token: WorkToken,
        room: PlaneMemory.Maker
    ) throws -> DecodedImage? {
        let watch = unsafe CPlanarShimWatch(token)
        guard let reader = unsafe CPlanarShim_jpeg_open(file.baseAddress, file.count, watch) else {
            throw ImagingError.cannotDecode(detail: "libjpeg does not start")
        }
        defer { unsafe CPlanarShim_jpeg_close(reader) }
        func check(_ status: CPlanarShimStatus) throws {
            if status == CPlanarShimDone { return }
            try token.check()
            throw ImagingError.cannotDecode(detail: unsafe String(cString: CPlanarShim_jpeg_text(reader)))
        }

        var raw = unsafe CPlanarShimJPEGHead()
        try check(unsafe CPlanarShim_jpeg_head(reader, &raw))
        let head = unsafe JPEGHead(raw)
        guard head.size == header.storedSize else {
            throw ImagingError.cannotDecode(detail: "head says \(header.storedSize), libjpeg \(head.size)")
        }
        guard PlanarLane.decodes(head) else { return nil }

        let planes = head.storedPlanes(level: plan.level)
        let memory = try PlaneMemory.stored(planes, turnedFrom: header.orientation, room: room)
        var target = unsafe CPlanarShimPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes))
        try check(unsafe CPlanarShim_jpeg_decode(reader, Int32(plan.level), isSmoothed ? 1 : 0, &target))
        return try DecodedImage(
            planes, in: memory, range: .full, profile: head.profile, turnedFrom: header.orientation, into: room)
    }
}

extension JPEGHead {
    fileprivate init(_ raw: CPlanarShimJPEGHead) {
        size = unsafe PixelSize(width: Int(raw.width), height: Int(raw.height))
        planes = unsafe Int(raw.planes)
        across = unsafe Int(raw.across)
        down = unsafe Int(raw.down)
        let profile = unsafe UnsafeRawBufferPointer(start: raw.profile, count: raw.profile_size)
        guard 1...ICCProfile.longest ~= profile.count else {
            (self.profile, hasOtherProfile) = (nil, false)
            return
        }
        let file = unsafe ICCProfile(profile.bytes)
        // One that describes other pixels is nobody's business.
        guard file.space == (planes == 1 ? .grey : .color) else {
            (self.profile, hasOtherProfile) = (nil, false)
            return
        }
        hasOtherProfile = file.colors == nil
        self.profile = file.colors.flatMap { $0.isStandard ? nil : $0 }
    }

    /// The planes as they come out of the decoder, before they are turned.
    fileprivate func storedPlanes(level: Int) -> [Plane] {
        .stacked(
            (0..<planes).map { index in
                let (across, down) = index == 0 ? (level, level) : (level * across, level * down)
                let samples = PixelSize(
                    width: (size.width + across - 1) / across, height: (size.height + down - 1) / down)
                // JFIF puts a sample of chroma in the middle of those of luma that it stands for, and so does the scaled decode.
                let region = Plane.Region(
                    width: Double(size.width) / Double(across), height: Double(size.height) / Double(down))
                return (samples, region)
            })
    }
}
