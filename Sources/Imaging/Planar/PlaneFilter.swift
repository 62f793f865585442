import CPlanarShim
import Coordination

/// How a plane becomes one of another size.
struct PlaneResampling: Hashable, Sendable {
    let source: PixelSize
    /// The part of the source that fills the target; it may stick out a little.
    let region: Plane.Region
    let target: PixelSize
    let mixing: Mixing
    let kernel: Kernel

    /// How samples are taken while they are mixed.
    enum Mixing: Hashable, Sendable {
        /// As they are.
        case bytes
        /// As they are; the results have 16 bits, 65535 for 255.
        case words
        /// As the light that they stand for, in floating point.
        case light
    }

    /// What samples are weighted by.
    enum Kernel: Hashable, Sendable {
        /// For luma.
        case lanczos
        /// For chroma: narrower, so that its filters are computed in half the time; nobody sees a difference.
        case catmullRom
    }
}

/// The computed filters of a resampling, which any number of threads use at once: zimg keeps all that changes in a run in memory
/// that it is given.
@safe
final class PlaneFilter: @unchecked Sendable {
    /// What it does.
    let resampling: PlaneResampling
    /// Bytes of working memory that a run needs.
    let room: Int
    private let graph: OpaquePointer

    /// What the filter occupies, about, in bytes: a coefficient is kept in floating point and in 16 bits.
    var byteCount: Int {
        let region = resampling.region
        let across = 6 * max(1, region.width / Double(resampling.target.width)) * Double(resampling.target.width)
        let down = 6 * max(1, region.height / Double(resampling.target.height)) * Double(resampling.target.height)
        return 4_096 + 8 * Int(across + down)
    }

    /// Nil where zimg refuses: a side is too short for the filter.
    init?(_ resampling: PlaneResampling) {
        guard let graph = unsafe CPlanarShim_graph_make(CPlanarShimResampling(resampling)) else { return nil }
        unsafe self.graph = unsafe graph
        self.resampling = resampling
        room = unsafe CPlanarShim_graph_room(graph)
    }

    deinit {
        unsafe CPlanarShim_graph_free(graph)
    }

    /// Fills `target`; its rows, the source's and the room begin at multiples of ``Plane/alignment``.
    @unsafe
    func run(
        from source: CPlanarShimRows, to target: CPlanarShimRows, room: UnsafeMutableRawPointer?, token: WorkToken
    ) -> CPlanarShimStatus {
        unsafe CPlanarShim_graph_run(graph, source, target, room, CPlanarShimWatch(token))
    }
}

extension CPlanarShimResampling {
    fileprivate init(_ resampling: PlaneResampling) {
        self.init(
            source_width: Int32(resampling.source.width), source_height: Int32(resampling.source.height),
            left: resampling.region.left, top: resampling.region.top, width: resampling.region.width,
            height: resampling.region.height, target_width: Int32(resampling.target.width),
            target_height: Int32(resampling.target.height), mixing: CPlanarShimMixing(resampling.mixing),
            kernel: resampling.kernel == .lanczos ? CPlanarShimLanczos : CPlanarShimCatmullRom)
    }
}

extension CPlanarShimMixing {
    fileprivate init(_ mixing: PlaneResampling.Mixing) {
        self =
            switch mixing {
            case .bytes: CPlanarShimBytes
            case .words: CPlanarShimWords
            case .light: CPlanarShimLight
            }
    }
}

/// Filters that were computed before, for all workers; when they are too many all are forgotten.
///
/// To compute the filters for a size takes longer than to apply them to a small picture.
final class PlaneFilters: Sendable {
    /// Those of the process.
    static let shared = PlaneFilters(capacity: 16 << 20)

    private struct State {
        var filters: [PlaneResampling: PlaneFilter] = [:]
        var byteCount = 0
    }

    private let capacity: Int
    private let state = Locked(State())

    /// Room for filters of `capacity` bytes.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The filter for `resampling`, computed if it is not here; nil where zimg refuses.
    func filter(for resampling: PlaneResampling) -> PlaneFilter? {
        if let known = state.withLock({ $0.filters[resampling] }) { return known }
        guard let filter = PlaneFilter(resampling) else { return nil }
        let forgotten = state.withLock { state -> [PlaneResampling: PlaneFilter] in
            let isFull = state.byteCount + filter.byteCount > capacity
            let forgotten = isFull ? state.filters : [:]
            if isFull { state = State() }
            // Of two that were computed at once the later one stays.
            if state.filters.updateValue(filter, forKey: resampling) == nil { state.byteCount += filter.byteCount }
            return forgotten
        }
        // Released here, outside the lock.
        _ = consume forgotten
        return filter
    }
}
