import Coordination
import Crypto

/// Recently crashed workers, or kept them busy for too long; rejected for a while, whatever the URL.
struct Quarantine<Key: Hashable> {
    let duration: Duration
    private var entries: BoundedMap<Key, Bool>

    init(duration: Duration = .seconds(600), capacity: Int = 4_096) {
        self.duration = duration
        entries = BoundedMap(maximumCount: capacity)
    }

    /// No content needs to be hashed then.
    mutating func isEmpty(at now: Duration) -> Bool {
        entries.removeExpired(at: now)
        return entries.count == 0
    }

    var count: Int { entries.count }

    func contains(_ key: Key, at now: Duration) -> Bool { entries.peek(key, at: now) != nil }

    mutating func insert(_ key: Key, at now: Duration) { entries.insert(true, for: key, until: now + duration) }
}

struct SandboxJob: Hashable {
    let digest: SHA256Digest
    let work: WorkerRequest.Work
}

/// It crashed workers.
enum RefusedContent: Hashable {
    case file(SHA256Digest)
    /// For one kind of work: encoded in another format or shape they may be harmless.
    case pixels(SandboxJob)

    init(_ job: SandboxJob) {
        self = if case .decode = job.work { .file(job.digest) } else { .pixels(job) }
    }
}
