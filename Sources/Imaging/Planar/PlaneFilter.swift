import CPlanarShim
import Coordination
import Recipes

struct PlaneResampling: Hashable, Sendable {
    let source: PixelSize
    let region: Plane.Region
    let target: PixelSize
    let mixing: Mixing
    let kernel: Kernel

    enum Mixing: Hashable, Sendable {
        /// Samples as they are stored.
        case samples
        case light
        /// Linear light of red, green and blue, for three planes together.
        case lightOfColors
    }

    enum Kernel: Hashable, Sendable {
        /// Used for luma.
        case lanczos
        /// Used for chroma: narrower, which halves the time without a visible difference.
        case catmullRom
    }
}

/// Coefficients of a resampling.
///
/// Threads may share a filter: the state of a run is in memory that the caller provides.
@safe
final class PlaneFilter: @unchecked Sendable {
    let resampling: PlaneResampling
    let room: Int
    private let resampler: OpaquePointer

    /// The size of two numbers for each sample of a side, and of coefficients of 16 bits in groups of eight.
    var byteCount: Int {
        let (region, target) = (resampling.region, resampling.target)
        let across = 6 * max(region.width, Double(target.width)) + 16 * Double(target.width)
        let down = 6 * max(region.height, Double(target.height)) + 16 * Double(target.height)
        return 1_024 + 2 * Int(across + down)
    }

    init?(_ resampling: PlaneResampling) {
        var sizes = CLightResampling(resampling)
        guard let resampler = unsafe CLight_make(&sizes) else { return nil }
        unsafe self.resampler = unsafe resampler
        self.resampling = resampling
        room =
            resampling.mixing == .lightOfColors
            ? unsafe CPlanarShim_colors_room(resampler) : unsafe CLight_room(resampler)
    }

    deinit { unsafe CLight_free(resampler) }

    /// Implements ``PlaneResampling/Mixing/lightOfColors``.
    @unsafe
    func run(
        from source: CPlanarShimColors, to target: CPlanarShimColorTarget, room: UnsafeMutableRawPointer?,
        token: WorkToken
    ) -> CPlanarShimStatus {
        precondition(resampling.mixing == .lightOfColors, "a filter for one plane")
        var (source, target) = (source, target)
        return unsafe CPlanarShim_resample_colors(resampler, &source, &target, room, CPixelsWatch(token))
    }

    /// `room` must be aligned to ``Plane/alignment``; `conversion` applies to samples that are not mixed as light.
    @unsafe
    func run(
        from source: CPlanarShimRows, to target: CPlanarShimRows, _ conversion: PlaneRange.Conversion,
        room: UnsafeMutableRawPointer?, token: WorkToken
    ) -> CPlanarShimStatus {
        unsafe CPlanarShim_resample(
            resampler, source, target, conversion.scale, conversion.offset, room, CPixelsWatch(token))
    }
}

/// Shared by all threads; when full, it is emptied.
///
/// Computing the filters for a size takes longer than applying them to a small image.
final class PlaneFilters: Sendable {
    static let shared = PlaneFilters(capacity: 16 << 20)

    private struct State {
        var filters: [PlaneResampling: PlaneFilter] = [:]
        var byteCount = 0
    }

    private let capacity: Int
    private let state = Locked(State())

    init(capacity: Int) { self.capacity = capacity }

    func filter(for resampling: PlaneResampling) -> PlaneFilter? {
        if let cached = state.withLock({ $0.filters[resampling] }) { return cached }
        guard let filter = PlaneFilter(resampling) else { return nil }
        let forgotten = state.withLock { state -> [PlaneResampling: PlaneFilter] in
            let isFull = state.byteCount + filter.byteCount > capacity
            let forgotten = isFull ? state.filters : [:]
            if isFull { state = State() }
            // If two threads compute the same filter, the later one replaces the other.
            if state.filters.updateValue(filter, forKey: resampling) == nil { state.byteCount += filter.byteCount }
            return forgotten
        }
        // Released here, outside the lock.
        _ = consume forgotten
        return filter
    }
}
