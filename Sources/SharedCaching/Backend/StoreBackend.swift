import Coordination
import Memory

/// The storage behind a ``SharedStore``, which admits and signs every value.
protocol StoreBackend: Sendable {
    func start(_ handlers: PurgeHandlers, position: [UInt8]?) throws(SharedStoreFailure)

    /// Whether the storage is a server, which keeps values only for a limited time.
    var isServer: Bool { get }

    /// Whether the sources have no pending removals.
    func mayRead(_ sources: [SharedSource]) -> Bool

    /// Reads a value and its generations.
    ///
    /// - Parameters:
    ///   - sources: The sources of the value.
    ///   - createsGenerations: Whether to create missing generations of sources.
    ///   - limit: The time after which the read fails with a timeout.
    ///   - completion: Called once, on any thread; must not block.
    func read(
        _ key: SharedKey, of sources: [SharedSource], createsGenerations: Bool, within limit: Duration,
        completion: @escaping @Sendable (StoreReadResult) -> Void)

    /// Writes a value that was admitted and signed; calls ``StoreGate/endWrite(of:in:with:)`` at the end.
    func write(_ bytes: SharedBytes, for key: SharedKey, of sources: [SharedSource], seconds: Int)

    func checkpoint(of tag: SharedTag, for source: NamedSource) -> TagCheckpoint?

    func record(_ tag: SharedTag, of source: NamedSource, since checkpoint: TagCheckpoint?)

    func remove(_ removal: PendingRemovals.Removal, fulfilling promise: Promise<RemovalState>?)

    func catchUpWithPurges() async -> Bool

    func shutDown(timeLimit: Duration) async
}

enum StoreReadResult: Sendable {
    /// The generation of everything, the generations of the sources, and the value; nil if missing.
    case values([SharedBytes?])
    case timeout
    case failed(String? = nil)
}

package enum SharedStoreFailure: Error, Equatable, CustomStringConvertible {
    case authorities(path: String)
    case system(error: Int32)

    package var description: String {
        switch self {
        case .authorities(let path): "sharedCacheAuthorities: \"\(path)\" contains no certificate authorities"
        case .system(let error): "a thread or pipe could not be created: error \(error)"
        }
    }
}
