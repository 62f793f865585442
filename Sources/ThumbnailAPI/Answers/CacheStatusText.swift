import ThumbnailPipeline

/// Writes `Cache-Status` (RFC 9211).
enum CacheStatusText {
    /// One member per layer, in order: `alula-result;fwd=uri-miss;stored, alula-decoded;hit`.
    static func text(_ layers: [CacheLayerStatus]) -> String {
        var text = ""
        for layer in layers {
            if !text.isEmpty { text += ", " }
            text += layer.layer.rawValue
            text += ";"
            text += layer.outcome.rawValue
            if let status = layer.forwardStatus { text += ";fwd-status=\(status)" }
            if let seconds = layer.timeToLive { text += ";ttl=\(seconds)" }
            if layer.isStored { text += ";stored" }
            if layer.isCollapsed { text += ";collapsed" }
        }
        return text
    }
}
