import Coordination
import Crypto

/// Inputs that recently crashed or blocked a worker, and are rejected whatever their URL.
struct Quarantine<Key: Hashable> {
    let duration: Duration
    private var entries: BoundedMap<Key, Bool>

    init(duration: Duration = .seconds(600), capacity: Int = 4_096) {
        self.duration = duration
        entries = BoundedMap(maximumCount: capacity)
    }

    /// Whether there are no inputs, so that contents need not be hashed.
    mutating func isEmpty(at now: Duration) -> Bool {
        entries.removeExpired(at: now)
        return entries.count == 0
    }

    var count: Int { entries.count }

    func contains(_ key: Key, at now: Duration) -> Bool { entries.peek(key, at: now) != nil }

    mutating func insert(_ key: Key, at now: Duration) { entries.insert(true, for: key, until: now + duration) }
}

struct QuarantineKey: Hashable {
    let digest: SHA256Digest
    let work: WorkerRequest.Work
}

/// An input that crashed workers.
enum QuarantinedInput: Hashable {
    case file(SHA256Digest)
    /// One kind of work on pixels, which may be harmless in another format or shape.
    case pixels(QuarantineKey)

    init(_ key: QuarantineKey) {
        self = if case .decode = key.work { .file(key.digest) } else { .pixels(key) }
    }
}
