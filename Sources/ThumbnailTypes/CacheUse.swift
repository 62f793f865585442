/// The furthest cached stage that a request found, for logs and metrics.
package enum CacheUse: String, CaseIterable, Sendable {
    /// The result was stored.
    case hit
    /// It shared the work of another request.
    case joined
    /// The pixels were stored.
    case decoded
    /// The source was stored or uploaded.
    case source
    /// The origin was contacted.
    case miss

    package init(_ layers: [CacheLayerStatus]) { self = layers == RenderedImage.hit ? .hit : Self.use(of: layers) }

    private static func use(of layers: [CacheLayerStatus]) -> CacheUse {
        let source = layers.last { $0.layer == .source }
        if let source, source.outcome != .hit { return source.isCollapsed ? .joined : .miss }
        if layers.contains(where: \.isCollapsed) { return .joined }
        let work = layers.filter { $0.layer != .source }
        // Facts from the header need the source's record alone.
        guard let last = work.last, last.outcome != .hit else { return work.last?.layer == .decoded ? .decoded : .hit }
        return .source
    }
}
