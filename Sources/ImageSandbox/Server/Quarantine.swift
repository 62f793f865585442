import Crypto

/// Contents that ended workers lately, or kept them busy too long; they are refused for a while, whatever their URL.
struct Quarantine<Key: Hashable> {
    /// How long a content is refused.
    let duration: Duration
    /// Largest number of contents; when it is full, the oldest leaves first.
    let capacity: Int
    private var ends: [Key: Duration] = [:]

    /// An empty quarantine, which forgets a content after `duration`.
    init(duration: Duration = .seconds(600), capacity: Int = 4_096) {
        self.duration = duration
        self.capacity = capacity
    }

    /// Whether nothing is refused now.
    ///
    /// Then no content needs to be hashed.
    mutating func isEmpty(at now: Duration) -> Bool {
        if !ends.isEmpty { ends = ends.filter { $0.value > now } }
        return ends.isEmpty
    }

    /// Number of contents, including those whose time is over.
    var count: Int { ends.count }

    func contains(_ key: Key, at now: Duration) -> Bool {
        ends[key].map { $0 > now } ?? false
    }

    mutating func insert(_ key: Key, at now: Duration) {
        if ends.count >= capacity, ends[key] == nil, let oldest = ends.min(by: { $0.value < $1.value })?.key {
            ends[oldest] = nil
        }
        ends[key] = now + duration
    }
}

/// A content and the work that was to be done with it.
struct SandboxJob: Hashable {
    /// The hash of the file, or of the pixels.
    let digest: SHA256Digest
    let work: WorkerRequest.Work
}

/// Content that is refused after it ended workers.
enum RefusedContent: Hashable {
    /// A file, for any work.
    case file(SHA256Digest)
    /// Pixels, for one work only: encoded in another format or shape they may be harmless.
    case pixels(SandboxJob)

    init(_ job: SandboxJob) {
        self = if case .decode = job.work { .file(job.digest) } else { .pixels(job) }
    }
}
