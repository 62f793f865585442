/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
    /// The number of bytes transferred so far.
    public let completedBytes: Int
    /// The size of the body in bytes; nil if the sender does not state it.
    public let totalBytes: Int?

    /// The share of the body, 0 to 1; nil if its size is unknown.
    public var fraction: Double? {
        totalBytes.map { $0 > 0 ? min(1, Double(completedBytes) / Double($0)) : 1 }
    }

    /// Creates a progress.
    public init(completedBytes: Int, totalBytes: Int?) {
        self.completedBytes = max(0, completedBytes)
        self.totalBytes = totalBytes.flatMap { $0 < 0 ? nil : $0 }
    }
}
