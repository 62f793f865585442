package struct FetchSnapshot: Sendable, Equatable {
    package let source: String
    /// The host, with the port unless it is the default.
    package let host: String
    package let isRunning: Bool
    package let receivedBytes: Int
    package let expectedBytes: Int?
    package let age: Duration
    package let receipts: [String]
}
