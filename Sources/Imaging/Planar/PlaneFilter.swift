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
        case bytes
        /// 16-bit results: 65535 for 255.
        case words
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
/// Threads may share a filter: zimg keeps the state of a run in memory that the caller provides.
@safe
final class PlaneFilter: @unchecked Sendable {
    let resampling: PlaneResampling
    let room: Int
    private let graph: OpaquePointer

    /// The size of the coefficients, each in floating point and in 16 bits.
    var byteCount: Int {
        let region = resampling.region
        let across = 6 * max(1, region.width / Double(resampling.target.width)) * Double(resampling.target.width)
        let down = 6 * max(1, region.height / Double(resampling.target.height)) * Double(resampling.target.height)
        return 4_096 + 8 * Int(across + down)
    }

    init?(_ resampling: PlaneResampling) {
        guard let graph = unsafe CPlanarShim_graph_make(CPlanarShimResampling(resampling)) else { return nil }
        unsafe self.graph = unsafe graph
        self.resampling = resampling
        room =
            resampling.mixing == .lightOfColors
            ? unsafe CPlanarShim_colors_room(graph) : unsafe CPlanarShim_graph_room(graph)
    }

    deinit {
        unsafe CPlanarShim_graph_free(graph)
    }

    /// Implements ``PlaneResampling/Mixing/lightOfColors``.
    @unsafe
    func run(
        from source: CPlanarShimColors, to target: CPlanarShimColorTarget, room: UnsafeMutableRawPointer?,
        token: WorkToken
    ) -> CPlanarShimStatus {
        precondition(resampling.mixing == .lightOfColors, "a filter for one plane")
        var (source, target) = (source, target)
        return unsafe CPlanarShim_resample_colors(graph, &source, &target, room, CPixelsWatch(token))
    }

    /// All rows and `room` must be aligned to ``Plane/alignment``.
    @unsafe
    func run(
        from source: CPlanarShimRows, to target: CPlanarShimRows, room: UnsafeMutableRawPointer?, token: WorkToken
    ) -> CPlanarShimStatus {
        unsafe CPlanarShim_graph_run(graph, source, target, room, CPixelsWatch(token))
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
