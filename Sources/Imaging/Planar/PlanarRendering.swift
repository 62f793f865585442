import CPlanarShim
import Coordination
import Glibc
import Memory

/// Makes results from planes, or pixels for steps that need pixels.
enum PlanarRendering {
    /// The result of planes that are resampled to `target` and encoded, see ``PlanarLane/encodes(_:rest:)``.
    ///
    /// - Throws: ``ImagingError/encodeFailed(detail:)``, or the error of `token`.
    static func render(
        _ image: DecodedImage, to target: PlanarTarget, plan: RenderPlan, token: WorkToken, codec: any ImageCodec
    ) throws -> EncodedImage {
        var target = target
        target.chromaStep = plan.chromaStep
        target.range = plan.format.writing?.planes?.range ?? .full
        target.needsChroma = plan.format.writing?.planes?.needsChroma ?? true
        if plan.format == .avif {
            let file = try codec.encode(
                planes(of: image, target: target, token: token), as: .avif, quality: plan.quality, token: token)
            return EncodedImage(bytes: file, format: .avif, size: plan.outputSize)
        }
        let file = try PlanarWorkspace.withShared { workspace throws in
            try workspace.resample(image, to: target, token: token) { planes throws in
                try encode(planes, plan: plan, token: token)
            }
        }
        return EncodedImage(bytes: file, format: plan.format, size: plan.outputSize)
    }

    /// The whole image in pixels, in its own size.
    static func pixels(of image: DecodedImage, token: WorkToken) throws -> DecodedImage {
        try pixels(of: image, target: PlanarTarget(of: image.size), token: token)
    }

    /// The three resampled planes, as an image of their own.
    private static func planes(of image: DecodedImage, target: PlanarTarget, token: WorkToken) throws -> DecodedImage {
        let planes = target.planes(ofGrey: image.bands == 1)
        let memory = PlaneMemory(count: planes.byteCount)
        // The padding of rows in the workspace has samples of earlier images; the same image must be the same bytes.
        unsafe memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        try PlanarWorkspace.withShared { workspace throws in
            try workspace.resample(image, to: target, token: token) { resampled throws in
                var from = unsafe resampled.planes
                var to = unsafe CPlanarShimPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)).planes
                unsafe CPlanarShim_turn(&from.0, &to.0, 1)
                unsafe CPlanarShim_turn(&from.1, &to.1, 1)
                unsafe CPlanarShim_turn(&from.2, &to.2, 1)
            }
        }
        return DecodedImage(pixels: memory.finish(), planes: planes, range: target.range, profile: nil)
    }

    /// The image in pixels, resampled to `target`.
    static func pixels(of image: DecodedImage, target: PlanarTarget, token: WorkToken) throws -> DecodedImage {
        let size = target.rectangle.size
        let memory = PlaneMemory(count: size.area * image.bands)
        var target = target
        // The range is converted together with the colours: full range cannot hold the values beyond black and white that limited range has.
        if case .planar(_, let range) = image.layout { target.range = range }
        try PlanarWorkspace.withShared { workspace throws in
            try workspace.resample(image, to: target, token: token) { planes throws in
                var planes = planes
                unsafe CPlanarShim_interleave(
                    &planes, target.range == .limited ? 1 : 0,
                    memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
            }
        }
        let pixels = DecodedImage(pixels: memory.finish(), size: size, bands: image.bands)
        return try image.profile.map { try pixels.inStandardColor(by: $0, token: token) } ?? pixels
    }

    private static func encode(
        _ planes: CPlanarShimPlanes, plan: RenderPlan, token: WorkToken
    ) throws -> SharedBytes {
        var planes = planes
        var base: UnsafeMutableRawPointer?
        var count = 0
        var text = [CChar](repeating: 0, count: Int(CPlanarShim_text_size))
        let watch = unsafe CPlanarShimWatch(token)
        let quality = Int32(plan.quality)
        let effort = Int32(plan.format.effort)
        let status =
            switch plan.format {
            case .webp: unsafe CPlanarShim_write_webp(&planes, quality, effort, watch, &base, &count, &text)
            default: unsafe CPlanarShim_write_jpeg(&planes, quality, watch, &base, &count, &text)
            }
        guard status == CPlanarShimDone else {
            try token.check()
            throw ImagingError.encodeFailed(text)
        }
        return unsafe SharedBytes(adopting: base, count: count, release: { base, _ in unsafe free(base) })
    }
}
