import CVips
import CVipsShim
import Coordination
import Recipes

extension VipsImage {
    /// Resamples weighted by alpha, so that transparent pixels do not add their color.
    func resampled(to size: PixelSize, in light: ResamplingLight) throws(VipsError) -> VipsImage {
        if size.width == width && size.height == height { return self }
        // Compute the input of an enlargement once; otherwise each tile would compute its pixels again.
        let image = size.width > width || size.height > height ? try computed() : self
        return switch light {
        case .gamma: try image.weightedByAlpha { image throws(VipsError) in try image.resized(to: size) }
        case .linear: try image.resampledInLinearLight(to: size)
        }
    }

    private func resampledInLinearLight(to size: PixelSize) throws(VipsError) -> VipsImage {
        guard size.width <= width, size.height <= height else {
            return try inLinearLight { image throws(VipsError) in try image.resized(to: size) }
        }
        return try unsafe step { unsafe CVipsShim_resample_light($0, $1, Int32(size.width), Int32(size.height)) }
    }

    private func resized(to size: PixelSize) throws(VipsError) -> VipsImage {
        if size.width == width && size.height == height { return self }
        let horizontal = Double(size.width) / Double(width)
        let vertical = Double(size.height) / Double(height)
        return try unsafe step { unsafe CVipsShim_resize($0, $1, horizontal, vertical) }
    }

    /// Reduces by means of boxes, weighted by alpha; rounds the size up.
    ///
    /// Computes the result immediately, from top to bottom.
    func boxAveraged(by factor: Int, token: WorkToken) throws(VipsError) -> VipsImage {
        try unsafe step {
            unsafe CVipsShim_average($0, $1, Int32(factor), shouldStop, Unmanaged.passUnretained(token).toOpaque())
        }
    }

    func extracted(left: Int, top: Int, width: Int, height: Int) throws(VipsError) -> VipsImage {
        if left == 0 && top == 0 && width == self.width && height == self.height { return self }
        return try unsafe step {
            unsafe CVipsShim_extract($0, $1, Int32(left), Int32(top), Int32(width), Int32(height))
        }
    }

    /// Returns the origin of the most interesting region, as measured by libvips.
    func smartCropOrigin(for size: PixelSize, by measure: InterestMeasure) throws(VipsError) -> (left: Int, top: Int) {
        let cropped = try unsafe step {
            unsafe CVipsShim_smart_crop($0, $1, Int32(size.width), Int32(size.height), measure.interesting)
        }
        // A cropped image stores the offset of the whole image's origin.
        return unsafe cropped.withRaw { unsafe (left: -Int($0.pointee.Xoffset), top: -Int($0.pointee.Yoffset)) }
    }

    func embedded(left: Int, top: Int, in size: PixelSize, background: [Double]) throws(VipsError) -> VipsImage {
        if size.width == width && size.height == height { return self }
        return try unsafe step {
            unsafe CVipsShim_embed(
                $0, $1, Int32(left), Int32(top), Int32(size.width), Int32(size.height), background,
                Int32(background.count))
        }
    }

    func extended(
        _ edge: ImageOperations.Margins.Extend, left: Int, top: Int, to size: PixelSize
    ) throws(VipsError) -> VipsImage {
        let extend =
            switch edge {
            case .copy: VIPS_EXTEND_COPY
            case .repeat: VIPS_EXTEND_REPEAT
            case .mirror: VIPS_EXTEND_MIRROR
            }
        return try unsafe step {
            unsafe CVipsShim_continue($0, $1, Int32(left), Int32(top), Int32(size.width), Int32(size.height), extend)
        }
    }

    func zoomed(by factor: Int) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_zoom($0, $1, Int32(factor)) }
    }

    func repeatedTwice() throws(VipsError) -> VipsImage { try unsafe step { unsafe CVipsShim_replicate($0, $1, 2, 2) } }

    /// Composes a stamp on an 8-bit image.
    ///
    /// - Parameters:
    ///   - stamp: Interleaved pixels with alpha as the last band, which must outlive the image: they are not copied.
    ///   - size: The size of the stamp, which repeats in a larger area.
    ///   - bands: The bands of the stamp: 2, or 4 on color images.
    ///   - opacity: The opacity in percent.
    @unsafe
    func overlaid(
        with stamp: UnsafeRawBufferPointer, size: PixelSize, bands: Int, left: Int, top: Int, covering area: PixelSize,
        opacity: Int
    ) throws(VipsError) -> VipsImage {
        precondition(stamp.count == size.area * bands, "the pixels do not fill the stamp")
        let overlay = unsafe CVipsShimOverlay(
            stamp: stamp.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(size.width),
            height: Int32(size.height), bands: Int32(bands), left: Int32(left), top: Int32(top),
            covered_width: Int32(area.width), covered_height: Int32(area.height), opacity: Int32(opacity))
        return try unsafe step { unsafe CVipsShim_overlay($0, $1, overlay) }
    }

    func turnedByVips(_ turn: QuarterTurn) throws(VipsError) -> VipsImage {
        if turn == .mirrorY { return try flipped(VIPS_DIRECTION_VERTICAL) }
        let image = turn.isMirrored ? try flipped(VIPS_DIRECTION_HORIZONTAL) : self
        return switch turn.quarters {
        case 1: try image.rotated(VIPS_ANGLE_D90)
        case 2: try image.rotated(VIPS_ANGLE_D180)
        case 3: try image.rotated(VIPS_ANGLE_D270)
        default: image
        }
    }

    private func rotated(_ angle: VipsAngle) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_rotate($0, $1, angle) }
    }

    private func flipped(_ direction: VipsDirection) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_flip($0, $1, direction) }
    }

    static func stacked(_ frames: [VipsImage]) throws(VipsError) -> VipsImage {
        if frames.count == 1 { return frames[0] }
        var raw = unsafe frames.map { unsafe $0.withRaw { unsafe Optional($0) } }
        defer { extendLifetime(frames) }
        return try unsafe make { unsafe CVipsShim_stack(&raw, $0, Int32(raw.count)) }
    }
}

extension InterestMeasure {
    fileprivate var interesting: VipsInteresting {
        switch self {
        case .attention: VIPS_INTERESTING_ATTENTION
        case .entropy: VIPS_INTERESTING_ENTROPY
        }
    }
}
