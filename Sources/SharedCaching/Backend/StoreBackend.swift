import Coordination
import Memory

/// A Redis server, a folder or a bucket behind a ``SharedStore``, which admits and seals every value.
protocol StoreBackend: Sendable {
    /// Connects, and retries until that succeeds.
    func start(_ handlers: PurgeHandlers, position: [UInt8]?) throws(SharedStoreFailure)

    /// Whether it is a server, which stores values only for a time.
    var isServer: Bool { get }

    /// Whether no removal of these sources is pending.
    func mayRead(_ sources: [SharedSource]) -> Bool

    /// Reads a value and its generations.
    ///
    /// - Parameters:
    ///   - sources: The sources that it is derived from.
    ///   - isBeginning: Whether to assign missing generations to sources.
    ///   - limit: The time after which the answer is a timeout.
    ///   - finish: Called once, on any thread; must not block.
    func read(
        _ key: SharedKey, of sources: [SharedSource], isBeginning: Bool, within limit: Duration,
        _ finish: @escaping @Sendable (StoreAnswer) -> Void)

    /// Queues an admitted write of sealed bytes, which ends with ``StoreGate/end(_:in:_:)``.
    func write(_ bytes: SharedBytes, for key: SharedKey, of sources: [SharedSource], seconds: Int)

    func begin(_ tag: SharedTag, of source: NamedSource) -> TagBeginning?

    func record(_ tag: SharedTag, of source: NamedSource, since beginning: TagBeginning?)

    /// Performs a removal, and retries until it is confirmed.
    func remove(_ removal: PendingRemovals.Removal, _ answer: OneTimeResult<RemovalState>?)

    func learnPurges() async -> Bool

    func stop(timeLimit: Duration) async
}

/// The answer of a back end to a read.
enum StoreAnswer: Sendable {
    /// The generation of everything, the generations of the sources, and the value; nil for missing ones.
    case values([SharedBytes?])
    case timeout
    /// The read was rejected, or the connection ended; the error is for the log.
    case failed(String? = nil)
}

/// The shared cache cannot be used with these settings.
package enum SharedStoreFailure: Error, Equatable, CustomStringConvertible {
    /// The file of authorities is unreadable or empty.
    case authorities(path: String)
    /// The system cannot create a thread or a pipe.
    case system(error: Int32)

    package var description: String {
        switch self {
        case .authorities(let path): "sharedCacheAuthorities: \"\(path)\" holds no certificate authorities"
        case .system(let error): "the system refuses a thread: error \(error)"
        }
    }
}
