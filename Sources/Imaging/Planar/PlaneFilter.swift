import CPlanarShim
import Coordination

/// How a plane becomes one of another size.
struct PlaneResampling: Hashable, Sendable {
    let source: PixelSize
    /// The part of the source that fills the target; it may stick out a little.
    let region: Plane.Region
    let target: PixelSize
    /// Whether the target has 16 bits a sample.
    let isDeep: Bool
}

/// The computed filters of a resampling; used by one thread at a time.
@safe
final class PlaneFilter {
    /// What it does.
    let resampling: PlaneResampling
    /// Bytes of working memory that a run needs.
    let room: Int
    private let graph: OpaquePointer

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
        from source: UnsafeRawPointer?, stride: Int, to target: UnsafeMutableRawPointer?, stride targetStride: Int,
        room: UnsafeMutableRawPointer?, token: WorkToken
    ) -> CPlanarShimStatus {
        unsafe CPlanarShim_graph_run(graph, source, stride, target, targetStride, room, CPlanarShimWatch(token))
    }
}

/// Filters that were computed before, the last used first.
///
/// To compute the filters for a size takes longer than to apply them to a small picture.
struct RecentPlaneFilters {
    /// Most filters kept, of some 50 kB each; a picture with subsampled chroma needs two.
    private static let mostKept = 24

    private var filters: [PlaneFilter] = []

    /// The filter for `resampling`, computed if it is not here; nil where zimg refuses.
    mutating func filter(for resampling: PlaneResampling) -> PlaneFilter? {
        if let index = filters.firstIndex(where: { $0.resampling == resampling }) {
            let filter = filters.remove(at: index)
            filters.insert(filter, at: 0)
            return filter
        }
        guard let filter = PlaneFilter(resampling) else { return nil }
        if filters.count == Self.mostKept { filters.removeLast() }
        filters.insert(filter, at: 0)
        return filter
    }
}

extension CPlanarShimResampling {
    fileprivate init(_ resampling: PlaneResampling) {
        self.init(
            source_width: Int32(resampling.source.width), source_height: Int32(resampling.source.height),
            left: resampling.region.left, top: resampling.region.top, width: resampling.region.width,
            height: resampling.region.height, target_width: Int32(resampling.target.width),
            target_height: Int32(resampling.target.height), is_deep: resampling.isDeep ? 1 : 0)
    }
}
