import CPixels
import Coordination
import Memory
import Recipes

/// Converts to sRGB or Display P3; maps colors outside the target gamut into it with the same hue.
struct GamutConversion: Hashable, Sendable {
    let source: ColorProfile
    let toDisplayP3: Bool

    /// Returns nil if no conversion is needed; a nil `source` is sRGB.
    init?(from source: ColorProfile?, toDisplayP3: Bool) {
        let source = source ?? .sRGB
        guard source.primaries.count == 3, !(toDisplayP3 ? source.isDisplayP3 : source.isSRGB) else { return nil }
        self.source = source
        self.toDisplayP3 = toDisplayP3
    }

    static let srgbToDisplayP3 = GamutConversion(from: .sRGB, toDisplayP3: true)

    var numbers: CPixelsGamut {
        let chromaticities = toDisplayP3 ? Chromaticities.displayP3 : .srgb
        let sourcePrimaries = source.primaries.map { $0.map { Double($0) / 65_536 } }
        let connection = Matrix3(columns: chromaticities.connectionPrimaries)
        let light = chromaticities.toXYZ
        let white = (0..<3).map { index in light.reduce(0) { $0 + $1[index] } }
        let shares = Matrix3(columns: light.map { solid in zip(solid, white).map { $0 / $1 } })
        var gamut = CPixelsGamut()
        var curves: [ColorProfile.Curve: [Double]] = [:]
        let samples = source.curves.flatMap { curve in
            let light = curves[curve] ?? curve.lightOfBytes
            curves[curve] = light
            return light + [light[255]]
        }
        storeFloats(samples, in: &gamut.light)
        storeFloats((connection.inverse * Matrix3(columns: sourcePrimaries)).rows.joined(), in: &gamut.to_target)
        storeFloats(shares.rows.joined(), in: &gamut.to_xyz)
        storeFloats(shares.inverse.rows.joined(), in: &gamut.from_xyz)
        return gamut
    }

    func color(_ color: Color) -> Color {
        var numbers = numbers
        var pixel = [color.red, color.green, color.blue]
        unsafe pixel.withUnsafeMutableBufferPointer { bytes in
            var frame = unsafe CPixelsFrame(pixels: bytes.baseAddress, stride: 3, width: 1, height: 1, bands: 3)
            let watch = unsafe CPixelsWatch(should_stop: { _ in 0 }, context: nil)
            _ = unsafe CPixels_change_gamut(&numbers, &frame, &frame, watch)
        }
        return Color(red: pixel[0], green: pixel[1], blue: pixel[2], alpha: color.alpha)
    }
}

extension Color {
    var inDisplayP3: Color { GamutConversion.srgbToDisplayP3?.color(self) ?? self }
}

extension DecodedImage {
    func convertedToSRGB(token: WorkToken) throws -> DecodedImage {
        guard let conversion = profile.flatMap({ GamutConversion(from: $0, toDisplayP3: false) }) else { return self }
        return try converted(by: conversion, token: token)
    }

    func converted(by conversion: GamutConversion, token: WorkToken) throws -> DecodedImage {
        guard bands >= 3 else { return self }
        let memory = try PlaneMemory(count: pixels.count)
        var numbers = conversion.numbers
        try unsafe withFrame(token) { frame, watch in
            var (from, to) = unsafe (frame, frame)
            unsafe to.pixels = memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            return unsafe CPixels_change_gamut(&numbers, &from, &to, watch)
        }
        return DecodedImage(
            pixels: memory.finish(), size: size, bands: bands, frames: frames, delays: delays, loop: loop,
            isIncomplete: isIncomplete, profile: conversion.toDisplayP3 ? .displayP3 : nil, box: box)
    }

    /// Returns whether more than a thousandth of these Display P3 pixels are outside sRGB.
    ///
    /// Counts interleaved pixels of all frames that are not transparent.
    func exceedsSRGB(token: WorkToken) throws -> Bool {
        guard bands >= 3, let conversion = GamutConversion(from: .displayP3, toDisplayP3: false) else { return false }
        var numbers = conversion.numbers
        var share = CPixelsShare()
        try unsafe withFrame(token) { frame, watch in
            var frame = unsafe frame
            return unsafe CPixels_count_outside(&numbers, &frame, &share, watch)
        }
        return share.outside * 1_000 > share.shown
    }

    /// Calls `body` with all frames as one, or with the luma of planes.
    @unsafe
    func withFrame(_ token: WorkToken, _ body: (CPixelsFrame, CPixelsWatch) throws -> Int32) throws {
        defer { extendLifetime(token) }
        let (offset, stride, bands) =
            switch layout {
            case .interleaved(let bands): (0, size.width * bands, bands)
            case .planar(let planes, _): (planes[0].offset, planes[0].stride, 1)
            }
        let status = try unsafe pixels.withUnsafeBytes { bytes throws in
            let frame = unsafe CPixelsFrame(
                UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.advanced(by: offset), size: frameSize,
                stride: stride, bands: bands)
            let watch = unsafe CPixelsWatch(token)
            return try unsafe body(frame, watch)
        }
        guard status != 0 else { return }
        try token.check()
        throw ImagingError.encodeFailed(detail: "no memory")
    }

    /// The size of the frame of ``withFrame(_:_:)``.
    var frameSize: PixelSize {
        switch layout {
        case .interleaved: PixelSize(width: size.width, height: size.height * frames)
        case .planar(let planes, _): planes[0].size
        }
    }

    /// The region that the image fills in the frame of ``withFrame(_:_:)``.
    var filledRegion: Plane.Region {
        switch layout {
        case .interleaved: Plane.Region(width: Double(size.width), height: Double(size.height))
        case .planar(let planes, _): planes[0].region
        }
    }

    /// The range of the samples of ``withFrame(_:_:)``.
    var sampleRange: PlaneRange { if case .planar(_, let range) = layout { range } else { .full } }
}
