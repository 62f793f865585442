/// Which requests are recorded as traces (OpenTelemetry, "Sampler").
package struct TraceSampler: Equatable, Sendable {
    /// Whether the decision of a caller counts instead of our own.
    package let followsCaller: Bool
    /// Traces whose 63 lowest bits are below it are recorded.
    private let bound: UInt64

    /// A sampler of this share of the traces, 0 to 1.
    package init(share: Double, followsCaller: Bool = true) {
        self.followsCaller = followsCaller
        bound = share >= 1 ? 1 << 63 : UInt64(max(0, share) * 0x1p63)
    }

    /// Whether no trace that begins here is recorded.
    var takesNone: Bool { bound == 0 }

    /// Whether a trace is recorded, by the 64 lowest bits of its identifier: every service that has the same share
    /// decides alike ("TraceIdRatioBased", as in OpenTelemetry's libraries for Go and Java).
    func takes(_ bits: UInt64) -> Bool { bits >> 1 < bound }
}
