/// What has done harm lately, such as the hash of a content that ended workers: not to be tried for a while, whatever its URL.
struct Quarantine<Offender: Hashable> {
    /// How long each stays.
    let duration: Duration
    /// Most of them; of more, the one that has been here longest goes.
    let capacity: Int
    private var ends: [Offender: Duration] = [:]

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

    /// How many there are, those that are due included.
    var count: Int { ends.count }

    func contains(_ offender: Offender, at now: Duration) -> Bool {
        ends[offender].map { $0 > now } ?? false
    }

    mutating func insert(_ offender: Offender, at now: Duration) {
        if ends.count >= capacity, ends[offender] == nil, let oldest = ends.min(by: { $0.value < $1.value })?.key {
            ends[oldest] = nil
        }
        ends[offender] = now + duration
    }
}
