/// Which requests are traced (OpenTelemetry, "Sampler").
package struct TraceSampler: Equatable, Sendable {
    package let followsCaller: Bool
    /// Traces whose 63 lowest bits are below it are recorded.
    private let bound: UInt64

    /// - Parameter share: Of the traces, 0…1.
    package init(share: Double, followsCaller: Bool = true) {
        self.followsCaller = followsCaller
        bound = share >= 1 ? 1 << 63 : UInt64(max(0, share) * 0x1p63)
    }

    /// No trace that begins here is recorded.
    var samplesNothing: Bool { bound == 0 }

    /// By the 64 lowest bits of the trace identifier, so that all services with the same share agree
    /// ("TraceIdRatioBased").
    func samples(_ bits: UInt64) -> Bool { bits >> 1 < bound }
}
