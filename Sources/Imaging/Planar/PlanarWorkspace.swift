import CPixels
import CPlanar
import Coordination
import Memory
import Recipes

@safe
final class PlanarWorkspace {
    private static let maximumKept = 16 << 20
    /// Idle workspaces: at most as many as threads have worked concurrently.
    private static let idle = Locked<[PlanarWorkspace]>([])

    private var result = PlaneMemory()
    private var turned = PlaneMemory()
    private var padded = PlaneMemory()
    private var subsampled = PlaneMemory()
    private var alpha = PlaneMemory()
    private var scratch = PlaneMemory()

    static func withShared<Result>(_ body: (PlanarWorkspace) throws -> Result) rethrows -> Result {
        let workspace = idle.withLock { $0.popLast() } ?? PlanarWorkspace()
        defer {
            workspace.shrink()
            idle.withLock { $0.append(workspace) }
        }
        return try body(workspace)
    }

    func resample<Result>(
        _ image: DecodedImage, to target: PlanarTarget, token: WorkToken,
        _ body: (_ planes: CPlanarPlanes) throws -> Result
    ) throws -> Result {
        guard case .planar(let sources, let range) = image.layout else {
            preconditionFailure("the image has no planes")
        }
        if target.hasSharpChroma, target.chromaStep == 2, sources.count > 1 {
            var full = target
            // Use the source's range, because conversions round.
            full.chromaStep = 1
            full.range = range
            return try resample(image, to: full, token: token) {
                try body(unsafe subsample($0, in: range, to: target, token: token))
            }
        }
        let planes = target.planes(ofGray: sources.count == 1)
        try result.reserve(planes.byteCount)
        let colors = ColorResampling(image, to: target)
        if let colors { try run(colors, of: image, to: planes, token: token) }
        for (index, plane) in planes.enumerated() where colors == nil {
            if index < sources.count {
                try resample(
                    sources[index], index: index, of: image, range: range, into: plane, of: target, token: token)
            } else {
                result.fill(plane, with: PlanarTarget.neutralChroma)
            }
        }
        var results =
            target.geometry.turn == .none
            ? unsafe CPlanarPlanes(planes, in: UnsafeRawBufferPointer(result.bytes))
            : try unsafe turn(planes, of: target, isGray: sources.count == 1)
        if target.hasAlpha { try unsafe addAlpha(to: &results, of: target) }
        for filter in target.filters {
            if case .pad(let margins, let color) = filter {
                results = try unsafe pad(
                    results, by: margins, color: color, into: target.resultPlanes(ofGray: false), for: target)
            } else {
                try filter.apply(to: results, in: target.range, chromaStep: target.chromaStep, token: token)
            }
        }
        return try body(results)
    }

    private func resample(
        _ source: Plane, index: Int, of image: DecodedImage, range: PlaneRange, into plane: Plane,
        of target: PlanarTarget, token: WorkToken
    ) throws {
        let samples = target.samples(of: source)
        var region = target.region(ofPlane: index, in: target.resampledRegion(of: source.region))
        region.left -= Double(samples.x)
        region.top -= Double(samples.y)
        let resampling = PlaneResampling(
            source: samples.size, region: region, target: plane.size,
            mixing: target.mixing(ofPlane: index), kernel: index == 0 ? .lanczos : .catmullRom)
        let offset = source.offset + samples.y * source.stride + samples.x
        try unsafe image.pixels.withUnsafeBytes { bytes throws in
            let rows = unsafe CPlanarRows(
                samples: UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.advanced(by: offset)
                    .assumingMemoryBound(to: UInt8.self),
                stride: source.stride, is_limited: range == .limited ? 1 : 0)
            let destination = unsafe CPlanarRows(
                samples: result.bytes.baseAddress?.advanced(by: plane.offset).assumingMemoryBound(to: UInt8.self),
                stride: plane.stride, is_limited: target.range == .limited ? 1 : 0)
            let conversion = range.conversion(to: target.range, isLuma: index == 0)
            try unsafe run(resampling, from: rows, to: destination, conversion: conversion, token: token)
        }
    }

    @unsafe
    private func subsample(
        _ planes: CPlanarPlanes, in range: PlaneRange, to target: PlanarTarget, token: WorkToken
    ) throws -> CPlanarPlanes {
        let results = target.resultPlanes(ofGray: false)
        try subsampled.reserve(results.byteCount)
        let all = unsafe CPlanarPlanes(results, in: UnsafeRawBufferPointer(subsampled.bytes))
        var from = unsafe CPixelsPlanes(planes, range: range, chromaStep: 1)
        var to = unsafe CPixelsPlanes(all, range: target.range, chromaStep: 2)
        try scratch.reserve(CPixels_sharp_scratch_size(to.width, to.height))
        let floats = unsafe scratch.bytes.baseAddress?.assumingMemoryBound(to: Float.self)
        _ = unsafe CPixels_subsample_sharply(&from, &to, floats, CPixelsWatch(token))
        // It ends early only if the work stops.
        try token.check()
        return all
    }

    @unsafe
    private func addAlpha(to planes: inout CPlanarPlanes, of target: PlanarTarget) throws {
        let layout = Self.alphaPlanes(of: target)
        try alpha.reserve(layout.byteCount)
        alpha.fill(layout[0], with: 255)
        unsafe planes.planes.3 = CPlanarPlanes(layout, in: UnsafeRawBufferPointer(alpha.bytes)).planes.0
    }

    private static func alphaPlanes(of target: PlanarTarget) -> [Plane] {
        .stacked([target.geometry.turn.turned(target.geometry.rectangle.size), target.size])
    }

    @unsafe
    private func pad(
        _ planes: CPlanarPlanes, by margins: ImageOperations.Margins, color: Color, into results: [Plane],
        for target: PlanarTarget
    ) throws -> CPlanarPlanes {
        try padded.reserve(results.byteCount)
        var all = unsafe CPlanarPlanes(results, in: UnsafeRawBufferPointer(padded.bytes))
        if unsafe planes.planes.3.samples != nil {
            let layout = Self.alphaPlanes(of: target)
            unsafe all.planes.3 = CPlanarPlanes(layout, in: UnsafeRawBufferPointer(alpha.bytes)).planes.1
        }
        unsafe PlanarFilter.pad(
            planes, into: all, by: margins, color: color, in: target.range, chromaStep: target.chromaStep)
        return all
    }

    @unsafe
    private func turn(_ planes: [Plane], of target: PlanarTarget, isGray: Bool) throws -> CPlanarPlanes {
        let results = target.turnedPlanes(ofGray: isGray)
        try turned.reserve(results.byteCount)
        let all = unsafe CPlanarPlanes(results, in: UnsafeRawBufferPointer(turned.bytes))
        unsafe CPlanarPlanes(planes, in: UnsafeRawBufferPointer(result.bytes)).copy(
            to: all, turned: target.geometry.turn)
        return all
    }

    private func run(
        _ resampling: PlaneResampling, from source: CPlanarRows, to target: CPlanarRows,
        conversion: PlaneRange.Conversion, token: WorkToken
    ) throws {
        let filter = try filter(for: resampling)
        let status = unsafe filter.run(
            from: source, to: target, conversion: conversion, scratch: scratch.bytes.baseAddress, token: token)
        guard status == CPlanarDone else {
            try token.check()
            throw ImagingError.encodeFailed(detail: "\(resampling) fails")
        }
    }

    /// Returns the filter, and reserves its working memory.
    private func filter(for resampling: PlaneResampling) throws -> PlaneResampler {
        guard let filter = PlaneResamplerCache.shared.filter(for: resampling) else {
            throw ImagingError.outOfMemory(detail: "no memory for \(resampling)")
        }
        try scratch.reserve(filter.scratchByteCount)
        return filter
    }

    private func run(_ colors: ColorResampling, of image: DecodedImage, to planes: [Plane], token: WorkToken) throws {
        let filter = try filter(for: colors.resampling)
        let status = unsafe image.pixels.withUnsafeBytes { bytes in
            let target = unsafe colors.target(CPlanarPlanes(planes, in: UnsafeRawBufferPointer(result.bytes)))
            return unsafe filter.run(
                from: colors.source(in: bytes), to: target, scratch: scratch.bytes.baseAddress, token: token)
        }
        guard status == CPlanarDone else {
            try token.check()
            throw ImagingError.encodeFailed(detail: "\(colors.resampling) fails")
        }
    }

    private func shrink() {
        result.drop(above: Self.maximumKept)
        turned.drop(above: Self.maximumKept)
        padded.drop(above: Self.maximumKept)
        subsampled.drop(above: Self.maximumKept)
        alpha.drop(above: Self.maximumKept)
        scratch.drop(above: Self.maximumKept)
    }
}
