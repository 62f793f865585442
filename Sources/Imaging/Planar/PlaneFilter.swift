import CPlanarShim
import Coordination

/// Describes the resampling of a plane.
struct PlaneResampling: Hashable, Sendable {
    let source: PixelSize
    /// The part of the source that fills the target; its edges may lie a little outside the plane.
    let region: Plane.Region
    let target: PixelSize
    let mixing: Mixing
    let kernel: Kernel

    /// The meaning of samples while they are averaged.
    enum Mixing: Hashable, Sendable {
        /// The stored values.
        case bytes
        /// The stored values; the results have 16 bits, 65535 for 255.
        case words
        /// Amounts of light, in floating point.
        case light
        /// Amounts of light of red, green and blue, of three planes together.
        case lightOfColors
    }

    /// The function by which samples are weighted.
    enum Kernel: Hashable, Sendable {
        /// For luma.
        case lanczos
        /// For chroma: narrower, so that its filters are computed in half the time; the difference is not visible.
        case catmullRom
    }
}

/// The computed filters of a resampling.
///
/// Any number of threads may use a filter at once: zimg keeps the state of a run in memory that the caller provides.
@safe
final class PlaneFilter: @unchecked Sendable {
    /// The resampling that the filter does.
    let resampling: PlaneResampling
    /// Bytes of working memory that a run needs.
    let room: Int
    private let graph: OpaquePointer

    /// Estimated size of the filter, in bytes: each coefficient is kept in floating point and in 16 bits.
    var byteCount: Int {
        let region = resampling.region
        let across = 6 * max(1, region.width / Double(resampling.target.width)) * Double(resampling.target.width)
        let down = 6 * max(1, region.height / Double(resampling.target.height)) * Double(resampling.target.height)
        return 4_096 + 8 * Int(across + down)
    }

    /// A filter; nil if zimg refuses because a side is too short.
    init?(_ resampling: PlaneResampling) {
        guard let graph = unsafe CPlanarShim_graph_make(CPlanarShimResampling(resampling)) else { return nil }
        unsafe self.graph = unsafe graph
        self.resampling = resampling
        room = unsafe CPlanarShim_graph_room(graph)
    }

    deinit {
        unsafe CPlanarShim_graph_free(graph)
    }

    /// Fills the planes of `target` from those of `source` together, if the resampling mixes the light of colors.
    @unsafe
    func run(
        from source: CPlanarShimColors, to target: CPlanarShimColorTarget, room: UnsafeMutableRawPointer?,
        token: WorkToken
    ) -> CPlanarShimStatus {
        precondition(resampling.mixing == .lightOfColors, "a filter for one plane")
        var (source, target) = (source, target)
        return unsafe CPlanarShim_resample_colors(graph, &source, &target, room, CPlanarShimWatch(token))
    }

    /// Fills `target`; its rows, the source's rows and `room` begin at multiples of ``Plane/alignment``.
    @unsafe
    func run(
        from source: CPlanarShimRows, to target: CPlanarShimRows, room: UnsafeMutableRawPointer?, token: WorkToken
    ) -> CPlanarShimStatus {
        unsafe CPlanarShim_graph_run(graph, source, target, room, CPlanarShimWatch(token))
    }
}

/// A cache of computed filters, for all threads; when it is full it is emptied.
///
/// To compute the filters for a size takes longer than to apply them to a small image.
final class PlaneFilters: Sendable {
    /// The cache of the process.
    static let shared = PlaneFilters(capacity: 16 << 20)

    private struct State {
        var filters: [PlaneResampling: PlaneFilter] = [:]
        var byteCount = 0
    }

    private let capacity: Int
    private let state = Locked(State())

    /// A cache for filters of `capacity` bytes together.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The filter for `resampling`, computed if it is not in the cache; nil if zimg refuses.
    func filter(for resampling: PlaneResampling) -> PlaneFilter? {
        if let known = state.withLock({ $0.filters[resampling] }) { return known }
        guard let filter = PlaneFilter(resampling) else { return nil }
        let forgotten = state.withLock { state -> [PlaneResampling: PlaneFilter] in
            let isFull = state.byteCount + filter.byteCount > capacity
            let forgotten = isFull ? state.filters : [:]
            if isFull { state = State() }
            // If two threads computed the same filter, the later one stays.
            if state.filters.updateValue(filter, forKey: resampling) == nil { state.byteCount += filter.byteCount }
            return forgotten
        }
        // Released here, outside the lock.
        _ = consume forgotten
        return filter
    }
}
