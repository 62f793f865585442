import CPlanar
package import Coordination
import Memory
import Recipes

enum PlanarRenderer {
    static func encode(
        _ image: DecodedImage, to target: PlanarTarget, stamps: [PlaneStamp] = [], encoder: PlaneEncoder,
        settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes {
        try PlanarWorkspace.withShared { workspace throws in
            try workspace.resample(image, to: target, token: token) { planes throws in
                for stamp in stamps { try stamp.apply(to: planes) }
                do {
                    return try encoder.encode(planes, settings: settings, token: token)
                } catch {
                    try token.check()
                    throw error
                }
            }
        }
    }

    static func renderPlanes(of image: DecodedImage, to target: PlanarTarget, token: WorkToken) throws -> DecodedImage {
        let planes = target.resultPlanes(ofGray: image.bands == 1)
        let memory = try PlaneMemory(count: planes.byteCount)
        // Clear row padding, which has samples of earlier images: the same image must have the same bytes.
        unsafe memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        try PlanarWorkspace.withShared { workspace throws in
            try workspace.resample(image, to: target, token: token) { resampled throws in
                unsafe resampled.copy(to: CPlanarPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)))
            }
        }
        return DecodedImage(pixels: memory.finish(), planes: planes, range: target.range, profile: nil)
    }

    /// Renders to pixels in the colors of the target or else of the image; gray uses sRGB.
    static func renderPixels(of image: DecodedImage, to target: PlanarTarget, token: WorkToken) throws -> DecodedImage {
        let size = target.size
        let memory = try PlaneMemory(count: size.area * image.bands)
        var (target, conversion) = target.withoutGamut()
        // Convert the range together with the colors: full range cannot represent values of limited range beyond black
        // and white.
        if case .planar(_, let range) = image.layout { target.range = range }
        try PlanarWorkspace.withShared { workspace throws in
            try workspace.resample(image, to: target, token: token) { planes throws in
                var planes = planes
                unsafe CPlanar_interleave(
                    &planes, target.range == .limited ? 1 : 0,
                    memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
            }
        }
        let isGray = image.bands < 3
        let pixels = DecodedImage(
            pixels: memory.finish(), size: size, bands: image.bands, profile: isGray ? nil : image.profile)
        if isGray { return try image.profile.map { try pixels.convertedToSRGB(by: $0, token: token) } ?? pixels }
        return try conversion.map { try pixels.converted(by: $0, token: token) } ?? pixels
    }
}

extension DecodedImage {
    /// Returns interleaved pixels in sRGB.
    package func interleavedInSRGB(token: WorkToken) throws -> DecodedImage {
        try interleaved(token: token).convertedToSRGB(token: token)
    }

    /// Returns interleaved pixels in the image's own colors.
    func interleaved(token: WorkToken) throws -> DecodedImage {
        guard case .planar = layout else { return self }
        return try PlanarRenderer.renderPixels(of: self, to: PlanarTarget(of: size), token: token)
    }
}
