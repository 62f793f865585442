import CPlanar
import Coordination
import Recipes

struct PlaneResampling: Hashable, Sendable {
    let source: PixelSize
    let region: Plane.Region
    let target: PixelSize
    let mixing: Mixing
    let kernel: Kernel

    enum Mixing: Hashable, Sendable {
        /// Mixes samples as stored.
        case samples
        case light
        /// Mixes three planes together in linear light of red, green and blue.
        case lightOfColors
    }

    enum Kernel: Hashable, Sendable {
        /// For luma.
        case lanczos
        /// For chroma: a narrower kernel, which halves the time without a visible difference.
        case catmullRom
    }
}

/// Coefficients of a resampling.
///
/// Threads can share a filter: the state of a run is in memory that the caller provides.
@safe
final class PlaneResampler: @unchecked Sendable {
    let resampling: PlaneResampling
    /// The working memory of a run in bytes.
    let scratchByteCount: Int
    private let resampler: OpaquePointer

    /// Bytes of two numbers per sample of a side, and of 16-bit coefficients in groups of eight.
    var byteCount: Int {
        let region = resampling.region
        let target = resampling.target
        let across = 6 * max(region.width, Double(target.width)) + 16 * Double(target.width)
        let down = 6 * max(region.height, Double(target.height)) + 16 * Double(target.height)
        return 1_024 + 2 * Int(across + down)
    }

    init?(_ resampling: PlaneResampling) {
        var sizes = CLightResampling(resampling)
        guard let resampler = unsafe CLight_make(&sizes) else { return nil }
        unsafe self.resampler = unsafe resampler
        self.resampling = resampling
        scratchByteCount =
            resampling.mixing == .lightOfColors
            ? unsafe CPlanar_colors_scratch_size(resampler) : unsafe CLight_scratch_size(resampler)
    }

    deinit { unsafe CLight_free(resampler) }

    /// Resamples for ``PlaneResampling/Mixing/lightOfColors``.
    @unsafe
    func run(
        from source: CPlanarColors, to target: CPlanarColorTarget, scratch: UnsafeMutableRawPointer?, token: WorkToken
    ) -> CPlanarStatus {
        precondition(resampling.mixing == .lightOfColors, "a filter for one plane")
        var source = source
        var target = target
        return unsafe CPlanar_resample_colors(resampler, &source, &target, scratch, CPixelsWatch(token))
    }

    /// Resamples a plane; `conversion` applies to samples that are not mixed in linear light.
    ///
    /// `scratch` must be aligned to ``Plane/alignment``.
    @unsafe
    func run(
        from source: CPlanarRows, to target: CPlanarRows, conversion: PlaneRange.Conversion,
        scratch: UnsafeMutableRawPointer?, token: WorkToken
    ) -> CPlanarStatus {
        unsafe CPlanar_resample(
            resampler, source, target, conversion.scale, conversion.offset, scratch, CPixelsWatch(token))
    }
}

/// A cache of filters for all threads; it is emptied when full.
///
/// Computing the filters for a size takes longer than applying them to a small image.
final class PlaneResamplerCache: Sendable {
    static let shared = PlaneResamplerCache(capacity: 16 << 20)

    private struct State {
        var filters: [PlaneResampling: PlaneResampler] = [:]
        var byteCount = 0
    }

    private let capacity: Int
    private let state = Locked(State())

    init(capacity: Int) { self.capacity = capacity }

    func filter(for resampling: PlaneResampling) -> PlaneResampler? {
        if let cached = state.withLock({ $0.filters[resampling] }) { return cached }
        guard let filter = PlaneResampler(resampling) else { return nil }
        let forgotten = state.withLock { state -> [PlaneResampling: PlaneResampler] in
            let isFull = state.byteCount + filter.byteCount > capacity
            let forgotten = isFull ? state.filters : [:]
            if isFull { state = State() }
            // If two threads compute the same filter, the later one replaces the earlier one.
            if state.filters.updateValue(filter, forKey: resampling) == nil { state.byteCount += filter.byteCount }
            return forgotten
        }
        // Release them here, outside the lock.
        _ = consume forgotten
        return filter
    }
}
