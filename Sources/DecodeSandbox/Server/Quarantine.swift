import Crypto

/// The contents that have ended workers lately, by their hash: not to be decoded for a while, whatever their URL.
struct Quarantine {
    /// How long a content stays.
    let duration: Duration
    /// Most contents; of more, the one that has been here longest goes.
    let capacity: Int
    private var ends: [SHA256Digest: Duration] = [:]

    /// Nothing is in it.
    init(duration: Duration = .seconds(600), capacity: Int = 4_096) {
        self.duration = duration
        self.capacity = capacity
    }

    /// Whether nothing has been put into it, or all is gone: then nobody needs to hash anything.
    mutating func isEmpty(at now: Duration) -> Bool {
        if !ends.isEmpty { ends = ends.filter { $0.value > now } }
        return ends.isEmpty
    }

    /// Number of contents, those that are due included.
    var count: Int { ends.count }

    func contains(_ digest: SHA256Digest, at now: Duration) -> Bool {
        ends[digest].map { $0 > now } ?? false
    }

    mutating func insert(_ digest: SHA256Digest, at now: Duration) {
        if ends.count >= capacity, ends[digest] == nil, let oldest = ends.min(by: { $0.value < $1.value })?.key {
            ends[oldest] = nil
        }
        ends[digest] = now + duration
    }
}
